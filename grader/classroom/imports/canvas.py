"""Canvas's download of an assignment: one flat folder; each file name contains the student.

``<name>[_LATE]_<user id>_<attachment id>_<file name>``; anonymous ``[LATE_]anon_<id>_…``; text and
links ``<name>_<user id>_text.html``, ``…_link.html``. A file that has the name of an earlier upload
ends in ``-1``, ``-2``, …: of an earlier attempt, or of the same one. A zip has only the files of
the last attempt. (Source: lib/content_zipper.rb and app/models/attachment.rb of canvas-lms.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from grader.classroom.imports.entries import (
    Directory,
    DownloadLayout,
    Lessons,
    PendingSubmission,
    SortedEntries,
    StudentIdentity,
    names_a_lesson,
    together,
)
from grader.classroom.imports.names import readable
from grader.course.files import Entry, Kind

ANONYMOUS = r"(?P<late_anon>LATE_)?anon_(?P<anon>[A-Za-z0-9]+)(?P<late_too>_LATE)?"
NAMED = r"(?P<name>.+?)(?P<late>_LATE)?_(?P<user>\d+)"
UPLOAD = re.compile(rf"(?:{ANONYMOUS}|{NAMED})_(?P<attachment>\d+)_(?P<file>.+)", re.DOTALL)
TYPED = re.compile(rf"(?:{ANONYMOUS}|{NAMED})_(?P<kind>text|link)\.html", re.DOTALL)
AGAIN = re.compile(r"(?P<stem>.+)-\d+(?P<suffix>\.[^.]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Upload:
    """An upload; ``file`` is empty for text that was typed, and for a link."""

    entry: Entry
    student: StudentIdentity
    late: bool
    attachment: int
    file: str


def attachment_number(name: str) -> int:
    """Return the number that Canvas gave to an upload, a higher one to each later; 0 if a file does
    not have Canvas's name.
    """
    found = UPLOAD.fullmatch(name)
    return int(found["attachment"]) if found else 0


def _matching(level: Directory) -> int:
    names = [entry.name for entry in level.entries if entry.kind is Kind.FILE]
    return sum(bool(UPLOAD.fullmatch(name) or TYPED.fullmatch(name)) for name in names)


def _upload(entry: Entry, found: re.Match[str]) -> _Upload:
    late = bool(found["late"] or found["late_anon"] or found["late_too"])
    if found["anon"]:
        student = StudentIdentity(f"anon_{found['anon']}", {"canvas_anonymous_id": found["anon"]})
    else:
        student = StudentIdentity(readable(found["name"]), {"canvas_id": found["user"]})
    parts = found.groupdict()
    return _Upload(entry, student, late, int(parts.get("attachment") or 0), parts.get("file") or "")


def _read_level(level: Directory, lessons: Lessons) -> SortedEntries:
    sorting = SortedEntries()
    people: dict[tuple[str, str], list[_Upload]] = {}
    for entry in level.entries:
        found = None
        if entry.kind is Kind.FILE:
            found = UPLOAD.fullmatch(entry.name) or TYPED.fullmatch(entry.name)
        if found is None:
            sorting.pass_over(
                entry, "is not named as Canvas names files, so its student is not known"
            )
            continue
        upload = _upload(entry, found)
        (own_id,) = upload.student.ids.items()
        people.setdefault(own_id, []).append(upload)
        if not upload.file:
            kind = "text typed into Canvas" if found["kind"] == "text" else "a link"
            sorting.pass_over(entry, f"is {kind}, not a file. Ask for the file")
    for (_, person_id), uploads in people.items():
        sorting.drafts.append(_draft(person_id, uploads, lessons.names))
    return sorting


def _draft(person_id: str, uploads: list[_Upload], names: Mapping[str, str]) -> PendingSubmission:
    """Return one person's uploads: all are of one attempt, as Canvas's zip has no others."""
    newest = max(uploads, key=lambda upload: upload.attachment)
    return PendingSubmission(
        (newest.student,),
        together([(one.entry, _counts_as(one.file, names)) for one in uploads if one.file]),
        id=person_id,
        late=any(upload.late for upload in uploads),
        came_as=newest.entry.name,
    )


def _counts_as(file: str, names: Mapping[str, str]) -> str:
    """Return the name of a lesson's file without Canvas's ``-1``, ``-2``."""
    if file in names or not (again := AGAIN.fullmatch(file)):
        return file
    first = again["stem"] + again["suffix"]
    return first if names_a_lesson(first, names) else file


LAYOUT = DownloadLayout(
    "canvas", _read_level, "<name>_<user id>_<attachment id>_<file name>", _matching
)
