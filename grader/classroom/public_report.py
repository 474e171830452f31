"""Keep what hidden checks ask off students' pages: the report that they may see."""

from __future__ import annotations

from dataclasses import replace
from typing import NewType

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report

PublicReport = NewType("PublicReport", Report)
"""A report without what students may not see. Whatever is written for them takes only this."""
WITHHELD = "This check is hidden, so its inputs are not shown."
WITHHELD_ALL_BUT = "{message} (This check is hidden, so its inputs are not shown.)"
TELLING = (Outcome.FAILED, Outcome.ERROR, Outcome.GRADER_ERROR)
"""Outcomes whose message may contain a value that the check drew."""


def withheld(report: Report, tr: Catalogue | None = None) -> PublicReport:
    """Return the report without what hidden checks asked and expected.

    The student's own text stays: the line that ran and the wrong expression. So does what the judge
    found open to say (``open_message``, ``open_evidence``), and the reason why a file could not be
    loaded, because it is the same for every check.
    """
    tr = tr or Catalogue()

    def check(one: CheckResult) -> CheckResult:
        if not one.hidden:
            return one
        message = one.message
        if one.outcome in TELLING:
            said = one.open_message
            message = tr(WITHHELD_ALL_BUT, message=said) if said else tr(WITHHELD)
        return replace(
            one,
            message=message,
            evidence=one.open_evidence,
            expected=None,
            actual=None,
            inputs={},
            output="",
            note=one.note and "",
            figures=[],
            call=None,
            signature=None,
        )

    def lesson(one: LessonResult) -> LessonResult:
        if one.status is LessonStatus.INVALID:
            return one
        return replace(one, checks=tuple(map(check, one.checks)))

    return PublicReport(replace(report, lessons=tuple(map(lesson, report.lessons))))
