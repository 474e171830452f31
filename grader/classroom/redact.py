"""Leave out of a report what a student's page of a batch must not show."""

from __future__ import annotations

from dataclasses import replace

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report

WITHHELD = "This check is hidden, so its inputs are not shown."
TELLING = (Outcome.FAILED, Outcome.ERROR, Outcome.GRADER_ERROR)
"""Outcomes whose message may contain a value that the check drew."""


def withheld(report: Report, tr: Catalogue | None = None) -> Report:
    """Return the report with only title, outcome, points, hint and mistake of hidden checks.

    The reason why a file could not be loaded stays, because it is the same for every check.
    """
    tr = tr or Catalogue()

    def check(one: CheckResult) -> CheckResult:
        if not one.hidden:
            return one
        message = tr(WITHHELD) if one.outcome in TELLING else one.message
        bare = replace(one, message=message, evidence=None, expected=None, actual=None, inputs={})
        return replace(
            bare,
            source_line=None,
            cell=None,
            source_text=None,
            source_column=None,
            output="",
            note=None,
            figures=[],
            call=None,
            diagnosed_by=None if one.diagnosed_by == "repair" else one.diagnosed_by,
            wrong_expression=None,
            signature=None,
        )

    def lesson(one: LessonResult) -> LessonResult:
        if one.status is LessonStatus.INVALID:
            return one
        return replace(one, checks=tuple(map(check, one.checks)))

    return replace(report, lessons=tuple(map(lesson, report.lessons)))
