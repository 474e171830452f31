"""The mark and the word for each outcome, in one table for all renderers."""

from __future__ import annotations

from grader.core.i18n import Catalogue
from grader.core.limits import MIB
from grader.core.report import LessonStatus, Outcome, SandboxReport

MARKS = {
    Outcome.PASSED: "✔",
    Outcome.FAILED: "✘",
    Outcome.ERROR: "✘",
    Outcome.TIMEOUT: "◷",
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
LEGEND = {
    "✘": "wrong: another result, a raised exception, or a crash",
    "◷": "it took too long",
    "!": "the grader's own fault",
    "·": "waits for another check",
    "✔": "right",
    "◐": "in progress",
    "○": "not started",
    "–": "no file",
}
"""What each mark means, as a page explains it."""
QUIET = (Outcome.PASSED, Outcome.NOT_STARTED, Outcome.SKIPPED)
"""Outcomes that need no explanation."""
HELD_BACK = (
    "{count} checks, worth {points} points, don't run in this bundle; they run where your work is"
    " graded."
)
LIMITS = {
    "cpu_seconds": ("{limit} s of processor time", 1),
    "memory_bytes": ("{limit} MB of memory", MIB),
    "file_bytes": ("{limit} MB for one file", MIB),
    "open_files": ("{limit} open files", 1),
}
"""The words for each limit that a host can lower, and its unit."""
VERDICT = "verdict"
"""The guarantee that no process of a worker can reach a process that judges it."""
GUARANTEES = {
    "environment": "environment variables",
    "descriptors": "files that the grader has open",
    "verdict": "the processes that judge it",
}
"""Guarantees whose short name needs explaining."""
NOT_CONFINED = "This system does not limit your code's use of: {names}."
FORGEABLE = (
    "This system lets your code reach the processes that judge it, so this score could be forged."
)
LOWERED = "This system allows your code less than the course does: {limits}."


def host_limitations(sandbox: SandboxReport, tr: Catalogue) -> list[str]:
    """Return a sentence for the guarantees that did not hold, and one for lowered limits."""
    sentences = []
    unconfined = [name for name in sandbox.missing if name != VERDICT]
    if unconfined:
        sentences.append(tr(NOT_CONFINED, names=", ".join(map(tr, unconfined))))
    if VERDICT in sandbox.missing:
        sentences.append(tr(FORGEABLE))
    if sandbox.lowered:
        limits = [
            tr(LIMITS[name][0], limit=f"{value / LIMITS[name][1]:.3g}")
            for name, value in sandbox.lowered.items()
            if name in LIMITS
        ]
        sentences.append(tr(LOWERED, limits=", ".join(limits)))
    return sentences


OWN_FAULT = (
    "The grader failed here, not your code, so these points are still open. Grade again, and report"
    " it if it happens again."
)
