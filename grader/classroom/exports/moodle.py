"""Fill grades and feedback into the grading worksheet that the instructor downloaded from Moodle.

Format: ``assignfeedback_offline`` of Moodle's ``mod/assign``. Moodle finds columns by headers in
the site's language, so they stay as they are; this module recognizes columns by their contents.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader.classroom.exports.common import (
    ExportNote,
    ExportRequest,
    Format,
    LmsMark,
    Piece,
    decimal,
    for_students,
    full_marks,
    mark_of,
)
from grader.classroom.exports.matching import (
    MatchedMarks,
    Roll,
    SheetPerson,
    absent_notes,
    match,
    refuse_another_class,
    zero_rows,
)
from grader.classroom.exports.sheets import Sheet, put_mark, replaced_note, scale_note
from grader.classroom.gradebook.entry import LessonColumn, PublicEntry
from grader.classroom.imports.names import forms_of, name_list
from grader.core.errors import UsageError
from grader.core.text import counted

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
GROUP = ("group", "gruppe", "그룹", "모둠", "groupe", "grupo", "gruppo", "groep")
"""Moodle's titles of the column with a student's team, for assignments that groups hand in."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The numbers of the columns for participant, grade, feedback comment and team.

    ``most`` is the maximum grade, if known; ``comma`` says that grades have a decimal comma.
    """

    participant: int
    grade: int
    most: float | None
    comma: bool
    feedback: int | None
    group: int | None


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
    title = sheet.header[where.grade]
    full = full_marks(columns)
    worth = request.scale or where.most or full
    yield from notes_on_scale(sheet, where, full, worth)
    roll = roll_of(sheet, where)
    matched = match(roll, (mark_of(one, columns, replace(request, scale=worth)) for one in entries))
    refuse_another_class(sheet.path, roll, matched)
    if mismatch := other_assignment(matched, roll):
        if not request.columns:
            remedy = f"If you mean this one, name its column for grades: --column {title!r}"
            raise UsageError(f"{sheet.path}: {mismatch}. {remedy}")
        yield ExportNote(mismatch, important=True)
    zeros = zero_rows(matched, request)
    replaced = []
    for person in roll.people.values():
        mark = matched.by_row.get(person.row)
        total = mark.total if mark else 0.0 if person.row in zeros else None
        if total is not None:
            points = min(total, where.most or total)
            grade = decimal(points, comma=where.comma)
            if change := put_mark(sheet, person.row, where.grade, grade):
                replaced.append(f"{person.label} {change}")
            if points < total:
                text = (
                    f"{decimal(total)} is more than the worksheet allows, so {decimal(points)} was"
                    " filled in. Raise the maximum grade in Moodle, or give a smaller --scale"
                )
                yield ExportNote(text, person.label, important=True)
        if mark and where.feedback is not None:
            by_hand = mark.nothing and total is None and sheet.value(person.row, where.grade)
            unknown = mark.elsewhere and total is None
            scale = worth / full if full else 1.0
            comment = "" if by_hand or unknown else feedback(mark, columns, scale)
            put_comment(sheet, person.row, where.feedback, comment)
        elif mark:
            yield from (ExportNote(remark, person.label) for remark in mark.remarks)
    yield from replaced_note(title, replaced)
    yield from matched.notes
    yield from absent_notes(matched, request)
    if where.feedback is None:
        yield ExportNote(
            "the worksheet has no column for feedback comments, so none were filled in"
        )
    yield Piece(sheet.as_bytes())


FORMAT = Format(
    "moodle", export, "moodle.csv", "Check it, then upload it in Moodle: Upload grading worksheet."
)


def notes_on_scale(sheet: Sheet, where: Columns, full: float, worth: float) -> Iterator[ExportNote]:
    """Yield notes on what full marks are worth. Raise UsageError for more than Moodle allows."""
    if where.most and worth > where.most:
        raise UsageError(
            f"{sheet.path}: --scale {decimal(worth)} is more than the maximum grade in Moodle,"
            f" {decimal(where.most)}. Leave out --scale; or raise the maximum grade there, and"
            " download the worksheet again"
        )
    yield from scale_note(full, worth, where.most, sheet.header[where.grade])
    if where.most is None:
        text = (
            f"the worksheet has no maximum grade, so full marks are worth {decimal(worth)}. If the"
            " assignment is graded with words, Moodle ignores the numbers"
        )
        yield ExportNote(text, important=True)


def feedback(mark: LmsMark, columns: Sequence[LessonColumn], scale: float = 1.0) -> str:
    """Return one line: why the grade is what it is. ``scale``: what a point is worth there."""
    parts = []
    if mark.total is not None and scale != 1.0:
        parts.append(f"{decimal(mark.total / scale)} of {decimal(full_marks(columns))} points")
    for column in columns:
        points = mark.lessons[column.id]
        if points is not None:
            parts.append(f"{column.id}: {decimal(points)} / {decimal(column.max_score)}")
    if mark.bonus:
        parts.append(f"{counted(mark.bonus, 'bonus point')}, which the grade does not include")
    return html.escape(" ".join("; ".join([*parts, *mark.reasons]).split()), quote=False)


OURS = re.compile(r"\s*<p>Grade: [^<]*</p>")
"""A comment that an earlier export wrote; its text has no tags."""


def put_comment(sheet: Sheet, row: int, column: int, comment: str) -> None:
    """Add a comment after what teachers wrote, in place of an earlier export's; '' is none."""
    there = sheet.value(row, column)
    ours = f"<p>Grade: {comment}</p>" if comment else ""
    text = " ".join(filter(None, (OURS.sub("", there), ours)))
    if text != there:
        sheet.put(row, column, text)


def other_assignment(matched: MatchedMarks, roll: Roll) -> str:
    """Return a sentence if the worksheet is of another assignment than the graded download.

    In Moodle a participant has another number in each assignment (``assign_user_mapping``). A
    number counts if it is in the name under which the submission came, and if that is the person's:
    a team's has the number of the group.
    """
    graded: list[tuple[SheetPerson, str]] = []
    for row, mark in matched.by_row.items():
        person = roll.people[row]
        for student in mark.students:
            number = student.ids.get("moodle_participant", "")
            called, found, _ = mark.came_as.partition(f"_{number}_assignsubmission_")
            own = not person.team or person.names & forms_of(called)
            if number and found and own:
                graded.append((person, number))
    others = [(person, number) for person, number in graded if number != person.ids["participant"]]
    if 2 * len(others) <= len(graded):
        return ""
    numbers = [
        f"{person.label} ({number}, here {person.ids['participant']})" for person, number in others
    ]
    return (
        f"this worksheet is of another assignment. {counted(len(others), 'student')} had another"
        f" participant number in the graded download: {name_list(numbers, 3)}. Download the"
        " worksheet of the assignment that you graded"
    )


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
    titles = [title.casefold() for title in sheet.header]
    if request.columns:
        grade = sheet.column(request.columns[0])
    elif "grade" in titles:
        grade = titles.index("grade")
    elif maxima := [one for one in range(1, len(titles)) if holds_the_maximum(sheet, one)]:
        grade = maxima[-1] - 1  # a field of the profile may be one number for all, too
    else:
        raise UsageError(
            f"{sheet.path}:1: the grade column was not recognized. Name it with --column:"
            f" {', '.join(sheet.header)}"
        )
    shown = sheet.value(1, grade + 1) if holds_the_maximum(sheet, grade + 1) else ""
    most = float(shown.replace(",", ".")) if shown else None
    comma = "," in shown or any(
        re.fullmatch(r"\d+,\d+", sheet.value(row, grade)) for row in sheet.rows
    )
    named = [column for column, title in enumerate(titles) if title in FEEDBACK]
    comment = named[0] if named else last_free(sheet, grade)
    groups = [column for column, title in enumerate(titles[:grade]) if title in GROUP]
    group = groups[-1] if groups else None
    return Columns(participant, grade, most, comma, comment, group)


def holds_participants(sheet: Sheet, column: int) -> bool:
    """Return whether all cells consist of the same word and a different number."""
    found = [
        PARTICIPANT.fullmatch(sheet.value(row, column)) for row in sheet.rows if sheet.value(row, 0)
    ]
    words = {one[1] for one in found if one}
    numbers = {one[2] for one in found if one}
    return len(words) == 1 and len(numbers) == len(found)


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
    """Yield the participants. Text with an @ is an address, other text a name or a login.

    If Moodle hides names, a student is called ``Participant 123`` in its downloads, too.
    """
    last = where.grade if where.group is None else where.group
    columns = [column for column in range(last) if column != where.participant]
    first = Counter(sheet.value(row, columns[0]) if columns else "" for row in sheet.rows)
    for row in sheet.rows:
        found = PARTICIPANT.fullmatch(sheet.value(row, where.participant))
        if found is None:
            continue
        texts = [sheet.value(row, column) for column in columns]
        address = next((text for text in texts if "@" in text), "")
        called = [found[0], found[1], *(text for text in texts if text and "@" not in text)]
        label = next((text for text in texts if text), "")
        if first[label] != 1:
            label = f"{label} ({found[0]})" if label else found[0]
        yield SheetPerson(
            row,
            label,
            {"participant": found[2], "email": address},
            frozenset[str]().union(*map(forms_of, called)),
            sheet.value(row, where.group) if where.group is not None else "",
        )
