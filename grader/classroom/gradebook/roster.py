"""Read a roster, and match submissions to it: by ids, then by names.

A roster is a CSV file as spreadsheet programs write it: any delimiter, UTF-8, UTF-16 or CP949.
Columns are recognized by their headers, in English and Korean. Classroom 50's are
``username,first_name,last_name,email,section,github_id`` and whatever else a teacher added:
https://github.com/foundation50/classroom50/wiki/Web-Teacher-Guide, "Roster CSV fields". Ambiguous
matches are reported.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.gradebook.entry import read_extension
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import forms_of
from grader.core.errors import UsageError
from grader.core.text import as_utc

DELIMITERS = ",;\t|"


def csv_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return a CSV file's non-empty rows, each with its line number; raise UsageError."""
    text = _text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=first.count), strict=True
    )
    rows, line = [], 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{path}:{reader.line_num}: {error}. Save it as CSV again") from None
    return rows


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror}. Check its name and its permissions"
        ) from None
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "cp949"):
        try:
            return data.decode(encoding).replace("\0", "")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
    raise UsageError(f"{path}:{line} is neither UTF-8 nor CP949. Save it as CSV in UTF-8")


NAMES = ("name", "student", "student_name", "full_name", "이름", "성명", "학생")
GIVEN = ("first_name", "firstname", "given_name")
FAMILY = ("last_name", "lastname", "surname", "family_name")
IDS = {
    "id": "id",
    "canvas_id": "canvas_id",
    "user_id": "canvas_id",
    "canvas_user_id": "canvas_id",
    "sid": "sid",
    "student_id": "sid",
    "student_number": "sid",
    "id_number": "sid",
    "학번": "sid",
    "sis_user_id": "sis_user_id",
    "sis_id": "sis_user_id",
    "sis_login_id": "sis_login_id",
    "login_id": "sis_login_id",
    "username": "username",
    "user_name": "username",
    "user": "username",
    "login": "username",
    "아이디": "username",
    "github": "username",
    "github_username": "username",
    "github_id": "github_id",
    "email": "email",
    "e_mail": "email",
    "email_address": "email",
    "mail": "email",
    "이메일": "email",
    "moodle_participant": "moodle_participant",
    "identifier": "moodle_participant",
}
"""Headers, as ``_field`` writes them, and the name of that id in ``StudentIdentity.ids``."""
SECTION = ("section", "sections", "class_section", "lab", "분반", "반")
DUE = ("due", "due_date", "extension", "extended_until", "마감", "연장")
HANDED_IN = ("handed_in", "submitted_at", "submission_time", "제출_시각")
DETAILS = {"section": SECTION, "due": DUE, "handed_in": HANDED_IN}
Row = list[tuple[str, str]]
"""A line's cells that are not empty, each with its header."""


@dataclass(frozen=True, slots=True)
class Roster:
    """Students by their line in the file, the problems of other lines, and the details for which
    the file has a column.
    """

    students: tuple[tuple[int, StudentIdentity], ...]
    problems: tuple[str, ...] = ()
    columns: frozenset[str] = frozenset()


def read_roster(path: Path) -> Roster:
    """Read a roster; a bad line becomes a problem. Raise UsageError with file and line."""
    lines = csv_rows(path)
    if not lines:
        raise UsageError(
            f"{path} is empty. A roster is a CSV file with a header, such as: name,email,sid"
        )
    number, header = lines[0]
    fields = [_field(cell) for cell in header]
    ids = {field: IDS[field] for field in fields if field in IDS}
    # In Canvas' own export, the column ID is Canvas' id.
    if "id" in ids and {"sis_login_id", "sis_user_id"} & set(ids.values()):
        ids["id"] = "canvas_id"
    if not ids and not any(field in (*NAMES, *GIVEN, *FAMILY) for field in fields):
        raise UsageError(
            f"{path}:{number}: no column names the students: {', '.join(header)[:120]}. Call one of"
            " them name, id, email, sid or username"
        )
    students: list[tuple[int, StudentIdentity]] = []
    problems: list[str] = []
    for line, padded in lines[1:]:
        cells = [cell.strip() for cell in padded]
        # The second row of Canvas' export.
        if cells[0].lower().startswith("points possible"):
            continue
        if any(cells[len(fields) :]):
            problems.append(
                f"{path}:{line}: {len(cells)} cells under {len(fields)} headers, so it is left out."
                " Put quotation marks around cells that contain a comma"
            )
            continue
        row = [(field, cell) for field, cell in zip(fields, cells, strict=False) if cell]
        known = {ids[field]: cell for field, cell in row if field in ids}
        any_id = known.get("username") or known.get("email") or next(iter(known.values()), "")
        name = _name(row) or any_id
        if not name:
            problems.append(
                f"{path}:{line}: neither a name nor an id, so it is left out. Fill one in"
            )
            continue
        details = _details(row, f"{path}:{line}", problems)
        students.append((line, StudentIdentity(name, known, details)))
    columns = {key for key, headers in DETAILS.items() if set(headers) & set(fields)}
    return Roster(tuple(students), tuple(problems), frozenset(columns))


def _details(row: Row, where: str, problems: list[str]) -> dict[str, str]:
    """Return a line's section and times; an invalid time becomes a problem."""
    found = {key: _cell(row, headers) for key, headers in DETAILS.items()}
    for key, read, also in (("due", read_extension, " or +2d"), ("handed_in", as_utc, "")):
        try:
            found[key] = found[key] and read(found[key])
        except ValueError:
            problems.append(
                f"{where}: {found[key]!r} is not a time with an offset from UTC, so it is left out."
                f" Write it like 2026-12-01T23:59+09:00{also}"
            )
            found[key] = ""
    return {key: value for key, value in found.items() if value}


def _field(cell: str) -> str:
    """Return a header in lower case, with ``_`` for anything but letters and digits."""
    words = "".join(c if c.isalnum() else " " for c in cell.strip().lower()).split()
    return "_".join(words)


def _name(row: Row) -> str:
    return _cell(row, NAMES) or f"{_cell(row, GIVEN)} {_cell(row, FAMILY)}".strip()


def _cell(row: Row, wanted: tuple[str, ...]) -> str:
    return next((cell for field, cell in row if field in wanted), "")


FAMILIES = {
    "sis_login_id": "username",
    "login": "username",
    "sis_user_id": "sid",
    "student_id": "sid",
}
"""Different systems' names for the same kind of id; a roster's ``id`` may be of any kind."""

Key = tuple[str, str]


class PeopleIndex:
    """The lines of a roster or a sheet by the keys of their people: ids, and spellings of names.

    The two are searched by different rules. On a roster, ``match`` goes from ids to names until
    exactly one line fits, because what is left open only lacks a line. In a sheet, where a mark is
    written, the most reliable key that fits any row decides (``exports.sheets.Roll``).
    """

    def __init__(self, keys_by_line: Iterable[tuple[int, Iterable[Key]]]) -> None:
        self._lines: dict[Key, list[int]] = {}
        for line, keys in keys_by_line:
            for key in keys:
                self._lines.setdefault(key, []).append(line)

    def find(self, keys: Iterable[Key]) -> list[int]:
        """Return the lines that have one of these keys, in order."""
        return sorted({line for key in keys for line in self._lines.get(key, ())})


@dataclass(frozen=True, slots=True, eq=False)
class SubmittingStudent:
    """A student to be found on the roster, with the names that the submission gives."""

    submission: str
    student: StudentIdentity
    called: tuple[str, ...]

    def __str__(self) -> str:
        if self.student.name == self.submission:
            return self.submission
        return f"{self.student.name} ({self.submission})"


@dataclass(frozen=True, slots=True)
class MatchedStudents:
    """Each submission's students as the known people that they are; notes; and the lines of people
    who are in none, with a sentence if one may be theirs.
    """

    students: dict[str, tuple[StudentIdentity, ...]]
    notes: tuple[str, ...]
    unmatched: dict[int, str | None]


def match(
    known: Iterable[tuple[int, StudentIdentity]],
    handed: Iterable[tuple[str, tuple[StudentIdentity, ...]]],
) -> MatchedStudents:
    """Match submissions' students to known people, each on a line; a person may be on several.

    A student of whom no line is certain is returned as the submission has them.
    """
    on_roster = dict(known)
    groups = dict(handed)
    people = [
        SubmittingStudent(name, one, (one.name, name) if len(students) == 1 else (one.name,))
        for name, students in groups.items()
        for one in students
    ]
    lines, doubts, notes = lines_of(people, on_roster)
    students: dict[str, tuple[StudentIdentity, ...]] = dict.fromkeys(groups, ())
    for person in people:
        known_as = on_roster.get(lines.get(person, -1))
        students[person.submission] += (joined(person.student, known_as),)
    unmatched: dict[int, str | None] = dict.fromkeys(on_roster.keys() - lines.values())
    for line in unmatched.keys() & doubts.keys():
        who = " or ".join(dict.fromkeys(doubts[line]))
        unmatched[line] = (
            f"{where_is(line, on_roster)}; {who} may be this student, but this is not certain"
        )
    return MatchedStudents(students, tuple(notes), unmatched)


def lines_of(
    people: Sequence[SubmittingStudent], on_roster: dict[int, StudentIdentity]
) -> tuple[dict[SubmittingStudent, int], dict[int, list[str]], list[str]]:
    """Return each student's line; for lines that several may be, who may be meant; and notes."""
    lines: dict[SubmittingStudent, int] = {}
    among: dict[SubmittingStudent, list[int]] = {}  # several lines of which one must be theirs
    doubts: dict[int, list[str]] = {}
    notes: list[str] = []
    for roster_keys, person_keys, several in STEPS:
        known = set(lines.values())
        index = PeopleIndex(
            (line, roster_keys(student))
            for line, student in on_roster.items()
            if several or line not in known
        )
        links = {
            person: [
                line
                for line in index.find(person_keys(person))
                if line in among.get(person, on_roster)
                and (several or not contradict(person.student.ids, on_roster[line].ids))
            ]
            for person in people
            if person not in lines
        }
        claims = Counter(line for found in links.values() for line in found)
        for person, several_lines in links.items():
            found = _once(several_lines, on_roster)
            if len(found) == 1 and (several or claims[found[0]] == 1):
                lines[person] = found[0]
                continue
            if len(found) > 1:
                among[person] = found
            if roster_keys is _names and found:
                where = " or ".join(where_is(line, on_roster) for line in found)
                notes.append(
                    f"{person} may be {where}, but this is not certain. Add a column with ids to"
                    " the roster, or say who it is: grade person"
                )
                for line in found:
                    doubts.setdefault(line, []).append(str(person))
    return lines, doubts, notes


UNLISTED = 1_000_000
"""Added to the numbers of people who are on no line of the roster."""


def where_is(line: int, on_roster: dict[int, StudentIdentity]) -> str:
    """Return where somebody is known from, for a message."""
    where = ", known before" if line >= UNLISTED else f" on line {line} of the roster"
    return on_roster[line].name + where


def contradict(some: Mapping[str, str], others: Mapping[str, str]) -> bool:
    """Return whether two people's ids say that they are not the same person."""
    theirs = dict(_ids(StudentIdentity("", dict(others))))
    mine = _ids(StudentIdentity("", dict(some)))
    return any(kind in theirs and theirs[kind] != value for kind, value in mine)


def _once(lines: Sequence[int], on_roster: dict[int, StudentIdentity]) -> list[int]:
    """Return the lines without those of a person who has another one among them."""
    first: dict[int, int] = {}
    for line in lines:
        person = on_roster[line].person
        first.setdefault(-line if person is None else person, line)
    return list(first.values())


def joined(student: StudentIdentity, line: StudentIdentity | None) -> StudentIdentity:
    """Return a student with what a line says of them."""
    if line is None:
        return student
    return StudentIdentity(line.name, {**line.ids, **student.ids}, line.details, line.person)


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
