"""What the commands say of a term is enough to act on: who, which file, which assignment, why."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from factories.gradebook import make_report
from rich.console import Console

from grader.classroom.gradebook.store import Gradebook
from grader.cli.term import show_lesson
from grader.core.errors import UsageError
from grader.core.report import LessonResult, LessonStatus, Report
from grader.core.text import moment
from grader.course.course import Course

from .test_term import DAY, MONDAY, NoHost, Term, moodle, points, recorded

SHEET = "Student,ID,SIS User ID,SIS Login ID,Section,{}\n    Points Possible,,,,,10\nAda,1,,,,\n"
MARA = 'Student,ID,SIS Login ID,Section\n"De Luca, Mara",4,m1,\n"Deluca, Mara",5,m2,\n'


def report_of(*task: Any, name: str) -> Report:
    """Replace grading; a file may stand for none."""
    if "NO_FILE" not in task[3]["tiny"].text:
        return recorded(*task, name=name)
    return make_report(name, [LessonResult("tiny", "Tiny", LessonStatus.MISSING, 0, 10)])


@pytest.fixture
def term(tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Term:
    monkeypatch.setattr("grader.runtime.grading.grade_and_repair", report_of)
    monkeypatch.setattr("grader.cli.batch.course", lambda root: small_course)
    monkeypatch.setattr("grader.cli.batch.own_host", NoHost)
    return Term(tmp_path, small_course)


def test_a_download_of_a_known_assignment_is_named_with_it(term: Term) -> None:
    """Whether it is the graded file itself, or a newer one with some of its entries."""
    people = {"Ada Lovelace": 8, "Ben Ito": 5}
    first = term.download("w1", moodle(100, people))
    term.grade(first, assignment="Week 1")
    term.grade(term.download("w2", moodle(500, people)), assignment="Week 2")
    newer = term.download("w1-again", moodle(100, people | {"Cy Young": 3}, "new"), MONDAY + DAY)
    for place in (first, newer):
        with pytest.raises(UsageError, match=r"seems to be of Week 1: --assignment 'Week 1'"):
            term.grade(place, assignment="Week 2")


def test_the_table_of_a_term_is_there_from_the_first_assignment_on(term: Term) -> None:
    term.grade(term.download("w1", {"Ada/tiny.py": points(8)}), assignment="Week 1")
    assert "term.csv" in term.run("export", term.out, "--to", "csv")
    with (term.out / "term.csv").open(encoding="utf-8-sig") as file:
        assert [row["total"] for row in csv.DictReader(file)] == ["80.0"]


@pytest.mark.parametrize("title", ["week 1 (90101)", "Tiny (7)"])
def test_canvas_s_column_with_the_assignment_s_name_gets_the_total(term: Term, title: str) -> None:
    roster = term.roster(SHEET.format(title))
    term.grade(term.download("w1", {"Ada/tiny.py": points(8)}), assignment="Week 1", roster=roster)
    term.run("export", term.out / "Week 1", "--to", "canvas", "--template", roster)
    assert (term.out / "Week 1" / "canvas.csv").read_text("utf-8").endswith("Ada,1,,,,8\n")
    roster = term.roster(SHEET.format("Week 2 (90102)"))
    with pytest.raises(UsageError, match=r"no assignment has the name 'Week 1' alone, or of a les"):
        term.run("export", term.out / "Week 1", "--to", "canvas", "--template", roster)


def test_a_submission_s_name_that_fits_two_people_is_refused(term: Term) -> None:
    """Who was changed is said with ids, and the commands that are printed work."""
    place = term.download("w1", {"delucamara_5_9_tiny.py": points(8)})
    term.grade(place, roster=term.roster(MARA))
    with Gradebook.open(term.out) as book:
        (name,) = book.names()
    change = ("--points", "+3", "--reason", "why")
    with pytest.raises(UsageError, match="Name the student by an id: 5"):
        term.run("adjust", term.out, name, *change)
    said = term.run("adjust", term.out, "5", *change)
    assert said.splitlines()[2].startswith("Deluca, Mara (canvas_id 5, ")
    assert term.marks()[name] == 11.0
    assert f"adjust {term.out} 5 --undo" in said
    assert "11 → 8" in term.run("adjust", term.out, "5", "--undo")


def test_what_is_known_to_be_late_is_not_said_to_be_taken_as_in_time(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"ada_LATE_1_5_tiny.py": points(8), "ben_2_6_tiny.py": points(7)}
    term.grade(term.download("w1", files), due="2026-03-02T00:00Z", late="50%/day")
    assert "no time is known: 1 new attempt." in " ".join(capsys.readouterr().out.split())


def test_late_without_a_time_is_shown(term: Term) -> None:
    term.grade(term.download("w1", {"ada_LATE_1_5_tiny.py": points(8)}))
    assert "counts (last); late" in term.run("show", term.out, "ada")


def test_why_a_file_can_not_be_loaded_is_shown_once(term: Term) -> None:
    term.grade(term.download("a", {"Ada/tiny.py": points(8)}))
    with Gradebook.open(term.out) as book:
        entry = book.entry("Ada")
    assert entry.report is not None
    why, (lesson,) = "line 3: the bracket is not closed", entry.report.lessons
    checks = tuple(replace(check, message=why) for check in lesson.checks * 24)
    broken = replace(lesson, status=LessonStatus.INVALID, message=why, checks=checks)
    screen = io.StringIO()
    show_lesson(Console(file=screen, width=80), broken)
    assert screen.getvalue().count(why) == 1


def test_a_test_student_has_no_mark_and_a_reason(term: Term) -> None:
    roster = 'Student,ID,SIS User ID,SIS Login ID,Section\nAda,1,s,a,\n"Student, Test",2,,x,\n'
    files = {"ada_1_5_tiny.py": points(8), "studenttest_2_6_tiny.py": points(7)}
    for week in ("Week 1", "Week 2"):
        term.grade(term.download(week, files), roster=term.roster(roster), assignment=week)
    out, reason = term.out / "Week 1", "this is a test student, who gets no mark"
    with (out / "grades.csv").open(encoding="utf-8-sig") as file:
        said = {row["students"]: (row["score"], row["remarks"]) for row in csv.DictReader(file)}
    assert said == {"Ada": ("8.0", ""), "Student, Test": ("", reason)}
    shown = term.run("show", out, "2")
    assert f": no mark\n{reason}" in shown
    assert "none" in term.run("show", term.out, "2")


def test_the_first_attempt_that_counts_is_the_first_with_a_verdict(term: Term) -> None:
    """What attempts came as is below the table, so that it fits 80 columns."""
    term.grade(term.download("a", {"ada_1_5_tiny.rar": "Rar!"}), attempts="first")
    newer = f"ada_1_9_{'long' * 12}_tiny.py"
    term.grade(term.download("b", {newer: points(8)}, MONDAY + DAY), accept_near_names=True)
    term.grade(term.download("c", {"ada_1_12_tiny.py": points(9)}, MONDAY + 2 * DAY))
    shown = term.run("show", term.out, "ada").splitlines()
    assert [line for line in shown if "counts (first with a verdict)" in line]
    assert f"attempt 2 came as {newer}" in shown
    assert term.marks() == {"ada": 8.0}


def test_a_lesson_that_is_left_out_later_is_said_to_be_not_handed_in(term: Term) -> None:
    term.grade(term.download("a", {"Ada/tiny.py": points(10)}))
    term.grade(term.download("b", {"Ada/tiny.py": "NO_FILE = 1"}, MONDAY + DAY))
    said = " ".join(term.run("changes", term.out).split())
    assert "tiny.double passed → not handed in" in said


def test_a_file_that_canvas_gets_no_feedback_for_is_named(term: Term) -> None:
    paths = {"doeada_11_71_tiny.py": points(8), "leeben_12_72_tiny.rar": "Rar!"}
    term.grade(term.download("c", paths))
    said = term.run("feedback", term.out, "--to", "canvas")
    assert "leeben: handed in leeben_12_72_tiny.rar. Such files are not returned" in said


def test_a_run_says_whose_mark_is_open_and_who_was_not_graded_again(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = {"Ada/tiny.py": points(8), "Ben/tiny.py": points(9)}
    whole = term.download("a", {**paths, "Cy/tiny (1).py": points(1)})
    term.grade(whole, zone="Asia/Seoul")
    out = capsys.readouterr().out
    assert "3 graded, 0 unchanged since the last run (1 of these without a mark), 0 not" in out
    assert "no mark, because of a file that was not graded: Cy\n" in out
    term.run("adjust", term.out, "Ada", "--points", 1, "--reason", "oral")
    with Gradebook.open(term.out) as book:
        made = moment(book.entry("Ada").adjustments[0].made_at)
    assert f"{made.astimezone(ZoneInfo('Asia/Seoul')):%Y-%m-%d %H:%M}" in term.run(
        "adjust", term.out, "Ada"
    )
    term.grade(term.download("b", {"Ben/tiny.py": points(9)}), regrade=True)
    out = capsys.readouterr().out
    assert "1 graded, 0 unchanged since the last run, 0 not" in out
    assert "not in this download, so not graded again: Ada, Cy\n" in out


def test_a_first_mark_after_an_export_and_two_late_rules_have_one_reason_each(term: Term) -> None:
    """The comment is what the student reads."""
    roster = (
        "name,submitted_at\nAda,2026-03-02T10:00Z\nBen,2026-03-03T10:00Z\nCy,2026-02-28T10:00Z\n"
    )
    files = {"Ada/tiny.py": points(10)}
    due = {"due": "2026-03-01T10:00Z", "late": "10%/day", "zone": "UTC"}
    term.grade(term.download("a", files), roster=term.roster(roster), **due)
    term.run("export", term.out, "--to", "gradescope")
    term.grade(
        term.download(
            "b", files | {"Ben/tiny.py": points(8), "Cy/tiny.py": points(6)}, MONDAY + DAY
        )
    )
    term.grade(term.folder / "b.zip", due="none")
    term.grade(term.folder / "b.zip", due="2026-03-01T10:00Z", late="20%/day")
    said = term.run("changes", term.out, "--to", "comments")
    assert "from 9 to 8: 1 d late, 20 % off" in said
    assert "from none to 4.8: 2 d late, 40 % off" in said
    assert "from none to 6: handed in" in said


def test_an_export_of_a_section_has_nobody_else(term: Term) -> None:
    """Neither a member of the same team, nor a row of the term's table."""
    listed = "name,sid,section,group\nFarid,1,A,Alpha\nGrace,2,B,Alpha\nNora,3,A,Delta\n"
    handed = {"Alpha/tiny.py": points(10), "Delta/tiny.py": points(5)}
    term.grade(term.download("a", handed), assignment="Lab", roster=term.roster(listed))
    sheet = term.roster(
        "Student,ID,SIS User ID,SIS Login ID,Section,Lab (5)\n    Points Possible,,,,,10\n"
        "Farid,11,1,,A,7\nGrace,12,2,,B,\nNora,13,3,,A,\n"
    )
    term.run("export", term.out / "Lab", "--to", "canvas", "--template", sheet, "--section", "B")
    rows = (term.out / "Lab" / "canvas.csv").read_text("utf-8").splitlines()[2:]
    assert [row.rpartition(",")[2] for row in rows] == ["7", "10", ""]
    term.run("export", term.out, "--to", "csv", "--section", "B")
    table = (term.out / "term.csv").read_text("utf-8-sig").splitlines()[1:]
    assert [row.split(",")[0] for row in table] == ["Grace"]
    with pytest.raises(UsageError, match=r"Nobody is in the section 'C'. Sections .*: A, B"):
        term.run("export", term.out, "--to", "csv", "--section", "C")


def test_who_is_in_two_sections_has_a_mark_in_both(term: Term) -> None:
    listed = "name,sid,section\nAda,1,A\nBen,2,B\nCy,3,A and B\n"
    handed = {f"{name}/tiny.py": points(8) for name in ("Ada", "Ben", "Cy")}
    term.grade(term.download("a", handed), assignment="Lab", roster=term.roster(listed))
    for section, names in (("A", ["Ada", "Cy"]), ("B", ["Ben", "Cy"])):
        for out, file, column in (
            (term.out, "term.csv", "name"),
            (term.out / "Lab", "grades.csv", "submission"),
        ):
            term.run(
                "export", out, "--to", "csv", "--section", section, "--output", term.folder / file
            )
            with (term.folder / file).open(encoding="utf-8-sig") as table:
                assert [row[column] for row in csv.DictReader(table)] == names


def test_a_download_that_is_refused_makes_no_assignment(term: Term) -> None:
    roster = term.roster("name,sid\nAda,1\nBen,2\n")
    week1 = term.download("w1", {"Ada/tiny.py": points(8), "Ben/tiny.py": points(5)})
    term.grade(week1, assignment="Week 1", roster=roster)
    others = {f"team{number}/tiny.py": points(1) for number in range(9)}
    with pytest.raises(UsageError, match="hardly anybody is on the roster"):
        term.grade(term.download("o", others), assignment="Week 2", roster=roster)
    with Gradebook.open(term.out, any_of=True) as book:
        assert list(book.assignments()) == ["Week 1"]


def test_by_the_rule_nobody_is_late_within_an_extension(term: Term) -> None:
    """Whatever Canvas writes into the file's name."""
    roster = "Student,ID,SIS Login ID,Section,submitted_at,due\nAda,1,a,,2026-03-02T10:00Z,+1d\n"
    place = term.download("w1", {"ada_LATE_1_5_tiny.py": points(8)})
    term.grade(place, roster=term.roster(roster))
    with Gradebook.open(term.out) as book:
        assert book.entry_of("Ada").late
    term.grade(place, due="2026-03-02T00:00Z", late="50%/day")
    with Gradebook.open(term.out) as book:
        assert not book.entry_of("Ada").late


def test_a_forgotten_submission_is_in_the_list_of_a_person_s_marks(term: Term) -> None:
    for week in ("Week 1", "Week 2"):
        term.grade(term.download(week, {"Ada/tiny.py": points(8)}), assignment=week)
    term.run("forget", term.out / "Week 1", "Ada")
    lines = term.run("show", term.out, "Ada").splitlines()
    assert [line.split()[2] for line in lines if "Week" in line] == ["none", "8"]
    assert "forgotten" in lines[2]


def test_a_participant_is_named_as_moodle_writes_it(term: Term) -> None:
    term.grade(term.download("w1", moodle(100, {"Ada Lovelace": 8})))
    for called in ("100", "Participant 100", "참가자100"):
        assert "8 of 10" in term.run("show", term.out, called)


def test_a_page_shows_no_mark_where_there_is_none(term: Term) -> None:
    """Nobody has 0 for a file that was not graded; points that a person gives are a mark."""
    term.grade(term.download("a", {"Ada/Tiny.py": points(8)}))
    page = term.out / "reports" / "Ada.html"
    assert "<strong>– / 10</strong>" in page.read_text("utf-8")
    change = ("--points", "7", "--reason", "seen by hand", "--lesson", "tiny")
    term.run("adjust", term.out, "Ada", *change)
    assert "<strong>7 / 10</strong>" in page.read_text("utf-8")


def changed(term: Term) -> list[list[str]]:
    """Return whose mark changed, from what to what, and why."""
    rows = [*csv.reader(io.StringIO(term.run("changes", term.out, "--to", "csv")))]
    return [row[1:2] + row[3:] for row in rows[1:]]


def test_who_is_forgotten_after_an_export_is_among_the_changes(term: Term) -> None:
    term.grade(term.download("a", {"Ada/tiny.py": points(8), "Ben/tiny.py": points(7)}))
    term.run("export", term.out, "--to", "csv")
    term.run("forget", term.out, "Ada")
    assert changed(term) == [["Ada", "8", "none", "forgotten"]]
    term.run("export", term.out, "--to", "csv")
    assert changed(term) == []
    assert "no longer forgotten" in term.run("forget", term.out, "Ada", "--undo")
    assert changed(term) == [["Ada", "none", "8", "no longer forgotten"]]
    term.run("forget", term.out, "Ada")
    assert changed(term) == []


def test_how_late_is_said_as_it_is_now(term: Term) -> None:
    """Also if a longer time costs no more."""
    place, roster = term.download("a", {"Ada/tiny.py": points(8)}), "name,submitted_at\nAda,{}\n"
    term.grade(place, roster=term.roster(roster.format("2026-03-01T10:00Z")))
    term.run("export", term.out, "--to", "csv")
    for time, late in (("2026-03-04T10:00Z", "2 d 10 h"), ("2026-03-04T20:00Z", "2 d 20 h")):
        term.grade(
            place, roster=term.roster(roster.format(time)), due="2026-03-02T00:00Z", late="10%/day"
        )
        ((*_, why),) = changed(term)
        assert why.startswith(late), why


def test_which_attempt_counts_is_said_as_it_is_now(term: Term) -> None:
    term.grade(term.download("a", {"Ada/tiny.py": points(8)}))
    term.run("export", term.out, "--to", "csv")
    newer = term.download("b", {"Ada/tiny.py": points(10)}, MONDAY + DAY)
    term.grade(newer)
    term.run("adjust", term.out, "Ada", "--points", "-1", "--reason", "copied")
    for policy in ("first", "last"):
        term.grade(newer, attempts=policy)
    copied, better = "adjustment: copied", "tiny.double failed → passed"
    assert changed(term) == [["Ada", "8", "9", f"{copied}; attempt 2 counts; {better}"]]
    term.grade(newer, attempts="first")
    assert changed(term) == [["Ada", "8", "7", copied]]


def test_an_earlier_grading_that_counts_again_is_not_graded_again(
    term: Term, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = term.download("a", {"Ada/tiny.py": points(8)})
    term.grade(place)

    def stricter(*task: Any, name: str) -> Report:
        text = task[3]["tiny"].text.replace("POINTS = 8", "POINTS = 5")
        file = SimpleNamespace(ignored=False, text=text)
        return recorded(*task[:3], {"tiny": file}, None, name=name)

    monkeypatch.setattr("grader.runtime.grading.grade_and_repair", stricter)
    for lang, why in (("ko", "graded again"), ("en", "an earlier grading counts again")):
        capsys.readouterr()
        term.grade(place, lang=lang)
        assert re.search(rf"^Ada +\d +\d +{why}$", capsys.readouterr().out, re.M), why
