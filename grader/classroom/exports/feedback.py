"""Pages for students, under the file names that Moodle and Canvas accept for upload.

Moodle's "Upload multiple feedback files in a zip" reads ``<name>_<participant>_assignsubmission_
file/report.html`` (mod/assign/feedback/file/importziplib.php). When a submissions zip is uploaded
to Canvas again, Canvas finds each file's submission by the file's name, and shows the file under
the name of the student's own file (``infer_comment_context_from_filename`` in
app/models/assignment.rb of canvas-lms). So a ``.py`` is returned as the student's code with remarks
in it, an ``.ipynb`` as a notebook with one cell of text, a ``.zip`` with the page inside.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from grader.classroom.exports.common import (
    PAGE,
    ExportNote,
    ExportRequest,
    Piece,
    explanation,
    mark_of,
    reasons,
    row,
)
from grader.classroom.exports.matching import match, refuse_another_class
from grader.classroom.exports.moodle import columns_in, other_assignment, roll_of
from grader.classroom.exports.sheets import Sheet
from grader.classroom.gradebook.entry import LessonColumn, PublicEntry, total_points
from grader.classroom.imports.canvas import UPLOAD
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import unique_names
from grader.core.errors import UsageError
from grader.core.report import LessonResult
from grader.core.text import clean

PageOf = Callable[[str], bytes]
"""The page of a submission, by name."""
TextOf = Callable[[str, str], str | None]
"""The text of a submission's lesson as it was graded."""
MOODLE_TEAMS = (
    "do not upload this zip if students submit in groups. The numbers in its names are then those"
    " of groups, but Moodle reads them as participants, so other students would get the pages."
    " Instead, give the grading worksheet with --template"
)
MOODLE_TEAM = (
    "there is no page for this member of a team, because the download has only the group's number."
    " Give the grading worksheet with --template"
)


def pages_for_moodle(
    entries: Iterable[PublicEntry],
    page_of: PageOf,
    request: ExportRequest,
    persons: Collection[int | None] = (),
) -> Iterator[Piece | ExportNote]:
    """Yield each page, and a note for each student whom Moodle would not find.

    ``persons`` are those whose numbers are surely not those of groups.
    """
    if request.template is not None:
        yield from pages_by_worksheet(entries, page_of, Sheet(request.template))
        return
    warned = False
    for entry in entries:
        numbers = [one.ids.get("moodle_participant", "") for one in entry.students]
        for student, number in zip(entry.students, numbers, strict=True):
            # A team's members do not share a participant's number: it is that of their group.
            if number.isdecimal() and numbers.count(number) == 1:
                if len(numbers) == 1 and student.person not in persons and not warned:
                    yield ExportNote(MOODLE_TEAMS, important=True)
                    warned = True
                yield Piece(page_of(entry.name), moodle_path(student.name, number))
            elif len(numbers) > 1:
                yield ExportNote(MOODLE_TEAM, student.name, important=True)
            else:
                yield ExportNote("no participant number in the download", student.name)


def pages_by_worksheet(
    entries: Iterable[PublicEntry], page_of: PageOf, sheet: Sheet
) -> Iterator[Piece | ExportNote]:
    """Yield a page for each row of a worksheet that a submission's student fits."""
    asked = ExportRequest()
    roll = roll_of(sheet, columns_in(sheet, asked))
    matched = match(roll, (mark_of(entry, (), asked) for entry in entries), "page")
    refuse_another_class(sheet.path, roll, matched)
    if mismatch := other_assignment(matched, roll):
        raise UsageError(f"{sheet.path}: {mismatch}")
    for number, mark in matched.by_row.items():
        person = roll.people[number]
        yield Piece(page_of(mark.name), moodle_path(person.label, person.ids["participant"]))
    yield from matched.notes


def moodle_path(name: str, participant: str) -> str:
    """Return ``<name>_<participant>_assignsubmission_file_/report.html``: Moodle before 4.1 wants
    the last ``_``, and later versions accept it.
    """
    plain = " ".join(name.replace("_", " ").replace("/", " ").split())
    return f"{plain}_{participant}_assignsubmission_file_/{PAGE}"


def pages_for_folder(entries: Iterable[PublicEntry], page_of: PageOf) -> Iterator[Piece]:
    """Yield a page for each student: ``<submission>.html``, or one for each of a team's members."""
    for entry in entries:
        members = [(f"{entry.name} - {one.name}", "") for one in entry.students]
        for name in unique_names(members) if len(members) > 1 else [entry.name]:
            yield Piece(page_of(entry.name), f"{name}.html")


def files_for_canvas(
    entries: Iterable[PublicEntry], page_of: PageOf, text_of: TextOf
) -> Iterator[Piece | ExportNote]:
    """Yield a file for each submission, under the name of the newest file that its students handed
    in.

    Canvas gives a group's file to all of its members.
    """
    for entry in entries:
        name = entry.handed_in_as
        suffix = PurePosixPath(name).suffix.lower()
        if is_anothers(name, entry.students):
            text = (
                "came under another student's file name, to whom Canvas would give it, so it is"
                " left out. Use --to folder"
            )
            yield ExportNote(text, entry.label, important=True)
        elif suffix == ".py":
            yield Piece(annotated(entry, text_of).encode("utf-8", "replace"), name)
        elif suffix == ".ipynb":
            yield Piece(as_notebook("\n".join(feedback_lines(entry))), name)
        elif suffix == ".zip":
            yield Piece(zipped(page_of(entry.name)), name)
        else:
            text = "not from a Canvas download, so Canvas has no file name to match it with"
            if UPLOAD.fullmatch(name):
                text = f"handed in {name}. Such files are not returned. Use --to folder"
            yield ExportNote(text, entry.label)


def is_anothers(name: str, students: Sequence[StudentIdentity]) -> bool:
    """Return whether the user id in a file's name from Canvas is that of none of these students,
    although theirs are known.
    """
    found = UPLOAD.fullmatch(name)
    known = {one.ids["canvas_id"] for one in students if "canvas_id" in one.ids}
    return found is not None and bool(found["user"] and known) and found["user"] not in known


def comments_table(
    entries: Iterable[PublicEntry], columns: Sequence[LessonColumn]
) -> Iterator[bytes]:
    """Yield the rows of ``feedback.csv``: for each student the points and a short text."""
    yield "\ufeff".encode()
    yield row(["submission", "students", "ids", "points", "feedback"])
    for entry in entries:
        points = mark_of(entry, columns, ExportRequest()).total
        text = " ".join(feedback_lines(entry))
        members = [replace(entry, students=(one,)) for one in entry.students] or [entry]
        for member in members if not entry.is_test else ():
            yield row([entry.name, member.label, member.ids, points, text])


def feedback_lines(entry: PublicEntry) -> Iterator[str]:
    """Yield lines: the points, the reasons, and for each lesson what to look at first.

    Without a verdict on everything there are only reasons.
    """
    if entry.report is None or total_points(entry) is None:
        yield from (f"{reason}." for reason in reasons(entry))
        return
    yield f"{entry.score:g} of {entry.report.max_score:g} points."
    yield from (f"{reason}." for reason in reasons(entry))
    for lesson in entry.report.lessons:
        wrong = lesson.failures
        if wrong:
            more = f" ({len(wrong) - 1} more)" if len(wrong) > 1 else ""
            first = wrong[0]
            named = f": {first.diagnosis_title}" if first.diagnosis_title else ""
            points = f"{lesson.id} {lesson.score:g}/{lesson.max_score:g}"
            yield clean(f"{points}: {first.title}{named}{more}.")


def annotated(entry: PublicEntry, text_of: TextOf) -> str:
    """Return the student's code with remarks as comments: general ones first, then by line."""
    made = [f"# {line}" for part in feedback_lines(entry) for line in part.splitlines()]
    for lesson in entry.lessons:
        text = text_of(entry.name, lesson.id)
        if text is not None:
            made += ["", f"# {'-' * 20} {lesson.id}", *with_remarks(text, entry, lesson)]
    return "\n".join(made) + "\n"


def with_remarks(text: str, entry: PublicEntry, lesson: LessonResult) -> Iterator[str]:
    """Yield a file's lines, each followed by the remarks on it."""
    remarks_by_line: dict[int, list[str]] = {}
    for check in lesson.failures:
        lines = [f"\N{BALLOT X} {check.title}", *explanation(check, lesson).splitlines()]
        remarks_by_line.setdefault(check.source_line or 0, []).extend(lines)
    for comment in entry.comments:
        if comment.lesson == lesson.id:
            remark = f"{comment.author}: {' '.join(comment.text.split())}"
            remarks_by_line.setdefault(comment.line or 0, []).append(remark)
    yield from (f"# {line}" for line in remarks_by_line.pop(0, ()))
    for number, line in enumerate(text.split("\n"), 1):
        indent = line[: len(line) - len(line.lstrip())]
        yield from (f"{indent}# {one}" for one in remarks_by_line.get(number, ()))
        yield line


def as_notebook(text: str) -> bytes:
    """Return a notebook (nbformat 4.5) with one cell of text."""
    cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": text}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False).encode("utf-8", "replace")


def zipped(page: bytes) -> bytes:
    """Return a zip with the page, without a date: the same bytes for the same page."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(zipfile.ZipInfo(PAGE), page, zipfile.ZIP_DEFLATED)
    return made.getvalue()
