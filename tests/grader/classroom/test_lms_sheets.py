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
    TEAM,
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


def filled(
    kind: str, folder: Path, text: str, entries: tuple[GradebookEntry, ...] = ENTRIES, **asked: Any
) -> tuple[str, list[str]]:
    """Return a template after filling it in, and the notes."""
    template = folder / "template.csv"
    template.write_bytes(text.encode())
    parts = list(
        FORMATS[kind].export(iter(entries), COLUMNS, ExportRequest(template=template, **asked))
    )
    (data,) = [part.data for part in parts if isinstance(part, Piece)]
    return data.decode(), [str(part) for part in parts if not isinstance(part, Piece)]


def cells(text: str, delimiter: str = ",") -> list[list[str]]:
    """Return the cells as the standard library reads them."""
    return list(
        csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter)
    )


def column(text: str, number: int, delimiter: str = ",") -> dict[str, str]:
    """Return a column by the first one."""
    return {line[0]: line[number] for line in cells(text, delimiter)[1:]}


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


def test_a_sheet_that_is_none_is_refused_with_its_name_and_line(tmp_path: Path) -> None:
    (tmp_path / "torn.csv").write_text('a,b\nc,"d\n')
    (tmp_path / "other.csv").write_bytes(b"\xff\xfe")
    (tmp_path / "empty.csv").write_text("")
    for name, said in (
        ("torn.csv", r"torn.csv:2: a quotation mark"),
        ("other.csv", "not UTF-8"),
        ("empty.csv", "empty"),
        ("no", "read"),
    ):
        with pytest.raises(UsageError, match=said):
            Sheet(tmp_path / name)


# ------------------------------------------------------------------------------------------- Canvas


def test_canvas_columns_are_filled_by_lesson_where_titles_match(tmp_path: Path) -> None:
    text, _ = filled("canvas", tmp_path, CANVAS)
    assert column(text, 5)["Doe, Alice"] == "7.5"
    assert column(text, 6)["Doe, Alice"] == "10"
    assert (column(text, 5)["한 지민"], column(text, 5)["Núñez, José"]) == ("10", "10")


def test_canvas_says_which_columns_are_filled_and_which_lessons_have_none(tmp_path: Path) -> None:
    """A lesson whose column has another name is not left out silently."""
    text = CANVAS.replace("Chains (72)", "Homework (9)")
    _, notes = filled("canvas", tmp_path, text)
    assert any(note.endswith("gets slopes") for note in notes)
    assert any(
        note.startswith("no column gets chains. Name each column, --column chains=TITLE")
        for note in notes
    )
    _, notes = filled("canvas", tmp_path, text, columns=("Homework",))
    assert "Homework (9) gets the total" in notes
    assert not any(note.startswith("no column") for note in notes)


def test_canvas_keeps_every_byte_that_is_not_ours(tmp_path: Path) -> None:
    """This covers quotes, the byte order mark, line ends, other assignments, and the points
    possible.
    """
    text, _ = filled("canvas", tmp_path, CANVAS, (ALICE,))
    assert text == CANVAS.replace('"Sec ""A""",,,,3.0', '"Sec ""A""",7.5,10,,3.0')


def test_canvas_keeps_who_is_excused(tmp_path: Path) -> None:
    assert column(filled("canvas", tmp_path, CANVAS)[0], 5)["Someone"] == "EX"
    assert column(filled("canvas", tmp_path, CANVAS, missing_as_zero=True)[0], 5)["Someone"] == "EX"


@pytest.mark.parametrize("entry", [UNREADABLE, MISSING], ids=["unreadable", "missing"])
def test_canvas_keeps_the_marks_of_what_was_not_graded_and_says_so(
    entry: GradebookEntry, tmp_path: Path
) -> None:
    text, notes = filled("canvas", tmp_path, CANVAS, (entry,))
    assert text == CANVAS
    assert any(note.startswith(f"{entry.label}: ") for note in notes)


def test_canvas_keeps_the_mark_where_the_grader_is_at_fault(tmp_path: Path) -> None:
    """The affected lesson and the total keep their marks; the other lesson gets its points."""
    text, notes = filled("canvas", tmp_path, CANVAS)
    assert (column(text, 5)["Eve"], column(text, 6)["Eve"]) == ("10", "5.0")
    assert any("Eve: no score yet: chains" in note for note in notes)
    total, _ = filled("canvas", tmp_path, CANVAS, columns=("Total",))
    assert column(total, 7)["Eve"] == "5.0"


def test_canvas_gets_a_zero_for_who_is_missing_only_when_asked(tmp_path: Path) -> None:
    """The cases: a lesson not handed in, a person missing from the roster, a row without a
    submission.
    """
    text, _ = filled("canvas", tmp_path, CANVAS, (BOB, MISSING))
    assert (column(text, 6)["Someone"], column(text, 6)["Fay"], column(text, 6)["Dan"]) == (
        "1.0",
        "",
        "",
    )
    text, _ = filled("canvas", tmp_path, CANVAS, (BOB, MISSING), missing_as_zero=True)
    assert (column(text, 6)["Someone"], column(text, 6)["Fay"], column(text, 6)["Dan"]) == (
        "0",
        "0",
        "0",
    )
    assert column(text, 6)["Student, Test"] == ""


def test_canvas_gets_no_zero_for_a_row_that_a_stray_submission_may_belong_to(
    tmp_path: Path,
) -> None:
    stray = replace(ALICE, name="zoe", students=(StudentIdentity("Zoe"),))
    text, notes = filled("canvas", tmp_path, CANVAS, (stray,), missing_as_zero=True)
    assert text == CANVAS
    assert "Zoe: not in the sheet, so this mark was not written" in notes


def test_a_file_with_another_name_is_never_a_zero(tmp_path: Path) -> None:
    """This holds even if a missing submission counts as zero."""
    message = "Slopes (1).py is not called slopes.py, so it was not graded"
    slopes = replace(missing_lesson(SLOPES), file="Slopes (1).py", message=message)
    report = detailed_report("a", slopes, detailed_lesson(CHAINS, PASSED))
    entries = (replace(ALICE, report=report, adjustments=()),)
    text, notes = filled("canvas", tmp_path, CANVAS, entries, missing_as_zero=True)
    assert column(text, 5)["Doe, Alice"] == ""
    assert column(text, 6)["Doe, Alice"] == "10"
    assert f"Doe, Alice: slopes: {message}" in notes
    total, _ = filled("canvas", tmp_path, CANVAS, entries, columns=("Total",))
    assert column(total, 7)["Doe, Alice"] == ""


def test_canvas_lists_who_was_not_matched_on_either_side(tmp_path: Path) -> None:
    _, notes = filled(
        "canvas", tmp_path, CANVAS, (replace(ALICE, students=(StudentIdentity("Nobody"),)), BOB)
    )
    assert "Nobody: not in the sheet, so this mark was not written" in notes
    assert "Doe, Alice: in the sheet, but without a submission" in notes
    assert not any(note.startswith("Someone: in the sheet") for note in notes)


def test_canvas_ids_count_before_names(tmp_path: Path) -> None:
    """The student named Eve has the id 104, so this is Dan's row."""
    named_eve = replace(ALICE, students=(StudentIdentity("Eve", {"canvas_id": "104"}),))
    text, _ = filled("canvas", tmp_path, CANVAS, (named_eve,))
    assert (column(text, 5)["Eve"], column(text, 5)["Dan"]) == ("5.0", "7.5")


def test_canvas_never_guesses_between_two_of_one_name(tmp_path: Path) -> None:
    text = CANVAS + "Alice Doe,108,,,B,,,,,\r\n"
    same, notes = filled(
        "canvas", tmp_path, text, (replace(ALICE, students=(StudentIdentity("Alice Doe"),)),)
    )
    assert same == text
    assert any("fits 2 rows" in note for note in notes)


def test_canvas_never_guesses_between_two_submissions_of_one(tmp_path: Path) -> None:
    same, notes = filled("canvas", tmp_path, CANVAS, (ALICE, replace(ALICE, name="again")))
    assert same == CANVAS
    assert any(
        "Doe, Alice: no mark was written, because 2 submissions fit" in note for note in notes
    )


def test_canvas_gets_the_total_where_a_column_is_named(tmp_path: Path) -> None:
    text, _ = filled("canvas", tmp_path, CANVAS, (ALICE,), columns=("total (73)",))
    assert cells(text)[2][5:9] == ["", "", "17.5", "3.0"]


def test_canvas_gets_a_lesson_where_its_column_is_named(tmp_path: Path) -> None:
    text, _ = filled("canvas", tmp_path, CANVAS, (ALICE,), columns=("chains=Essay, long",))
    assert cells(text)[2][5:9] == ["", "", "", "10"]


def test_canvas_is_told_when_points_possible_are_others(tmp_path: Path) -> None:
    text = CANVAS.replace(",20,5,", ",100,5,")
    _, notes = filled("canvas", tmp_path, text, (ALICE,), columns=("Total",))
    assert (
        "Total (73) has 100 points in Canvas and 20 in this export; to convert the total, add"
        " --scale 100" in notes
    )
    scaled, notes = filled("canvas", tmp_path, text, (ALICE,), columns=("Total",), scale=100.0)
    assert column(scaled, 7)["Doe, Alice"] == "87.5"
    assert not any("worth" in note for note in notes)


def test_canvas_adjustments_are_noted(tmp_path: Path) -> None:
    assert (
        "Doe, Alice: adjusted by +1.5 (slopes): on paper [kim, 2026-03-01]"
        in filled("canvas", tmp_path, CANVAS)[1]
    )


SPLIT = (
    "LastName,FirstName,ID,Slopes (71),Chains (72)\r\n"
    "    Points Possible,,,10,10.00\r\n"
    "Doe,Alice,101,,\r\n"
    "Núñez,José,106,,\r\n"
)


def test_canvas_with_first_and_last_names_apart(tmp_path: Path) -> None:
    whole, _ = filled("canvas", tmp_path, CANVAS)
    split, notes = filled("canvas", tmp_path, SPLIT)
    assert column(split, 3)["Doe"] == column(whole, 5)["Doe, Alice"] != ""
    assert column(split, 3)["Núñez"] == column(whole, 5)["Núñez, José"]
    assert column(split, 3)["    Points Possible"] == "10"
    assert any("Alice Doe: adjusted by +1.5 (slopes)" in note for note in notes)


def test_points_for_no_lesson_are_not_lost_in_columns_of_lessons(tmp_path: Path) -> None:
    bonus = Adjustment(2.0, "extra", "kim", "2026-03-01T10:00:00+00:00", None)
    entries = (replace(ENTRIES[0], adjustments=(bonus,)),)
    with pytest.raises(
        UsageError, match=r"has \+2 points that belong to no lesson.*--column TITLE"
    ):
        filled("canvas", tmp_path, CANVAS, entries)
    total, _ = filled("canvas", tmp_path, CANVAS, entries, columns=("Total",))
    plain = (replace(ENTRIES[0], adjustments=()),)
    without, _ = filled("canvas", tmp_path, CANVAS, plain, columns=("Total",))
    added = float(column(total, 7)["Doe, Alice"]) - float(column(without, 7)["Doe, Alice"])
    assert added == 2.0


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        ("a,b\n1,2\n", {}, "this is not a Canvas gradebook"),
        ("Student,ID,Essay (3)\nEve,103,\n", {}, r"the total with --column: Essay \(3\)"),
        (CANVAS, {"columns": ("Exam",)}, "no column has the title 'Exam'"),
    ],
)
def test_canvas_says_what_is_wrong_with_a_template(
    text: str, asked: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        filled("canvas", tmp_path, text, **asked)


@pytest.mark.parametrize("kind", ["canvas", "moodle"])
def test_a_template_is_needed(kind: str) -> None:
    with pytest.raises(UsageError, match="--template"):
        list(FORMATS[kind].export((), COLUMNS, ExportRequest()))


def test_canvas_with_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    text = (
        "Student;ID;SIS Login ID;Section;Slopes (1)\nPoints Possible;;;;10,00\nDoe, Alice;101;;A;\n"
    )
    assert filled("canvas", tmp_path, text, (ALICE,))[0].endswith("Doe, Alice;101;;A;7,5\n")


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


def test_moodle_gets_grade_and_feedback(tmp_path: Path) -> None:
    text, _ = filled("moodle", tmp_path, ENGLISH)
    alice = cells(text)[1]
    assert alice[4] == "17.5"
    assert alice[9] == (
        "slopes: 7.5 / 10; chains: 10 / 10; handed in late;"
        " adjusted by +1.5 (slopes): on paper [kim, 2026-03-01]"
    )


def test_moodle_keeps_every_byte_that_is_not_ours(tmp_path: Path) -> None:
    """This covers headers, dates, quotes, and existing feedback."""
    text, _ = filled("moodle", tmp_path, ENGLISH, (BOB,))
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
    sheet: str, delimiter: str, grade: str, tmp_path: Path
) -> None:
    """Contents decide; the decimal sign is the sheet's."""
    text, _ = filled("moodle", tmp_path, sheet, (ALICE, BOB))
    lines = cells(text, delimiter)
    assert lines[0] == cells(sheet, delimiter)[0]
    assert lines[1][4] == grade
    assert lines[1][9].startswith("slopes: 7.5 / 10")
    assert lines[2][4] == "10"


def test_a_groups_number_is_not_taken_for_a_participants(tmp_path: Path) -> None:
    """In a group assignment Moodle's download has the group's number, which is Bob's here."""
    team = replace(ALICE, students=(StudentIdentity("Team Red", {"moodle_participant": "12"}),))
    text, notes = filled("moodle", tmp_path, ENGLISH, (team,))
    assert [line[4] for line in cells(text)[1:]] == ["", "3.00", ""]
    assert "Team Red: not in the sheet, so this mark was not written" in notes


def test_moodle_identifiers_count_before_addresses_and_addresses_before_names(
    tmp_path: Path,
) -> None:
    named = (
        replace(
            ALICE,
            students=(
                StudentIdentity(
                    "Bob =1+1", {"moodle_participant": "12", "email": "alice@school.example"}
                ),
            ),
        ),
        replace(BOB, students=(StudentIdentity("Eve", {"email": "ALICE@school.example"}),)),
    )
    text, _ = filled("moodle", tmp_path, ENGLISH, named)
    assert [line[4] for line in cells(text)[1:]] == ["10", "17.5", ""]


def test_moodle_grades_are_scaled_when_asked_and_refused_when_they_would_not_fit(
    tmp_path: Path,
) -> None:
    sheet = ENGLISH.replace("20.00", "5.00")
    with pytest.raises(UsageError, match="Add --scale 5"):
        filled("moodle", tmp_path, sheet)
    assert cells(filled("moodle", tmp_path, sheet, scale=5.0)[0])[1][4] == "4.375"


def test_moodle_is_told_when_full_marks_are_worth_more(tmp_path: Path) -> None:
    _, notes = filled("moodle", tmp_path, ENGLISH.replace("20.00", "100.00"))
    assert (
        "full marks are 100 in Moodle and 20 in this export; to convert the marks, add"
        " --scale 100" in notes
    )


def test_moodle_keeps_the_grade_where_the_grader_is_at_fault_and_says_why(tmp_path: Path) -> None:
    text, _ = filled("moodle", tmp_path, ENGLISH, (FAULTY,))
    eve = cells(text)[3]
    assert eve[4] == ""
    assert "no score yet: chains could not be graded because of the grader's own fault" in eve[9]


def test_moodle_feedback_is_no_markup_and_no_formula(tmp_path: Path) -> None:
    hostile = replace(UNREADABLE, students=(StudentIdentity("Eve"),), problem="<script>.zip")
    assert "&lt;script&gt;" in cells(filled("moodle", tmp_path, ENGLISH, (hostile,))[0])[3][9]


def test_moodle_without_a_feedback_column_says_so(tmp_path: Path) -> None:
    last = {",Feedback comments\n": "\n", ',"<p>Fine.</p>"\n': "\n", "-,\n": "-\n"}
    sheet = ENGLISH
    for cell, without in last.items():
        sheet = sheet.replace(cell, without)
    text, notes = filled("moodle", tmp_path, sheet, (ALICE,))
    assert cells(text)[1][4] == "17.5"
    assert len(cells(text)[1]) == 9
    assert any("no column for feedback" in note for note in notes)


def test_moodle_grades_never_pass_the_maximum(tmp_path: Path) -> None:
    full = replace(
        ALICE,
        report=detailed_report(
            "a", detailed_lesson(SLOPES, PASSED, PASSED, PASSED), detailed_lesson(CHAINS, PASSED)
        ),
    )
    text, notes = filled("moodle", tmp_path, ENGLISH, (full,))
    assert cells(text)[1][4] == "20"
    assert any("21.5 is more than the worksheet allows, so 20" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        ("a,b\n1,2\n", {}, "not a grading worksheet"),
        ("A,B,C\nWho 1,x,\nWho 2,y,\n", {}, "Name it with --column: A, B, C"),
        (ENGLISH, {"columns": ("slopes=Grade",)}, "--column TITLE"),
    ],
)
def test_moodle_says_what_is_wrong_with_a_template(
    text: str, asked: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        filled("moodle", tmp_path, text, **asked)


def test_a_team_is_filled_in_for_every_member(tmp_path: Path) -> None:
    text, _ = filled("canvas", tmp_path, CANVAS, (TEAM,))
    assert (column(text, 6)["한 지민"], column(text, 6)["Núñez, José"]) == ("0", "0")
