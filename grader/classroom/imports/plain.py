"""Read a class that was collected by hand: a folder, a zip or a file for each student.

* ``alice/``, ``alice.zip``: the folder wins
* ``alice_<lesson>.py`` (or with ``-``, ``.``, a blank); ``alice.py`` if one lesson is graded;
  ``alice_<lesson> (1).py`` has almost a lesson's name; ``alice.rar`` and ``alice_<lesson>.pdf``
  can't be read, but are Alice's
* only ``<lesson>.py`` or ``<lesson>/``: one submission, named after the folder
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from grader.classroom.imports.entries import (
    Directory,
    DownloadLayout,
    Lessons,
    PendingSubmission,
    SortedEntries,
    StudentIdentity,
    is_zip,
    together,
)
from grader.classroom.imports.names import readable
from grader.course.files import Entry, Kind
from grader.course.near_names import OTHER_ARCHIVES, meant_by

GRADEBOOK = "grades.sqlite"
SEPARATORS = "_-. "
FORMS = ("folder", "zip", "file")
"""The forms of a submission; if there are several, the first one counts."""
NO_STUDENT = (
    "is named after a lesson, so its student is not known. Put it into a folder named after the"
    " student"
)
IS_GRADEBOOK = "holds a gradebook, not a submission"
NO_LESSON = (
    "is not a folder, a zip or a lesson file. Name it <student>_<lesson>.py, or put it into a"
    " folder named after the student"
)


def _is_lesson(entry: Entry, names: Mapping[str, str]) -> bool:
    if entry.kind is Kind.FILE:
        return entry.name in names
    return entry.kind is Kind.FOLDER and entry.name in names.values()


def _read_level(level: Directory, lessons: Lessons) -> SortedEntries:
    sorting = SortedEntries()
    people: dict[str, list[tuple[Entry, str | None, str]]] = {}
    loose = [entry for entry in level.entries if _is_lesson(entry, lessons.names)]
    nobodys = []
    for entry in level.entries:
        if entry in loose:
            continue
        student, counts_as, kind = _whose(entry, lessons)
        if student:
            people.setdefault(student, []).append((entry, counts_as, kind))
        else:
            nobodys.append(entry)
    one_folder = bool(loose) and not people
    for entry in nobodys:
        if not (one_folder and entry.kind is Kind.FILE):
            sorting.pass_over(entry, _why_nobodys(entry, lessons))
    if one_folder:
        student = readable(level.name)
        beside = [entry for entry in nobodys if entry.kind is Kind.FILE]
        files = together([(entry, None) for entry in loose + beside])
        sorting.drafts.append(PendingSubmission((StudentIdentity(student),), files))
        sorting.notes.append(f"the folder contains lessons, so it is one submission: {student}")
        return sorting
    sorting.passed_over += [(entry.name, NO_STUDENT) for entry in loose]
    for student, found in people.items():
        found.sort(key=lambda one: FORMS.index(one[2]))
        first, _, form = found[0]
        parts = [(entry, counts_as) for entry, counts_as, kind in found if kind == form]
        sorting.drafts.append(
            PendingSubmission((StudentIdentity(readable(student)),), together(parts))
        )
        reason = f"is not graded, because {first.name} is there too. Rename or delete one of them"
        sorting.passed_over += [(entry.name, reason) for entry, _, _ in found[len(parts) :]]
    return sorting


def _why_nobodys(entry: Entry, lessons: Lessons) -> str:
    if entry.kind is Kind.FOLDER:
        return IS_GRADEBOOK
    return NO_STUDENT if meant_by(entry.name, lessons.names) else NO_LESSON


def _whose(entry: Entry, lessons: Lessons) -> tuple[str, str | None, str]:
    """Return the student (empty if unknown), the name that a file counts as, and its form."""
    if entry.kind is Kind.FOLDER:
        return ("" if entry.holds(GRADEBOOK) else entry.name), None, "folder"
    if entry.kind is not Kind.FILE:
        return "", None, ""
    if is_zip(entry.name):
        return PurePosixPath(entry.name).stem, None, "zip"
    for name in sorted(lessons.names, key=len, reverse=True):
        student = entry.name.removesuffix(name)
        if len(student) > 1 and student != entry.name and student[-1] in SEPARATORS:
            return student[:-1], name, "file"
    meant = meant_by(entry.name, lessons.names)
    if meant and (student := entry.name[: meant.start].rstrip(SEPARATORS)):
        return student, entry.name[meant.start :], "file"
    for name in lessons.only:
        suffix = PurePosixPath(name).suffix
        if entry.name.endswith(suffix):
            return entry.name.removesuffix(suffix), name, "file"
    if not meant and (archive := OTHER_ARCHIVES.search(entry.name)):
        return entry.name[: archive.start()], None, "file"
    return "", None, ""


LAYOUT = DownloadLayout("plain", _read_level)
