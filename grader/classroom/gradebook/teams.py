"""Find the teams of a roster among submissions: whose name is a group's belongs to its members.

The roster's column ``group`` says who is in which group; Moodle's grading worksheet has it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from grader.classroom.gradebook.identity import (
    GROUP_NUMBER,
    NUMBER,
    called_alike,
    id_keys,
    number_keys,
)
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import letters, name_list

Students = Mapping[str, tuple[StudentIdentity, ...]]
"""The students of each submission, by its name."""
Lines = Mapping[int, StudentIdentity]
"""A roster's students by their lines."""


@dataclass(slots=True)
class Teams:
    """The submissions of teams.

    ``members`` has the roster's lines of each one's members. ``unclear`` has the lines of those
    who may be meant where a name is a group's and a person's, or where two submissions have the
    name of one group. ``in_moodle`` says whether Moodle's numbers are those of groups.
    """

    members: dict[str, list[int]] = field(default_factory=dict)
    unclear: dict[str, list[int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    in_moodle: bool = False


def find_teams(submissions: Students, roster: Lines) -> Teams:
    """Return the teams among submissions of one student each."""
    teams = Teams()
    groups = _groups(roster)
    named: dict[str, list[str]] = {}
    for name, students in submissions.items():
        if len(students) == 1:
            teams.in_moodle |= GROUP_NUMBER in students[0].ids
            group = _group_called(students[0].name, groups)
            if group and not _is_known(students[0], roster):
                named.setdefault(group, []).append(name)
    for group, names in named.items():
        lines = groups[group]
        if len(names) > 1:
            teams.unclear |= dict.fromkeys(names, lines)
            teams.notes.append(
                f"{name_list(names)} are all called like one group of the roster, so none is given"
                " to its members. Rename the others"
            )
            continue
        (name,) = names
        (student,) = submissions[name]
        others = [line for line, one in roster.items() if _is_called(one, student.name)]
        if others:
            teams.unclear[name] = sorted({*lines, *others})
            teams.notes.append(
                f"{name} is the name of a group and of a student (line"
                f" {name_list(map(str, others))} of the roster), so it is given to neither. Rename"
                " the group in the roster and in the download"
            )
            continue
        teams.members[name] = lines
        teams.in_moodle |= NUMBER in student.ids
    teams.notes += _in_several(teams.members, roster)
    return teams


def as_group(student: StudentIdentity) -> StudentIdentity:
    """Return who handed in with the number that a download has as that of a group."""
    ids = {GROUP_NUMBER if kind == NUMBER else kind: one for kind, one in student.ids.items()}
    return replace(student, ids=ids)


def _groups(roster: Lines) -> dict[str, list[int]]:
    """Return the lines of each group's members, by its name in lower case."""
    wholes = {_plain(one.details["group"]) for one in roster.values() if "group" in one.details}
    found: dict[str, list[int]] = {}
    for line, student in roster.items():
        for name in _names_in(_plain(student.details.get("group", "")), wholes):
            found.setdefault(name, []).append(line)
    return found


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _names_in(cell: str, wholes: set[str]) -> set[str]:
    """Return the groups in a cell. A comma separates them only if they are known by themselves,
    because it may be part of a name.
    """
    parts = {part.strip() for part in cell.split(";")}
    by_comma = {part.strip() for part in cell.split(",")} & (wholes - {cell})
    return {name for name in {cell} | parts | by_comma if name}


def _group_called(name: str, groups: Mapping[str, list[int]]) -> str:
    """Return the group of this name, or the only one with the same letters: file names lack other
    characters. Return an empty text if there is none.
    """
    if _plain(name) in groups:
        return _plain(name)
    alike = [group for group in groups if letters(group) == letters(name) != ""]
    return alike[0] if len(alike) == 1 else ""


def _is_known(student: StudentIdentity, roster: Lines) -> bool:
    """Return whether an id says that this is a person of the roster. An id that is also the name
    says nothing: it may be a group's.
    """
    own = {key for key in id_keys(student) if letters(key[1]) != letters(student.name)}
    number = number_keys(student)
    return any(
        own & id_keys(one)
        or (number & (number_keys(one) | id_keys(one)) and called_alike(student, one))
        for one in roster.values()
    )


def _is_called(student: StudentIdentity, name: str) -> bool:
    values = {letters(value) for value in student.ids.values()}
    return letters(name) in values or called_alike(StudentIdentity(name), student)


def _in_several(members: Mapping[str, list[int]], roster: Lines) -> list[str]:
    teams: dict[int, list[str]] = {}
    for name, lines in members.items():
        for line in lines:
            teams.setdefault(line, []).append(name)
    return [
        f"{roster[line].name} (line {line} of the roster) is in several teams that handed in:"
        f" {name_list(names)}. All are graded"
        for line, names in teams.items()
        if len(names) > 1
    ]
