"""What all exports share: the request, the output, an entry's marks, and texts for other systems.

A format is a ``Format``, listed in ``cli/exports.py``. Its export reads entries one by one and
yields pieces of files and notes for the instructor. Cells for spreadsheet programs are escaped if
they would run as a formula.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from grader.classroom.gradebook.entry import (
    Adjustment,
    Comment,
    GradebookEntry,
    LessonColumn,
    PublicEntry,
    not_graded,
    total_points,
)
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import name_list
from grader.classroom.passed_over import passed_over_text
from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.core.text import clean, input_text, values_text
from grader.render.page import looks_like, place, points_waiting


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The options of an export.

    ``template`` is another system's file to fill in. ``columns`` are its columns: ``TITLE`` for the
    total, ``LESSON=TITLE`` for one lesson. ``scale`` is what full marks are worth there; by default
    the template's maximum, else the course's points. With
    ``section``, only students of that section are exported. ``hidden_checks``: when Gradescope's
    students may see hidden checks. ``forgotten`` are the names of students who are left out.
    ``assignment`` is its name, if it has one.
    """

    template: Path | None = None
    columns: tuple[str, ...] = ()
    scale: float | None = None
    missing_as_zero: bool = False
    hidden_checks: str = "visible"
    section: str | None = None
    forgotten: tuple[str, ...] = ()
    assignment: str = ""


TEST_STUDENT = "this is a test student, who gets no mark"
NAMED = 8
"""How many people one line names; the others are only counted."""
PAGE = "report.html"
"""The name of a submission's page in another system; ``classroom50_start`` has it, too."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The next bytes of a file at ``path`` below the output folder (empty for a single file)."""

    data: bytes
    path: str = ""


@dataclass(frozen=True, slots=True)
class ExportNote:
    """A note for the instructor: who was not matched, what was not changed, and why.

    ``who`` is the person concerned, if any. A note is ``important`` if a mark could not be written,
    or replaces another one.
    """

    text: str
    who: str = ""
    important: bool = False

    def __str__(self) -> str:
        return f"{self.who}: {self.text}" if self.who else self.text


Entry = TypeVar("Entry", bound=GradebookEntry)
ExportOf = Callable[
    [Iterable[Entry], Sequence[LessonColumn], ExportRequest], Iterator[Piece | ExportNote]
]
Export = ExportOf[GradebookEntry]


def for_students(export: ExportOf[PublicEntry]) -> Export:
    """Decorate the export of a format that students read: it gets only what they may see."""

    def exported(
        entries: Iterable[GradebookEntry], columns: Sequence[LessonColumn], request: ExportRequest
    ) -> Iterator[Piece | ExportNote]:
        return export((entry.public() for entry in entries), columns, request)

    return exported


@dataclass(frozen=True, slots=True)
class Format:
    """An export format: its name, its function, and the name of its output file.

    With ``files``, the output is a folder of that name with a file for each submission. A format
    with a ``next_step`` fills in a template, and ``next_step`` says what to do with the result.
    """

    name: str
    export: Export
    file: str
    next_step: str = ""
    files: bool = False


@dataclass(frozen=True, slots=True)
class LmsMark:
    """An entry as numbers for another gradebook; None means that nothing may be written.

    ``reasons`` and ``remarks`` are what the functions yield. A ``test`` student's is nobody's mark.
    What somebody handed in may be ``elsewhere``.
    """

    name: str
    label: str
    students: tuple[StudentIdentity, ...]
    total: float | None
    lessons: dict[str, float | None]
    remarks: tuple[str, ...]
    missing: bool = False
    reasons: tuple[str, ...] = ()
    bonus: float = 0.0
    came_as: str = ""
    test: bool = False
    elsewhere: bool = False

    @property
    def nothing(self) -> bool:
        """Whether nothing was handed in, and nobody gave points."""
        return self.missing and not self.total and not any(self.lessons.values())


def full_marks(columns: Sequence[LessonColumn]) -> float:
    """Return what full marks are worth in the course."""
    return sum(column.max_score for column in columns)


def adjustment_as_json(one: Adjustment) -> dict[str, object]:
    """Return an adjustment for a table: its number is only the gradebook's."""
    return {key: value for key, value in asdict(one).items() if key != "number"}


def mark_of(
    entry: GradebookEntry, columns: Sequence[LessonColumn], request: ExportRequest
) -> LmsMark:
    full = full_marks(columns)
    worth = request.scale / full if request.scale and full else 1.0
    lessons = {column.id: lesson_points(entry, column, request) for column in columns}
    total = total_points(entry)
    if entry.is_test:
        total, lessons = None, dict.fromkeys(lessons)
    elif entry.missing and request.missing_as_zero:
        total, lessons = total or 0.0, {lesson: points or 0.0 for lesson, points in lessons.items()}
    return LmsMark(
        entry.name,
        entry.label,
        entry.students,
        total and round(total * worth, 4),
        lessons,
        tuple(remarks(entry)),
        entry.missing,
        tuple(reasons(entry)),
        entry.report.bonus if entry.report else 0.0,
        entry.came_as,
        entry.is_test,
        entry.elsewhere,
    )


def lesson_points(
    entry: GradebookEntry, column: LessonColumn, request: ExportRequest
) -> float | None:
    """Return a lesson's points; None if it was not graded or not handed in."""
    lesson = entry.lesson(column.id)
    given = any(adjustment.lesson == column.id for adjustment in entry.adjustments)
    if lesson is None:
        return entry.lesson_score(column.id) if given else None
    missing = lesson.status is LessonStatus.MISSING and not request.missing_as_zero and not given
    unread = lesson in not_graded(entry)
    return None if missing or unread or faulty(lesson) else entry.lesson_score(column.id)


def faulty(lesson: LessonResult) -> bool:
    """Return whether a grader fault left a check of the lesson without a verdict."""
    return any(check.outcome is Outcome.GRADER_ERROR for check in lesson.checks)


def state(entry: GradebookEntry) -> str:
    """Return ``graded``, or the reason why there is no score."""
    if entry.missing:
        return "missing"
    if entry.report is None:
        return "problem"
    return "grader's fault" if entry.grader_faults else "graded"


def reasons(entry: GradebookEntry) -> Iterator[str]:
    """Yield phrases that say why the total is what it is: lessons without a file, and remarks."""
    given = {adjustment.lesson for adjustment in entry.adjustments}
    absent = [
        lesson.id
        for lesson in entry.lessons
        if lesson.status is LessonStatus.MISSING
        and not passed_over_text(lesson)
        and lesson.id not in given
    ]
    if absent:
        yield f"not handed in: {name_list(absent, 5)}"
    yield from remarks(entry)


def remarks(entry: GradebookEntry) -> Iterator[str]:
    """Yield phrases about what the number alone does not show."""
    if entry.is_test:
        yield TEST_STUDENT
    if entry.missing:
        yield "nothing was handed in"
    if entry.problem:
        yield f"could not be graded: {entry.problem}"
    for lesson in entry.lessons:
        if lesson.status is LessonStatus.INVALID:
            yield f"{lesson.id} could not be loaded: {load_error(lesson)}"
    given = {adjustment.lesson for adjustment in entry.adjustments}
    for lesson in entry.lessons:
        if (said := passed_over_text(lesson)) and lesson.id not in given:
            yield f"{lesson.id}: {said}"
    if entry.lateness:
        yield f"{entry.lateness}" + (f" (-{decimal(entry.penalty)})" if entry.penalty else "")
    elif entry.late:
        yield "handed in late"
    if entry.grader_faults:
        lessons = ", ".join(lesson.id for lesson in entry.lessons if faulty(lesson))
        yield (
            f"no score yet: {lessons} could not be graded because of the grader's own fault; to be"
            " graded again"
        )
    yield from map(adjustment_text, entry.adjustments)
    yield from map(comment_text, entry.comments)


def load_error(lesson: LessonResult) -> str:
    """Return why a lesson's file could not be loaded, in one line, with the line number."""
    reason = " ".join((lesson.message or "its page says why").split())
    line, cell = next(((one.source_line, one.cell) for one in lesson.checks), (None, None))
    if line is None:
        return reason
    where = f"line {line}" if cell is None else f"cell {cell}, line {line}"
    return f"{reason.removesuffix(', on this line')} ({where})"


def adjustment_text(adjustment: Adjustment) -> str:
    """Return ``adjusted by +2 (custom_sigmoid): resubmitted on paper [kim, 2026-03-01]``."""
    where = f" ({adjustment.lesson})" if adjustment.lesson else ""
    return (
        f"adjusted by {adjustment.points:+g}{where}: {adjustment.reason} [{adjustment.author},"
        f" {adjustment.made_at[:10]}]"
    )


def comment_text(comment: Comment) -> str:
    """Return ``comment on custom_sigmoid, line 12: why not y here? [kim]``."""
    places = [comment.lesson or "", f"line {comment.line}" if comment.line else ""]
    where = ", ".join(filter(None, places))
    text = " ".join(comment.text.split())
    return f"comment{f' on {where}' if where else ''}: {text} [{comment.author}]"


def decimal(value: float, *, comma: bool = False) -> str:
    """Return ``7.5``: no exponent, no trailing zeros, a decimal comma if the sheet uses one."""
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if comma else text


def explanation(check: CheckResult, lesson: LessonResult) -> str:
    """Return why a check did not pass, with numbers; empty if it passed."""
    if check.outcome is Outcome.PASSED:
        return ""
    return "\n".join(clean(line) for line in lines_of(check, lesson)) or check.outcome.word


def lines_of(check: CheckResult, lesson: LessonResult) -> Iterator[str]:
    if check.outcome is Outcome.GRADER_ERROR:
        yield (
            "This could not be graded because of the grader's own fault. It costs no points and"
            " will be graded again."
        )
        return
    if mistake := looks_like(check, Catalogue()):
        yield mistake
    if check.source_line:
        yield f"{place(lesson, check, Catalogue())}    {check.source_text or ''}"
    if check.message:
        yield check.message
    if check.expected is not None or check.actual is not None:
        expected, actual = values_text(check.expected, check.actual)
        yield f"expected {expected}" if check.expected is not None else ""
        yield f"got      {actual}"
    if check.inputs:
        yield "   ".join(f"{name} = {input_text(value)}" for name, value in check.inputs.items())
    if sentence := points_waiting(check, lesson, Catalogue()):
        yield sentence
    if check.hint:
        yield f"A nudge: {check.hint}"


STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Spreadsheet programs read a cell that begins with one of these as a formula. Only some of them do
so for the full-width signs.
"""


def guarded(text: str) -> str:
    """Return a text with an apostrophe before anything that would begin a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(STARTS_A_FORMULA) else text


def row(cells: Iterable[str | float | None]) -> bytes:
    """Return a line of CSV in UTF-8: texts guarded, numbers as they are, None empty."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(
        guarded(cell) if isinstance(cell, str) else cell for cell in cells
    )
    return line.getvalue().encode("utf-8", "backslashreplace")


def as_bytes(data: Mapping[str, object]) -> bytes:
    """Return a file of JSON for another system."""
    text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def entry_as_json(entry: GradebookEntry) -> dict[str, object]:
    """Return the report without times, and under ``gradebook`` everything else that is known, so
    that the same class gives the same bytes.
    """
    report: dict[str, Any] = {"submission": entry.name}
    if entry.report:
        report = entry.report.as_json()
        checks = [check for lesson in report["lessons"] for check in lesson["checks"]]
        for timed in (report, *report["lessons"], *checks):
            del timed["seconds"]
    return {
        **report,
        "gradebook": {
            "students": [
                {"name": one.name, "ids": one.ids, "details": one.details} for one in entry.students
            ],
            "late": entry.late,
            "handed_in": entry.handed_in,
            "missing": entry.missing,
            "problem": entry.problem,
            "attempt": entry.attempt,
            "score": entry.score if entry.report or entry.adjustments else None,
            "earned": entry.earned if entry.report else None,
            "penalty": entry.penalty,
            "lateness": entry.lateness and entry.lateness.as_json(),
            "adjusted": entry.adjusted_by,
            "adjustments": [adjustment_as_json(one) for one in entry.adjustments],
            "comments": [asdict(one) for one in entry.comments],
        },
    }
