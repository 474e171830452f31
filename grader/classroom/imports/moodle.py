"""Moodle's download of an assignment: a folder for each student, or all files in one folder.

``<Full Name>_<id>_assignsubmission_file/<path>`` (formerly with a trailing ``_``) or ``…_file_<file
name>``; ``Participant_<id>_…`` if names are hidden; a team's group name and id (the default team
has none); ``…_assignsubmission_onlinetext`` for typed text. (Source:
mod/assign/classes/downloader.php of moodle.) The id is the worksheet's ``Participant <id>``.
"""

from __future__ import annotations

import re

from grader.classroom.imports.entries import (
    Directory,
    DownloadLayout,
    Lessons,
    PendingSubmission,
    SortedEntries,
    StudentIdentity,
    is_useful,
    together,
)
from grader.classroom.imports.names import readable
from grader.course.files import Entry, Kind

ENTRY = re.compile(
    r"(?P<name>.+?)(?:_(?P<id>\d+))?_assignsubmission_(?P<kind>[a-z0-9]+)(?:_(?P<file>.*))?",
    re.DOTALL,
)
NAMELESS = "Participant"


def _named(entry: Entry) -> re.Match[str] | None:
    return ENTRY.fullmatch(entry.name) if entry.kind in (Kind.FOLDER, Kind.FILE) else None


def _matching(level: Directory) -> int:
    return sum(_named(entry) is not None for entry in level.entries)


def _student(name: str, participant: str) -> StudentIdentity:
    if not participant:
        return StudentIdentity(name)
    shown = f"{NAMELESS} {participant}" if name == NAMELESS else name
    return StudentIdentity(shown, {"moodle_participant": participant})


def _read_level(level: Directory, lessons: Lessons) -> SortedEntries:
    sorting = SortedEntries()
    people: dict[tuple[str, str], list[tuple[Entry, str | None]]] = {}
    for entry in level.entries:
        named = _named(entry)
        if named is None:
            sorting.pass_over(
                entry, "is not named as Moodle names submissions, so its student is not known"
            )
        elif named["kind"] == "onlinetext":
            reason = "is text typed into Moodle, not a file. Ask for the file"
            sorting.passed_over.append((entry.name, reason))
        elif named["kind"] != "file":
            reason = f"is not a file that was handed in (kind: {named['kind']})"
            sorting.passed_over.append((entry.name, reason))
        else:
            mine = people.setdefault((readable(named["name"]), named["id"] or ""), [])
            if entry.kind is Kind.FOLDER or is_useful(named["file"] or "", lessons.names):
                mine.append((entry, named["file"]))
            else:
                sorting.pass_over(entry, "does not have the name of a lesson")
    for (name, participant), parts in people.items():
        sorting.drafts.append(
            PendingSubmission(
                (_student(name, participant),),
                together(parts),
                id=participant,
                came_as=parts[0][0].name if parts else "",
            )
        )
    return sorting


LAYOUT = DownloadLayout("moodle", _read_level, "<Full Name>_<id>_assignsubmission_file", _matching)
