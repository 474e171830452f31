"""A made-up class for the tests of exports: two lessons, and one submission for each thing that can
become of one.
"""

from __future__ import annotations

from grader.classroom.gradebook.records import Adjustment, CheckColumn, GradebookEntry, LessonColumn
from grader.classroom.imports.records import StudentIdentity
from grader.core.report import (
    CheckResult,
    CourseIdentity,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
    SandboxReport,
)

COLUMNS = (
    LessonColumn(
        "slopes",
        "Slopes",
        10.0,
        1.0,
        (
            CheckColumn("slopes.seen", "the slope is right", 6.0, False, False),
            CheckColumn("slopes.unseen", "it holds at zero", 4.0, False, True),
            CheckColumn("slopes.more", "and beyond", 1.0, True, False),
        ),
    ),
    LessonColumn(
        "chains", "Chains", 10.0, 0.0, (CheckColumn("chains.all", "all links", 10.0, False, False),)
    ),
)
RIGHT, WRONG, FAULT = Outcome.PASSED, Outcome.FAILED, Outcome.GRADER_ERROR


def checked(check: CheckColumn, outcome: Outcome) -> CheckResult:
    """A check's result, with something secret in it."""
    return CheckResult(
        id=check.id,
        title=check.title,
        function="f",
        outcome=outcome,
        points=check.max_points if outcome is RIGHT else 0.0,
        max_points=check.max_points,
        bonus=check.bonus,
        hidden=check.hidden,
        message="wrong for x = secret",
        hint="think",
        expected=1.0,
        actual=2.0,
        inputs={"x": "secret"},
        output="printed secret\x1b[31m" + "y" * 600,
        seconds=0.25,
        diagnosis=None if outcome is RIGHT else "mixed_up",
        diagnosis_title="mixed up",
        evidence="x = secret",
    )


def judged(column: LessonColumn, *outcomes: Outcome) -> LessonResult:
    """A lesson's result; without outcomes it is missing."""
    checks = tuple(
        checked(check, outcome) for check, outcome in zip(column.checks, outcomes, strict=False)
    )
    score = sum(check.points for check in checks if not check.bonus)
    bonus = sum(check.points for check in checks if check.bonus)
    if not outcomes:
        return LessonResult(
            column.id,
            column.title,
            LessonStatus.MISSING,
            0.0,
            column.max_score,
            message=f"there is no {column.id}.py",
        )
    status = LessonStatus.PASSED if score == column.max_score else LessonStatus.FAILED
    file = f"{column.id}.py"
    return LessonResult(
        column.id,
        column.title,
        status,
        score,
        column.max_score,
        bonus,
        column.max_bonus,
        file,
        checks=checks,
    )


def report(name: str, *lessons: LessonResult) -> Report:
    """A report of lessons."""
    score, most = (
        sum(lesson.score for lesson in lessons),
        sum(lesson.max_score for lesson in lessons),
    )
    bonus = sum(lesson.bonus for lesson in lessons)
    sandbox = SandboxReport("auto", ("time", "memory"), ("network",))
    course = CourseIdentity("small", "1", "00ff")
    return Report(
        name,
        score,
        most,
        bonus,
        7,
        course,
        "0.1.0",
        sandbox,
        flags=("look here",),
        lessons=lessons,
        seconds=1.5,
    )


SLOPES, CHAINS = COLUMNS
ALICE = GradebookEntry(
    "Alice Doe",
    (
        StudentIdentity(
            "Alice Doe",
            {"canvas_id": "101", "moodle_participant": "11", "email": "alice@school.example"},
        ),
    ),
    report("Alice Doe", judged(SLOPES, RIGHT, WRONG, RIGHT), judged(CHAINS, RIGHT)),
    adjustments=(Adjustment(1.5, "on paper", "kim", "2026-03-01T10:00:00Z", "slopes"),),
    late=True,
)
BOB = GradebookEntry(
    "bob",
    (StudentIdentity("Bob =1+1", {"sis_login_id": "bob"}),),
    report("bob", judged(SLOPES, RIGHT, RIGHT, WRONG), judged(CHAINS)),
)
FAULTY = GradebookEntry(
    "eve",
    (StudentIdentity("Eve", {"canvas_id": "103"}),),
    report("eve", judged(SLOPES, RIGHT, RIGHT, WRONG), judged(CHAINS, FAULT)),
)
UNREAD = GradebookEntry(
    "dan", (StudentIdentity("Dan", {"canvas_id": "104"}),), problem="dan.zip is damaged"
)
MISSING = GradebookEntry("fay", (StudentIdentity("Fay", {"canvas_id": "105"}),), missing=True)
TEAM = GradebookEntry(
    "team",
    (StudentIdentity("한 지민"), StudentIdentity("José Núñez")),
    report("team", judged(SLOPES, RIGHT, RIGHT, RIGHT), judged(CHAINS, WRONG)),
)
CLASS = (ALICE, BOB, FAULTY, UNREAD, MISSING, TEAM)
