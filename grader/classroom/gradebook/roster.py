"""Read a roster from CSV; columns are recognized by their headers, in English and Korean.

Classroom 50's is ``username,first_name,last_name,email,section,github_id`` and whatever else a
teacher added: https://github.com/foundation50/classroom50/wiki/Web-Teacher-Guide, "Roster CSV
fields".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.classroom.gradebook.csv_rows import csv_rows
from grader.classroom.gradebook.lateness import read_extension
from grader.classroom.imports.records import StudentIdentity
from grader.core.errors import UsageError
from grader.core.text import as_utc

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
"""Headers, in lower case and with ``_`` for anything but letters and digits, and the name of that
id in ``StudentIdentity.ids``.
"""


SECTION = ("section", "sections", "class_section", "lab", "분반", "반")
DUE = ("due", "due_date", "extension", "extended_until", "마감", "연장")
HANDED_IN = ("handed_in", "submitted_at", "submission_time", "제출_시각")


@dataclass(frozen=True, slots=True)
class Roster:
    """Students by their line in the file, and the problems of other lines."""

    students: tuple[tuple[int, StudentIdentity], ...]
    problems: tuple[str, ...] = ()


def read_roster(path: Path) -> Roster:
    """Read a roster; a bad line becomes a problem. Raise UsageError with file and line."""
    lines = list(csv_rows(path))
    if not lines:
        raise UsageError(
            f"{path} is empty. A roster is a CSV file with a header, such as: name,email,sid"
        )
    number, header = lines[0]
    fields = [_field(cell) for cell in header]
    ids = {index: IDS[field] for index, field in enumerate(fields) if field in IDS}
    # In Canvas' own export, the column ID is Canvas' id.
    if "sis_login_id" in ids.values() or "sis_user_id" in ids.values():
        ids = {index: "canvas_id" if key == "id" else key for index, key in ids.items()}
    if not ids and not any(field in (*NAMES, *GIVEN, *FAMILY) for field in fields):
        raise UsageError(
            f"{path}:{number}: no column names the students: {', '.join(header)[:120]}. Call one of"
            " them name, id, email, sid or username"
        )
    students: list[tuple[int, StudentIdentity]] = []
    problems: list[str] = []
    for line, cells in lines[1:]:
        # The second row of Canvas' export.
        if cells[0].strip().lower().startswith("points possible"):
            continue
        if len(cells) > len(fields) and any(cell.strip() for cell in cells[len(fields) :]):
            problems.append(
                f"{path}:{line}: {len(cells)} cells under {len(fields)} headers, so it is left out."
                " Put quotation marks around cells that contain a comma"
            )
            continue
        known = {
            key: cells[index].strip()
            for index, key in ids.items()
            if index < len(cells) and cells[index].strip()
        }
        name = (
            _name(fields, cells)
            or known.get("username")
            or known.get("email")
            or next(iter(known.values()), "")
        )
        if not name:
            problems.append(
                f"{path}:{line}: neither a name nor an id, so it is left out. Fill one in"
            )
            continue
        details = _details(fields, cells, f"{path}:{line}", problems)
        students.append((line, StudentIdentity(name, known, details)))
    return Roster(tuple(students), tuple(problems))


def _details(
    fields: list[str], cells: list[str], where: str, problems: list[str]
) -> dict[str, str]:
    """Return a line's section and times; an invalid time becomes a problem."""
    found = {
        "section": _cell(fields, cells, SECTION),
        "due": _cell(fields, cells, DUE),
        "handed_in": _cell(fields, cells, HANDED_IN),
    }
    for key, read, also in (("due", read_extension, " or +2d"), ("handed_in", as_utc, "")):
        try:
            found[key] = found[key] and read(found[key])
        except ValueError:
            problems.append(
                f"{where}: {found[key]!r} is not a time with an offset from UTC, so it is left"
                f" out."
                f" Write it like 2026-12-01T23:59+09:00{also}"
            )
            found[key] = ""
    return {key: value for key, value in found.items() if value}


def _field(cell: str) -> str:
    words = "".join(c if c.isalnum() else " " for c in cell.strip().lower()).split()
    return "_".join(words)


def _name(fields: list[str], cells: list[str]) -> str:
    whole = _cell(fields, cells, NAMES)
    parts = (_cell(fields, cells, GIVEN), _cell(fields, cells, FAMILY))
    return whole or " ".join(part for part in parts if part)


def _cell(fields: list[str], cells: list[str], wanted: tuple[str, ...]) -> str:
    """Return the first non-empty cell under one of these headers."""
    found = (
        cells[place].strip()
        for place, field in enumerate(fields)
        if field in wanted and place < len(cells) and cells[place].strip()
    )
    return next(found, "")
