"""Write positions in a student's file as people look for them."""

from __future__ import annotations

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, WrongExpression


def place(lesson: LessonResult, check: CheckResult, tr: Catalogue) -> str:
    """Return ``custom_sigmoid.py:14``, or ``custom_sigmoid.ipynb, cell 4, line 2``."""
    return _place(lesson, check.cell, check.source_line, tr)


def place_of(lesson: LessonResult, wrong: WrongExpression, tr: Catalogue) -> str:
    """Return the place of a wrong expression, in the form used for a failed check."""
    return _place(lesson, wrong.cell, wrong.line, tr)


def _place(lesson: LessonResult, cell: int | None, line: int | None, tr: Catalogue) -> str:
    if cell is None:
        return f"{lesson.file}:{line}"
    return tr("{file}, cell {cell}, line {line}", file=lesson.file, cell=cell, line=line)
