"""Fill grades and feedback into the grading worksheet that the instructor downloaded from Moodle.

Format: ``assignfeedback_offline`` of Moodle's ``mod/assign``. Moodle finds columns by headers in
the site's language, so they stay as they are; this module recognizes columns by their contents.
"""

from __future__ import annotations

import html
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
    for_students,
    full_marks,
    guarded,
    mark_of,
)
from grader.classroom.exports.sheets import Roll, Sheet, SheetPerson, match
from grader.classroom.gradebook.entry import LessonColumn, PublicEntry
from grader.classroom.imports.names import forms_of
from grader.core.errors import UsageError

KINDS = {"participant": ("moodle_participant", "moodle_id"), "email": ("email",)}
PARTICIPANT = re.compile(r"(\D*\D)(\d+)")
"""``Participant 123`` in any language: one word (with or without a blank), then a number."""
NUMBER = re.compile(r"\d+([.,]\d+)?")
FEEDBACK = (
    "feedback comments",
    "feedback als kommentar",
    "피드백 댓글",
    "피드백",
    "commentaires de feedback",
    "comentarios de retroalimentación",
)


@dataclass(frozen=True, slots=True)
class Columns:
    """The numbers of the columns for participant, grade and feedback comment.

    ``most`` is the maximum grade, if known; ``comma`` says that grades have a decimal comma.
    """

    participant: int
    grade: int
    most: float | None
    comma: bool
    feedback: int | None


@for_students
def export(
    entries: Iterable[PublicEntry], columns: Sequence[LessonColumn], request: ExportRequest
) -> Iterator[Piece | ExportNote]:
    if request.template is None:
        raise UsageError(
            "--to moodle fills in Moodle's own worksheet. Download it in Moodle (Download grading"
            " worksheet), and give it with --template"
        )
    sheet = Sheet(request.template)
    where = columns_in(sheet, request)
    most = full_marks(columns, request)
    if where.most is not None and most != where.most:
        theirs = decimal(where.most)
        both = f"full marks are {theirs} in Moodle and {decimal(most)} in this export"
        if most > where.most:
            raise UsageError(f"{sheet.path}: {both}. Add --scale {theirs}")
        yield ExportNote(f"{both}; to convert the marks, add --scale {theirs}")
    roll = roll_of(sheet, where)
    matched = match(roll, (mark_of(entry, columns, request) for entry in entries))
    for person in roll.people.values():
        mark = matched.by_row.get(person.row)
        if mark is None:
            continue
        if mark.total is not None:
            points = min(mark.total, where.most or mark.total)
            sheet.put(person.row, where.grade, decimal(points, comma=where.comma))
            if points < mark.total:
                text = (
                    f"{decimal(mark.total)} is more than the worksheet allows, so {decimal(points)}"
                    " was filled in. Raise the maximum grade in Moodle, or give a smaller --scale"
                )
                yield ExportNote(text, person.label, important=True)
        if where.feedback is not None:
            texts = [sheet.value(person.row, where.feedback), guarded(feedback(mark, columns))]
            sheet.put(person.row, where.feedback, " ".join(filter(None, texts)))
        else:
            yield from (ExportNote(remark, person.label) for remark in mark.remarks)
    yield from matched.notes
    if where.feedback is None:
        yield ExportNote(
            "the worksheet has no column for feedback comments, so none were filled in"
        )
    yield Piece(sheet.as_bytes())


FORMAT = Format(
    "moodle", export, "moodle.csv", "Check it, then upload it in Moodle: Upload grading worksheet."
)


def feedback(mark: LmsMark, columns: Sequence[LessonColumn]) -> str:
    """Return one line: the points of each lesson and the remarks."""
    points = [
        f"{column.id}: {decimal(mark.lessons[column.id] or 0.0)} / {decimal(column.max_score)}"
        for column in columns
        if mark.lessons[column.id] is not None
    ]
    return html.escape("; ".join([*points, *mark.remarks]), quote=False)


def columns_in(sheet: Sheet, request: ExportRequest) -> Columns:
    """Recognise the columns; raise UsageError that says what to name."""
    participant = next(
        (column for column in range(len(sheet.header)) if holds_participants(sheet, column)), None
    )
    if participant is None:
        raise UsageError(
            f"{sheet.path}: no column has participants such as 'Participant 123', so this is not a"
            " grading worksheet of Moodle"
        )
    if len(request.columns) > 1 or any("=" in column for column in request.columns):
        raise UsageError(
            "a Moodle worksheet has one grade column, for the total. Name only that: --column TITLE"
        )
    maximum = next(
        (column for column in range(1, len(sheet.header)) if holds_the_maximum(sheet, column)), None
    )
    titles = [title.casefold() for title in sheet.header]
    if request.columns:
        grade = sheet.column(request.columns[0])
    elif "grade" in titles:
        grade = titles.index("grade")
    elif maximum is not None:
        grade = maximum - 1
    else:
        raise UsageError(
            f"{sheet.path}:1: the grade column was not recognized. Name it with --column:"
            f" {', '.join(sheet.header)}"
        )
    shown = sheet.value(1, maximum) if maximum is not None else ""
    most = float(shown.replace(",", ".")) if shown else None
    comma = "," in shown or any(
        re.fullmatch(r"\d+,\d+", sheet.value(row, grade)) for row in sheet.rows
    )
    named = [column for column, title in enumerate(titles) if title in FEEDBACK]
    return Columns(participant, grade, most, comma, named[0] if named else last_free(sheet, grade))


def holds_participants(sheet: Sheet, column: int) -> bool:
    """Return whether all cells consist of the same word and a different number."""
    found = [
        PARTICIPANT.fullmatch(sheet.value(row, column)) for row in sheet.rows if sheet.value(row, 0)
    ]
    words = {one[1] if one else None for one in found}
    numbers = {one[2] for one in found if one}
    return len(words) == 1 and None not in words and len(numbers) == len(found)


def holds_the_maximum(sheet: Sheet, column: int) -> bool:
    """Return whether all cells are one number and the column to the left holds grades."""
    values = {sheet.value(row, column) for row in sheet.rows if sheet.value(row, 0)}
    grades = [sheet.value(row, column - 1) for row in sheet.rows]
    return (
        len(values) == 1
        and all(map(NUMBER.fullmatch, values))
        and all(not one or NUMBER.fullmatch(one) for one in grades)
    )


def last_free(sheet: Sheet, grade: int) -> int | None:
    """Return the last column if it can be the feedback: it is after the grade and has no dates."""
    last = len(sheet.header) - 1
    dated = any(re.search(r"\d{1,2}:\d{2}", sheet.value(row, last)) for row in sheet.rows)
    return last if last - grade >= 5 and not dated else None


def roll_of(sheet: Sheet, where: Columns) -> Roll:
    return Roll(people_in(sheet, where), KINDS, with_name=("participant",))


def people_in(sheet: Sheet, where: Columns) -> Iterator[SheetPerson]:
    """Yield the participants. Text with an @ is an address, other text a name or a login."""
    for row in sheet.rows:
        found = PARTICIPANT.fullmatch(sheet.value(row, where.participant))
        if found is None:
            continue
        texts = [
            sheet.value(row, column) for column in range(where.grade) if column != where.participant
        ]
        address = next((text for text in texts if "@" in text), "")
        names = frozenset[str]().union(
            *(forms_of(text) for text in texts if text and "@" not in text)
        )
        label = next((text for text in texts if text), found[0])
        yield SheetPerson(row, label, {"participant": found[2], "email": address}, names)
