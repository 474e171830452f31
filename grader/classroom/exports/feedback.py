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
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from grader.classroom.exports.common import (
    PAGE,
    ExportNote,
    ExportRequest,
    Piece,
    explanation,
    mark_of,
    remarks,
    row,
)
from grader.classroom.exports.moodle import columns_in, roll_of
from grader.classroom.exports.sheets import Roll, Sheet
from grader.classroom.gradebook.entry import LessonColumn, PublicEntry, total_points
from grader.classroom.imports.entries import StudentIdentity
from grader.core.report import LessonResult
from grader.core.text import clean

PageOf = Callable[[str], bytes]
"""The page of a submission, by name."""
TextOf = Callable[[str, str], str | None]
"""The text of a submission's lesson as it was graded."""
MOODLE_TEAMS = (
    "do not upload this zip if students submit in groups. The numbers in its names are then those"
    " of groups, but Moodle reads them as participants, so other students would get the pages."
    " Instead, give the grading worksheet with --template, and grade with a roster of the members"
)


def pages_for_moodle(
    entries: Iterable[PublicEntry], page_of: PageOf, request: ExportRequest
) -> Iterator[Piece | ExportNote]:
    """Yield each page, and a note for each student whom Moodle would not find."""
    roll = None
    if request.template is not None:
        sheet = Sheet(request.template)
        roll = roll_of(sheet, columns_in(sheet, request))
    warned = roll is not None
    for entry in entries:
        page = page_of(entry.name)
        for student in entry.students:
            found = moodle_name(entry, student, roll)
            if found:
                if not warned:
                    yield ExportNote(MOODLE_TEAMS, important=True)
                    warned = True
                yield Piece(page, f"{found}/{PAGE}")
            else:
                where = "the worksheet" if roll else "the download"
                yield ExportNote(f"no participant number in {where}", student.name)


def moodle_name(entry: PublicEntry, student: StudentIdentity, roll: Roll | None) -> str | None:
    """Return ``<name>_<participant>_assignsubmission_file``; None if the number is not known."""
    number = student.ids.get("moodle_participant", "")
    if roll is not None:
        people = roll.find(student)
        number = people[0].ids["participant"] if len(people) == 1 else ""
    name = " ".join(student.name.replace("_", " ").replace("/", " ").split())
    return f"{name}_{number}_assignsubmission_file" if number.isdecimal() else None


def files_for_canvas(
    entries: Iterable[PublicEntry], page_of: PageOf, text_of: TextOf
) -> Iterator[Piece | ExportNote]:
    """Yield a file for each submission, under the name of the newest file that was handed in."""
    for entry in entries:
        suffix = PurePosixPath(entry.came_as).suffix.lower()
        if suffix == ".py":
            yield Piece(annotated(entry, text_of).encode("utf-8", "replace"), entry.came_as)
        elif suffix == ".ipynb":
            yield Piece(as_notebook("\n".join(feedback_lines(entry))), entry.came_as)
        elif suffix == ".zip":
            yield Piece(zipped(page_of(entry.name)), entry.came_as)
        else:
            text = "not from a Canvas download, so Canvas has no file name to match it with"
            yield ExportNote(text, entry.label)


def comments_table(
    entries: Iterable[PublicEntry], columns: Sequence[LessonColumn]
) -> Iterator[bytes]:
    """Yield the rows of ``feedback.csv``: the student, the points, and a short text."""
    yield "\ufeff".encode()
    yield row(["submission", "students", "ids", "points", "feedback"])
    for entry in entries:
        points = mark_of(entry, columns, ExportRequest()).total
        yield row([entry.name, entry.label, entry.ids, points, " ".join(feedback_lines(entry))])


def feedback_lines(entry: PublicEntry) -> Iterator[str]:
    """Yield lines: the points, remarks, and for each lesson what to look at first.

    Without a verdict on everything there are only remarks.
    """
    if entry.report is None or total_points(entry) is None:
        yield from (f"{remark}." for remark in remarks(entry))
        return
    yield f"{entry.score:g} of {entry.report.max_score:g} points."
    yield from (f"{remark}." for remark in remarks(entry))
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
