"""What a roster's columns mean: names, ids and details, by the headers of other systems.

Headers are those of hand-made lists, of Canvas, Classroom 50 and Gradescope, and of Moodle's
grading worksheet in English, French, German, Korean and Spanish (``recordid``, ``submissionteam``,
``lastmodifiedsubmission``, … in the ``assign`` of its language packs).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import UTC
from typing import NamedTuple
from zoneinfo import ZoneInfo

from grader.classroom.gradebook.entry import read_extension
from grader.classroom.imports.names import letters
from grader.classroom.imports.times import NONE, read_time
from grader.core.errors import UsageError

NAMES = frozenset(
    "name student student_name full_name 이름 성명 학생 전체_이름 vollständiger_name nom_complet"
    " nombre_completo nombre_apellido_s".split()
)
GIVEN = frozenset("first_name firstname given_name vorname prénom nombre".split())
FAMILY = frozenset(
    "last_name lastname surname family_name nachname nom nom_de_famille apellidos"
    " apellido_s".split()
)
IDS = {
    header: kind
    for kind, headers in {
        "id": "id",
        "canvas_id": "canvas_id user_id canvas_user_id",
        "sid": "sid student_id student_number id_number 학번 고유번호 id_nummer matrikelnummer"
        " numéro_d_identification número_de_id",
        "sis_user_id": "sis_user_id sis_id",
        "sis_login_id": "sis_login_id login_id",
        "username": "username user_name user login 아이디 사용자명 github github_username"
        " anmeldename nom_d_utilisateur nombre_de_usuario",
        "github_id": "github_id",
        "email": "email e_mail email_address mail 이메일 이메일_주소 e_mail_adresse courriel"
        " adresse_de_courriel correo_electrónico dirección_de_correo dirección_email",
        "moodle_participant": "moodle_participant identifier 식별자 identifiant identificador",
    }.items()
    for header in headers.split()
}
"""Headers, as ``field_of`` writes them, and the name of that id in ``StudentIdentity.ids``."""
SECTION = frozenset("section sections class_section lab 분반 반".split())
GROUP = frozenset(
    "group groups group_name team team_name 그룹 모둠 조 팀 gruppe gruppen groupe groupes équipe"
    " grupo grupos equipo".split()
)
ROLE = frozenset("role 역할".split())
STATUS = frozenset("status 상태 statut estado".split())
DUE = frozenset("due due_date extension extended_until 마감 연장".split())
HANDED_IN = frozenset(
    "handed_in submitted_at submission_time submission_timestamp 제출_시각 last_modified_submission"
    " 마지막_수정됨_제출 zuletzt_geändert_abgabe dernière_modification_travail_remis"
    " dernière_modification_envoi dernière_modification_présentation"
    " última_modificación_entrega última_modificación_envío".split()
)

DETAILS = {
    "section": SECTION,
    "group": GROUP,
    "role": ROLE,
    "due": DUE | STATUS,
    "handed_in": HANDED_IN,
}
"""The columns of each detail."""

BETWEEN_SECTIONS = re.compile(r",? (?:and|und|et|y) |, ")
"""What Canvas writes between several sections of one student, in the course's language."""
PARTICIPANT = re.compile(r"\D*?\s*(\d+)")
"""Moodle's ``Participant 104517``, in any language; the number is the participant's id."""
PARTICIPANT_WORDS = frozenset(("participant", "teilnehmer/in", "participante", "참가자"))
"""In front of the number, in a column that is called ID in German."""
STAFF = frozenset(
    "instructor teacher ta reader grader observer staff 교수 강사 교사 조교 test".split()
)
TEST_STUDENT = frozenset(("studenttest", "teststudent"))
"""The letters of the name of Canvas's test student."""
EXTENDED = re.compile(
    r".*:\s(?P<last>[^:]+:\d\d.*)|(?:.*\.\s*)?(?P<first>\S.*?)\s*까지 연장.*", re.DOTALL
)
"""The end of an extension in Moodle's column for the status."""


class Cell(NamedTuple):
    """A cell that is not empty, and its header."""

    header: str
    text: str


Row = list[Cell]


def field_of(header: str) -> str:
    """Return a header in lower case, with ``_`` for anything but letters and digits."""
    plain = unicodedata.normalize("NFC", header.strip().lower())
    return "_".join("".join(c if c.isalnum() else " " for c in plain).split())


def name_of(row: Row) -> str:
    return cell_of(row, NAMES) or f"{cell_of(row, GIVEN)} {cell_of(row, FAMILY)}".strip()


def cell_of(row: Row, headers: frozenset[str]) -> str:
    return next((cell.text for cell in row if cell.header in headers), "")


def kinds_of(headers: Iterable[str]) -> dict[str, str]:
    """Return the kind of id of each header that has one."""
    kinds = {header: IDS[header] for header in headers if header in IDS}
    # In Canvas's own export, the column ID is Canvas's id.
    if "id" in kinds and {"sis_login_id", "sis_user_id"} & set(kinds.values()):
        kinds["id"] = "canvas_id"
    if "identifier" in kinds and any(header.startswith("github") for header in kinds):
        kinds["identifier"] = "id"  # in GitHub Classroom, what the teacher chose
    return kinds


def participant_number(text: str) -> str | None:
    """Return the number in Moodle's ``Participant 104517``; None for another text."""
    found = PARTICIPANT.fullmatch(text.strip())
    word = text.strip().removesuffix(found[1]).strip().casefold() if found else ""
    return found[1] if found and word in PARTICIPANT_WORDS else None


def ids_of(row: Row, kinds: dict[str, str]) -> dict[str, str]:
    """Return a row's ids; ``Participant 104517`` and 104517 are one."""
    found = {}
    for header, text in row:
        if header not in kinds or text in NONE:
            continue
        kind, value = kinds[header], text
        participant = PARTICIPANT.fullmatch(text)
        if kind == "id" and participant_number(text):
            kind = "moodle_participant"
        if kind == "moodle_participant":
            kind, value = (kind, participant[1]) if participant else ("id", text)
        found[kind] = value
    return found


def details_of(
    row: Row, name: str, ids: dict[str, str], where: str, zone: ZoneInfo | None
) -> dict[str, str]:
    """Return what a roster adds to a student; raise UsageError for a time that can't be read."""
    due = _time(row, DUE, where, lambda text: _extension(text, zone), ", or +2d")
    found = {
        "section": cell_of(row, SECTION),
        "group": cell_of(row, GROUP),
        "role": _role(row, name, ids),
        "due": due or _extension_in_status(row, where, zone),
        "handed_in": _time(row, HANDED_IN, where, lambda text: _handed_in(text, zone), ""),
    }
    return {key: value for key, value in found.items() if value not in NONE}


def _role(row: Row, name: str, ids: dict[str, str]) -> str:
    """Return who somebody is who is not a student; empty for students."""
    if "canvas_id" in ids and letters(name) in TEST_STUDENT:
        return "test"
    role = cell_of(row, ROLE).casefold()
    return role if role in STAFF else ""


def _time(
    row: Row, headers: frozenset[str], where: str, read: Callable[[str], str], also: str
) -> str:
    text = cell_of(row, headers)
    return "" if text in NONE else _read(text, where, read, also)


def _read(text: str, where: str, read: Callable[[str], str], also: str = "") -> str:
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{where}: {text!r} {error}{also}") from None


def _extension(text: str, zone: ZoneInfo | None) -> str:
    try:
        return read_extension(text)
    except ValueError:
        return read_time(text, zone).isoformat()


def _handed_in(text: str, zone: ZoneInfo | None) -> str:
    return read_time(text, zone).astimezone(UTC).isoformat(timespec="seconds")


def _extension_in_status(row: Row, where: str, zone: ZoneInfo | None) -> str:
    """Return the time up to which Moodle granted an extension; empty if its status has none."""
    found = EXTENDED.fullmatch(cell_of(row, STATUS))
    text = (found["last"] or found["first"]) if found else ""
    try:
        read_time(text, zone or ZoneInfo("UTC"))
    except ValueError:
        return ""  # another text that ends in a colon and some words
    return _read(text, where, lambda text: read_time(text, zone).isoformat())
