"""Print a report as lines that editors understand: ``path:line:column: error: title: cause``.

Vim's quickfix, Emacs' compilation mode and VS Code's problem matchers know this form.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.core.text import clean
from grader.render.labels import OWN_FAULT, QUIET, WORDS
from grader.render.locations import place

BEGIN, END = "grade: begin", "grade: end"
"""The beginnings of the lines before and after the problems of one run."""
PATTERN = r"^(.+?):(\d+):(\d+): error: (.*)$"
"""What a problem line looks like: path, line, column, text."""


def problem_lines(report: Report, folder: Path, tr: Catalogue) -> Iterator[str]:
    """Yield a line for each failed check, and for each file that can't be loaded.

    A lesson that is not started has none. Paths begin with the submission's ``folder``. A cell and
    its line are part of the text, because editors know only lines of files.
    """
    for lesson in report.lessons:
        if lesson.status is LessonStatus.NOT_STARTED:
            continue
        wrong = [check for check in lesson.checks if check.outcome not in QUIET]
        if lesson.status is LessonStatus.INVALID:
            first = next((check for check in wrong if check.source_line), None)
            yield _line(lesson, first, folder, lesson.message or lesson.id, tr)
        else:
            for check in wrong:
                yield _line(lesson, check, folder, f"{check.title}: {cause(check, tr)}", tr)


def cause(check: CheckResult, tr: Catalogue) -> str:
    """Return the name of the mistake if there is one, else the message."""
    if check.outcome is Outcome.GRADER_ERROR:
        return tr(OWN_FAULT)
    return check.diagnosis_title or check.message or tr(WORDS[check.outcome])


def _line(
    lesson: LessonResult, check: CheckResult | None, folder: Path, text: str, tr: Catalogue
) -> str:
    path = folder / (lesson.file or lesson.id)
    line, column = 1, 1
    if check is not None and check.source_line:
        if check.cell is None:
            line = check.source_line
            column = check.source_column or first_column(path, line)
        else:
            text = f"{place(lesson, check, tr)}: {text}"
    return f"{path}:{line}:{column}: error: {' '.join(clean(text).split())}"


def first_column(path: Path, line: int) -> int:
    """Return where the code of a line begins, from 1; 1 if the file can't be read."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        code = path.read_text("utf-8").splitlines()[line - 1]
        return len(code) - len(code.lstrip()) + 1
    return 1


def run_lines(reports: Sequence[Report], folder: Path, tr: Catalogue) -> Iterator[str]:
    """Yield the line that begins a run, the problems of all reports, and the line that ends it.

    The run is that of the last report. Where a run begins, an editor forgets all earlier problems,
    so the problems of the other reports are repeated.
    """
    last = reports[-1]
    names = " ".join(lesson.id for lesson in last.lessons)
    yield f"{BEGIN} {names}"
    for report in reports:
        yield from problem_lines(report, folder, tr)
    yield f"{END} {names} {last.score:g}/{last.max_score:g}"
