"""A student's page of a batch leaves out everything that hidden checks asked, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from grader.classroom.exports.classroom50 import release_body, result
from grader.classroom.exports.common import ExportRequest
from grader.classroom.exports.feedback import feedback_lines, files_for_canvas
from grader.classroom.gradebook.entry import GradebookEntry
from grader.classroom.public_report import WITHHELD, withheld
from grader.cli.exports import FORMATS
from grader.core.i18n import Catalogue, engine_catalogue
from grader.core.report import (
    CheckResult,
    CourseIdentity,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
    SandboxReport,
    WrongExpression,
)

SECRET = "0.8125"


def report_with_secrets(
    outcome: Outcome, *, hidden: bool, status: LessonStatus = LessonStatus.FAILED
) -> Report:
    """Return a report of one check that contains a secret number in every possible place."""
    check = CheckResult(
        "tiny.double",
        "doubles x",
        "double",
        outcome,
        0.0,
        2.0,
        hidden=hidden,
        message=f"wrong for {SECRET}",
        diagnosis="squares",
        diagnosis_title="x is squared",
        evidence=f"for {SECRET}",
        hint="double it",
        expected=SECRET,
        actual=SECRET,
        inputs={"x": SECRET},
        source_line=3,
        source_text="return x",
        output=SECRET,
        seed=4,
        note=SECRET,
        diagnosed_by="repair",
        wrong_expression=WrongExpression(3, 8, 3, 9, "x", "return x"),
        open_message="1 of 3 elements are wrong" if hidden else None,
    )
    lesson = LessonResult("tiny", "Tiny", status, 0.0, 2.0, checks=(check,))
    return Report(
        "al",
        0.0,
        2.0,
        0.0,
        7,
        CourseIdentity("small", "0", "c"),
        "0",
        SandboxReport("auto"),
        lessons=(lesson,),
    )


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.ERROR, Outcome.GRADER_ERROR])
def test_nothing_of_what_a_hidden_check_asked_is_left(outcome: Outcome) -> None:
    report = withheld(report_with_secrets(outcome, hidden=True))
    assert SECRET not in json.dumps(report.as_json())
    (check,) = report.lessons[0].checks
    assert (check.title, check.outcome, check.max_points, check.diagnosis_title, check.hint) == (
        "doubles x", outcome, 2.0, "x is squared", "double it",
    )  # fmt: skip
    assert check.message == (
        "1 of 3 elements are wrong (This check is hidden, so its inputs are not shown.)"
    )


def test_the_students_own_text_stays() -> None:
    """It is the line that ran, and the expression that the search found."""
    whole = report_with_secrets(Outcome.FAILED, hidden=True)
    (check,), (before,) = (one.lessons[0].checks for one in (withheld(whole), whole))
    assert (check.source_line, check.source_text) == (3, "return x")
    assert (check.wrong_expression, check.diagnosed_by) == (before.wrong_expression, "repair")


def test_without_anything_open_to_say_that_much_is_said() -> None:
    report = report_with_secrets(Outcome.FAILED, hidden=True)
    bare = replace(report.lessons[0].checks[0], open_message=None)
    report = replace(report, lessons=(replace(report.lessons[0], checks=(bare,)),))
    (check,) = withheld(report).lessons[0].checks
    assert (check.message, check.evidence) == (WITHHELD, None)
    open_one = replace(bare, open_evidence="Pass create_graph=True.")
    report = replace(report, lessons=(replace(report.lessons[0], checks=(open_one,)),))
    assert withheld(report).lessons[0].checks[0].evidence == "Pass create_graph=True."


def test_a_limit_that_was_hit_is_said_also_of_a_hidden_check() -> None:
    (check,) = withheld(report_with_secrets(Outcome.TIMEOUT, hidden=True)).lessons[0].checks
    assert check.message == f"wrong for {SECRET}"
    assert check.inputs == {}


@pytest.mark.parametrize("outcome", list(Outcome))
def test_visible_checks_are_left_as_they_are(outcome: Outcome) -> None:
    assert withheld(report_with_secrets(outcome, hidden=False)) == report_with_secrets(
        outcome, hidden=False
    )


def test_a_file_that_could_not_be_loaded_says_why_under_every_check() -> None:
    report = report_with_secrets(Outcome.ERROR, hidden=True, status=LessonStatus.INVALID)
    assert withheld(report) == report


def test_what_is_said_in_place_of_it_is_in_the_readers_language() -> None:
    tr = engine_catalogue("ko")
    (check,) = withheld(report_with_secrets(Outcome.FAILED, hidden=True), tr).lessons[0].checks
    assert check.message == (
        "1 of 3 elements are wrong (비공개 검사이므로 입력을 보여 주지 않습니다.)"
    )


def test_withholding_leaves_the_report_itself_as_it_was() -> None:
    report = report_with_secrets(Outcome.FAILED, hidden=True)
    before = replace(report)
    withheld(report)
    assert report == before


ENTRY = GradebookEntry(
    "al", (), report_with_secrets(Outcome.FAILED, hidden=True), handed_in_as="al.py"
)


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"canvas", "moodle"}))
def test_an_export_that_students_read_has_nothing_of_it(name: str) -> None:
    """The other two fill in a template with numbers; JSON is for the instructor, and has it all."""
    made = str(list(FORMATS[name].export([ENTRY], (), ExportRequest())))
    assert "doubles x" in made or name == "csv"
    assert (SECRET in made) is (name == "json")


def test_feedback_and_classroom_50_have_nothing_of_it() -> None:
    shown = ENTRY.public()
    data = result(shown, {}, {})
    pieces = files_for_canvas([shown], lambda name: b"", lambda name, lesson: "return x\n")
    made = f"{data}{release_body(shown, data, Catalogue())}{list(pieces)}"
    made += "".join(feedback_lines(shown))
    assert made.count("doubles x") >= 4
    assert SECRET not in made
