"""Fill in sheets of other systems: Canvas's gradebook, Moodle's worksheet. All other bytes stay."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from factories.gradebook import (
    ALICE,
    BOB,
    CHAINS,
    COLUMNS,
    ENTRIES,
    FAULTY,
    MISSING,
    PASSED,
    SLOPES,
    UNREADABLE,
    detailed_lesson,
    detailed_report,
    missing_lesson,
)
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.exports.common import ExportRequest, Piece
from grader.classroom.exports.sheets import Sheet
from grader.classroom.gradebook.entry import Adjustment, GradebookEntry
from grader.classroom.imports.entries import StudentIdentity
from grader.cli.exports import FORMATS
from grader.core.errors import UsageError

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,"
    'Slopes (71),"Chains (72)",Total (73),"Essay, long (74)",Final Score\r\n'
    "    Points Possible,,,,,10,10.00,20,5,(read only)\r\n"
    '"Doe, Alice",101,,,"Sec ""A""",,,,3.0,61.20\r\n'
    "Someone,102,s-2,bob,A,EX,1.0,2.0,,\r\n"
    "Eve,103,,,A,5.0,5.0,5.0,,\r\n"
    "Dan,104,,,A,,,,,\r\n"
    '"Fay",105,,,A,,,,,\r\n'
    '"Núñez, José",106,,,A,,,,,\r\n'
    "한 지민,107,,,A,,,,,\r\n"
    '"Student, Test",,,,A,,,,,\r\n'
)


Fill = Callable[..., tuple[str, list[str]]]


def filled(
    kind: str, folder: Path, text: str, entries: tuple[GradebookEntry, ...] = ENTRIES, **asked: Any
) -> tuple[str, list[str]]:
    """Return a template after filling it in, and the notes."""
    template = folder / "template.csv"
    template.write_bytes(text.encode())
    request = ExportRequest(template=template, **asked)
    parts = list(FORMATS[kind].export(iter(entries), COLUMNS, request))
    (data,) = [part.data for part in parts if isinstance(part, Piece)]
    return data.decode(), [str(part) for part in parts if not isinstance(part, Piece)]


@pytest.fixture
def canvas(tmp_path: Path) -> Fill:
    return partial(filled, "canvas", tmp_path)


@pytest.fixture
def moodle(tmp_path: Path) -> Fill:
    return partial(filled, "moodle", tmp_path)


def cells(text: str, delimiter: str = ",") -> list[list[str]]:
    """Return the cells as the standard library reads them."""
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="")
    return list(csv.reader(lines, delimiter=delimiter))


def marks(text: str) -> dict[str, str]:
    """Return the marks of each student in ``CANVAS``: slopes, chains, total, essay."""
    return {line[0]: ",".join(line[5:9]) for line in cells(text)[2:]}


def named(entry: GradebookEntry, name: str, **ids: str) -> GradebookEntry:
    """Return the entry as that of another student."""
    return replace(entry, students=(StudentIdentity(name, ids),))


# ------------------------------------------------------------------------------------------- sheets


@given(st.text(alphabet='a",;\t \r\n\ufeffé한', max_size=60))
def test_a_sheet_that_nothing_is_put_in_stays_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    """Otherwise it is refused with its line; it never changes."""
    path = tmp_path_factory.getbasetemp() / "sheet.csv"
    path.write_bytes(text.encode())
    try:
        sheet = Sheet(path)
    except UsageError as error:
        assert str(path) in str(error)
    else:
        assert sheet.as_bytes() == text.encode()


@given(
    st.lists(
        st.lists(st.text(alphabet='a", \n;é', max_size=5), min_size=2, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_a_sheet_holds_what_the_standard_library_reads(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "sheet.csv"
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    path.write_bytes(text.getvalue().encode())
    sheet = Sheet(path)
    assert [[sheet.value(n, k) for k in range(len(line))] for n, line in enumerate(rows)] == [
        [c.strip() for c in line] for line in rows
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'a,b\nc,"d\n', r"sheet.csv:2: a quotation mark"),
        (b"\xff\xfe", "not UTF-8"),
        (b"", "empty"),
        (None, "can't be read"),
    ],
)
def test_a_sheet_that_is_none_is_refused_with_its_name_and_line(
    data: bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "sheet.csv"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(UsageError, match=said):
        Sheet(path)


# ------------------------------------------------------------------------------------------- Canvas

GRADED = {"Eve": "10,5.0,5.0,", "Doe, Alice": "7.5,10,,3.0"} | dict.fromkeys(
    ("Núñez, José", "한 지민"), "10,0,,"
)
"""The lesson with a grader fault and the total keep their marks; each member of a team gets one."""
ZERO = {"missing_as_zero": True}


@pytest.mark.parametrize(
    ("entries", "asked", "changed"),
    [
        (ENTRIES, {}, GRADED),
        (ENTRIES, ZERO, {**GRADED, "Someone": "EX,0,2.0,", "Fay": "0,0,,"}),
        ((BOB, MISSING), {}, {}),
        (
            (BOB, MISSING),
            ZERO,
            {"Doe, Alice": "0,0,,3.0", "Someone": "EX,0,2.0,", "Eve": "0,0,5.0,"}
            | dict.fromkeys(("Dan", "Fay", "Núñez, José", "한 지민"), "0,0,,"),
        ),
        (
            ENTRIES,
            {"columns": ("Total",)},
            {"Doe, Alice": ",,17.5,3.0", "Someone": "EX,1.0,10,"}
            | dict.fromkeys(("Núñez, José", "한 지민"), ",,10,"),
        ),
        ((ALICE,), {"columns": ("total (73)",)}, {"Doe, Alice": ",,17.5,3.0"}),
        ((ALICE,), {"columns": ("chains=Essay, long",)}, {"Doe, Alice": ",,,10"}),
        ((named(ALICE, "Eve", canvas_id="104"),), {}, {"Dan": "7.5,10,,"}),
    ],
    ids=[
        "what was graded",
        "missing is zero",
        "nothing was graded",
        "no submission is zero",
        "the total",
        "the total by title and id",
        "a lesson by title",
        "ids count before names",
    ],
)
def test_canvas_gets_these_marks_and_keeps_all_others(
    entries: tuple[GradebookEntry, ...],
    asked: dict[str, Any],
    changed: dict[str, str],
    canvas: Fill,
) -> None:
    """Excused students stay excused, and Canvas's test student is nobody."""
    text, _ = canvas(CANVAS, entries, **asked)
    assert marks(text) == marks(CANVAS) | changed


def test_canvas_keeps_every_byte_that_is_not_ours(canvas: Fill) -> None:
    """This covers quotes, the byte order mark, line ends, other assignments, and the points
    possible.
    """
    text, _ = canvas(CANVAS, (ALICE,))
    assert text == CANVAS.replace('"Sec ""A""",,,,3.0', '"Sec ""A""",7.5,10,,3.0')


@pytest.mark.parametrize(
    ("template", "entries", "note"),
    [
        (CANVAS, (UNREADABLE,), "Dan: could not be graded: dan.zip is damaged"),
        (CANVAS, (MISSING,), "Fay: nothing was handed in"),
        (CANVAS, (named(ALICE, "Zoe"),), "Zoe: not in the sheet, so this mark was not written"),
        (
            CANVAS + "Alice Doe,108,,,B,,,,,\r\n",
            (named(ALICE, "Alice Doe"),),
            "Alice Doe: fits 2 rows of the sheet: Doe, Alice; Alice Doe",
        ),
        (
            CANVAS,
            (ALICE, replace(ALICE, name="again")),
            "Doe, Alice: no mark was written, because 2 submissions fit this row",
        ),
    ],
    ids=["unreadable", "missing", "stray", "namesakes", "two submissions"],
)
def test_canvas_stays_as_it_is_where_no_mark_fits_and_a_note_says_why(
    template: str, entries: tuple[GradebookEntry, ...], note: str, canvas: Fill
) -> None:
    text, notes = canvas(template, entries)
    assert text == template
    assert any(one.startswith(note) for one in notes)


def test_canvas_gets_no_zero_for_a_row_that_a_stray_submission_may_belong_to(canvas: Fill) -> None:
    assert canvas(CANVAS, (named(ALICE, "Zoe"),), **ZERO)[0] == CANVAS


def test_canvas_notes_who_has_no_submission_and_what_the_number_does_not_show(canvas: Fill) -> None:
    _, notes = canvas(CANVAS, (FAULTY, BOB))
    assert "Doe, Alice: in the sheet, but without a submission" in notes
    assert not any(note.startswith("Someone: in the sheet") for note in notes)
    assert any("Eve: no score yet: chains" in note for note in notes)
    _, notes = canvas(CANVAS, (ALICE, named(MISSING, "Zoe")))
    assert not any(note.startswith("Zoe") for note in notes)  # on the roster alone
    assert "Doe, Alice: adjusted by +1.5 (slopes): on paper [kim, 2026-03-01]" in notes


def test_canvas_says_which_columns_are_filled_and_which_lessons_have_none(canvas: Fill) -> None:
    """A lesson whose column has another name is not left out silently."""
    text = CANVAS.replace("Chains (72)", "Homework (9)")
    _, notes = canvas(text)
    assert "Slopes (71) gets slopes" in notes
    left = "no column gets chains. Name each column, --column chains=TITLE"
    assert any(note.startswith(left) for note in notes)
    _, notes = canvas(CANVAS.replace("Total (73)", "Slopes (73)"))
    assert not any(note.endswith("gets slopes") for note in notes)
    _, notes = canvas(text, columns=("Homework",))
    assert "Homework (9) gets the total" in notes
    assert not any(note.startswith("no column") for note in notes)


def test_a_file_with_another_name_is_never_a_zero(canvas: Fill) -> None:
    """This holds even if a missing submission counts as zero; points given by hand count."""
    message = "Slopes (1).py is not called slopes.py, so it was not graded"
    slopes = replace(missing_lesson(SLOPES), file="Slopes (1).py", message=message)
    report = detailed_report("a", slopes, detailed_lesson(CHAINS, PASSED))
    entries = (replace(ALICE, report=report, adjustments=()),)
    text, notes = canvas(CANVAS, entries, **ZERO)
    assert marks(text)["Doe, Alice"] == ",10,,3.0"
    assert f"Doe, Alice: slopes: {message}" in notes
    text, _ = canvas(CANVAS, entries, columns=("Total",))
    assert marks(text)["Doe, Alice"] == ",,,3.0"
    given = Adjustment(4.0, "seen", "kim", "2026-03-01T10:00:00Z", "slopes")
    text, _ = canvas(CANVAS, (replace(ALICE, report=report, adjustments=(given,)),))
    assert marks(text)["Doe, Alice"] == "4,10,,3.0"


def test_canvas_is_told_when_points_possible_are_others(canvas: Fill) -> None:
    text = CANVAS.replace(",20,5,", ",100,5,")
    worth = "Total (73) has 100 points in Canvas and 20 in this export"
    _, notes = canvas(text, (ALICE,), columns=("Total",))
    assert f"{worth}; to convert the total, add --scale 100" in notes
    scaled, notes = canvas(text, (ALICE,), columns=("Total",), scale=100.0)
    assert marks(scaled)["Doe, Alice"] == ",,87.5,3.0"
    assert not any("in this export" in note for note in notes)


SPLIT = (
    "LastName,FirstName,ID,Slopes (71),Chains (72)\r\n"
    "    Points Possible,,,10,10.00\r\n"
    "Doe,Alice,101,,\r\n"
    "Núñez,José,106,,\r\n"
)


def test_canvas_with_first_and_last_names_apart(canvas: Fill) -> None:
    text, notes = canvas(SPLIT)
    assert [line[3] for line in cells(text)[1:]] == ["10", "7.5", "10"]
    assert any("Alice Doe: adjusted by +1.5 (slopes)" in note for note in notes)


def test_canvas_with_semicolons_and_decimal_commas(canvas: Fill) -> None:
    text = (
        "Student;ID;SIS Login ID;Section;Slopes (1)\nPoints Possible;;;;10,00\nDoe, Alice;101;;A;\n"
    )
    assert canvas(text, (ALICE,))[0].endswith("Doe, Alice;101;;A;7,5\n")


def test_points_for_no_lesson_are_not_lost_in_columns_of_lessons(canvas: Fill) -> None:
    bonus = Adjustment(2.0, "extra", "kim", "2026-03-01T10:00:00+00:00", None)
    entries = (replace(ALICE, adjustments=(bonus,)),)
    lost = r"has \+2 points that belong to no lesson.*--column TITLE"
    with pytest.raises(UsageError, match=lost):
        canvas(CANVAS, entries)
    text, _ = canvas(CANVAS, entries, columns=("Total",))
    assert marks(text)["Doe, Alice"] == ",,18,3.0"


# ------------------------------------------------------------------------------------------- Moodle

ENGLISH = (
    "\ufeffIdentifier,Full name,Email address,Status,"
    "Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    '"Participant 11","Alice Doe",alice@school.example,"Submitted for grading - ",'
    ',20.00,Yes,"Monday, 2 March 2026, 10:05 AM",-,\n'
    '"Participant 12","Bob =1+1",b@school.example,"Submitted for grading - ",'
    '3.00,20.00,Yes,"Monday, 2 March 2026, 10:06 AM",-,"<p>Fine.</p>"\n'
    '"Participant 13",Eve,eve@school.example,"No submission - ",'
    ",20.00,Yes,-,-,\n"
)
GERMAN = (
    "ID;Vollständiger Name;E-Mail-Adresse;Status;"
    "Bewertung;Bestwertung;Bewertung kann geändert werden;"
    "Zuletzt geändert (Abgabe);Zuletzt geändert (Bewertung);Feedback als Kommentar\r\n"
    "Teilnehmer/in11;Alice Doe;alice@school.example;Zur Bewertung abgegeben;"
    ";20,00;Ja;Montag, 2. März 2026, 10:05;-;\r\n"
    "Teilnehmer/in12;Bob =1+1;b@school.example;Zur Bewertung abgegeben;"
    ";20,00;Ja;Montag, 2. März 2026, 10:06;-;\r\n"
)
KOREAN = (
    "식별번호,성명,이메일 주소,상태,성적,최고 성적,성적을 변경할 수 있음,"
    "최근 수정 (제출),최근 수정 (성적),의견\n"
    "참가자 11,Alice Doe,alice@school.example,채점을 위해 제출됨,,20.00,예,-,-,\n"
    "참가자 12,Bob =1+1,b@school.example,채점을 위해 제출됨,,20.00,예,-,-,\n"
)


def grades(text: str) -> list[str]:
    return [line[4] for line in cells(text)[1:]]


def test_moodle_gets_grade_and_feedback(moodle: Fill) -> None:
    text, _ = moodle(ENGLISH)
    alice = cells(text)[1]
    assert alice[4] == "17.5"
    assert alice[9] == (
        "slopes: 7.5 / 10; chains: 10 / 10; handed in late;"
        " adjusted by +1.5 (slopes): on paper [kim, 2026-03-01]"
    )


def test_moodle_keeps_every_byte_that_is_not_ours(moodle: Fill) -> None:
    """This covers headers, dates, quotes, and existing feedback."""
    text, _ = moodle(ENGLISH, (BOB,))
    wanted = ENGLISH.replace("3.00,20.00", "10,20.00").replace(
        '"<p>Fine.</p>"', "<p>Fine.</p> slopes: 10 / 10"
    )
    assert text == wanted


@pytest.mark.parametrize(
    ("sheet", "delimiter", "grade"),
    [(GERMAN, ";", "17,5"), (KOREAN, ",", "17.5")],
    ids=["German", "Korean"],
)
def test_moodle_columns_are_recognised_in_any_language(
    sheet: str, delimiter: str, grade: str, moodle: Fill
) -> None:
    """Contents decide; the decimal sign is the sheet's."""
    text, _ = moodle(sheet, (ALICE, BOB))
    lines = cells(text, delimiter)
    assert lines[0] == cells(sheet, delimiter)[0]
    assert [line[4] for line in lines[1:]] == [grade, "10"]
    assert lines[1][9].startswith("slopes: 7.5 / 10")


def test_a_groups_number_is_not_taken_for_a_participants(moodle: Fill) -> None:
    """In a group assignment Moodle's download has the group's number, which is Bob's here."""
    text, notes = moodle(ENGLISH, (named(ALICE, "Team Red", moodle_participant="12"),))
    assert grades(text) == ["", "3.00", ""]
    assert "Team Red: not in the sheet, so this mark was not written" in notes


def test_moodle_identifiers_count_before_addresses_and_addresses_before_names(moodle: Fill) -> None:
    address = "alice@school.example"
    bob = named(ALICE, "Bob =1+1", moodle_participant="12", email=address)
    text, _ = moodle(ENGLISH, (bob, named(BOB, "Eve", email=address.upper())))
    assert grades(text) == ["10", "17.5", ""]


def test_moodle_grades_are_scaled_when_asked_and_refused_when_they_would_not_fit(
    moodle: Fill,
) -> None:
    sheet = ENGLISH.replace("20.00", "5.00")
    with pytest.raises(UsageError, match="Add --scale 5"):
        moodle(sheet)
    assert grades(moodle(sheet, scale=5.0)[0])[0] == "4.375"
    both = "full marks are 100 in Moodle and 20 in this export"
    _, notes = moodle(ENGLISH.replace("20.00", "100.00"))
    assert f"{both}; to convert the marks, add --scale 100" in notes


def test_moodle_grades_never_pass_the_maximum(moodle: Fill) -> None:
    lessons = detailed_lesson(SLOPES, PASSED, PASSED, PASSED), detailed_lesson(CHAINS, PASSED)
    text, notes = moodle(ENGLISH, (replace(ALICE, report=detailed_report("a", *lessons)),))
    assert grades(text)[0] == "20"
    assert any("21.5 is more than the worksheet allows, so 20" in note for note in notes)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (FAULTY, "no score yet: chains could not be graded because of the grader's own fault"),
        (named(replace(UNREADABLE, problem="<script>.zip"), "Eve"), "&lt;script&gt;"),
    ],
    ids=["grader fault", "markup"],
)
def test_moodle_keeps_the_grade_of_what_was_not_graded_and_says_why_in_plain_text(
    entry: GradebookEntry, said: str, moodle: Fill
) -> None:
    eve = cells(moodle(ENGLISH, (entry,))[0])[3]
    assert eve[4] == ""
    assert said in eve[9]


def test_moodle_without_a_feedback_column_says_so(moodle: Fill) -> None:
    lines = ENGLISH.splitlines()
    sheet = "".join(line.rpartition(",")[0] + "\n" for line in lines)
    text, notes = moodle(sheet, (ALICE,))
    assert grades(text)[0] == "17.5"
    assert len(cells(text)[1]) == 9
    assert any("no column for feedback" in note for note in notes)


@pytest.mark.parametrize(
    ("kind", "text", "asked", "said"),
    [
        ("canvas", "a,b\n1,2\n", {}, "this is not a Canvas gradebook"),
        ("canvas", "Student,ID,Essay (3)\nEve,103,\n", {}, r"the total with --column: Essay \(3\)"),
        ("canvas", CANVAS, {"columns": ("Exam",)}, "no column has the title 'Exam'"),
        ("moodle", "a,b\n1,2\n", {}, "not a grading worksheet"),
        ("moodle", "A,B,C\nWho 1,x,\nWho 2,y,\n", {}, "Name it with --column: A, B, C"),
        ("moodle", ENGLISH, {"columns": ("slopes=Grade",)}, "--column TITLE"),
    ],
)
def test_what_is_wrong_with_a_template_is_said(
    kind: str, text: str, asked: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        filled(kind, tmp_path, text, **asked)


@pytest.mark.parametrize("kind", ["canvas", "moodle"])
def test_a_template_is_needed(kind: str) -> None:
    with pytest.raises(UsageError, match="--template"):
        list(FORMATS[kind].export((), COLUMNS, ExportRequest()))
