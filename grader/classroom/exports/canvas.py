"""Fill points into a gradebook that the instructor exported from Canvas.

Format: https://community.canvaslms.com, "How do I import grades in the Gradebook?": ``Student``,
``ID``, ``SIS User ID``, ``SIS Login ID``, ``Section``, a column ``Title (id)`` for each assignment;
a row ``Points Possible``. Other columns and ``EX`` (excused) stay as they are. Where a course shows
first and last names apart, ``LastName`` and ``FirstName`` stand in place of ``Student``
(gradebook_exporter.rb and gradebook_importer.rb of canvas-lms).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader.classroom.exports.common import (
    ExportNote,
    ExportRequest,
    Format,
    LmsMark,
    Piece,
    decimal,
    full_marks,
    mark_of,
)
from grader.classroom.exports.matching import (
    Roll,
    SheetPerson,
    absent_notes,
    match,
    refuse_another_class,
    zero_rows,
)
from grader.classroom.exports.sheets import Sheet, put_mark, replaced_note, scale_note
from grader.classroom.gradebook.entry import GradebookEntry, LessonColumn
from grader.classroom.imports.names import forms_of, name_list
from grader.core.errors import UsageError

KINDS = {
    "ID": ("canvas_id",),
    "SIS User ID": ("sis_user_id", "sid", "student_id", "id"),
    "SIS Login ID": ("sis_login_id", "login", "username", "email"),
}
"""The columns that identify a person, in Canvas's order, and our names for these ids."""
NAMES = (("Student",), ("FirstName", "LastName"))
"""The columns of a name, in the order in which it is spoken."""
POINTS_POSSIBLE = "Points Possible"
TOTALS = tuple(
    f"{which} {what}"
    for which, kinds in (
        ("Current", ("Score", "Points", "Grade")),
        ("Final", ("Score", "Points", "Grade")),
        ("Override", ("Score", "Grade", "Status")),
    )
    for what in kinds
)
"""Canvas imports no column whose title contains one of these."""
ABOUT_STUDENTS = (
    "Student",
    "LastName",
    "FirstName",
    "ID",
    "SIS User ID",
    "SIS Login ID",
    "Integration ID",
    "Root Account",
    "Section",
)
TEST_STUDENT = ("Student, Test", "Test Student")
WITH_ID = re.compile(r"(.*?)\s*\(\d+\)", re.DOTALL)
"""An assignment's title, as Canvas exports it and finds it again."""
MAX_TITLE = 255
NUMBER = re.compile(r"\d+([.,]\d+)?")
CLOSED = {"EX": "is excused in Canvas (EX)", "N/A": "does not have this assignment in Canvas (N/A)"}
"""The cells that an import must leave as they are, and what they mean."""


@dataclass(frozen=True, slots=True)
class Target:
    """A column to fill: with a lesson's points, or with the total if ``lesson`` is None.

    ``full`` is what full marks are worth in the course, ``worth`` in the column; ``possible`` is
    Canvas's number of points, if it has one.
    """

    column: int
    lesson: str | None
    full: float
    worth: float
    possible: float | None

    def points(self, mark: LmsMark) -> float | None:
        points = mark.lessons.get(self.lesson) if self.lesson else mark.total
        return points * self.worth / self.full if points and self.full else points


@dataclass(frozen=True, slots=True)
class PointsPossible:
    """The row with the points that each assignment is worth; ``row`` is None if there is none."""

    sheet: Sheet
    row: int | None

    def text(self, column: int) -> str:
        return self.sheet.value(self.row, column) if self.row is not None else ""

    def of(self, column: int) -> float | None:
        """Return a column's points; None if it has none, or 0 (extra credit)."""
        text = self.text(column)
        return float(text.replace(",", ".")) or None if NUMBER.fullmatch(text) else None


def export(
    entries: Iterable[GradebookEntry], columns: Sequence[LessonColumn], request: ExportRequest
) -> Iterator[Piece | ExportNote]:
    if request.template is None:
        raise UsageError(
            "--to canvas fills in Canvas's own gradebook. Export it in Canvas (Grades, Export), and"
            " give it with --template"
        )
    sheet = Sheet(request.template)
    if "ID" not in sheet.header or not name_columns(sheet):
        raise UsageError(
            f"{sheet.path}:1: this is not a Canvas gradebook: it has no column 'ID', or neither"
            " 'Student' nor 'LastName' and 'FirstName'. Export it in Canvas: Grades, Export"
        )
    rows = (row for row in sheet.rows if sheet.value(row, 0).startswith(POINTS_POSSIBLE))
    possible = PointsPossible(sheet, next(rows, None))
    targets = targets_in(sheet, columns, request, possible)
    yield from notes_on_columns(sheet, targets, columns, request)
    comma = any("," in possible.text(target.column) for target in targets)
    roll = Roll(people_in(sheet), KINDS)
    unscaled = replace(request, scale=None)
    matched = match(roll, marks_in(entries, columns, unscaled, targets))
    refuse_another_class(sheet.path, roll, matched)
    zeros = zero_rows(matched, request)
    for target in targets:
        title, replaced = sheet.header[target.column], list[str]()
        for person in roll.people.values():
            mark = matched.by_row.get(person.row)
            points = target.points(mark) if mark else 0.0 if person.row in zeros else None
            if points is None:
                continue
            if why := CLOSED.get(sheet.value(person.row, target.column).upper()):
                yield ExportNote(f"{why}, so no mark was written in {title}", person.label)
            elif change := put_mark(sheet, person.row, target.column, decimal(points, comma=comma)):
                replaced.append(f"{person.label} {change}")
        yield from replaced_note(title, replaced)
    for row, mark in matched.by_row.items():
        yield from (ExportNote(remark, roll.people[row].label) for remark in mark.remarks)
    yield from matched.notes
    yield from absent_notes(matched, request)
    yield Piece(sheet.as_bytes())


FORMAT = Format(
    "canvas", export, "canvas.csv", "Check it, then import it in Canvas: Grades, Import."
)


def marks_in(
    entries: Iterable[GradebookEntry],
    columns: Sequence[LessonColumn],
    request: ExportRequest,
    targets: Sequence[Target],
) -> Iterator[LmsMark]:
    """Yield the marks. Raise UsageError if an entry has points that no column can hold."""
    lessons_only = all(target.lesson for target in targets)
    for entry in entries:
        whole = sum(one.points for one in entry.adjustments if one.lesson is None)
        if lessons_only and whole and not entry.is_test:
            raise UsageError(
                f"{entry.label} has {whole:+g} points that belong to no lesson, and the sheet has"
                " columns only for lessons, so they would be lost. Name a column for the total with"
                f" --column TITLE, or move them to a lesson: grade adjust OUT {entry.name!r}"
                f" --points {-whole:+g} --reason …, then the same with {whole:+g} and --lesson"
            )
        yield mark_of(entry, columns, request)


def targets_in(
    sheet: Sheet, columns: Sequence[LessonColumn], request: ExportRequest, possible: PointsPossible
) -> list[Target]:
    """Return the columns that the request names, or else those titled like a lesson, or else the
    one titled like the assignment, for the total.

    Raise UsageError if there is no such column, or if Canvas would not import it.
    """
    wanted = columns_asked(sheet, columns, request) or columns_of_lessons(sheet, columns)
    ours = columns_by_title(sheet).get(request.assignment.casefold(), [])
    if not wanted and len(ours) == 1:
        wanted = {ours[0]: None}
    if not wanted:
        which = f"the name {request.assignment!r} alone, or" if request.assignment else "the name"
        raise UsageError(
            f"{sheet.path}:1: no assignment has {which} of a lesson. Name the column for the total"
            f" with --column: {assignments_in(sheet)}"
        )
    targets = []
    for column, lesson in wanted.items():
        refuse_what_canvas_ignores(sheet, column, possible)
        full, most = lesson.max_score if lesson else full_marks(columns), possible.of(column)
        worth = (None if lesson else request.scale) or most or full
        targets.append(Target(column, lesson.id if lesson else None, full, worth, most))
    return targets


def columns_asked(
    sheet: Sheet, columns: Sequence[LessonColumn], request: ExportRequest
) -> dict[int, LessonColumn | None]:
    """Return the columns that ``--column`` names, with or without an assignment's number."""
    titles = columns_by_title(sheet)
    wanted: dict[int, LessonColumn | None] = {}
    for asked in request.columns:
        lesson = next((column for column in columns if asked.startswith(f"{column.id}=")), None)
        title = asked.partition("=")[2] if lesson else asked
        numbers = titles.get(title.casefold(), [])
        if len(numbers) > 1:
            raise UsageError(
                f"{sheet.path}:1: {len(numbers)} assignments have the title {title!r} (--column)."
                f" Name one with its number: {name_list(sheet.header[one] for one in numbers)}"
            )
        column = numbers[0] if numbers else sheet.column(title)
        if column in wanted:
            raise UsageError(f"--column names {sheet.header[column]!r} twice. Leave one out")
        wanted[column] = lesson
    return wanted


def columns_of_lessons(
    sheet: Sheet, columns: Sequence[LessonColumn]
) -> dict[int, LessonColumn | None]:
    """Return the assignments with a lesson's id or title, if it is only one for that lesson."""
    titles = columns_by_title(sheet)
    wanted: dict[int, LessonColumn | None] = {}
    for lesson in columns:
        called = {lesson.id.casefold(), lesson.title.casefold()}
        numbers = [number for title in called for number in titles.get(title, [])]
        wanted |= dict.fromkeys(numbers if len(numbers) == 1 else (), lesson)
    return wanted


def columns_by_title(sheet: Sheet) -> dict[str, list[int]]:
    """Return the assignments' columns by title, without numbers and case."""
    titles: dict[str, list[int]] = {}
    for number, title in enumerate(sheet.header):
        if found := WITH_ID.fullmatch(title):
            titles.setdefault(found[1].casefold(), []).append(number)
    return titles


def refuse_what_canvas_ignores(sheet: Sheet, column: int, possible: PointsPossible) -> None:
    """Raise UsageError for a column that Canvas would not import as an assignment's points.

    By gradebook_importer.rb; a title is longer than allowed only if it is that of a new assignment.
    """
    title = sheet.header[column]
    total = next((one for one in TOTALS if one in title), None)
    if title in ABOUT_STUDENTS:
        why = "is about the student"
    elif total:
        why = (
            f"has {total!r} in its title, as Canvas's own totals have, which it does not import. If"
            " it is an assignment, rename it in Canvas, and export the gradebook again"
        )
    elif (text := possible.text(column)) and not NUMBER.fullmatch(text):
        why = f"is marked {text!r}, so Canvas does not import it"
    elif len(title) > MAX_TITLE and not WITH_ID.fullmatch(title):
        why = f"has a title of more than {MAX_TITLE} characters, which Canvas refuses. Shorten it"
    else:
        return
    raise UsageError(
        f"{sheet.path}:1: the column {title[:60]!r} {why}. Assignments to name with --column:"
        f" {assignments_in(sheet)}"
    )


def assignments_in(sheet: Sheet) -> str:
    """Return the titles of the assignments that Canvas imports, for a message."""
    found = [title for title in sheet.header if WITH_ID.fullmatch(title)]
    return ", ".join(one for one in found if not any(total in one for total in TOTALS)) or "none"


def notes_on_columns(
    sheet: Sheet, targets: Sequence[Target], columns: Sequence[LessonColumn], request: ExportRequest
) -> Iterator[ExportNote]:
    """Yield notes: what each column gets, what that is worth there, and, if no column gets the
    total, which lessons have no column.
    """
    for target in targets:
        title = sheet.header[target.column]
        yield ExportNote(f"{title} gets {target.lesson or 'the total'}")
        yield from scale_note(target.full, target.worth, target.possible, title)
        if not WITH_ID.fullmatch(title):
            text = (
                f"{title} has no number in parentheses, as Canvas gives to an assignment. Canvas"
                " takes it for notes, or asks whether it is a new assignment"
            )
            yield ExportNote(text, important=True)
    filled = {target.lesson for target in targets}
    left = [column.id for column in columns if column.id not in filled]
    if request.scale and None not in filled:
        yield ExportNote("--scale is about the total, which no column gets")
    if left and None not in filled:
        remedy = f"Name each column, --column {left[0]}=TITLE, or one for the total, --column TITLE"
        yield ExportNote(f"no column gets {', '.join(left)}. {remedy}")


def people_in(sheet: Sheet) -> Iterator[SheetPerson]:
    """Yield the students: every row with an id, except that of the test student, who is in no SIS.

    ``Points Possible`` and notes on hidden grades have no id.
    """
    columns = {title: number for number, title in enumerate(sheet.header)}
    names = name_columns(sheet)
    for row in sheet.rows:
        name = " ".join(filter(None, (sheet.value(row, columns[title]) for title in names)))
        ids = {kind: sheet.value(row, columns[kind]) for kind in KINDS if kind in columns}
        test = name in TEST_STUDENT and not ids.get("SIS User ID")
        if any(ids.values()) and not test:
            yield SheetPerson(row, name, ids, forms_of(name))


def name_columns(sheet: Sheet) -> tuple[str, ...]:
    """Return the titles of the columns with a person's name; none unless all are there."""
    return next((titles for titles in NAMES if set(titles) <= set(sheet.header)), ())
