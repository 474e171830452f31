"""What may go wrong with a sheet of Canvas or Moodle: another file, another column, another person.
No mark is overwritten silently, and the comment beside it says why it is what it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from factories.gradebook import (
    ALICE,
    BOB,
    CHAINS,
    COLUMNS,
    FAULTY,
    MISSING,
    PASSED,
    SLOPES,
    TEAM,
    detailed_lesson,
    detailed_report,
    missing_lesson,
)
from factories.sheets import CANVAS, MOODLE, Fill, cells, filled, marks, named

from grader.classroom.exports.common import ExportNote, ExportRequest, LmsMark, Piece
from grader.classroom.exports.feedback import pages_for_folder, pages_for_moodle
from grader.classroom.exports.matching import MatchedMarks, Roll, SheetPerson, refuse_another_class
from grader.classroom.gradebook.entry import Adjustment, GradebookEntry, Lateness
from grader.classroom.imports.entries import StudentIdentity
from grader.cli.exports import FORMATS
from grader.core.errors import UsageError

ZERO = {"missing_as_zero": True}


def grades(text: str) -> list[str]:
    """Return the grades in ``MOODLE``: Alice's, Bob's and Eve's."""
    return [line[4] for line in cells(text)[1:]]


def written(parts: Iterable[Piece | ExportNote]) -> dict[str, bytes]:
    """Return the files of an export by path."""
    files: dict[str, bytes] = {}
    for part in parts:
        if isinstance(part, Piece):
            files[part.path] = files.get(part.path, b"") + part.data
    return files


def comment_on(entry: GradebookEntry, moodle: Fill, text: str = MOODLE) -> str:
    """Return Alice's feedback comment."""
    found = cells(moodle(text, (replace(entry, students=ALICE.students),))[0])[1][-1]
    return found.removeprefix("<p>Grade: ").removesuffix("</p>")


# ----------------------------------------------------------------------------------- another file

OTHERS = tuple(named(ALICE, name) for name in ("Zoe", "Yan", "Xia", "Wim", "Vic"))


@pytest.mark.parametrize("kind", ["canvas", "moodle"])
def test_a_file_of_another_class_is_refused(kind: str, tmp_path: Path) -> None:
    """One of its people has the name of a student of this class."""
    text = {"canvas": CANVAS, "moodle": MOODLE + MOODLE.partition("\n")[2].replace("t 1", "t 2")}
    entries = (*OTHERS, named(ALICE, "Eve"))
    sheet = text[kind].replace("Alice Doe", "Ann")
    said = r"template\.csv: this seems to be the file of another class\. It has 1 of the 6 students"
    with pytest.raises(UsageError, match=said):
        filled(kind, tmp_path, sheet.replace("Eve,eve@", "Eva,eva@", 1), entries)


def test_a_section_and_late_work_are_not_taken_for_another_class(canvas: Fill) -> None:
    """A sheet may have few of the students, and a gradebook few of the sheet's people."""
    section = CANVAS[: CANVAS.index("Someone")] + CANVAS[CANVAS.index("Dan") : CANVAS.index("한")]
    text, notes = canvas(section, (*OTHERS, ALICE))
    assert marks(text)["Doe, Alice"] == "7.5,10,,3.0"
    assert len([note for note in notes if "not in the sheet" in note]) == len(OTHERS)
    assert marks(canvas(CANVAS, (ALICE,))[0])["Doe, Alice"] == "7.5,10,,3.0"


@pytest.mark.parametrize(
    ("known", "doubtful", "strangers", "rows", "people", "refused"),
    [
        (1, 0, 4, 1, 5, True),
        (0, 1, 4, 1, 5, True),
        (1, 0, 3, 1, 5, False),
        (1, 0, 4, 1, 4, False),
        (2, 0, 6, 2, 9, False),
        (2, 0, 9, 2, 8, False),
        (2, 0, 7, 2, 9, True),
        (0, 0, 0, 0, 9, False),
    ],
)
def test_another_class_shares_less_than_a_quarter_on_both_sides(
    known: int, doubtful: int, strangers: int, rows: int, people: int, refused: bool
) -> None:
    roll = Roll([SheetPerson(row, f"P{row}", {}, frozenset()) for row in range(people)], {})
    found = dict.fromkeys(range(rows), LmsMark("", "", (), 0.0, {}, ()))
    known_ones, doubtful_ones, others = (("x",) * count for count in (known, doubtful, strangers))
    matched = MatchedMarks(found, (), known_ones, doubtful_ones, others, ())
    with pytest.raises(UsageError) if refused else contextlib.nullcontext():
        refuse_another_class(Path("sheet.csv"), roll, matched)


OTHER_WEEK = MOODLE.replace("t 1", "t 31")
DOWNLOADED = replace(ALICE, came_as="Alice Doe_11_assignsubmission_file")


def test_a_moodle_worksheet_of_another_assignment_is_refused(moodle: Fill) -> None:
    """A participant has another number in each assignment. Who names the column means it."""
    said = (
        r"template\.csv: this worksheet is of another assignment\. 1 student had another"
        r" participant number in the graded download: Alice Doe \(11, here 311\)\."
        r".* --column 'Grade'"
    )
    with pytest.raises(UsageError, match=said):
        moodle(OTHER_WEEK, (DOWNLOADED, FAULTY))
    text, notes = moodle(OTHER_WEEK, (DOWNLOADED, FAULTY), columns=("Grade",))
    assert grades(text)[0] == "17.5"
    assert any(note.startswith("this worksheet is of another assignment") for note in notes)


def test_a_worksheet_with_groups_may_be_of_another_assignment(moodle: Fill) -> None:
    """Who handed in alone has a number of their own there, too."""
    grouped = OTHER_WEEK.replace("address,", "address,Group,").replace("example,", "example,Red,")
    with pytest.raises(UsageError, match="worksheet is of another assignment"):
        moodle(grouped, (DOWNLOADED, FAULTY))
    team = replace(DOWNLOADED, came_as="Red_11_assignsubmission_file")
    assert ",17.5,20.00," in moodle(grouped, (team,))[0]


@pytest.mark.parametrize("came_as", ["alice", "Team Red_12_assignsubmission_file"])
def test_a_number_that_is_not_from_the_download_does_not_tell_the_assignment(
    came_as: str, moodle: Fill
) -> None:
    """A roster may be the worksheet of the first week; a team has its group's number."""
    assert grades(moodle(OTHER_WEEK, (replace(ALICE, came_as=came_as),))[0])[0] == "17.5"


def test_one_number_of_two_that_differs_is_not_another_assignment(moodle: Fill) -> None:
    bob = replace(
        named(BOB, "Bob =1+1", moodle_participant="12"), came_as="Bob_12_assignsubmission_file"
    )
    sheet = MOODLE.replace("Participant 11", "Participant 19")
    assert grades(moodle(sheet, (DOWNLOADED, bob))[0]) == ["17.5", "10", ""]


def test_no_page_goes_by_a_worksheet_of_another_assignment(tmp_path: Path) -> None:
    template = tmp_path / "worksheet.csv"
    template.write_bytes(OTHER_WEEK.encode())
    with pytest.raises(UsageError, match="worksheet is of another assignment"):
        list(pages_for_moodle([DOWNLOADED.public()], str.encode, ExportRequest(template)))


@pytest.mark.parametrize(
    "words", ["Team 1|Team 1|Team 2", "Day 1|Week 2|Week 3", "Ann|Week 2|Week 3", "Week|Day|Year"]
)
def test_participants_are_one_word_and_different_numbers(words: str, moodle: Fill) -> None:
    """Another column before them is not taken for them; a last line may say something else."""
    lines = MOODLE.removeprefix("\ufeff").splitlines()
    added = [f"{word},{line}" for word, line in zip(["?", *words.split("|")], lines, strict=True)]
    text = "\n".join([*added, ",,3 students,,,,,,,,,,"])
    filled, _ = moodle(text, (ALICE,))
    assert [line[5] for line in cells(filled)[1:]] == ["17.5", "3.00", "", ""]


PROFILES = (
    "식별번호,성명,ID 번호,학과,학년,기수,상태,성적,최고 성적,변경 가능,판,최근 수정,글,낱말 수\n"
    "참가자 11,Alice Doe,1001,CS,1,7,제출됨,,50.00,예,5,-,,120\n"
    "참가자 12,Bob =1+1,,CS,2,7,제출됨,3,50.00,,5,-,,340\n"
    ",2,,,,,,,,,,,,\n"
)


def test_numbers_of_a_profile_are_not_taken_for_the_maximum_grade(moodle: Fill) -> None:
    """The maximum is one number for all, right of the grades; so are no other numbers."""
    text, notes = moodle(PROFILES, (ALICE, BOB))
    assert [line[7] for line in cells(text)[1:]] == ["43.75", "25", ""]
    assert "full marks of 20 are worth 50 in 성적" in notes
    english = MOODLE.replace("Email address", "Year,Cohort").replace("@school.example", ",7")
    text, notes = moodle(english.replace("alice,7", "1,7").replace("eve,7", "1,7"), (ALICE,))
    assert [line[5] for line in cells(text)[1:]] == ["17.5", "3.00", ""]


def test_a_last_column_of_times_is_not_taken_for_comments(moodle: Fill) -> None:
    text = MOODLE.replace("Feedback comments", "Letzte").replace('"<p>Fine.</p>"', "10:06 Uhr")
    filled, notes = moodle(text, (ALICE,))
    assert [line[-1] for line in cells(filled)[1:]] == ["", "10:06 Uhr", ""]
    assert any(note.startswith("the worksheet has no column for feedback") for note in notes)


# -------------------------------------------------------------------------- marks that are there


def test_marks_that_are_replaced_are_listed(canvas: Fill, moodle: Fill) -> None:
    """They may have been given by hand, or be another assignment's."""
    _, notes = canvas(CANVAS, (ALICE, FAULTY))
    replaced = [note for note in notes if "will be replaced" in note]
    assert replaced == [
        "1 mark in Slopes (71) will be replaced: Eve 5.0 → 10. Is this the right assignment?"
    ]
    _, notes = moodle(MOODLE, (ALICE, BOB))
    (note,) = [note for note in notes if "will be replaced" in note]
    assert note.startswith("1 mark in Grade will be replaced: Bob =1+1 3.00 → 10.")
    text = CANVAS.replace('"Sec ""A""",,,,', "A,A-,9,7,")
    (slopes, chains) = [note for note in canvas(text, (ALICE, BOB))[1] if "replaced" in note]
    assert slopes.startswith("1 mark in Slopes (71) will be replaced: Doe, Alice A- → 7.5.")
    assert chains.startswith("1 mark in Chains (72) will be replaced: Doe, Alice 9 → 10.")


@pytest.mark.parametrize("there", ["17.5", "17.50", '"17,50"', "17.504", "17.495"])
def test_a_mark_that_is_the_same_for_two_decimals_is_not_listed(there: str, moodle: Fill) -> None:
    sheet = MOODLE.replace('grading - ",,20', f'grading - ",{there},20', 1)
    _, notes = moodle(sheet, (ALICE,))
    assert not any("replaced" in note for note in notes)
    assert any("replaced" in note for note in moodle(sheet.replace("17", "16"), (ALICE,))[1])


def test_a_zero_over_a_mark_is_listed(canvas: Fill) -> None:
    _, notes = canvas(CANVAS, (ALICE, MISSING), columns=("Total",), **ZERO)
    (note,) = [note for note in notes if "replaced" in note]
    assert note.startswith(
        "2 marks in Total (73) will be replaced: Someone 2.0 → 0, Eve 5.0 → 0. Is"
    )


def test_no_zero_where_two_submissions_fit_or_the_section_is_another(canvas: Fill) -> None:
    """The people of another section are in the sheet, but not in the export."""
    text, _ = canvas(CANVAS, (ALICE, replace(ALICE, name="again")), **ZERO)
    assert marks(text)["Doe, Alice"] == ",,,3.0"
    text, _ = canvas(CANVAS + "Alice Doe,108,,,B,,,,,\r\n", (named(ALICE, "Alice Doe"),), **ZERO)
    assert set(marks(text).values()) == {*marks(CANVAS).values()}
    text, notes = canvas(CANVAS, (ALICE, MISSING), section="A", **ZERO)
    assert marks(text) == marks(CANVAS) | {"Doe, Alice": "7.5,10,,3.0", "Fay": "0,0,,"}
    assert not any("without a submission" in note for note in notes)


def test_missing_is_zero_in_moodle_too(moodle: Fill) -> None:
    assert grades(moodle(MOODLE, (ALICE, BOB))[0]) == ["17.5", "10", ""]
    text, notes = moodle(MOODLE, (ALICE, BOB), **ZERO)
    assert grades(text) == ["17.5", "10", "0"]
    not_given = "students without a submission were not given 0"
    assert not any(note.startswith(not_given) for note in notes)
    zoe = named(BOB, "Zoe")
    text, notes = moodle(MOODLE, (ALICE, zoe), **ZERO)
    assert grades(text) == ["17.5", "3.00", ""]
    assert any(note.startswith(not_given) for note in notes)
    _, notes = moodle(MOODLE, (ALICE, BOB, FAULTY, zoe), **ZERO)
    assert not any(note.startswith(not_given) for note in notes)


@pytest.mark.parametrize(
    ("cell", "why"),
    [("EX", "is excused in Canvas (EX)"), ("N/A", "does not have this assignment in Canvas (N/A)")],
)
def test_a_cell_that_canvas_has_closed_stays_and_is_noted(
    cell: str, why: str, canvas: Fill
) -> None:
    text = CANVAS.replace('"Sec ""A""",,,,', f"A,{cell},,,")
    filled, notes = canvas(text, (ALICE,), **ZERO)
    assert marks(filled)["Doe, Alice"] == f"{cell},10,,3.0"
    assert f"Doe, Alice: {why}, so no mark was written in Slopes (71)" in notes


def test_what_a_person_must_look_at_is_important(tmp_path: Path) -> None:
    """A mark that fits nobody, one of two that fit, one that is replaced, and one that is cut."""
    template = tmp_path / "template.csv"
    template.write_bytes(CANVAS.encode())
    entries = (ALICE, replace(ALICE, name="again"), FAULTY, named(BOB, "Zoe"))
    parts = FORMATS["canvas"].export(entries, COLUMNS, ExportRequest(template))
    notes = [part for part in parts if isinstance(part, ExportNote) and part.important]
    assert [(note.who, note.text[:22]) for note in notes] == [
        ("", "1 mark in Slopes (71) "),
        ("Zoe", "not in the sheet, so t"),
        ("Doe, Alice", "no mark was written, b"),
    ]
    template.write_bytes(OTHER_WEEK.encode())
    above = replace(DOWNLOADED, adjustments=(replace(ON_PAPER, lesson=None, points=9.0),))
    asked = ExportRequest(template, columns=("Grade",))
    parts = FORMATS["moodle"].export((above,), COLUMNS, asked)
    notes = [part for part in parts if isinstance(part, ExportNote) and part.important]
    assert [(note.who, note.text[:22]) for note in notes] == [
        ("", "this worksheet is of a"),
        ("Alice Doe", "25 is more than the wo"),
    ]


# --------------------------------------------------------------------------------- Canvas's columns


@pytest.mark.parametrize(
    ("title", "asked", "said"),
    [
        ("Total (73)", "section", r"the column 'Section' is about the student\. Assignments"),
        ("Total (73)", "Final Score", "has 'Final Score' in its title, as Canvas's own totals"),
        (
            "Final Grade task (73)",
            "Final Grade task",
            "has 'Final Grade' in its title.*rename it.*long \\(74\\)$",
        ),
        ("Unposted Current Points", "unposted current points", "has 'Current Points' in its title"),
        ("Notes", "Notes", r"is marked '\(read only\)', so Canvas does not import it"),
        ("x" * 256, "x" * 256, "a title of more than 255 characters, which Canvas refuses"),
        ("Slopes (73)", "Slopes", r"2 assignments have the title 'Slopes'.*: Slopes \(71\), S"),
        ("Slopes", "Slopes (7)", r"no column has the title 'Slopes \(7\)'"),
    ],
)
def test_a_column_that_canvas_would_not_import_is_refused(
    title: str, asked: str, said: str, canvas: Fill
) -> None:
    text = CANVAS.replace("Total (73)", title)
    if title == "Notes":
        text = text.replace("10.00,20,5", "10.00,(read only),5")
    elif len(title) > 255:
        text = text.replace("10.00,20,5", "10.00,,5")
    with pytest.raises(UsageError, match=said):
        canvas(text, (ALICE,), columns=(asked,))


def test_one_column_gets_one_thing(canvas: Fill) -> None:
    with pytest.raises(UsageError, match=r"--column names 'Total \(73\)' twice"):
        canvas(CANVAS, (ALICE,), columns=("Total", "slopes=total (73)"))


def test_canvas_asks_about_a_column_without_a_number(canvas: Fill) -> None:
    """Such a column may be a new assignment, or notes. It is filled only if it is named."""
    text = CANVAS.replace("Slopes (71)", "Slopes")
    filled, notes = canvas(text, (ALICE,))
    assert marks(filled)["Doe, Alice"] == ",10,,3.0"
    filled, notes = canvas(text, (ALICE,), columns=("Slopes",))
    assert marks(filled)["Doe, Alice"] == "8.75,,,3.0"
    assert any(note.startswith("Slopes has no number in parentheses") for note in notes)


def test_a_lesson_is_found_by_its_id_or_title_if_only_one_column_has_it(canvas: Fill) -> None:
    lessons = (replace(SLOPES, title="Lines, and more"), CHAINS)
    for title in ("Lines, AND more (71)", "SLOPES  (71)"):
        text = CANVAS.replace("Slopes (71)", f'"{title}"')
        assert marks(canvas(text, (ALICE,), lessons)[0])["Doe, Alice"] == "7.5,10,,3.0"
    both = CANVAS.replace("Total (73)", '"Lines, and more (73)"')
    filled, notes = canvas(both, (ALICE,), lessons)
    assert marks(filled)["Doe, Alice"] == ",10,,3.0"
    assert any(note.startswith("no column gets slopes") for note in notes)


# ------------------------------------------------------------------------------------ whose mark


TESTER = replace(
    ALICE,
    name="tester",
    students=(StudentIdentity("Probe", {"canvas_id": "104"}, {"role": "test"}),),
)


def test_a_test_student_gets_no_mark_and_no_note(canvas: Fill, moodle: Fill) -> None:
    """Canvas's own row is known by its name, or, in another language, by the gradebook's id."""
    tester = replace(TESTER, adjustments=(replace(ON_PAPER, lesson=None),))
    text, notes = canvas(CANVAS, (ALICE, tester), **ZERO)
    assert marks(text)["Dan"] == marks(text)["Student, Test"] == ",,,"
    assert not any("Dan" in note or "Student, Test" in note or "Probe" in note for note in notes)
    text, notes = moodle(MOODLE, (ALICE, TESTER))
    assert not any("Probe" in note for note in notes)
    line = written(FORMATS["csv"].export((TESTER,), COLUMNS, ExportRequest()))[""].splitlines()[1]
    assert line.startswith(b"tester,Probe,canvas_id=104,,late,,16.0,0.0,1.5,,20.0,")


def test_a_student_who_is_called_test_student_gets_a_mark(canvas: Fill) -> None:
    text = CANVAS.replace('"Student, Test",109,,', '"Student, Test",109,s-9,')
    (row,) = [
        line
        for line in canvas(text, (ALICE, named(BOB, "Test Student")))[0].splitlines()
        if line.startswith('"Student, Test"')
    ]
    assert row == '"Student, Test",109,s-9,5f1e0c,A,10,,,,'


def test_who_is_missing_by_the_roster_but_handed_in_with_a_team_has_its_mark(
    canvas: Fill, moodle: Fill
) -> None:
    """The mark counts, whichever of the two entries comes first; nothing says "nothing"."""
    alone = named(MISSING, "José Núñez")
    for entries in ((alone, TEAM), (TEAM, alone)):
        text, notes = canvas(CANVAS, entries, **ZERO)
        assert marks(text)["Núñez, José"] == "10,0,,"
        assert not any("Núñez, José" in note for note in notes)
    team = replace(TEAM, students=(*ALICE.students, StudentIdentity("Eve")))
    text, _ = moodle(MOODLE, (team, named(MISSING, "Eve")))
    assert "nothing was handed in" not in text


def test_who_may_be_in_a_team_is_not_told_that_nothing_was_handed_in(moodle: Fill) -> None:
    """The worksheet does not say who is in a team, and neither does the roster."""
    entries = (RED, named(BOB, "Bob =1+1"), named(MISSING, "Eve"))
    text, notes = moodle(MOODLE, entries, **ZERO)
    assert grades(text) == ["", "10", ""]
    assert "nothing was handed in" not in text
    assert "Eve: in the sheet, but without a submission" in notes
    given = replace(named(MISSING, "Eve"), adjustments=(ON_PAPER,))
    assert grades(moodle(MOODLE, (*entries[:2], given), **ZERO)[0]) == ["", "10", "4"]
    assert grades(moodle(MOODLE, entries[1:], **ZERO)[0]) == ["0", "10", "0"]


def test_a_student_who_is_listed_twice_in_a_team_gets_its_mark(canvas: Fill) -> None:
    team = replace(TEAM, students=(*TEAM.students, StudentIdentity("Núñez, José")))
    assert marks(canvas(CANVAS, (team,))[0])["Núñez, José"] == "10,0,,"


GROUPS = (
    "Identifier,Full name,Email address,Status,{title},Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 11,Alice Doe,alice@school.example,Submitted,Team Red,,20.00,Yes,-,-,\n"
    "Participant 12,Bob,b@school.example,Submitted,Team Blue,,20.00,Yes,-,-,\n"
    "Participant 13,Eve,eve@school.example,Submitted,Team Red,,20.00,Yes,-,-,\n"
    "Participant 14,Kim,kim@school.example,No submission,Default group,,20.00,Yes,-,-,\n"
)
RED = replace(
    named(ALICE, "Team Red", moodle_participant="12"), came_as="Team Red_12_assignsubmission_file"
)
BLUE = named(BOB, "Team Blue", moodle_participant="3")


@pytest.mark.parametrize("title", ["Group", "Gruppe", "모둠"])
def test_moodles_column_of_groups_says_who_is_in_a_team(title: str, moodle: Fill) -> None:
    """The download has the group's name and number only; 12 is another person's number here."""
    text, notes = moodle(GROUPS.format(title=title), (RED, BLUE))
    lines = cells(text)[1:]
    assert [line[5] for line in lines] == ["17.5", "10", "17.5", ""]
    assert lines[0][-1] == lines[2][-1] != ""
    assert notes == ["Kim: in the sheet, but without a submission"]


def test_a_teams_members_on_the_roster_count_before_moodles_groups(moodle: Fill) -> None:
    """Nobody else of the group gets the mark, and no participant's number is compared."""
    known = StudentIdentity("Eve", {"email": "eve@school.example", "moodle_participant": "99"})
    text, _ = moodle(GROUPS.format(title="Group"), (replace(RED, students=(known,)), BLUE))
    assert [line[5] for line in cells(text)[1:]] == ["", "10", "17.5", ""]


def test_a_person_is_not_taken_for_a_group(moodle: Fill) -> None:
    """Somebody who is not in the sheet may have the name of a group, or of a teacher."""
    sheet = GROUPS.format(title="Group").replace("Team Red,", "Zoe Lee,")
    zoe = named(ALICE, "Zoe Lee", sid="z1")
    text, notes = moodle(sheet, (zoe, BLUE))
    assert [line[5] for line in cells(text)[1:]] == ["", "10", "", ""]
    assert "Zoe Lee: not in the sheet, so this mark was not written" in notes


def test_each_member_of_a_team_gets_the_page(tmp_path: Path) -> None:
    template = tmp_path / "worksheet.csv"
    template.write_text(GROUPS.format(title="Group"), "utf-8")
    request = ExportRequest(template)
    entries = [RED.public(), BLUE.public()]
    stray = named(ALICE, "Zoe").public()
    parts = list(pages_for_moodle([*entries, stray], str.encode, request))
    assert str(parts[-1]) == "Zoe: not in the sheet, so this page was not written"
    assert written(parts) == {
        f"{name}_{number}_assignsubmission_file_/report.html": team.name.encode()
        for name, number, team in (("Alice Doe", 11, RED), ("Bob", 12, BLUE), ("Eve", 13, RED))
    }
    folder = pages_for_folder([ALICE.public(), TEAM.public()], str.encode)
    names = ["Alice Doe.html", "team - 한 지민.html", "team - José Núñez.html"]
    assert list(written(folder)) == names


def test_without_a_worksheet_only_a_members_own_number_takes_the_page() -> None:
    """A number that the members share is that of their group. Whether somebody alone is a group is
    not known.
    """
    people = [StudentIdentity(name, {"moodle_participant": "5"}) for name in ("Kim", "Lee")]
    shared = replace(TEAM, students=(*people, StudentIdentity("Roe", {"moodle_participant": "6"})))
    parts = list(pages_for_moodle([shared.public(), RED.public()], str.encode, ExportRequest()))
    assert list(written(parts)) == [
        "Roe_6_assignsubmission_file_/report.html",
        "Team Red_12_assignsubmission_file_/report.html",
    ]
    kim, lee, warning = [str(part) for part in parts if isinstance(part, ExportNote)]
    assert kim.startswith("Kim: there is no page for this member of a team")
    assert lee.startswith("Lee: there is no page for this member of a team")
    assert warning.startswith("do not upload this zip if students submit in groups.")
    parts = list(pages_for_moodle([shared.public()], str.encode, ExportRequest()))
    assert not any(str(part).startswith("do not upload") for part in parts)


BLIND = (
    "Identifier,Status,Grade,Maximum Grade,Grade can be changed,Last modified (grade),"
    "Last modified (submission),Feedback comments\n"
    "{0} 11,Submitted,,20.00,Yes,-,-,\n{0} 12,Submitted,,20.00,Yes,-,-,\n"
)


@pytest.mark.parametrize(
    ("word", "name"), [("Participant", "Participant 12"), ("참가자", "참가자")]
)
def test_where_moodle_hides_names_the_number_decides(word: str, name: str, moodle: Fill) -> None:
    text, notes = moodle(BLIND.format(word), (named(ALICE, name, moodle_participant="12"),))
    assert [line[2] for line in cells(text)[1:]] == ["", "17.5"]
    assert notes == [f"Submitted ({word} 11): in the sheet, but without a submission"]


def test_namesakes_in_a_worksheet_are_told_apart_by_their_numbers(moodle: Fill) -> None:
    text = MOODLE.replace("Bob =1+1", "Eve")
    _, notes = moodle(text, (ALICE, named(BOB, "Eve")))
    assert (
        "Eve: fits 2 rows of the sheet: Eve (Participant 12), Eve (Participant 13), so this mark"
        " was not written"
    ) in notes


# ------------------------------------------------------------------------------------ the reasons

ON_PAPER = Adjustment(4.0, "on\npaper", "kim", "2026-03-01", "chains")
MISNAMED = replace(missing_lesson(CHAINS), file="Chains.py", message="Chains.py is not chains.py")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            replace(BOB, lateness=Lateness("2026-03-01T10:00:00Z", 183_600.0, 20.0)),
            "slopes: 8 / 10; not handed in: chains; 2 d 3 h late, 20 % off (-2)",
        ),
        (
            replace(
                BOB, adjustments=(Adjustment(4.0, "on\npaper", "kim", "2026-03-01", "chains"),)
            ),
            "slopes: 10 / 10; chains: 4 / 10; adjusted by +4 (chains): on paper [kim, 2026-03-01]",
        ),
        (
            replace(BOB, report=detailed_report("b", detailed_lesson(SLOPES, PASSED), MISNAMED)),
            "slopes: 6 / 10; chains: Chains.py is not chains.py",
        ),
        (MISSING, "nothing was handed in"),
        (
            replace(ALICE, late=False, adjustments=()),
            "slopes: 6 / 10; chains: 10 / 10; 1 bonus point, which the grade does not include",
        ),
        (
            replace(
                BOB, report=detailed_report("b", missing_lesson(SLOPES), missing_lesson(CHAINS))
            ),
            "not handed in: slopes, chains",
        ),
    ],
    ids=["late", "adjusted", "misnamed", "missing", "bonus", "no lesson"],
)
def test_the_comment_says_in_one_line_why_the_grade_is_what_it_is(
    entry: GradebookEntry, said: str, moodle: Fill
) -> None:
    assert comment_on(entry, moodle) == said


def test_the_comment_has_the_points_of_the_course_where_the_grade_is_scaled(moodle: Fill) -> None:
    text = MOODLE.replace("20.00", "100.00")
    assert comment_on(BOB, moodle, text).startswith("10 of 20 points; slopes: 10 / 10;")


def test_a_comment_is_not_added_twice(moodle: Fill) -> None:
    once, _ = moodle(MOODLE, (ALICE, BOB))
    assert moodle(once, (ALICE, BOB))[0] == once


def test_the_table_says_which_lessons_were_not_handed_in() -> None:
    table = written(FORMATS["csv"].export((BOB,), COLUMNS, ExportRequest()))[""]
    assert b"not handed in: chains" in table
