"""Fill in sheets of other systems: Canvas's gradebook, Moodle's worksheet. All other bytes stay."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
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
from factories.sheets import CANVAS, MOODLE, Fill, cells, filled, marks, named
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.exports.common import ExportRequest
from grader.classroom.exports.sheets import Sheet
from grader.classroom.gradebook.entry import Adjustment, GradebookEntry
from grader.cli.exports import FORMATS
from grader.core.errors import UsageError

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
        ((ALICE,), {"columns": ("chains=Essay, long",)}, {"Doe, Alice": ",,,5"}),
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
        (
            CANVAS,
            (MISSING, named(ALICE, "Zoe")),
            "Zoe: not in the sheet, so this mark was not written",
        ),
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
    text, notes = canvas(CANVAS, (UNREADABLE, named(ALICE, "Zoe")), **ZERO)
    assert text == CANVAS
    assert any(note.startswith("students without a submission were not given 0") for note in notes)


def test_who_is_forgotten_is_no_reason_to_say_that_a_zero_was_not_given(canvas: Fill) -> None:
    text, notes = canvas(CANVAS, (MISSING,), forgotten=tuple(marks(CANVAS)), **ZERO)
    assert marks(text) == marks(CANVAS) | {"Fay": "0,0,,"}
    assert "Dan: in the sheet, but forgotten" in notes
    assert not any(note.startswith("students without a submission") for note in notes)


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


@pytest.mark.parametrize(
    ("possible", "asked", "mark", "note"),
    [
        ("100", {}, "87.5", "full marks of 20 are worth 100 in Total (73)"),
        ("100,50", {}, '"87,9375"', "full marks of 20 are worth 100.5 in Total (73)"),
        (
            "100",
            {"scale": 40.0},
            "35",
            "full marks of 20 are worth 40 in Total (73), where 100 are possible",
        ),
        ("100", {"scale": 20.0}, "17.5", "full marks of 20 are worth 20 in Total (73), where 100"),
        ("20", {}, "17.5", ""),
        ("0", {}, "17.5", ""),
        ("", {}, "17.5", ""),
        ("", {"scale": 10.0}, "8.75", "full marks of 20 are worth 10 in Total (73)"),
    ],
)
def test_the_total_is_worth_what_canvas_or_the_scale_says(
    possible: str, asked: dict[str, Any], mark: str, note: str, canvas: Fill
) -> None:
    cell = f'"{possible}"' if "," in possible else possible
    text, notes = canvas(
        CANVAS.replace("10.00,20,5", f"10.00,{cell},5"), (ALICE,), columns=("Total",), **asked
    )
    assert f',"Sec ""A""",,,{mark},3.0,' in text
    scaled = [one for one in notes if one.startswith("full marks")]
    assert len(scaled) == bool(note)
    assert all(one.startswith(note) for one in scaled)


def test_a_lesson_is_worth_the_points_of_its_column_in_canvas(canvas: Fill) -> None:
    """``--scale`` is about the total."""
    text, notes = canvas(CANVAS.replace(",10,10.00,", ",40,10.00,"), (ALICE,), scale=100.0)
    assert marks(text)["Doe, Alice"] == "30,10,,3.0"
    assert "full marks of 10 are worth 40 in Slopes (71)" in notes
    assert "--scale is about the total, which no column gets" in notes
    assert not any("--scale" in note for note in canvas(CANVAS, (ALICE,))[1])


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
    text = text.replace("Slopes (1)", "Slopes (1);Chains (2)").replace("10,00", "10,00;10")
    assert canvas(text, (ALICE,))[0].endswith("Doe, Alice;101;;A;7,5;10\n")


def test_points_for_no_lesson_are_not_lost_in_columns_of_lessons(canvas: Fill) -> None:
    bonus = Adjustment(2.0, "extra", "kim", "2026-03-01T10:00:00+00:00", None)
    entries = (replace(ALICE, adjustments=(bonus,)),)
    lost = r"has \+2 points that belong to no lesson.*--column TITLE"
    with pytest.raises(UsageError, match=lost):
        canvas(CANVAS, entries)
    text, _ = canvas(CANVAS, entries, columns=("Total",))
    assert marks(text)["Doe, Alice"] == ",,18,3.0"


# ------------------------------------------------------------------------------------------- Moodle

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
    text, _ = moodle(MOODLE)
    alice = cells(text)[1]
    assert alice[4] == "17.5"
    assert alice[9] == (
        "<p>Grade: slopes: 7.5 / 10; chains: 10 / 10; 1 bonus point, which the grade does not"
        " include; handed in late; adjusted by +1.5 (slopes): on paper [kim, 2026-03-01]</p>"
    )


def test_a_grade_that_was_typed_for_who_handed_in_nothing_gets_no_comment(moodle: Fill) -> None:
    """An earlier export's comment goes; without a grade there is one."""
    nothing = GradebookEntry("bob", BOB.students, missing=True)
    assert moodle(MOODLE, (nothing,))[0] == MOODLE
    ours = '"<p>Fine.</p> <p>Grade: nothing was handed in</p>"'
    text, _ = moodle(MOODLE.replace('"<p>Fine.</p>"', ours), (nothing,))
    assert text == MOODLE.replace('"<p>Fine.</p>"', "<p>Fine.</p>")
    text, _ = moodle(MOODLE.replace("3.00,20.00", ",20.00"), (nothing,))
    assert "<p>Fine.</p> <p>Grade: nothing was handed in</p>" in text


def test_moodle_keeps_every_byte_that_is_not_ours(moodle: Fill) -> None:
    """This covers headers, dates, quotes, and existing feedback."""
    text, _ = moodle(MOODLE, (BOB,))
    wanted = MOODLE.replace("3.00,20.00", "10,20.00").replace(
        '"<p>Fine.</p>"', "<p>Fine.</p> <p>Grade: slopes: 10 / 10; not handed in: chains</p>"
    )
    assert text == wanted
    again = text.replace("slopes: 10 / 10", "slopes: 3 / 10").replace("Grade: s", "Grade:  s")
    assert moodle(again.replace("10,20.00", "3.00,20.00"), (BOB,))[0] == wanted


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
    assert lines[1][9].startswith("<p>Grade: slopes: 7.5 / 10")


def test_moodles_decimal_sign_may_show_in_the_grades_alone(moodle: Fill) -> None:
    sheet = GERMAN.replace("20,00", "20").replace("abgegeben;;", "abgegeben;2,5;", 1)
    assert [line[4] for line in cells(moodle(sheet, (ALICE,))[0], ";")[1:]] == ["17,5", ""]
    plain = GERMAN.replace("20,00", "20")
    assert [line[4] for line in cells(moodle(plain, (ALICE,))[0], ";")[1:]] == ["17.5", ""]


def test_a_worksheet_of_one_student_is_filled_with_and_without_a_maximum(moodle: Fill) -> None:
    one = "".join(MOODLE.splitlines(keepends=True)[:2])
    assert grades(moodle(one, (ALICE,))[0]) == ["17.5"]
    lines = [line.split(",") for line in one.replace("Monday, ", "").splitlines()]
    bare = "\n".join(",".join([*line[:5], *line[6:]]) for line in lines)
    assert "Maximum" not in bare
    text, notes = moodle(bare, (ALICE,))
    assert grades(text) == ["17.5"]
    said = "the worksheet has no maximum grade, so full marks are worth 20. If the assignment"
    assert [note.startswith(said) for note in notes] == [True]


def test_a_groups_number_is_not_taken_for_a_participants(moodle: Fill) -> None:
    """In a group assignment Moodle's download has the group's number, which is Bob's here."""
    team = named(ALICE, "Team Red", moodle_participant="12")
    text, notes = moodle(MOODLE, (team, named(UNREADABLE, "Eve")))
    assert grades(text) == ["", "3.00", ""]
    assert "Team Red: not in the sheet, so this mark was not written" in notes


def test_moodle_identifiers_count_before_addresses_and_addresses_before_names(moodle: Fill) -> None:
    address = "alice@school.example"
    bob = named(ALICE, "Bob =1+1", moodle_participant="12", email=address)
    text, _ = moodle(MOODLE, (bob, named(BOB, "Eve", email=address.upper())))
    assert grades(text) == ["10", "17.5", ""]


@pytest.mark.parametrize(
    ("most", "asked", "grade", "note"),
    [
        ("100.00", {}, "87.5", "full marks of 20 are worth 100 in Grade"),
        ("5.00", {}, "4.375", "full marks of 20 are worth 5 in Grade"),
        ("100.00", {"scale": 60.0}, "52.5", "full marks of 20 are worth 60 in Grade, where 100"),
        ("20.00", {}, "17.5", ""),
    ],
)
def test_moodle_grades_are_worth_what_the_maximum_or_the_scale_says(
    most: str, asked: dict[str, Any], grade: str, note: str, moodle: Fill
) -> None:
    text, notes = moodle(MOODLE.replace("20.00", most), **asked)
    assert grades(text)[0] == grade
    scaled = [one for one in notes if one.startswith("full marks")]
    assert len(scaled) == bool(note)
    assert all(one.startswith(note) for one in scaled)


def test_a_scale_above_the_maximum_grade_is_refused(moodle: Fill) -> None:
    """Moodle ignores a grade that is above the maximum."""
    said = "--scale 20.5 is more than the maximum grade in Moodle, 20. Leave out --scale"
    with pytest.raises(UsageError, match=said):
        moodle(MOODLE, scale=20.5)


def test_moodle_grades_never_pass_the_maximum(moodle: Fill) -> None:
    lessons = detailed_lesson(SLOPES, PASSED, PASSED, PASSED), detailed_lesson(CHAINS, PASSED)
    text, notes = moodle(MOODLE, (replace(ALICE, report=detailed_report("a", *lessons)),))
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
    eve = cells(moodle(MOODLE, (entry,))[0])[3]
    assert eve[4] == ""
    assert said in eve[9]


def test_moodle_without_a_feedback_column_says_so(moodle: Fill) -> None:
    lines = MOODLE.splitlines()
    sheet = "".join(line.rpartition(",")[0] + "\n" for line in lines)
    text, notes = moodle(sheet, (ALICE,))
    assert grades(text)[0] == "17.5"
    assert len(cells(text)[1]) == 9
    assert any("no column for feedback" in note for note in notes)


@pytest.mark.parametrize(
    ("kind", "text", "asked", "said"),
    [
        ("canvas", "a,b\n1,2\n", {}, "this is not a Canvas gradebook"),
        ("canvas", "Student,Essay (3)\nEve,\n", {}, "this is not a Canvas gradebook"),
        ("canvas", "LastName,ID,Essay (3)\nEve,3,\n", {}, "this is not a Canvas gradebook"),
        ("canvas", "Student,ID,Essay (3)\nEve,103,\n", {}, r"the total with --column: Essay \(3\)"),
        ("canvas", CANVAS, {"columns": ("Exam",)}, "no column has the title 'Exam'"),
        ("moodle", "a,b\n1,2\n", {}, "not a grading worksheet"),
        ("moodle", "A,B,C\nWho 1,x,\nWho 2,y,\n", {}, "Name it with --column: A, B, C"),
        ("moodle", MOODLE, {"columns": ("slopes=Grade",)}, "--column TITLE"),
        ("moodle", MOODLE, {"columns": ("Grade", "Status")}, "Name only that: --column TITLE"),
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
