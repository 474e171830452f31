"""Where in a student's file something is, as people look for it."""

from __future__ import annotations

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult


def place(lesson: LessonResult, check: CheckResult, tr: Catalogue) -> str:
    """``custom_sigmoid.py:14``, or ``custom_sigmoid.ipynb, cell 4, line 2``."""
    if check.cell is None:
        return f"{lesson.file}:{check.source_line}"
    return tr(
        "{file}, cell {cell}, line {line}",
        file=lesson.file,
        cell=check.cell,
        line=check.source_line,
    )
