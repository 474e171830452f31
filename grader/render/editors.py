"""Print a report for programs that show it beside the code: GitHub Actions, and editors.

For GitHub: annotations of lines, a summary of the run, and output in which a student's code can't
give workflow commands. The runner treats a printed line that begins with ``::`` (after optional
blanks) as a command. So text of a student's code must never be printed while commands are on;
``silenced`` turns them off around it. Format: GitHub's "Workflow commands for GitHub Actions".

For editors: lines such as ``path:line:column: error: title: cause``. Vim's quickfix, Emacs'
compilation mode and VS Code's problem matchers know this form.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Report
from grader.core.text import clean, values_text
from grader.render.page import (
    OWN_FAULT,
    counted_outcomes,
    held_back,
    looks_like,
    place,
    points_waiting,
    reason,
)

MAX_ANNOTATIONS = 10
"""GitHub shows ten errors of a step."""


@contextlib.contextmanager
def silenced(write: Callable[[str], object]) -> Iterator[None]:
    """Turn workflow commands off during a block; the text that ends this can't be guessed."""
    token = secrets.token_hex(16)
    write(f"::stop-commands::{token}")
    try:
        yield
    finally:
        write(f"::{token}::")


def escaped(text: str) -> str:
    """Return a command's message, with percent signs and line ends escaped."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """Return a command's property, with colons and commas escaped too: they would end it."""
    return escaped(text).replace(":", "%3A").replace(",", "%2C")


def error_lines(report: Report, folder: PurePosixPath, tr: Catalogue) -> Iterator[str]:
    """Yield annotations: files missing or not loaded, then the first ten failures.

    ``folder`` is the submission's path in the repository.
    """
    for lesson in report.lessons:
        if lesson.status in (LessonStatus.MISSING, LessonStatus.INVALID):
            first = next((check for check in lesson.checks if check.source_line), None)
            text = clean(lesson.message or tr(lesson.status.word))
            yield command(lesson, folder, first, lesson.id, text, tr)
    shown = [
        (lesson, check)
        for lesson in report.lessons
        if lesson.status is not LessonStatus.INVALID
        for check in lesson.failures
    ]
    for lesson, check in shown[:MAX_ANNOTATIONS]:
        text = message(check, lesson, tr)
        yield command(lesson, folder, check, f"{lesson.id}: {check.title}", text, tr)


def line_of(check: CheckResult | None) -> int | None:
    """Return the line to annotate; None in a notebook, whose lines on disk differ."""
    return check.source_line if check and check.cell is None else None


def command(
    lesson: LessonResult,
    folder: PurePosixPath,
    check: CheckResult | None,
    title: str,
    text: str,
    tr: Catalogue,
) -> str:
    """Return ``::error file=…,line=…,title=…::…``; the text names a notebook's cell."""
    line = line_of(check)
    named = {
        "file": str(folder / lesson.file) if lesson.file else "",
        "line": str(line) if line else "",
        "title": clean(title),
    }
    properties = [f"{name}={escaped_property(value)}" for name, value in named.items() if value]
    if check and check.cell:
        text += "\n" + clean(place(lesson, check, tr))
    return f"::error {','.join(properties)}::{escaped(text)}"


def message(check: CheckResult, lesson: LessonResult, tr: Catalogue) -> str:
    if check.own_fault:
        return tr(OWN_FAULT)
    lines = [check.message or tr(check.outcome.word)]
    if check.expected is not None:
        expected, actual = values_text(check.expected, check.actual)
        lines += [f"{tr('expected')} {expected}", f"{tr('got')} {actual}"]
    lines += filter(None, [looks_like(check, tr), points_waiting(check, lesson, tr)])
    return "\n".join(clean(line) for line in lines)


def step_summary(report: Report, tr: Catalogue) -> str:
    """Return the step's summary in Markdown: the points of each lesson, then what is not right."""
    lines = [
        f"## {escape_markdown(report.submission)}: {report.score:g} / {report.max_score:g}",
        "",
    ]
    if report.held_checks:
        lines += [held_back(report, tr), ""]
    if report.own_fault:
        lines += [tr(OWN_FAULT), ""]
    lines += [f"| {tr('lesson')} | {tr('points')} | |", "|---|---:|---|"]
    lines += [
        f"| {lesson.id} | {lesson.score:g} / {lesson.max_score:g} |"
        f" {escape_markdown(standing(lesson, tr))} |"
        for lesson in report.lessons
    ]
    for lesson in report.lessons:
        # The table has the only reason why a file is not loaded; no check could add anything.
        wrong = lesson.failures if lesson.status is not LessonStatus.INVALID else []
        if wrong:
            lines += ["", f"### {lesson.id}", ""]
        for check in wrong:
            said = escape_markdown(message(check, lesson, tr))
            lines.append(f"* {check.outcome.mark} {escape_markdown(check.title)}<br>{said}")
    return "\n".join(lines) + "\n"


def standing(lesson: LessonResult, tr: Catalogue) -> str:
    if lesson.message:
        line = line_of(next((check for check in lesson.checks if check.source_line), None))
        return f"{lesson.file}:{line} {lesson.message}" if line else lesson.message
    return counted_outcomes(lesson, tr)


def escape_markdown(text: str) -> str:
    """Escape every character that has a meaning in Markdown or HTML."""
    shown = (f"&#{ord(c)};" if c in "\\`*_{}[]<>()#+-!|&~:@$\"'" else c for c in clean(text))
    return "".join(shown).replace("\n", "<br>")


def place_in_repository(place: Path, workspace: str | None) -> PurePosixPath:
    """Return a folder's path in the checked out repository, as annotations need it."""
    root = Path(workspace or ".").resolve()
    folder = place.resolve()
    inside = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return PurePosixPath(inside.as_posix())


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
        if lesson.status is LessonStatus.INVALID:
            first = next((check for check in lesson.failures if check.source_line), None)
            yield _line(lesson, first, folder, lesson.message or lesson.id, tr)
        else:
            for check in lesson.failures:
                yield _line(lesson, check, folder, f"{check.title}: {reason(check, tr)}", tr)


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
