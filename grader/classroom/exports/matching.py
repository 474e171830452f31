"""Match marks to the rows of another system's sheet.

Students are matched by the ids that both know, most reliable first, then by name; a team that is
known only by its name, by the sheet's column of groups. Ambiguous matches are reported, and get no
mark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.exports.common import NAMED, ExportNote, ExportRequest, LmsMark
from grader.classroom.gradebook.identity import Key
from grader.classroom.gradebook.roster import PeopleIndex
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import forms_of, letters, name_list
from grader.core.errors import UsageError
from grader.core.text import counted


@dataclass(frozen=True, slots=True)
class SheetPerson:
    """A person in a sheet: the row, what to call them, their ids by kind, forms of their name, and
    their team's name.
    """

    row: int
    label: str
    ids: dict[str, str]
    names: frozenset[str]
    team: str = ""


FROM_DOWNLOAD = frozenset({"moodle_participant", "moodle_group"})
"""The ids of somebody who is known from a Moodle download alone, and so may be a team."""


class Roll:
    """The people of a sheet. ``kinds`` maps each kind of id, most reliable first, to the names that
    it has in ``StudentIdentity.ids``.

    An id of a kind in ``with_name`` counts only if the names agree too, where the sheet has names:
    a group's number in Moodle may be another person's.
    """

    def __init__(
        self,
        people: Iterable[SheetPerson],
        kinds: Mapping[str, tuple[str, ...]],
        *,
        with_name: Collection[str] = (),
    ) -> None:
        self.people = {person.row: person for person in people}
        self._with_name = with_name
        self._kinds = kinds
        self._index = PeopleIndex((row, keys_of(person)) for row, person in self.people.items())

    def find(self, student: StudentIdentity) -> list[SheetPerson]:
        for key in self._keys(student):
            people = [self.people[row] for row in self._index.find([key])]
            if key[0] in self._with_name:
                people = [one for one in people if agree(one, student)]
            if people:
                return people
        named = self._index.find(("name", form) for form in forms_of(student.name))
        return [self.people[row] for row in named]

    def members(self, mark: LmsMark) -> list[SheetPerson]:
        """Return the rows of a team that is known only by its name."""
        if len(mark.students) != 1 or not mark.students[0].ids.keys() <= FROM_DOWNLOAD:
            return []
        team = letters(mark.students[0].name)
        return [one for one in self.people.values() if one.team and letters(one.team) == team]

    def _keys(self, student: StudentIdentity) -> Iterator[Key]:
        for kind, words in self._kinds.items():
            for word in words:
                if value := student.ids.get(word):
                    yield kind, value.strip().casefold()


def keys_of(person: SheetPerson) -> set[Key]:
    ids = {(kind, value.casefold()) for kind, value in person.ids.items() if value}
    return ids | {("name", form) for form in person.names}


def agree(person: SheetPerson, student: StudentIdentity) -> bool:
    """Return whether the row's names include the student's; True if the row has no name."""
    theirs = {letters(name) for name in person.names}
    return not theirs or any(letters(form) in theirs for form in forms_of(student.name))


@dataclass(frozen=True, slots=True)
class MatchedMarks:
    """Which mark goes to which row, and notes for the instructor on the rest.

    Of the students with a submission, ``strangers`` fit no row, and ``doubtful`` ones several.
    ``absent`` are people of the sheet that nothing was matched to.
    """

    by_row: dict[int, LmsMark]
    notes: tuple[ExportNote, ...]
    known: tuple[str, ...]
    doubtful: tuple[str, ...]
    strangers: tuple[str, ...]
    absent: tuple[SheetPerson, ...]


def match(roll: Roll, marks: Iterable[LmsMark], what: str = "mark") -> MatchedMarks:
    """Match marks to rows; a team's goes to every member's row. ``what`` is said to be written."""
    found: dict[int, dict[str, LmsMark]] = {}
    notes: list[ExportNote] = []
    known: list[str] = []
    doubtful: list[str] = []
    strangers: list[str] = []
    nobody: set[int] = set()
    for mark in marks:
        team = roll.members(mark)
        for student in mark.students or (StudentIdentity(mark.label),):
            people = roll.find(student) or team
            if mark.test:
                nobody.update(person.row for person in people)
            elif len(people) == 1 or (people and people == team):
                known.append(student.name)
                for person in people:
                    found.setdefault(person.row, {})[mark.name] = mark
            elif not mark.missing:
                (doubtful if people else strangers).append(student.name)
                listed = name_list(person.label for person in people)
                why = f"fits {len(people)} rows of the sheet: {listed}"
                text = f"{why if people else 'not in the sheet'}, so this {what} was not written"
                notes.append(ExportNote(text, student.name, important=True))
    by_row: dict[int, LmsMark] = {}
    fits_several: set[int] = set()
    for row, candidates in found.items():
        # Who is missing by the roster may have handed in with a team of which it does not know.
        handed = [mark for mark in candidates.values() if not mark.missing]
        fitting = handed or list(candidates.values())
        if len(fitting) == 1:
            # A submission whose student is not found may be theirs, such as that of a team.
            if not fitting[0].nothing or not (strangers or doubtful):
                by_row[row] = fitting[0]
        else:
            fits_several.add(row)
            text = (
                f"no {what} was written, because {len(fitting)} submissions fit this row:"
                f" {name_list(m.name for m in fitting)}"
            )
            notes.append(ExportNote(text, roll.people[row].label, important=True))
    taken = {*by_row, *fits_several, *nobody}
    absent = [one for row, one in roll.people.items() if row not in taken]
    return MatchedMarks(
        by_row, tuple(notes), tuple(known), tuple(doubtful), tuple(strangers), tuple(absent)
    )


def refuse_another_class(path: Path, roll: Roll, matched: MatchedMarks) -> None:
    """Raise UsageError if the sheet has fewer than a quarter of the gradebook's students, and the
    gradebook fewer than a quarter of the sheet's people.

    One alone is no sign: a section's sheet has few of the students, and those who hand in late are
    few of the sheet's people.
    """
    known = len(matched.known) + len(matched.doubtful)
    students = known + len(matched.strangers)
    if 4 * known < students and 4 * len(matched.by_row) < len(roll.people):
        raise UsageError(
            f"{path}: this seems to be the file of another class. It has {known} of the"
            f" {counted(students, 'student')} in the gradebook. It does not have"
            f" {name_list(matched.strangers, NAMED)}. Give the file of this class with --template."
            " If this is it, grade with a roster that has the file's ids and the members of each"
            " team"
        )


def zero_rows(matched: MatchedMarks, request: ExportRequest) -> set[int]:
    """Return the rows that get 0 with ``--missing-as-zero``, besides those of missing students.

    There are none if a submission may be theirs, or if they may be of another section.
    """
    wanted = request.missing_as_zero and is_certain(matched) and request.section is None
    absent = (one for one in matched.absent if not is_forgotten(one, request))
    return {person.row for person in absent} if wanted else set()


def is_certain(matched: MatchedMarks) -> bool:
    """Return whether no submission may be that of a person without one."""
    return not matched.strangers and not matched.doubtful


def is_forgotten(person: SheetPerson, request: ExportRequest) -> bool:
    return any(person.names & forms_of(name) for name in request.forgotten)


def absent_notes(matched: MatchedMarks, request: ExportRequest) -> Iterator[ExportNote]:
    """Yield notes on the people without a submission; with a section, they may be of another."""
    if request.section is not None:
        return
    for person in matched.absent:
        what = "forgotten" if is_forgotten(person, request) else "without a submission"
        yield ExportNote(f"in the sheet, but {what}", person.label)
    if request.missing_as_zero and matched.absent and not is_certain(matched):
        yield ExportNote(
            "students without a submission were not given 0, because some submissions match no"
            " student in the sheet, or several"
        )
