"""A report in a GitHub Actions log: commands at the right lines, and none from a student."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from factories.gradebook import (
    FAILED,
    GRADER_ERROR,
    PASSED,
    SLOPES,
    detailed_check,
    detailed_lesson,
    detailed_report,
)

from grader.cli import main
from grader.core.i18n import Catalogue, engine_catalogue
from grader.core.report import LessonResult, LessonStatus, Outcome, Report
from grader.course.course import Course
from grader.render.editors import (
    MAX_ANNOTATIONS,
    error_lines,
    place_in_repository,
    silenced,
    step_summary,
)

HOSTILE = "::set-env name=PATH::x\r\n::error::%0A | <b> `x` [a](b) @all\x1b[31m"


def with_check(**changes: Any) -> Report:
    """Return a report with one wrong check, changed."""
    check = replace(detailed_check(SLOPES.checks[0], FAILED), source_line=7, **changes)
    lesson = replace(detailed_lesson(SLOPES, FAILED), checks=(check,), file="slopes/slopes.py")
    return detailed_report("alice", lesson)


def lines(found: Report, folder: str = "work") -> list[str]:
    """Return the commands."""
    return list(error_lines(found, PurePosixPath(folder), Catalogue()))


def test_a_wrong_check_is_annotated_at_its_line() -> None:
    unnamed = {"expected": None, "evidence": None, "diagnosis_title": None}
    (line,) = lines(with_check(message="off: by one, 50%", **unnamed))
    place = "file=work/slopes/slopes.py,line=7,title=slopes%3A the slope is right"
    assert line == f"::error {place}::off: by one, 50%25"


def test_what_a_student_wrote_is_never_a_command_of_its_own() -> None:
    """Each command is one line that begins as ours does; properties contain no separator."""
    hostile = with_check(message=HOSTILE, title=HOSTILE, evidence=HOSTILE)
    hostile = replace(hostile, lessons=(replace(hostile.lessons[0], file="a,b::c\n.py"),))
    (line,) = lines(hostile)
    assert "\n" not in line
    assert "\r" not in line
    properties = line.removeprefix("::error ").partition("::")[0]
    assert [part.partition("=")[0] for part in properties.split(",")] == ["file", "line", "title"]
    assert "file=work/a%2Cb%3A%3Ac%0A.py" in properties


def test_an_annotation_says_how_many_points_wait_for_its_check() -> None:
    found = with_check()
    (lesson,) = found.lessons
    (check,) = lesson.checks
    waiting = replace(check, id="slopes.later", outcome=Outcome.SKIPPED, needs=check.id)
    found = replace(found, lessons=(replace(lesson, checks=(check, waiting)),))
    (line,) = lines(found)
    assert f"%0A{waiting.max_points:g} more points can be earned once" in line


def test_right_waiting_and_unbegun_checks_are_not_annotated() -> None:
    for outcome in (Outcome.PASSED, Outcome.SKIPPED, Outcome.NOT_STARTED):
        assert lines(with_check(outcome=outcome)) == []


@pytest.mark.parametrize("status", [LessonStatus.MISSING, LessonStatus.INVALID])
def test_a_lesson_that_can_not_be_judged_is_one_annotation(status: LessonStatus) -> None:
    lesson = replace(detailed_lesson(SLOPES, FAILED), status=status, message="there is no it")
    told = lines(detailed_report("alice", lesson))
    (about,) = (line for line in told if "title=slopes::" in line)
    assert about.endswith("::there is no it")
    assert status is LessonStatus.MISSING or told == [about]


def test_no_more_are_annotated_than_are_shown() -> None:
    lesson = detailed_lesson(SLOPES, FAILED)
    many = tuple(replace(lesson.checks[0], id=f"slopes.{n}") for n in range(30))
    found = detailed_report("alice", replace(lesson, checks=many))
    assert len(lines(found)) == MAX_ANNOTATIONS


def test_a_fault_of_ours_is_said_to_be_ours() -> None:
    lesson = detailed_lesson(SLOPES, GRADER_ERROR)
    (check,) = lesson.checks
    ours = replace(check, message="KeyError: 1", note="Traceback")
    (line,) = lines(detailed_report("alice", replace(lesson, checks=(ours,))))
    assert "The grader failed here, not your code" in line


def test_a_fault_of_the_host_is_said_in_full() -> None:
    lesson = detailed_lesson(SLOPES, GRADER_ERROR)
    busy = replace(lesson.checks[0], message="the computer was too busy: stop other programs")
    found = detailed_report("alice", replace(lesson, checks=(busy,)))
    for text in (*lines(found), step_summary(found, Catalogue())):
        assert "The grader failed" not in text
    assert "the computer was too busy: stop other programs" in lines(found)[0]


def test_the_summary_has_points_and_what_is_wrong() -> None:
    found = detailed_report("alice", detailed_lesson(SLOPES, PASSED, FAILED))
    text = step_summary(found, Catalogue())
    assert text.startswith("## alice: 6 / 10\n")
    assert "| slopes | 6 / 10 | 1 right · 1 wrong |" in text
    assert "* ✘ it holds at zero<br>" in text


@pytest.mark.parametrize(
    ("count", "points", "said"),
    [
        (3, 4.0, "3 checks, worth 4 points, don't run in this bundle; they run"),
        (1, 1.0, "1 check, worth 1 of the points, doesn't run in this bundle; it runs"),
    ],
)
def test_the_summary_says_what_is_held_back(count: int, points: float, said: str) -> None:
    held: LessonResult = replace(
        detailed_lesson(SLOPES, PASSED), held_checks=count, held_points=points
    )
    text = step_summary(detailed_report("alice", held), Catalogue())
    assert said in text
    assert f"1 right · {count} held back" in text


def test_the_summary_takes_nothing_for_markup() -> None:
    text = step_summary(with_check(message=HOSTILE, title=HOSTILE, evidence=HOSTILE), Catalogue())
    body = text.partition("###")[2]
    assert not set("`[]@\x1b").intersection(body)
    assert "<b>" not in body


def test_a_file_that_is_no_python_is_one_line_of_the_summary() -> None:
    """It says where and why, and is not repeated for each check."""
    said: dict[str, Any] = {"message": "SyntaxError: no"}
    error = detailed_check(SLOPES.checks[0], Outcome.ERROR)
    checks = tuple(replace(error, id=f"slopes.{n}", source_line=3, **said) for n in range(3))
    lesson = replace(detailed_lesson(SLOPES, FAILED), status=LessonStatus.INVALID, checks=checks)
    found = detailed_report("alice", replace(lesson, file="s/slopes.py", **said))
    text = step_summary(found, Catalogue())
    assert text.count("SyntaxError") == 1
    assert "s/slopes.py&#58;3 SyntaxError&#58; no" in text


def test_a_summary_in_korean_has_no_english_left() -> None:
    tr = engine_catalogue("ko")
    found = replace(detailed_lesson(SLOPES, FAILED, GRADER_ERROR), held_checks=3, held_points=4.0)
    step_summary(detailed_report("alice", found), tr)
    list(error_lines(detailed_report("alice", found), PurePosixPath(), tr))
    assert tr.missing == set()


def test_commands_are_off_in_between_and_on_again_even_after_an_error() -> None:
    said: list[str] = []
    with pytest.raises(ZeroDivisionError), silenced(said.append):
        raise ZeroDivisionError
    begin, end = said
    token = begin.removeprefix("::stop-commands::")
    assert len(token) == 32
    assert end == f"::{token}::"
    with silenced(said.append):
        pass
    assert said[2] != begin


@pytest.mark.parametrize(
    ("place", "wanted"), [("repo/work", "work"), ("repo", "."), ("elsewhere", "{}/elsewhere")]
)
def test_files_are_named_as_the_repository_has_them(
    place: str, wanted: str, tmp_path: Path
) -> None:
    found = place_in_repository(tmp_path / place, str(tmp_path / "repo"))
    assert str(found) == wanted.format(tmp_path.resolve().as_posix())


@pytest.mark.usefixtures("lent_host")
def test_a_run_on_github_annotates_summarises_and_obeys_nobody(
    small_course: Course,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The code's output is between lines that turn commands off and on."""
    source = "def double(x):\n    print('::add-mask::2')\n    return x * x\n"
    (tmp_path / "tiny.py").write_text(source, "utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    places = ["--in", str(tmp_path), "--course", str(small_course.root)]
    with pytest.raises(SystemExit) as end:
        main(["tiny", *places, *"--lang en --no-html --format github".split()])
    assert end.value.code == 1
    said = capsys.readouterr().out.splitlines()
    token = said[0].removeprefix("::stop-commands::")
    back_on = said.index(f"::{token}::")
    assert any("::add-mask::2" in line for line in said[:back_on])
    wrong = "::error file=tiny.py,line=3,title=tiny%3A double returns twice x::"
    assert said[back_on + 1].startswith(wrong)
    assert not any("add-mask" in line for line in said[back_on:])
    assert "| tiny | 0 / 10 |" in (tmp_path / "summary.md").read_text("utf-8")
