"""Moodle's download of an assignment: a folder for each student, or all files in one folder.

``<Full Name>_<id>_assignsubmission_file/<path>`` (formerly with a trailing ``_``) or ``…_file_<file
name>``; ``Participant_<id>_…`` if names are hidden; a team's group name and id (the default team
has none); ``…_assignsubmission_onlinetext`` for typed text. (Source:
mod/assign/classes/downloader.php of moodle.) A person's id is the worksheet's ``Participant <id>``;
a group's is another number, which may be that of some participant. An assignment is one of persons
or one of teams, but only the default team shows which.
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


def _student(name: str, number: str, *, of_teams: bool) -> StudentIdentity:
    if of_teams:
        return StudentIdentity(name, {"moodle_group": number or "0"})
    shown = f"{NAMELESS} {number}" if name == NAMELESS else name
    return StudentIdentity(shown, {"moodle_participant": number})


def _read_level(level: Directory, lessons: Lessons) -> SortedEntries:
    sorting = SortedEntries()
    people: dict[tuple[str, str], list[tuple[Entry, str | None]]] = {}
    for entry in level.entries:
        named = _named(entry)
        if named is None:
            sorting.pass_over(
                entry, "is not named as Moodle names submissions, so its student is not known"
            )
            continue
        whose = readable(named["name"]), named["id"] or ""
        if named["kind"] == "onlinetext":
            reason = "is text typed into Moodle, not a file. Ask for the file"
            sorting.passed_over.append((entry.name, reason))
            people.setdefault(whose, [])
        elif named["kind"] != "file":
            reason = f"is not a file that was handed in (kind: {named['kind']})"
            sorting.passed_over.append((entry.name, reason))
        else:
            people.setdefault(whose, []).append((entry, named["file"]))
    of_teams = any(not number for _, number in people)
    for (name, number), parts in people.items():
        sorting.drafts.append(
            PendingSubmission(
                (_student(name, number, of_teams=of_teams),),
                together(parts),
                id=number,
                came_as=parts[0][0].name if parts else "",
            )
        )
    return sorting


LAYOUT = DownloadLayout("moodle", _read_level, "<Full Name>_<id>_assignsubmission_file", _matching)
