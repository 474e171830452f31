"""``grade new`` makes lessons that work, ``grade verify`` lists what a person has to write, and
existing files stay.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from in_process import exit_code

from grader.core.errors import ExitCode
from grader.core.messages import Settings
from grader.course.course import Course, load_course
from grader.course.scaffold import MARK, lesson_files
from grader.verify.static_problems import unwritten
from grader.verify.verify import VerifyResult
from grader.verify.verify import verify as run_verification


def verified(course: Course) -> VerifyResult:
    """Grade everything known of a course from one seed."""
    settings = Settings(seed=0, limits=course.limits)
    return run_verification(course, course.lessons, seeds=[1], settings=settings, workers=1)


def contents(root: Path) -> dict[str, bytes]:
    """Return every file's bytes."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def new_course_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Make a course in a folder that did not exist."""
    folder = tmp_path / "my course"
    assert exit_code("new", "halving", "--function", "half", "--course", folder) == ExitCode.OK
    assert "grade verify halving --course" in capsys.readouterr().out
    return folder


def test_a_new_course_holds_but_for_what_a_person_has_to_write(new_course_folder: Path) -> None:
    """Reference, stub, mistake and alternative get the right verdicts; only placeholders are
    problems.
    """
    found = verified(load_course(new_course_folder))
    (proof,) = found.proofs
    assert (proof.checks, proof.caught, proof.named, proof.accepted_passed) == (3, 1, 1, 1)
    assert len(found.problems) > 10
    assert all("still holds its placeholder: TO WRITE:" in problem for problem in found.problems)
    for place in ("course.toml", "README.md:1", "hints.toml:4", "halving.py:1"):
        assert any(place in problem for problem in found.problems)


def test_once_everything_is_written_there_is_no_problem(new_course_folder: Path) -> None:
    for path in new_course_folder.rglob("*"):
        if path.is_file():
            path.write_text(path.read_text("utf-8").replace(f"{MARK} ", ""), "utf-8")
    (contract,) = new_course_folder.rglob("contract.toml")
    task = "what to write in halving.py: for each function what it is given and what it returns."
    contract.write_text(contract.read_text("utf-8").replace("says = [", f'says = ["{task}", '))
    assert verified(load_course(new_course_folder)).problems == ()


def test_a_lesson_is_added_and_the_rest_of_the_course_stays_to_the_byte(
    new_course_folder: Path,
) -> None:
    """Comments, order and layout of course.toml stay, too."""
    toml = new_course_folder / "exercises" / "course.toml"
    before = toml.read_text("utf-8").replace(
        "[[lesson]]", "[limits]  # small\ncall_seconds   =   1.5\n\n# the first\n[[lesson]]"
    )
    toml.write_text(before, "utf-8")
    files = contents(new_course_folder)
    del files["exercises/course.toml"]
    assert exit_code("new", "thirds", "--course", new_course_folder) == ExitCode.OK
    assert toml.read_text("utf-8").startswith(before.rstrip("\n"))
    assert files.items() <= contents(new_course_folder).items()
    assert [(lesson.id, lesson.names) for lesson in load_course(new_course_folder).lessons] == [
        ("halving", ("half",)),
        ("thirds", ("thirds",)),
    ]


def test_a_catalogue_waits_for_its_translations(new_course_folder: Path) -> None:
    text = (new_course_folder / "exercises" / "halving" / "ko.po").read_text("utf-8")
    assert 'msgid "half(x) is twice x"\nmsgstr ""' in text


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("halving",), "There is a lesson 'halving' already"),
        ((), "is a course already. Name the lesson to add: grade new my_lesson"),
        (("Halving",), "'Halving' can't name a lesson"),
        (("two words",), "'two words' can't name a lesson"),
        (("class",), "'class' can't name a lesson"),
        (("torch",), "'torch' is a name that Python or the grader uses"),
        (("json",), "'json' is a name that Python or the grader uses"),
        (("thirds", "--function", "sum"), "'sum' is a name that Python or the grader uses"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_name_that_cannot_be_is_refused_and_nothing_changes(
    words: tuple[str, ...], answer: str, new_course_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(new_course_folder)
    assert exit_code("new", *words, "--course", new_course_folder) == ExitCode.USAGE
    assert answer in capsys.readouterr().err
    assert contents(new_course_folder) == before


@pytest.mark.parametrize(
    ("place", "answer"),
    [("solutions", "is not empty"), (".", "thirds.py is there already")],
    ids=["a folder with something else in it", "a file that is there"],
)
def test_what_is_there_is_not_overwritten(
    place: str, answer: str, new_course_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (new_course_folder / "solutions" / "thirds.py").write_text("mine")
    before = contents(new_course_folder)
    assert exit_code("new", "thirds", "--course", new_course_folder / place) == ExitCode.USAGE
    assert answer in capsys.readouterr().err
    assert contents(new_course_folder) == before


def test_the_course_that_came_along_is_not_added_to(
    small_course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("grader.cli.author.PACKAGED_COURSE", small_course.root)
    assert exit_code("new", "thirds", "--course", small_course.root) == ExitCode.USAGE
    assert "was handed out" in capsys.readouterr().err
    assert not (small_course.root / "solutions" / "thirds.py").exists()


def test_a_placeholder_is_found_wherever_it_stands(small_course: Course, tmp_path: Path) -> None:
    """Checks, rules, mistakes and alternatives are searched; a finished lesson has none."""
    course = load_course(Path(shutil.copytree(small_course.root, tmp_path / "course")))
    lesson = course.lesson("tiny")
    assert list(unwritten(lesson)) == []
    places = (
        lesson.checks / "diagnosis.py",
        lesson.checks / "scenarios.py",
        lesson.mistakes[0].path,
        lesson.accepted[0].path,
    )
    for path in places:
        path.write_text(path.read_text("utf-8") + f"# {MARK} this\n", "utf-8")
    assert len(list(unwritten(lesson))) == len(places)


def test_every_file_of_a_new_lesson_is_named_after_it() -> None:
    assert all("halving" in path for path in lesson_files("halving", "half", lang="ko"))
