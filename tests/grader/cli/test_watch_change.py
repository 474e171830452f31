"""The line of ``grade watch`` that says what a save changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.cli.watch_screen import change_text
from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome


def check(name: str, outcome: Outcome, diagnosis: str | None = None) -> CheckResult:
    points = 5.0 if outcome is Outcome.PASSED else 0.0
    return CheckResult(f"tiny.{name}", name, "double", outcome, points, 5.0, diagnosis=diagnosis)


def lesson(*outcomes: Outcome, status: LessonStatus = LessonStatus.FAILED) -> LessonResult:
    checks = tuple(check(str(number), outcome) for number, outcome in enumerate(outcomes))
    score = sum(one.points for one in checks)
    return LessonResult("tiny", "Tiny", status, score, 10.0, checks=checks)


RIGHT, WRONG, BLANK, RAISED = (Outcome.PASSED, Outcome.FAILED, Outcome.NOT_STARTED, Outcome.ERROR)
GONE = lesson(status=LessonStatus.MISSING)
BROKEN = replace(lesson(RAISED, RAISED, status=LessonStatus.INVALID), message="one")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (lesson(WRONG, RIGHT), lesson(RIGHT, RIGHT), "1 more right · +5 points"),
        (lesson(RIGHT, RIGHT), lesson(RIGHT, WRONG), "1 no longer right · -5 points"),
        (lesson(BLANK, BLANK), lesson(WRONG, BLANK), "1 begun, not right yet"),
        (lesson(BLANK, WRONG), lesson(RAISED, RIGHT), "1 more right · 1 begun, not right yet · +5"),
        (lesson(WRONG, RIGHT), lesson(RAISED, RIGHT), "1 wrong in another way"),
        (lesson(RIGHT, RIGHT), GONE, "the file is gone · 2 no longer right · -10 points"),
        (GONE, lesson(RIGHT, WRONG), "the file is back · 1 more right · +5 points"),
        (lesson(WRONG, WRONG), BROKEN, "the file can no longer be loaded"),
        (BROKEN, lesson(WRONG, WRONG), "the file can be loaded again"),
        (BROKEN, replace(BROKEN, message="two"), "another problem keeps the file from being"),
        (lesson(WRONG, RIGHT), lesson(WRONG, RIGHT), "nothing changed since the last run"),
        (BROKEN, BROKEN, "nothing changed since the last run"),
    ],
)
def test_what_changed_is_said_truthfully(
    before: LessonResult, after: LessonResult, said: str
) -> None:
    assert change_text(before, after, Catalogue()).plain.startswith(said)


def test_the_same_outcome_for_another_reason_is_a_change() -> None:
    old, new = (replace(lesson(), checks=(check("0", WRONG, name),)) for name in ("one", "two"))
    assert change_text(old, new, Catalogue()).plain == "1 wrong in another way"
    assert "nothing" in change_text(old, old, Catalogue()).plain
