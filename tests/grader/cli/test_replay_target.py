"""``grade replay`` without a lesson: which check it takes, what it lists, and its message if
nothing is known to be wrong.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from grader.cli.replay import SHOWN, ReplayRequest, resolve_target
from grader.cli.workspace import make_workspace
from grader.core.errors import UsageError
from grader.course.course import Course, Lesson
from grader.course.progress import LessonProgress, update_progress


@pytest.fixture
def course(small_course: Course) -> Course:
    """Return a course of two lessons."""
    (tiny,) = small_course.lessons
    return replace(small_course, lessons=(tiny, named(tiny, "second")))


def named(lesson: Lesson, name: str) -> Lesson:
    return replace(lesson, id=name)


@pytest.fixture
def workspace_folder(
    tmp_path: Path, small_course: Course, course: Course, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Make a workspace with both lessons and use it as the current folder."""
    make_workspace(small_course, tmp_path / "work", "en")
    (tmp_path / "work" / "second").mkdir()
    (tmp_path / "work" / "second" / "second.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def mark_wrong(workspace_folder: Path, **wrong: dict[str, int]) -> None:
    for lesson, checks in wrong.items():
        update_progress(
            workspace_folder,
            lambda known, lesson=lesson, checks=checks: known.having(  # type: ignore[misc]
                lesson, LessonProgress(1, wrong=checks)
            ),
        )


def asked(
    target: str = "", place: Path | None = None, *options: str, seed: int | None = None
) -> ReplayRequest:
    return ReplayRequest(target, place or Path(), seed=seed, lang="en", options=options)


def test_the_one_lesson_that_is_here_is_taken(workspace_folder: Path, course: Course) -> None:
    taken = resolve_target(course, asked(place=workspace_folder / "second"))
    assert taken is not None and taken.target == "second"


def test_the_one_lesson_that_was_wrong_is_taken(workspace_folder: Path, course: Course) -> None:
    mark_wrong(workspace_folder, tiny={}, second={"second.triple": 7})
    taken = resolve_target(course, asked())
    assert taken is not None and (taken.target, taken.place) == ("second", Path())


@pytest.mark.parametrize(("seed", "given"), [(None, ["--check-seed", "5"]), (9, ["--seed", "9"])])
def test_of_several_each_check_is_listed_with_the_command_that_takes_it(
    seed: int | None,
    given: list[str],
    workspace_folder: Path,
    course: Course,
    capsys: pytest.CaptureFixture[str],
) -> None:
    many = {f"second.check_{number}": number for number in range(SHOWN + 2)}
    mark_wrong(workspace_folder, tiny={"tiny.double": 5, "other.check": 1}, second=many)
    assert resolve_target(course, asked("", None, "--pdb", seed=seed)) is None
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "2 lessons had something wrong when they were graded last. Take one:"
    assert ["grade", "replay", "tiny.double", *given, "--pdb"] in [
        shlex.split(line) for line in lines
    ]
    assert sum("second.check_" in line for line in lines) == SHOWN
    assert "… and 2 more: grade replay second --pdb" in lines
    assert not any("other.check" in line for line in lines)


def test_without_a_known_wrong_check_the_message_says_to_grade_first(
    workspace_folder: Path, course: Course
) -> None:
    with pytest.raises(
        UsageError,
        match=(
            r"No check is known to be wrong in .*work\. Grade first: grade\. .* such as grade"
            r" replay tiny"
        ),
    ):
        resolve_target(course, asked())


def test_a_lesson_is_taken_as_it_was_named(workspace_folder: Path, course: Course) -> None:
    assert resolve_target(course, asked("tiny.double")) == asked("tiny.double")


def test_a_path_to_elsewhere_is_not_the_own_lesson(workspace_folder: Path, course: Course) -> None:
    """The printed commands use that path, too."""
    bobs = workspace_folder.parent / "bob" / "tiny.py"
    bobs.parent.mkdir()
    bobs.write_text("x = 1\n")
    for target in ("../bob/tiny.py", "../bob"):
        taken = resolve_target(course, asked(target))
        assert taken == replace(asked("tiny"), place=Path(target), options=("--in", target))


def test_a_path_replaces_only_the_value_of_in(workspace_folder: Path, course: Course) -> None:
    """Another option keeps its value, even if it is the same folder."""
    here = str(workspace_folder)
    request = asked("tiny/tiny.py", workspace_folder, "--in", here, "--course", here)
    taken = resolve_target(course, request)
    assert taken is not None
    assert taken.options == ("--course", here, "--in", f"{workspace_folder / 'tiny' / 'tiny.py'}")
