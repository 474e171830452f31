"""The plain text that another system shows for a check that did not pass."""

from __future__ import annotations

from collections.abc import Iterator

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, Outcome
from grader.core.text import clean, text, values_text
from grader.render.page import WORDS, place, points_waiting

OWN_FAULT = (
    "This could not be graded because of the grader's own fault. It costs no points and will be"
    " graded again."
)


def explanation(check: CheckResult, lesson: LessonResult) -> str:
    """Return why a check did not pass, with numbers; empty if it passed."""
    if check.outcome is Outcome.PASSED:
        return ""
    return "\n".join(clean(line) for line in lines_of(check, lesson)) or WORDS[check.outcome]


def lines_of(check: CheckResult, lesson: LessonResult) -> Iterator[str]:
    if check.outcome is Outcome.GRADER_ERROR:
        yield OWN_FAULT
        return
    if check.evidence:
        yield f"Looks like: {check.diagnosis_title}. {check.evidence}"
    elif check.diagnosis_title:
        yield f"Looks like: {check.diagnosis_title}"
    if check.source_line:
        yield f"{place(lesson, check, Catalogue())}    {check.source_text or ''}"
    if check.message:
        yield check.message
    if check.expected is not None or check.actual is not None:
        expected, actual = values_text(check.expected, check.actual)
        yield f"expected {expected}" if check.expected is not None else ""
        yield f"got      {actual}"
    if check.inputs:
        yield "   ".join(f"{name} = {text(value)}" for name, value in check.inputs.items())
    if sentence := points_waiting(check, lesson, Catalogue()):
        yield sentence
    if check.hint:
        yield f"A nudge: {check.hint}"
