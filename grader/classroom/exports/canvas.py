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
from dataclasses import dataclass

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
from grader.classroom.exports.sheets import Roll, Sheet, SheetPerson, match
from grader.classroom.gradebook.entry import GradebookEntry, LessonColumn
from grader.classroom.imports.names import forms_of
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
EXCUSED = "EX"


@dataclass(frozen=True, slots=True)
class Target:
    """A column to fill: with a lesson's points, or with the total if ``lesson`` is None.

    ``most`` is what full marks are worth in it.
    """

    column: int
    lesson: str | None
    most: float


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
    targets = targets_in(sheet, columns, request)
    possible = next(
        (row for row in sheet.rows if sheet.value(row, 0).startswith(POINTS_POSSIBLE)), None
    )
    yield from notes_on_points(sheet, possible, targets)
    yield from notes_on_columns(sheet, targets, columns)
    comma = possible is not None and any(
        "," in sheet.value(possible, target.column) for target in targets
    )
    roll = Roll(people_in(sheet), KINDS)
    matched = match(roll, marks_in(entries, columns, request, targets))
    without_mark = 0.0 if request.missing_as_zero and not matched.unmatched else None
    for person in roll.people.values():
        mark = matched.by_row.get(person.row)
        for target in targets:
            if mark is None:
                points = without_mark
            elif target.lesson is None:
                points = mark.total
            else:
                points = mark.lessons.get(target.lesson)
            if points is not None and sheet.value(person.row, target.column).upper() != EXCUSED:
                sheet.put(person.row, target.column, decimal(points, comma=comma))
        if mark:
            yield from (ExportNote(remark, person.label) for remark in mark.remarks)
    yield from matched.notes
    if request.missing_as_zero and matched.unmatched:
        yield ExportNote(
            "students without a submission were not given 0, because some submissions match no"
            " student in the sheet"
        )
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
        if lessons_only and whole:
            raise UsageError(
                f"{entry.label} has {whole:+g} points that belong to no lesson, and the sheet has"
                " columns only for lessons, so they would be lost. Name a column for the total with"
                f" --column TITLE, or move them to a lesson: grade adjust OUT {entry.name!r}"
                f" --points {-whole:+g} --reason …, then the same with {whole:+g} and --lesson"
            )
        yield mark_of(entry, columns, request)


def targets_in(
    sheet: Sheet, columns: Sequence[LessonColumn], request: ExportRequest
) -> list[Target]:
    """Return the columns that the request names, or else those titled like a lesson.

    Such a title is a lesson's id or its title. Raise UsageError if there is no such column.
    """
    titles = {
        number: re.sub(r"\s*\(\d+\)$", "", title).casefold()
        for number, title in enumerate(sheet.header)
    }

    def titled(*wanted: str) -> int | None:
        plain = {title.casefold() for title in wanted}
        numbers = [number for number, title in titles.items() if title in plain]
        return numbers[0] if len(numbers) == 1 else None

    found = []
    for asked in request.columns:
        lesson = next((column for column in columns if asked.startswith(f"{column.id}=")), None)
        title = asked.partition("=")[2] if lesson else asked
        column = titled(title)
        if column is None:
            column = sheet.column(title)
        if lesson:
            found.append(Target(column, lesson.id, lesson.max_score))
        else:
            found.append(Target(column, None, full_marks(columns, request)))
    if not request.columns:
        for lesson in columns:
            column = titled(lesson.id, lesson.title)
            if column is not None:
                found.append(Target(column, lesson.id, lesson.max_score))
    if not found:
        offered = ", ".join(title for title in sheet.header if re.search(r"\(\d+\)$", title))
        raise UsageError(
            f"{sheet.path}:1: no assignment has the name of a lesson. Name the column for the total"
            f" with --column: {offered}"
        )
    return found


def notes_on_points(
    sheet: Sheet, possible: int | None, targets: Iterable[Target]
) -> Iterator[ExportNote]:
    for target in targets:
        text = (
            sheet.value(possible, target.column).replace(",", ".") if possible is not None else ""
        )
        if re.fullmatch(r"\d+(\.\d+)?", text) and abs(float(text) - target.most) > 1e-9:
            remedy = (
                ""
                if target.lesson
                else f"; to convert the total, add --scale {decimal(float(text))}"
            )
            yield ExportNote(
                f"{sheet.header[target.column]} has {text} points in Canvas and"
                f" {decimal(target.most)} in this export{remedy}"
            )


def notes_on_columns(
    sheet: Sheet, targets: Sequence[Target], columns: Sequence[LessonColumn]
) -> Iterator[ExportNote]:
    """Yield notes: what each column gets and, if it is not the
    total, which lessons have no column.
    """
    for target in targets:
        yield ExportNote(f"{sheet.header[target.column]} gets {target.lesson or 'the total'}")
    filled = {target.lesson for target in targets}
    left = [column.id for column in columns if column.id not in filled]
    if left and None not in filled:
        remedy = f"Name each column, --column {left[0]}=TITLE, or one for the total, --column TITLE"
        yield ExportNote(f"no column gets {', '.join(left)}. {remedy}")


def people_in(sheet: Sheet) -> Iterator[SheetPerson]:
    """Yield the students: every row with a name that is not one of Canvas's own."""
    columns = {title: number for number, title in enumerate(sheet.header)}
    names = name_columns(sheet)
    for row in sheet.rows:
        name = " ".join(filter(None, (sheet.value(row, columns[title]) for title in names)))
        ids = {kind: sheet.value(row, columns[kind]) for kind in KINDS if kind in columns}
        if name and not sheet.value(row, 0).startswith(POINTS_POSSIBLE) and any(ids.values()):
            yield SheetPerson(row, name, ids, forms_of(name))


def name_columns(sheet: Sheet) -> tuple[str, ...]:
    """Return the titles of the columns with a person's name; none unless all are there."""
    return next((titles for titles in NAMES if set(titles) <= set(sheet.header)), ())
