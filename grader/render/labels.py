"""The mark and the words for each outcome, one table for every renderer."""

from __future__ import annotations

from grader.core.report import LessonStatus, Outcome

MARKS = {
    Outcome.PASSED: "✔",
    Outcome.FAILED: "✘",
    Outcome.ERROR: "✘",
    Outcome.TIMEOUT: "⧗",
    Outcome.CRASHED: "✘",
    Outcome.SKIPPED: "·",
    Outcome.NOT_STARTED: "○",
    Outcome.GRADER_ERROR: "!",
}
WORDS = {
    Outcome.PASSED: "right",
    Outcome.FAILED: "wrong",
    Outcome.ERROR: "raised",
    Outcome.TIMEOUT: "out of time",
    Outcome.CRASHED: "crashed",
    Outcome.SKIPPED: "waiting",
    Outcome.NOT_STARTED: "not started",
    Outcome.GRADER_ERROR: "the grader's own fault",
}
STATUS_WORDS = {
    LessonStatus.PASSED: "complete",
    LessonStatus.FAILED: "in progress",
    LessonStatus.NOT_STARTED: "not started",
    LessonStatus.MISSING: "missing",
    LessonStatus.INVALID: "could not be loaded",
}
STATUS_MARKS = {
    LessonStatus.PASSED: "✔",
    LessonStatus.FAILED: "◐",
    LessonStatus.NOT_STARTED: "○",
    LessonStatus.MISSING: "–",
    LessonStatus.INVALID: "✘",
}
QUIET = (Outcome.PASSED, Outcome.NOT_STARTED, Outcome.SKIPPED)
"""Outcomes that need no explaining of their own."""
HELD_BACK = (
    "{count} checks, worth {points} points, don't run in this bundle; they run where your work is"
    " graded."
)
OWN_FAULT = (
    "Part of this could not be judged, by the grader's own fault. It costs you nothing; please"
    " report it."
)
