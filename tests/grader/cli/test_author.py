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


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--function", "log_sum", "--truth", "torch.log1p(x.exp()) - 1 / (1 + x * x)"),
        ("--class", "Gate(x, w)", "--truth", "x * torch.sigmoid(w)"),
        ("--function", "gate(x, w)", "--truth", "x * torch.sigmoid(w)"),
    ],
    ids=["doubling", "function", "class", "several inputs"],
)
def test_a_new_lesson_works_and_only_a_person_can_write_the_rest(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    """Its mistakes are named. Once the placeholders are written, there is no problem."""
    folder = tmp_path / "course"
    assert exit_code("new", "halving", *words, "--course", folder) == ExitCode.OK
    found = verified(load_course(folder))
    (proof,) = found.proofs
    assert (proof.checks, proof.caught, proof.named, proof.accepted_passed) == (3, 3, 3, 1)
    assert all("still holds its placeholder: TO WRITE:" in problem for problem in found.problems)
    for place in ("course.toml", "halving/README.md:1", "hints.toml:4", "solutions/halving.py:1"):
        assert any(place in problem for problem in found.problems)
    for path in folder.rglob("*"):
        if path.suffix in (".py", ".md", ".toml"):
            path.write_text(path.read_text("utf-8").replace(f"{MARK} ", ""), "utf-8")
    assert verified(load_course(folder)).problems == ()


def test_an_older_course_that_asks_nothing_everywhere_gets_lessons_that_work(
    tmp_path: Path,
) -> None:
    course = tmp_path / "exercises" / "course.toml"
    course.parent.mkdir()
    course.write_text(
        'id = "c"\ntitle = "C"\nversion = "1"\n\n[[lesson]]\nid = "a"\ntitle = "A"\nsummary = "A"\n'
    )
    assert exit_code("new", "halving", "--course", tmp_path) == ExitCode.OK
    found = load_course(tmp_path)
    settings = Settings(seed=0, limits=found.limits)
    lessons = [found.lesson("halving")]
    told = run_verification(found, lessons, seeds=[1], settings=settings, workers=1).problems
    assert all("still holds its placeholder" in problem for problem in told)


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


def test_missing_texts_are_added_to_a_catalogue_once(
    new_course_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that a grading shows, and others; translations that are there stay."""
    words = ("verify", "halving", "--lang", "ko", "--write-texts", "--workers", "1")
    exit_code(*words, "--course", new_course_folder)
    path = new_course_folder / "exercises" / "halving" / "ko.po"
    assert f"{path}: 12 texts to translate added at the end" in capsys.readouterr().out
    text = path.read_text("utf-8")
    for msgid in ("half(x) is right", "The result is twice as large", "Return 2 * x."):
        text = text.replace(f'msgid "{msgid}"\nmsgstr ""', f'msgid "{msgid}"\nmsgstr "번역"')
    assert text.count("번역") == 3
    path.write_text(text, "utf-8")
    exit_code(*words, "--course", new_course_folder)
    said = capsys.readouterr().out
    assert "added at the end" not in said
    assert "Return 2 * x." not in said
    assert "every shape works" in said
    assert path.read_text("utf-8") == text


def test_missing_texts_need_a_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("verify", "--write-texts") == ExitCode.USAGE
    assert "--write-texts needs a language: --lang ko" in capsys.readouterr().err


def test_a_work_folder_knows_the_course_that_it_was_made_for(
    new_course_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is run from there unless it is named: the folder may be somebody else's."""
    work = tmp_path / "work"
    assert exit_code("init", work, "--course", new_course_folder) == ExitCode.OK
    monkeypatch.chdir(work)
    for text in (capsys.readouterr().out, (work / "README.md").read_text("utf-8")):
        assert f"Addtoeachcommand:--course'{new_course_folder}'".replace(" ", "") in "".join(
            text.split()
        )
    assert exit_code("list") == ExitCode.USAGE
    assert f"Name it: --course {new_course_folder}" in capsys.readouterr().err
    assert exit_code("list", "--course", new_course_folder) == ExitCode.OK
    assert "halving" in capsys.readouterr().out


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
        (("thirds", "--class", "third"), "'third' can't name a class"),
        (("thirds", "--function", "a", "--function", "b"), "Name one function or one class"),
        (("thirds", "--function", "a", "--class", "B"), "Name one function or one class"),
        (("thirds", "--function", "a(x, x)"), "names an input twice"),
        (("thirds", "--function", "a(x, 2)"), "'2' can't name a tensor"),
        (("thirds", "--function", "a(x, w)"), "must be an expression of x, w with functions"),
        (("thirds", "--truth", "x +"), "--truth 'x +' is not an expression"),
        (("thirds", "--truth", "2 * y"), "must be an expression of x with functions of torch"),
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
    files = lesson_files("halving", "half", is_class=False, everywhere=())
    assert all("halving" in path for path in files)
