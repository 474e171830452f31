"""Find the teams of a roster among submissions: whose name is a group's belongs to its members.

The roster's column ``group`` says who is in which group; Moodle's grading worksheet has it, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.classroom.gradebook.identity import (
    GROUP_NUMBER,
    NUMBER,
    Key,
    called_alike,
    id_keys,
    number_keys,
)
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import forms_of, letters, name_list

Students = Mapping[str, tuple[StudentIdentity, ...]]
"""The students of each submission, by its name."""
Lines = Mapping[int, StudentIdentity]
"""A roster's students by their lines."""


@dataclass(frozen=True, slots=True)
class TeamLine:
    """A line of the gradebook that is a team's, or may be one's if that is not ``certain``: its
    names, newest last, and who was in the team. ``parts`` are the lines of which it was made.
    """

    names: tuple[str, ...]
    people: frozenset[int]
    certain: bool
    parts: tuple[str, ...] = ()


@dataclass(slots=True)
class Teams:
    """The submissions of teams.

    ``members`` has the roster's lines of each one's members. ``unclear`` has the lines of those
    who may be meant where a name is a group's and a person's, or where two submissions have the
    name of one group. ``in_moodle`` says whether Moodle's numbers are those of groups, except those
    of ``persons``, submissions with the number and the name of somebody on the roster.
    ``elsewhere`` has the members of the gradebook's other teams; ``left`` are submissions of teams
    that the roster does not have any more.
    """

    members: dict[str, list[int]] = field(default_factory=dict)
    unclear: dict[str, list[int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    in_moodle: bool = False
    persons: set[str] = field(default_factory=set)
    elsewhere: dict[str, list[int]] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)


def find_teams(
    submissions: Students, roster: Lines, lines: Mapping[str, TeamLine], known: Mapping[str, str]
) -> Teams:
    """Return the teams among submissions of one student each, and the gradebook's other teams.

    ``lines`` are the gradebook's, and ``known`` says which submission is of which of these.
    """
    teams = Teams()
    groups = _Groups(roster)
    named: dict[str, list[str]] = {}
    for name, students in submissions.items():
        if len(students) == 1:
            teams.in_moodle |= GROUP_NUMBER in students[0].ids
            if groups.has_number_and_name(students[0]):
                teams.persons.add(name)
            group = groups.called(students[0].name)
            if group and not groups.is_person(students[0], group):
                named.setdefault(group, []).append(name)
    known = {name: line for name, line in known.items() if name not in teams.persons}
    by_own_name = {name for names in named.values() for name in names}
    others = {name: lines[line] for name, line in known.items() if name not in by_own_name}
    elsewhere = {name: line for name, line in lines.items() if name not in known.values()}
    by_other_name = groups.of_lines({**elsewhere, **others}, named)
    for name, group in by_other_name.items():
        if name in others:
            named[group] = [name]
        else:
            teams.elsewhere[name] = groups.with_parts(group, lines[name].parts, named)
    teams.left = {name for name in others if others[name].certain and name not in by_other_name}
    teams.in_moodle |= any(NUMBER in submissions[name][0].ids for name in teams.left)
    for group, names in named.items():
        found = groups.lines[group]
        if len(names) > 1:
            teams.unclear |= dict.fromkeys(names, found)
            teams.notes.append(
                f"{name_list(names)} are all called like one group of the roster, so none is given"
                " to its members. Rename the others"
            )
            continue
        (name,) = names
        (student,) = submissions[name]
        if persons := groups.persons_called(student.name):
            teams.unclear[name] = sorted({*found, *persons})
            teams.notes.append(
                f"{name} is the name of a group and of a student (line"
                f" {name_list(map(str, persons))} of the roster), so it is given to neither. Rename"
                " the group in the roster and in the download"
            )
            continue
        parts = lines[known[name]].parts if name in known else ()
        teams.members[name] = groups.with_parts(group, parts, named)
        teams.in_moodle |= NUMBER in student.ids
    teams.notes += _in_several(teams.members, roster)
    return teams


def as_group(student: StudentIdentity) -> StudentIdentity:
    """Return who handed in with the number that a download has as that of a group."""
    ids = {GROUP_NUMBER if kind == NUMBER else kind: one for kind, one in student.ids.items()}
    return replace(student, ids=ids)


class _Groups:
    """The groups of a roster: ``lines`` has those of each group's members, by its name in lower
    case.
    """

    def __init__(self, roster: Lines) -> None:
        self.lines: dict[str, list[int]] = {}
        self._roster = roster
        wholes = {_plain(one.details["group"]) for one in roster.values() if "group" in one.details}
        for line, student in roster.items():
            for name in _names_in(_plain(student.details.get("group", "")), wholes):
                self.lines.setdefault(name, []).append(line)
        self._alike: dict[str, list[str]] = {}
        for group in self.lines:
            self._alike.setdefault(letters(group), []).append(group)
        self._ids: dict[Key, set[int]] = {}
        self._called: dict[str, set[int]] = {}
        for line, student in roster.items():
            for key in id_keys(student) | number_keys(student):
                self._ids.setdefault(key, set()).add(line)
            words = {letters(value) for value in student.ids.values()} | forms_of(student.name)
            for word in words | {letters(student.name)}:
                self._called.setdefault(word, set()).add(line)

    def called(self, name: str) -> str:
        """Return the group of this name, or the only one with the same letters, because file names
        lack other characters. Return an empty text if there is none.
        """
        if _plain(name) in self.lines:
            return _plain(name)
        alike = self._alike.get(letters(name), []) if letters(name) else []
        return alike[0] if len(alike) == 1 else ""

    def of_lines(self, lines: Mapping[str, TeamLine], taken: Collection[str]) -> dict[str, str]:
        """Return the group that each of these lines is, among those that are not taken: one with a
        name of it, else the one that most of its people are in now, if these are most of that.
        """
        found: dict[str, str] = {}
        for name, line in lines.items():
            for group in map(self.called, reversed(line.names)):
                free = group and group not in taken and group not in found.values()
                if free and (line.certain or not self.persons_called(group)):
                    found.setdefault(name, group)
        listed = {one.person for one in self._roster.values()}
        people = {
            group: {self._roster[line].person for line in those}
            for group, those in self.lines.items()
            if group not in {*taken, *found.values()}
        }
        for name, line in lines.items():
            if line.certain and name not in found:
                for group, those in people.items():
                    both = 2 * len(those & line.people)
                    if both > len(those) and both > len(line.people & listed):
                        found.setdefault(name, group)
        return found

    def with_parts(self, group: str, parts: Sequence[str], taken: Collection[str]) -> list[int]:
        """Return the members of a group, with those of the groups that are a part of its team."""
        others = [one for one in map(self.called, parts) if one and one not in taken]
        return list(dict.fromkeys(line for one in (group, *others) for line in self.lines[one]))

    def is_person(self, student: StudentIdentity, group: str) -> bool:
        """Return whether an id says that this is a person of the roster. An id that is also the
        name says nothing, and neither does that of a member who handed in for the group.
        """
        own = {key for key in id_keys(student) if letters(key[1]) != letters(student.name)}
        by_id = {line for key in own for line in self._ids.get(key, ())}
        by_number = {line for key in number_keys(student) for line in self._ids.get(key, ())}
        return self._is_any(student, by_id | by_number) or bool(by_id - {*self.lines[group]})

    def has_number_and_name(self, student: StudentIdentity) -> bool:
        """Return whether the number in Moodle and the name are those of a person of the roster."""
        keys = number_keys(student)
        return self._is_any(student, {line for key in keys for line in self._ids.get(key, ())})

    def _is_any(self, student: StudentIdentity, lines: Collection[int]) -> bool:
        """Return whether the names agree, too. A number in a name says nothing: it may be that of
        Group 3.
        """
        return any(called_alike(replace(student, ids={}), self._roster[line]) for line in lines)

    def persons_called(self, name: str) -> list[int]:
        """Return the lines of persons of this name, or with an id that is the name."""
        words = {letters(name), *forms_of(name)} - {""}
        return sorted({line for word in words for line in self._called.get(word, ())})


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _names_in(cell: str, wholes: set[str]) -> set[str]:
    """Return the groups in a cell. A comma separates them only if they are known by themselves,
    because it may be part of a name.
    """
    parts = {part.strip() for part in cell.split(";")}
    by_comma = {part.strip() for part in cell.split(",")} & (wholes - {cell})
    return {name for name in {cell} | parts | by_comma if name}


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
