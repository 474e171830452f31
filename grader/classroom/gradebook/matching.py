"""Match submissions to the roster: by ids, then by names. Ambiguous matches are reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from grader.classroom.imports.names import forms_of, name_list
from grader.classroom.imports.records import StudentIdentity

FAMILIES = {
    "sis_login_id": "username",
    "login": "username",
    "sis_user_id": "sid",
    "student_id": "sid",
}
"""Names that different systems use for the same kind of id.
A roster's ``id`` may be of any kind.
"""

Key = tuple[str, str]
Absent = tuple[str, StudentIdentity, str | None]
"""The row's name, the student, and, if a submission may be theirs, a sentence that says whose."""


@dataclass(frozen=True, slots=True, eq=False)
class SubmittingStudent:
    """A student of a submission, to be found on the roster.

    ``place`` is the position in the team; ``called`` are the names that the submission gives.
    """

    submission: str
    place: int
    student: StudentIdentity
    called: tuple[str, ...]

    def __str__(self) -> str:
        if self.student.name == self.submission:
            return self.submission
        return f"{self.student.name} ({self.submission})"


@dataclass(frozen=True, slots=True)
class MatchedStudents:
    """Each submission's students with roster data, students without a submission, and notes."""

    students: dict[str, tuple[StudentIdentity, ...]]
    absent: tuple[Absent, ...]
    notes: tuple[str, ...]


def match(
    roster: Iterable[tuple[int, StudentIdentity]],
    handed: Iterable[tuple[str, tuple[StudentIdentity, ...]]],
    *,
    taken: Iterable[str] = (),
) -> MatchedStudents:
    """Match a roster to submissions' students; no absent student gets a name in ``taken``."""
    on_roster = dict(roster)
    if not on_roster:
        return MatchedStudents({}, (), ())
    groups = dict(handed)
    people = [
        SubmittingStudent(
            name, place, student, (student.name, name) if len(students) == 1 else (student.name,)
        )
        for name, students in groups.items()
        for place, student in enumerate(students)
    ]
    lines: dict[tuple[str, int], int] = {}
    doubts: dict[int, list[str]] = {}
    notes: list[str] = []
    for roster_keys, person_keys, several in STEPS:
        known = set(lines.values())
        index: dict[Key, list[int]] = {}
        for line, student in on_roster.items():
            for key in roster_keys(student) if several or line not in known else ():
                index.setdefault(key, []).append(line)
        left = [person for person in people if (person.submission, person.place) not in lines]
        links = {
            person: sorted({line for key in person_keys(person) for line in index.get(key, ())})
            for person in left
        }
        claims = Counter(line for found in links.values() for line in found)
        for person, found in links.items():
            if len(found) == 1 and (several or claims[found[0]] == 1):
                lines[person.submission, person.place] = found[0]
            elif roster_keys is _names and found:
                where = " or ".join(map(str, found))
                notes.append(
                    f"{person} may be the student on line {where} of the roster, but this is not"
                    " certain. Add a column with ids to the roster"
                )
                for line in found:
                    doubts.setdefault(line, []).append(str(person))
    students = {
        name: tuple(
            _joined(student, on_roster.get(lines.get((name, place), -1)))
            for place, student in enumerate(group)
        )
        for name, group in groups.items()
    }
    absent = {
        line: student for line, student in on_roster.items() if line not in set(lines.values())
    }
    strangers = [str(person) for person in people if (person.submission, person.place) not in lines]
    if strangers:
        more = f" and {len(strangers) - 10} more" if len(strangers) > 10 else ""
        notes.append(f"not found on the roster: {name_list(strangers[:10])}{more}")
    rows = _lines_for(absent, doubts, {*groups, *taken})
    return MatchedStudents(students, tuple(rows), tuple(notes))


def _lines_for(
    absent: dict[int, StudentIdentity], doubts: dict[int, list[str]], taken: set[str]
) -> Iterable[Absent]:
    for line, student in absent.items():
        name = (
            student.name if student.name not in taken else f"{student.name} (roster, line {line})"
        )
        taken.add(name)
        who = " or ".join(dict.fromkeys(doubts.get(line, ())))
        yield (
            name,
            student,
            (
                f"on line {line} of the roster; {who} may be this student, but this is not certain"
                if who
                else None
            ),
        )


def joined(
    students: Sequence[StudentIdentity], line: Sequence[StudentIdentity]
) -> tuple[StudentIdentity, ...]:
    """Return a submission's student with the ids and details of a line of the roster; the students
    as they are if there are several.
    """
    if len(students) == len(line) == 1:
        return (_joined(students[0], line[0]),)
    return tuple(students or line)


def _joined(student: StudentIdentity, line: StudentIdentity | None) -> StudentIdentity:
    if line is None:
        return student
    return StudentIdentity(line.name, {**line.ids, **student.ids}, line.details)


def _ids(student: StudentIdentity) -> set[Key]:
    return {
        (FAMILIES.get(key, key), value.strip().casefold()) for key, value in student.ids.items()
    }


def _ids_of_any_kind(person: SubmittingStudent) -> set[Key]:
    ids = _ids(person.student)
    return ids | {("id", value) for _, value in ids}


def _values(student: StudentIdentity) -> set[Key]:
    return {("", value.strip().casefold()) for value in student.ids.values()}


def _called(person: SubmittingStudent) -> set[Key]:
    return {("", name.strip().casefold()) for name in person.called}


def _names(student: StudentIdentity) -> set[Key]:
    return {("", form) for form in forms_of(student.name)}


def _names_called(person: SubmittingStudent) -> set[Key]:
    return {("", form) for name in person.called for form in forms_of(name)}


STEPS: tuple[
    tuple[Callable[[StudentIdentity], set[Key]], Callable[[SubmittingStudent], set[Key]], bool], ...
] = (
    (_ids, _ids_of_any_kind, True),
    (_values, _called, False),  # folders are often called after a login or a student number
    (_names, _names_called, False),
)
"""The ways to match, most reliable first: the keys of a roster's line, the keys of a submission's
student, and whether a line may match several (somebody in two teams).
"""
