"""Make gradebook entries. ``ENTRIES`` is a class of two lessons, with one entry for each possible
result of a submission.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.classroom.gradebook.entry import Adjustment, CheckColumn, GradebookEntry, LessonColumn
from grader.classroom.imports.entries import StudentIdentity
from grader.core.report import (
    CheckResult,
    CourseIdentity,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
    SandboxReport,
)
from grader.core.scoring import lesson_score, lesson_status, points_for, report_score

PASSED, FAILED, GRADER_ERROR = Outcome.PASSED, Outcome.FAILED, Outcome.GRADER_ERROR


def make_check(check: CheckColumn, outcome: Outcome, **details: Any) -> CheckResult:
    """Return a check's result with the points that its outcome is worth."""
    return CheckResult(
        check.id,
        check.title,
        "f",
        outcome,
        points_for(outcome, check.max_points),
        check.max_points,
        check.bonus,
        check.hidden,
        **details,
    )


def make_lesson(
    column: LessonColumn, checks: Sequence[CheckResult], **details: Any
) -> LessonResult:
    """Return a lesson's result that is the sum of its checks' results."""
    score, _, bonus, _ = lesson_score(checks)
    return LessonResult(
        column.id,
        column.title,
        lesson_status(checks),
        score,
        column.max_score,
        bonus,
        column.max_bonus,
        checks=tuple(checks),
        **details,
    )


def make_report(name: str, lessons: Sequence[LessonResult] = (), **details: Any) -> Report:
    """Return a submission's report that is the sum of its lessons' results."""
    score, max_score, bonus = report_score(lessons)
    sandbox = SandboxReport("auto", ("time", "memory"), ("network",))
    return Report(
        name,
        score,
        max_score,
        bonus,
        7,
        CourseIdentity("small", "1", "00ff"),
        "0.1.0",
        sandbox,
        lessons=tuple(lessons),
        **details,
    )


# ------------------------------------------------------------------------------- a class of six


SLOPES = LessonColumn(
    "slopes",
    "Slopes",
    10.0,
    1.0,
    (
        CheckColumn("slopes.seen", "the slope is right", 6.0, False, False),
        CheckColumn("slopes.unseen", "it holds at zero", 4.0, False, True),
        CheckColumn("slopes.more", "and beyond", 1.0, True, False),
    ),
)
CHAINS = LessonColumn(
    "chains", "Chains", 10.0, 0.0, (CheckColumn("chains.all", "all links", 10.0, False, False),)
)
COLUMNS = (SLOPES, CHAINS)


def detailed_check(check: CheckColumn, outcome: Outcome) -> CheckResult:
    """Return a check's result in which every field is set, some to secrets."""
    passed = outcome is PASSED
    return make_check(
        check,
        outcome,
        message="wrong for x = secret",
        hint="think",
        expected=1.0,
        actual=2.0,
        inputs={"x": "secret"},
        output="printed secret\x1b[31m" + "y" * 600,
        seconds=0.25,
        diagnosis=None if passed else "mixed_up",
        diagnosis_title="mixed up",
        evidence="x = secret",
    )


def detailed_lesson(column: LessonColumn, *outcomes: Outcome) -> LessonResult:
    """Return a lesson's result for the outcomes of its first checks, with every field set."""
    checks = [
        detailed_check(check, outcome)
        for check, outcome in zip(column.checks, outcomes, strict=False)
    ]
    return make_lesson(column, checks, file=f"{column.id}.py")


def missing_lesson(column: LessonColumn) -> LessonResult:
    """Return the result of a lesson for which there is no file."""
    return LessonResult(
        column.id,
        column.title,
        LessonStatus.MISSING,
        0.0,
        column.max_score,
        message=f"there is no {column.id}.py",
    )


def detailed_report(name: str, *lessons: LessonResult) -> Report:
    """Return a report with a flag and a duration."""
    return make_report(name, lessons, flags=("look here",), seconds=1.5)


ALICE = GradebookEntry(
    "Alice Doe",
    (
        StudentIdentity(
            "Alice Doe",
            {"canvas_id": "101", "moodle_participant": "11", "email": "alice@school.example"},
        ),
    ),
    detailed_report(
        "Alice Doe",
        detailed_lesson(SLOPES, PASSED, FAILED, PASSED),
        detailed_lesson(CHAINS, PASSED),
    ),
    adjustments=(Adjustment(1.5, "on paper", "kim", "2026-03-01T10:00:00Z", "slopes"),),
    late=True,
)
BOB = GradebookEntry(
    "bob",
    (StudentIdentity("Bob =1+1", {"sis_login_id": "bob"}),),
    detailed_report("bob", detailed_lesson(SLOPES, PASSED, PASSED, FAILED), missing_lesson(CHAINS)),
)
FAULTY = GradebookEntry(
    "eve",
    (StudentIdentity("Eve", {"canvas_id": "103"}),),
    detailed_report(
        "eve",
        detailed_lesson(SLOPES, PASSED, PASSED, FAILED),
        detailed_lesson(CHAINS, GRADER_ERROR),
    ),
)
UNREADABLE = GradebookEntry(
    "dan", (StudentIdentity("Dan", {"canvas_id": "104"}),), problem="dan.zip is damaged"
)
MISSING = GradebookEntry("fay", (StudentIdentity("Fay", {"canvas_id": "105"}),), missing=True)
TEAM = GradebookEntry(
    "team",
    (StudentIdentity("한 지민"), StudentIdentity("José Núñez")),
    detailed_report(
        "team", detailed_lesson(SLOPES, PASSED, PASSED, PASSED), detailed_lesson(CHAINS, FAILED)
    ),
)
ENTRIES = (ALICE, BOB, FAULTY, UNREADABLE, MISSING, TEAM)
