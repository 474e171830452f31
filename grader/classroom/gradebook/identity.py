"""When two records are of one person: ids of the same kind, and names.

Moodle's numbers are special. ``moodle_participant`` holds for one assignment, and in a download it
may be the number of a group (``moodle_group`` once that is known), so it counts only together with
a name.
"""

from __future__ import annotations

from dataclasses import replace

from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import forms_of, letters

Key = tuple[str, str]
FAMILIES = {
    "sis_login_id": "username",
    "login": "username",
    "sis_user_id": "sid",
    "student_id": "sid",
}
"""Different systems' names for the same kind of id; a roster's ``id`` may be of any kind."""
OF_A_SCHOOL = {"sis_user_id": "sid", "student_id": "sid"}
"""Names for the only student number that a person has; logins may differ from system to system."""
NUMBER, GROUP_NUMBER = "moodle_participant", "moodle_group"
NO_GROUP = "0"
"""The number of Moodle's default group: those who are in no group."""
OF_ONE_ASSIGNMENT = frozenset(
    {NUMBER, GROUP_NUMBER, "gradescope_submission", "canvas_anonymous_id"}
)
"""Kinds of ids that a person has for one assignment only."""
SHIFTING = OF_ONE_ASSIGNMENT | {"id"}
"""These, and the kind that may be any."""


def id_keys(student: StudentIdentity) -> set[Key]:
    """Return the keys of all ids, except Moodle's numbers."""
    return {
        (FAMILIES.get(kind, kind), value.strip().casefold())
        for kind, value in student.ids.items()
        if kind not in (NUMBER, GROUP_NUMBER)
    }


def number_keys(student: StudentIdentity) -> set[Key]:
    """Return the keys of a number in Moodle, which a roster may have in a column ``id``."""
    number = student.ids.get(NUMBER)
    return {(NUMBER, number), ("id", number)} if number else set()


def called_alike(student: StudentIdentity, other: StudentIdentity) -> bool:
    """Return whether the names agree: the same forms, or the same letters, because Moodle leaves
    signs out of the names of files. Hidden names consist of a word and the number. A name that the
    other one had before counts, too, and older versions of Moodle put the group before the name.
    """
    if any(called_alike(student, StudentIdentity(name)) for name in other.former_names):
        return True
    if forms_of(student.name) & forms_of(other.name):
        return True
    number = student.ids.get(NUMBER, "")
    group, _, member = student.name.partition("-")
    if number and group and member and called_alike(replace(student, name=member), other):
        return True
    if is_hidden(student, number) and other.ids.get(NUMBER, other.name) == number:
        return True
    if is_hidden(other, number) and other.ids.get(NUMBER) == number:
        return True
    return letters(other.name) in {letters(student.name), letters(f"{student.name} {number}")}


def is_hidden(student: StudentIdentity, number: str) -> bool:
    """Return whether a name is only a word and the number in Moodle."""
    return bool(number) and letters(student.name).endswith(number)


def is_nameless(student: StudentIdentity) -> bool:
    """Return whether a download hid whose name this is: in Moodle, or in Canvas."""
    ids = (student.ids.get(kind, "") for kind in (NUMBER, "canvas_anonymous_id"))
    return any(is_hidden(student, letters(id)) for id in ids)


def contradict(student: StudentIdentity, other: StudentIdentity, *, numbers: bool = False) -> bool:
    """Return whether both have an id of the same kind with different values, so that they are two
    people, even of one name. ``numbers``: Moodle's are those of the same assignment.
    """
    shifting = SHIFTING - {NUMBER} if numbers else SHIFTING
    theirs = {OF_A_SCHOOL.get(kind, kind): _plain(value) for kind, value in other.ids.items()}
    mine = {OF_A_SCHOOL.get(kind, kind): _plain(value) for kind, value in student.ids.items()}
    return any(
        kind not in shifting and theirs.get(kind, value) != value for kind, value in mine.items()
    )


def _plain(value: str) -> str:
    """Return an id as it is compared; spreadsheet programs drop leading zeros."""
    return value.strip().casefold().lstrip("0")
