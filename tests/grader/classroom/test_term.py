"""A term: assignments, people and attempts in one gradebook; marks that change are announced."""

from __future__ import annotations

import csv
import html
import io
import os
import random
import re
import shlex
import threading
import time
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from factories.gradebook import make_check, make_lesson, make_report

from grader.classroom.gradebook.entry import CheckColumn, LessonColumn, total_points
from grader.classroom.gradebook.store import Gradebook
from grader.cli import cli
from grader.cli.batch import BatchOptions, grade_class
from grader.cli.term import time_in
from grader.core.errors import UsageError
from grader.core.report import LessonResult, LessonStatus, Outcome, Report
from grader.course.course import Course

DAY = 86_400
MONDAY = 1_800_000_000.0
DOUBLE = CheckColumn("tiny.double", "double doubles", 10.0, False, False)
COLUMN = LessonColumn("tiny", "Tiny", 10.0, 0.0, (DOUBLE,))


def recorded(*task: Any, name: str) -> Report:
    """Replace grading: each file says its points."""
    _, _, _, files, _ = task
    if files["tiny"].ignored:
        path = files["tiny"].path
        left_out = LessonResult("tiny", "Tiny", LessonStatus.MISSING, 0, 10, file=path)
        flag = f"tiny: {path} was not graded"
        return replace(make_report(name, [left_out]), flags=(flag,))
    text = files["tiny"].text
    points = float(text.split("POINTS = ")[1].split()[0]) if "POINTS = " in text else 10.0
    outcome = Outcome.PASSED if points == 10 else Outcome.FAILED
    check = replace(make_check(DOUBLE, outcome), points=points)
    lesson = replace(make_lesson(COLUMN, [check], file="tiny.py"), score=points)
    if "FOREIGN" in text:
        lesson = replace(lesson, defines_instead=("hook",))
    return replace(make_report(name, [lesson]), score=points)


class NoHost:
    def close(self) -> None:
        pass


class Term:
    """A gradebook, graded from downloads that the test makes."""

    def __init__(self, folder: Path, course: Course) -> None:
        self.folder, self.course, self.out = folder, course, folder / "term"

    def download(self, name: str, files: Mapping[str, str], at: float = MONDAY) -> Path:
        """Write the zip of a download: a text, or points, by path."""
        path = self.folder / f"{name}.zip"
        when = time.localtime(at)[:6]
        with zipfile.ZipFile(path, "w") as archive:
            for member, text in files.items():
                archive.writestr(zipfile.ZipInfo(member, when), text)
        return path

    def roster(self, text: str) -> Path:
        path = self.folder / "roster.csv"
        path.write_text(text, "utf-8")
        return path

    def grade(self, place: Path, **options: Any) -> None:
        values = {"place": place, "out": self.out, "sandbox": "off", "lang": "en", **options}
        grade_class(self.course, BatchOptions(**values), make_host=NoHost)  # type: ignore[arg-type]

    def marks(self, assignment: str = "") -> dict[str, float | None]:
        with Gradebook.open(self.out / assignment) as book:
            return {entry.name: total_points(entry) for entry in book.entries()}

    def run(self, *words: object) -> str:
        """Return what a command prints; raise what it refuses with."""
        done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output


@pytest.fixture
def term(tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Term:
    monkeypatch.setattr("grader.runtime.grading.grade_and_repair", recorded)
    return Term(tmp_path, small_course)


def points(number: float, note: str = "") -> str:
    return f"POINTS = {number:g}\n# {note}\n"


def moodle(first: int, handed: Mapping[str, float], note: str = "") -> dict[str, str]:
    """Return the files of Moodle's download, with participants from ``first``."""
    return {
        f"{name}_{first + place}_assignsubmission_file/tiny.py": points(earned, note)
        for place, (name, earned) in enumerate(handed.items())
    }


# ------------------------------------------------------------------------------------ assignments


def test_a_second_assignment_never_touches_the_first(term: Term) -> None:
    """Moodle numbers its participants anew; people are found again by name."""
    week1 = term.download("week1", moodle(100, {"Ada Lovelace": 10, "Ben Ito": 5}))
    week2 = term.download("week2", moodle(500, {"Ada Lovelace": 7, "Cy Young": 3}))
    term.grade(week1, assignment="Week 1")
    before = (term.out / "Week 1" / "grades.csv").read_bytes()
    term.grade(week2, assignment="Week 2", due="2026-01-01T00:00Z", attempts="best")
    assert (term.out / "Week 1" / "grades.csv").read_bytes() == before
    assert term.marks("Week 1") == {"Ada Lovelace": 10.0, "Ben Ito": 5.0}
    assert term.marks("Week 2") == {"Ada Lovelace": 7.0, "Cy Young": 3.0}
    assert (term.out / "Week 2" / "reports" / "Ada Lovelace.html").exists()
    with Gradebook.open(term.out, any_of=True) as book:
        assert list(book.assignments()) == ["Week 1", "Week 2"]
        names = [name for (name,) in book.db.execute("SELECT name FROM people ORDER BY name")]
        assert names == ["Ada Lovelace", "Ben Ito", "Cy Young"]
        assert book.at(1).about("late_rule") == ""
    with pytest.raises(UsageError, match=r"several assignments.*term/Week 1, .*term/Week 2"):
        Gradebook.open(term.out)
    with pytest.raises(UsageError, match="several assignments"):
        term.grade(week2)


def test_a_download_of_another_assignment_is_refused(term: Term) -> None:
    """Moodle's participants of another assignment have other numbers."""
    people = {"Ada Lovelace": 10.0, "Ben Ito": 5.0}
    term.grade(term.download("week1", moodle(100, people)))
    with pytest.raises(UsageError, match=r"other participant numbers.*--assignment week2"):
        term.grade(term.download("week2", moodle(500, people)))
    assert term.marks() == people
    later = term.download("later", moodle(100, {**people, "Cy Young": 3}))
    term.grade(later)
    assert term.marks() == {**people, "Cy Young": 3.0}


def test_the_worksheet_of_another_assignment_is_no_roster(term: Term) -> None:
    """Its times would be taken for those of this one."""
    week2 = term.download("week2", moodle(500, {"Ada Lovelace": 10.0, "Ben Ito": 5.0}))
    sheet = "Identifier,Full name\nParticipant {},Ada Lovelace\nParticipant {},Ben Ito\n"
    with pytest.raises(UsageError, match=r"other participant numbers than the download.*Ada"):
        term.grade(week2, roster=term.roster(sheet.format(100, 101)))
    term.grade(week2, roster=term.roster(sheet.format(500, 501)))
    assert term.marks() == {"Ada Lovelace": 10.0, "Ben Ito": 5.0}


def test_an_assignment_made_by_mistake_is_forgotten_and_put_back(term: Term) -> None:
    for name, earned in (("Week 1", 8), ("Wek 1", 5)):
        term.grade(term.download(name, {"Ada/tiny.py": points(earned)}), assignment=name)
    said = term.run("forget", term.out, "Wek 1")
    undo = said.split("To undo this: grade ")[1]
    assert "Wek 1" not in term.run("export", term.out, "--to", "csv")
    assert term.marks() == {"Ada": 8.0}  # the only one needs no name
    with pytest.raises(UsageError, match=r"'Wek 1' is forgotten"):
        term.grade(term.download("a", {"Ada/tiny.py": points(9)}), assignment="Wek 1")
    assert f"assignment Wek 1 forgotten\n    grade {undo}" in term.run("forget", term.out)
    term.run(*shlex.split(undo))
    assert term.marks("Wek 1") == {"Ada": 5.0}
    with pytest.raises(UsageError, match="no submission 'Week 1'"):
        term.run("forget", term.out / "Week 1", "Week 1")


def test_an_assignment_needs_a_name_that_a_folder_can_have(term: Term) -> None:
    week1 = term.download("week1", moodle(100, {"Ada": 10}))
    with pytest.raises(UsageError, match=r"can't be the name of a folder.*such as"):
        term.grade(week1, assignment="Week 1/2")


# ----------------------------------------------------------------------------------------- people


def test_nobody_appears_twice_whatever_part_of_the_class_a_download_holds(term: Term) -> None:
    """Two people of one name are two, in each part and in the whole."""
    kims = {"kimminjun_11_71_tiny.py": points(10), "kimminjun_22_72_tiny.py": points(4)}
    one, other = ({name: kims[name]} for name in kims)
    roster = term.roster("name,canvas_id\nKim Minjun,11\nKim Minjun,22\nLee,33\n")
    term.grade(term.download("one", one), roster=roster)
    with Gradebook.open(term.out) as book:
        known = {next(iter(e.students)).ids["canvas_id"]: total_points(e) for e in book.entries()}
    assert known == {"11": 10.0, "22": None, "33": None}
    term.grade(term.download("other", other))
    term.grade(term.download("all", kims))
    with Gradebook.open(term.out) as book:
        entries = list(book.entries())
    found = {next(iter(entry.students)).ids["canvas_id"]: total_points(entry) for entry in entries}
    assert found == {"11": 10.0, "22": 4.0, "33": None}
    assert len(entries) == 3


def test_an_absent_student_who_hands_in_keeps_what_a_person_added(term: Term) -> None:
    roster = term.roster("name,sid\nAda,1\nBen,2\n")
    term.grade(term.download("a", {"Ada/tiny.py": points(10), "x/y.txt": ""}), roster=roster)
    term.run("adjust", term.out, "Ben", "--points", "+1", "--reason", "on paper")
    assert term.marks()["Ben"] == 1.0
    term.run("adjust", term.out, "Ben", "--undo")
    assert term.marks()["Ben"] is None
    term.run("adjust", term.out, "2", "--points", "+1", "--reason", "on paper")
    term.grade(term.download("b", {"Ada/tiny.py": points(10), "Ben/tiny.py": points(5)}))
    assert term.marks()["Ben"] == 6.0


def test_a_submission_keeps_its_line_when_a_roster_says_later_whose_it_is(term: Term) -> None:
    """The line of a person who seemed to have handed in nothing goes."""
    place = term.download("a", {"zz7/tiny.py": points(8), "Ben/tiny.py": points(5)})
    term.grade(place, roster=term.roster("name,sid\nAda,1\nBen,2\n"))
    assert term.marks() == {"zz7": 8.0, "Ben": 5.0, "Ada": None}
    term.grade(place, roster=term.roster("name,sid,username\nAda,1,zz7\nBen,2,\n"))
    assert term.marks() == {"zz7": 8.0, "Ben": 5.0}


def test_usernames_that_were_said_before_leave_no_doubt_in_the_first_run(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of part of a class, who is not there has handed in nothing."""
    roster = term.roster("name,sid\nAda,1\nBen,2\nCy,3\n")
    files = {"w1-submissions/w1-zz7/tiny.py": points(8), "w1-submissions/w1-qq/tiny.py": points(5)}
    term.grade(term.download("w1", files), assignment="Week 1", roster=roster)
    term.run("person", term.out, "zz7", "Ada")
    term.run("person", term.out, "qq", "Ben")
    again = {path.replace("w1", "w2"): text for path, text in files.items()}
    capsys.readouterr()
    for _ in range(2):
        term.grade(term.download("w2", again), assignment="Week 2", roster=roster)
        said = "".join(capsys.readouterr())
        assert "may be" not in said and "handed in nothing: Cy" in said, said
        assert term.marks("Week 2") == {"zz7": 8.0, "qq": 5.0, "Cy": None}


def test_a_first_download_of_other_lessons_is_refused(term: Term) -> None:
    """Nothing of it is kept."""
    tiny = term.course.lesson("tiny")
    term.course = replace(term.course, lessons=(tiny, replace(tiny, id="wide")))
    wrong = term.download("week2", {"Ada/wide.py": points(3)})
    with pytest.raises(UsageError, match=r"has files of wide, and none of tiny.*--lessons wide"):
        term.grade(wrong, lessons=("tiny",))
    term.grade(term.download("week1", {"Ada/tiny.py": points(3)}), lessons=("tiny",))
    assert term.marks() == {"Ada": 3.0}


def test_what_a_team_is_given_is_said_to_be_the_teams(term: Term) -> None:
    roster = term.roster("name,sid,group\nAda,1,Red\nBen,2,Red\n")
    term.grade(term.download("a", {"Red/tiny.py": points(5)}), roster=roster)
    said = term.run("adjust", term.out, "Ada", "--points", "+1", "--reason", "on paper")
    assert "a team, so this is the score of Ada, Ben" in said


def test_another_spelling_of_an_assignment_is_no_new_one(term: Term) -> None:
    term.grade(term.download("a", {"Ada/tiny.py": points(8)}), assignment="Week 2")
    with pytest.raises(UsageError, match="There is an assignment 'Week 2'"):
        term.grade(term.download("b", {"Ada/tiny.py": points(8)}), assignment="week-2")
    term.grade(term.download("b", {"Ada/tiny.py": points(8)}), assignment="Week 3")


def test_who_a_person_is_is_said_once_for_the_term(term: Term) -> None:
    """Moodle hides names; the numbers are new in each assignment."""
    roster = term.roster("name,sid\nAda Lovelace,1\nBen Ito,2\n")
    hidden = {"Participant_7_assignsubmission_file/tiny.py": points(8)}
    hidden |= {"Ben Ito_8_assignsubmission_file/tiny.py": points(5)}
    week = term.download("week", hidden)
    term.grade(week, roster=roster)
    assert term.marks() == {"Participant 7": 8.0, "Ben Ito": 5.0, "Ada Lovelace": None}
    term.run("person", term.out, "Participant 7", "1")
    assert term.marks() == {"Ada Lovelace": 8.0, "Ben Ito": 5.0}
    term.grade(week)
    assert term.marks() == {"Ada Lovelace": 8.0, "Ben Ito": 5.0}
    term.run("person", term.out, "Ada Lovelace", "--undo")
    assert term.marks() == {"Participant 7": 8.0, "Ben Ito": 5.0, "Ada Lovelace": None}


@pytest.mark.parametrize("called", ["1", "Lovelace, Ada", "lovelace", "Ada Lovelace"])
@pytest.mark.parametrize(
    "deed", [["forget", "Ada Lovelace"], ["rename", "Ada Lovelace", "x"], ["person", "zed", "1"]]
)
def test_undo_finds_who_the_command_itself_would_find(
    term: Term, deed: list[str], called: str
) -> None:
    roster = term.roster("name,sid\nAda Lovelace,1\nBen Ito,2\n")
    files = {"Ben Ito/tiny.py": points(5), "zed/tiny.py": points(7)}
    if deed[0] != "person":
        files["Ada Lovelace/tiny.py"] = points(8)
    term.grade(term.download("a", files), roster=roster)
    before = term.marks()
    command, *who = deed
    term.run(command, term.out, *who)
    assert term.marks() != before
    term.run(command, term.out, called, "--undo")
    assert term.marks() == before


def test_the_undo_of_a_person_means_one_of_two_with_one_name(term: Term) -> None:
    """What it prints can be pasted, and undoes that deed only."""
    roster = term.roster("name,sid\nKim Minjun,11\nKim Minjun,22\n")
    term.grade(term.download("a", {f"z{n}/tiny.py": points(n) for n in (3, 7)}), roster=roster)
    before = term.marks()
    first = term.run("person", term.out, "z3", "11").splitlines()[-1]
    between = term.marks()
    second = term.run("person", term.out, "z7", "22").splitlines()[-1]
    assert first.endswith("term 11 --undo") and second.endswith("term 22 --undo")
    with pytest.raises(UsageError, match="may be several people"):
        term.run("person", term.out, "Kim Minjun", "--undo")
    term.run(*shlex.split(first.split("grade ")[-1]))
    assert 3.0 in term.marks().values() and term.marks() != before
    assert "z3" in term.marks() and "z7" not in term.marks()
    term.run(*shlex.split(second.split("grade ")[-1]))
    assert term.marks() == before != between


def test_a_folder_with_the_name_of_two_people_is_said_to_be_one_of_them(term: Term) -> None:
    roster = term.roster("name,sid\nKim Minjun,11\nKim Minjun,22\n")
    term.grade(term.download("a", {"Kim Minjun/tiny.py": points(7)}), roster=roster)
    with pytest.raises(UsageError, match="may be several people"):
        term.run("person", term.out, "11", "Kim Minjun")
    term.run("person", term.out, "Kim Minjun", "22")
    with Gradebook.open(term.out) as book:
        found = {entry.students[0].ids["sid"]: total_points(entry) for entry in book.entries()}
    assert found == {"11": None, "22": 7.0}
    listed = term.run("forget", term.out)
    assert "Kim Minjun is Kim Minjun (sid 22)" in listed
    term.run(*shlex.split(listed.splitlines()[-1])[1:])
    assert "not certain" in term.run("show", term.out, "22")


def test_undo_leaves_deeds_of_another_command_alone(term: Term) -> None:
    term.grade(term.download("a", {"Ada/tiny.py": points(3), "Ben/tiny.py": points(10)}))
    term.run("rename", term.out, "Ben", "Benny")
    term.run("swap", term.out, "Ada", "Benny")
    term.run("rename", term.out, "Benny", "--undo")
    assert term.marks() == {"Ada": 10.0, "Ben": 3.0}


# --------------------------------------------------------------------------------------- attempts


def test_an_older_download_never_replaces_newer_attempts(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ben's middle attempt, which comes with it for the first time, does not count either."""
    old = term.download("old", {"Ada/tiny.py": points(2), "Ben/tiny.py": points(3)}, MONDAY)
    new = {"Ada/tiny.py": points(9), "Ben/tiny.py": points(8)}
    term.grade(old)
    term.grade(term.download("new", new, MONDAY + 2 * DAY))
    assert term.marks() == {"Ada": 9.0, "Ben": 8.0}
    middle = {"Ada/tiny.py": points(2), "Ben/tiny.py": points(5)}
    capsys.readouterr()
    term.grade(term.download("middle", middle, MONDAY + DAY))
    assert "older than another one" in capsys.readouterr().out
    term.grade(old)
    assert term.marks() == {"Ada": 9.0, "Ben": 8.0}
    with Gradebook.open(term.out) as book:
        assert [one.score for one in book.entry("Ben").attempts] == [3.0, 5.0, 8.0]
        assert book.entry("Ben").counts == 3


@pytest.mark.parametrize("path", ["{}_{}1_{}_tiny.py", "Week/{}_{}1/hand_in/tiny.py"])
def test_an_older_download_in_a_folder_replaces_nothing_either(
    term: Term, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    """Its time is that of its newest file, whether the newer one was a zip or a folder."""

    def folder(name: str, earned: int, at: float) -> Path:
        place = term.folder / name
        for number, who in enumerate(("ada", "ben")):
            file = place / path.format(who, number, int(1000 * at))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(points(earned), "utf-8")
            os.utime(file, (at, at))
        (place / ".DS_Store").write_bytes(b"")
        return place

    now = time.time()
    term.grade(folder("new", 9, now - DAY))
    names = set(term.marks())
    term.grade(folder("old", 2, now - 3 * DAY))
    assert "older than another one" in capsys.readouterr().out
    assert term.marks() == dict.fromkeys(names, 9.0)
    shown = term.run("show", term.out, sorted(names)[0])
    dates = [f"{time.strftime('%Y-%m-%d', time.gmtime(now - days * DAY))}" for days in (3, 1)]
    assert [line for line in shown.splitlines() if "download of" in line and dates[0] in line]
    assert shown.index(dates[0]) < shown.index(dates[1])
    later = folder("later", 5, now)
    os.utime(next(file for file in later.rglob("*.py")), (now + 9 * DAY, now + 9 * DAY))
    term.grade(later)
    term.grade(folder("newest", 6, time.time()))
    assert term.marks() == dict.fromkeys(names, 6.0)


def test_canvas_s_numbers_order_folders_that_lost_their_times(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """A download is older if what it has of somebody was uploaded before; the same file says
    nothing.
    """
    old = {"ada_1_5_tiny.py": points(10), "ben_2_6_tiny.py": points(4)}
    new = {"ada_1_9_tiny-1.py": points(3), "ben_2_6_tiny.py": points(4)}
    term.grade(term.download("new", new, MONDAY))
    for name in ("old", "again"):
        capsys.readouterr()
        term.grade(term.download(name, old, MONDAY + DAY))
        assert term.marks() == {"ada": 3.0, "ben": 4.0}
        assert ("older than another one" in capsys.readouterr().out) is (name == "old")
    del new["ben_2_6_tiny.py"]
    term.grade(term.download("last", new | {"ben_2_11_tiny-1.py": points(8)}, MONDAY + 2 * DAY))
    assert term.marks() == {"ada": 3.0, "ben": 8.0}


def test_a_time_that_only_the_newer_attempt_has_keeps_the_order_of_both(term: Term) -> None:
    """The roster's time is after the first download, which was graded days later."""
    plain = term.roster("name,sid\nAda,1\nBen,2\n")
    first = {"Ada/tiny.py": points(2), "Ben/tiny.py": points(3)}
    ago = time.time() - 9 * DAY
    term.grade(term.download("first", first, ago), roster=plain)
    at = time.strftime("%Y-%m-%dT%H:%M+00:00", time.gmtime(ago + DAY))
    told = term.roster(f"name,sid,submitted_at\nAda,1,{at}\nBen,2,\n")
    second = {"Ada/tiny.py": points(9), "Ben/tiny.py": points(3)}
    term.grade(term.download("second", second, ago + 2 * DAY), roster=told)
    assert term.marks() == {"Ada": 9.0, "Ben": 3.0}


def test_the_time_of_a_roster_is_that_of_one_attempt(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """A newer download needs a newer roster, or nobody knows how late its attempts are."""
    due = {"due": "2026-10-05T20:00+00:00", "late": "10%/day"}
    roster = term.roster("name,sid,submitted_at\nAda,1,2026-10-05T08:00+00:00\n")
    term.grade(term.download("first", {"Ada/tiny.py": points(5)}), roster=roster, **due)
    second = term.download("second", {"Ada/tiny.py": points(9)}, MONDAY + DAY)
    capsys.readouterr()
    term.grade(second)
    assert "no time is known: 1 new attempt" in " ".join(capsys.readouterr().out.split())
    assert term.marks() == {"Ada": 9.0}
    newer = term.roster("name,sid,submitted_at\nAda,1,2026-10-06T08:00+00:00\n")
    term.grade(second, roster=newer)
    assert "without a time" not in capsys.readouterr().out
    assert term.marks() == {"Ada": 8.1}


def test_who_hands_in_an_earlier_version_again_gets_its_mark(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """The download is newer than that with the other version, and the change is announced."""
    for day, earned in enumerate((5, 2, 5)):
        capsys.readouterr()
        term.grade(term.download(f"day{day}", {"Ada/tiny.py": points(earned)}, MONDAY + day * DAY))
    assert term.marks() == {"Ada": 5.0}
    assert "Ada         2    5" in capsys.readouterr().out


@pytest.mark.parametrize(("policy", "mark"), [("last", 4.0), ("best", 9.0), ("first", 6.0)])
def test_the_policy_says_which_attempt_counts(term: Term, policy: str, mark: float) -> None:
    """It can be changed at any time, without grading, and is remembered."""
    for day, earned in enumerate((6, 9, 4)):
        term.grade(term.download(f"day{day}", {"Ada/tiny.py": points(earned)}, MONDAY + day * DAY))
    last = term.folder / "day2.zip"
    term.grade(last, attempts=policy)
    assert term.marks() == {"Ada": mark}
    term.grade(last)
    assert term.marks() == {"Ada": mark}
    page = (term.out / "reports" / "Ada.html").read_text("utf-8")
    assert f"<strong>{mark:g} / 10</strong>" in page


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("hooks.py", "no lesson file found; expected tiny.py"),
        ("Tiny.py", "Tiny.py was not graded"),
        ("tiny.py", "tiny.py defines hook instead of what tiny asks for"),
    ],
)
def test_a_wrong_file_is_named_even_if_an_earlier_attempt_counts(
    term: Term, capsys: pytest.CaptureFixture[str], wrong: str, said: str
) -> None:
    term.grade(term.download("a", {"Ada/tiny.py": points(9)}), attempts="best")
    page = term.out / "class.html"
    assert said not in capsys.readouterr().out + html.unescape(page.read_text("utf-8"))
    term.grade(term.download("b", {f"Ada/{wrong}": "POINTS = 0\n# FOREIGN\n"}, MONDAY + DAY))
    assert term.marks() == {"Ada": 9.0}
    said = f"attempt 2, which does not count: {said}"
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in html.unescape(page.read_text("utf-8"))


def test_a_file_that_was_not_graded_is_not_the_first_attempt(term: Term) -> None:
    """Nor did it earn 0 points."""
    handed = ({"Ada/Tiny.py": points(3)}, {"Ada/tiny.py": points(8)})
    for day, files in enumerate(handed):
        place = term.download(f"day{day}", files, MONDAY + day * DAY)
        term.grade(place, attempts="first")
    assert term.marks() == {"Ada": 8.0}
    with Gradebook.open(term.out) as book:
        assert book.entry("Ada").history == (8.0,)


def test_the_best_attempt_is_the_best_after_lateness(term: Term) -> None:
    """9 points two days late at half the points are less than 6 in time."""
    due = {"due": "2026-03-01T00:00Z", "late": "25%/day"}
    for at, earned in (("2026-02-28T00:00Z", 6), ("2026-03-02T10:00Z", 9)):
        roster = term.roster(f"name,submitted_at\nAda,{at}\n")
        handed = term.download(f"at{earned}", {"Ada/tiny.py": points(earned)}, MONDAY + earned)
        term.grade(handed, roster=roster, attempts="best", **due)
    assert term.marks() == {"Ada": 6.0}
    term.grade(handed, attempts="last")
    assert term.marks() == {"Ada": 4.5}


def test_a_chain_of_people_who_are_one_can_be_graded(term: Term) -> None:
    place = term.download("a", {f"{one}/tiny.py": points(n) for n, one in enumerate("XYZ")})
    term.grade(place)
    term.run("person", term.out, "X", "Y")
    term.run("person", term.out, "Y", "Z")
    marks = term.marks()
    assert list(marks) == ["Z"]
    term.grade(place)
    term.grade(place)
    assert term.marks() == marks


def test_submissions_that_were_made_one_stay_one(term: Term) -> None:
    place = term.download("a", {"Ada/tiny.py": points(3), "Ben/tiny.py": points(10)})
    term.grade(place)
    term.run("rename", term.out, "Ada", "Ben", "--merge")
    marks = term.marks()
    assert list(marks) == ["Ben"]
    for _ in range(3):
        term.grade(place)
        assert term.marks() == marks
    with pytest.raises(UsageError, match="part of another submission"):
        term.run("rename", term.out, "Ben", "Ada")
    newer = {"Ada/tiny.py": points(8), "Ben/tiny.py": points(10)}  # both are read
    term.grade(term.download("b", newer, MONDAY + DAY))
    with Gradebook.open(term.out) as book:
        assert sorted(one.score or 0 for one in book.entry("Ben").attempts) == [3.0, 8.0, 10.0]


@pytest.mark.parametrize("with_an_attempt", [True, False], ids=["both", "one"])
@pytest.mark.parametrize("old, new", [("alice", "Ada"), ("Ada", "alice")])
def test_a_merge_is_the_same_in_both_directions_and_is_said(
    term: Term, old: str, new: str, with_an_attempt: bool
) -> None:
    """The person of the roster and the time there win, in the next run as well."""
    roster = term.roster("name,sid,submitted_at\nAda,7,2026-03-02T10:00Z\nBen,8,\n")
    files = {"alice/tiny.py": points(8), "Ben/tiny.py": points(5)}
    if with_an_attempt:
        files["Ada/tiny.py"] = points(4)
    place = term.download("a", files)
    term.grade(place, roster=roster, due="2026-03-02T00:00Z", late="25%/day", attempts="best")
    before = term.marks()
    said = term.run("rename", term.out, old, new, "--merge")
    assert term.marks() == {"Ben": 5.0, new: 6.0}
    assert "1 changed" in said
    assert with_an_attempt or "25 % off" in said
    with Gradebook.open(term.out) as book:
        assert [one.ids["sid"] for one in book.entry(new).students] == ["7"]
    listed = list(csv.reader(io.StringIO(term.run("changes", term.out, "--to", "csv"))))
    assert [(row[1], row[4]) for row in listed[1:]] == [(new, "6")]
    term.grade(place)
    assert term.marks() == {"Ben": 5.0, new: 6.0}
    term.run("rename", term.out, new, "--undo")
    assert term.marks() == before


def test_an_older_zip_of_which_nothing_is_known_replaces_nothing(term: Term) -> None:
    term.grade(term.download("new", {"Ada/tiny.py": points(9)}, MONDAY + 2 * DAY))
    term.grade(term.download("old", {"Ada/tiny.py": points(2)}, MONDAY))
    term.grade(term.download("bad", {"Ada/other.txt": "?"}, MONDAY + DAY))
    assert term.marks() == {"Ada": 9.0}


def test_a_person_is_one_in_all_assignments_and_each_change_is_said(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    for week in ("Week 1", "Week 2"):
        handed = {"Ben/tiny.py": points(5), "x/y.txt": ""}
        term.grade(term.download(week, handed), assignment=week)
        handed["zed/tiny.py"] = points(8)
        term.grade(term.download(week, handed, MONDAY + DAY), assignment=week)
    said = term.run("person", term.out, "zed", "Ben")
    for week in ("Week 1", "Week 2"):
        assert term.marks(week)["Ben"] == 8.0
        assert "zed" not in (term.out / week / "grades.csv").read_text("utf-8-sig")
        assert not (term.out / week / "reports" / "zed.html").exists()
    assert said.count("1 changed") == 2
    term.run("person", term.out, "Ben", "--undo")
    assert term.marks("Week 2")["zed"] == 8.0


def test_which_file_was_graded_last_decides_nothing(
    term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people in one download turn out to be one, and no time is known."""
    place = term.download("a", {"Ben/tiny.py": points(5), "zed/tiny.py": points(8)})
    marks, keep = [], Gradebook.keep
    for last in ("Ben", "zed"):
        other = threading.Event()

        def in_turn(*task: Any, name: str, last: str = last, other: Any = other) -> Report:
            assert name != last or other.wait(30)
            return recorded(*task, name=name)

        def kept(*row: Any, other: Any = other) -> int:
            number = keep(*row)
            other.set()
            return number

        monkeypatch.setattr("grader.runtime.grading.grade_and_repair", in_turn)
        monkeypatch.setattr(Gradebook, "keep", kept)
        term.out = term.folder / last
        term.grade(place, workers=2)
        term.run("person", term.out, "zed", "Ben")
        marks.append(term.marks())
    assert marks[0] == marks[1]


def test_who_swaps_takes_the_others_place_in_time(term: Term) -> None:
    """Ben's own earlier attempt does not count instead, by any policy of the last."""
    term.grade(term.download("a", {"Ada/tiny.py": points(3), "Ben/tiny.py": points(10)}))
    newer = {"Ada/tiny.py": points(3), "Ben/tiny.py": points(7)}
    place = term.download("b", newer, MONDAY + DAY)
    term.grade(place)
    term.run("swap", term.out, "Ada", "Ben")
    assert term.marks() == {"Ada": 7.0, "Ben": 3.0}
    term.grade(place)
    assert term.marks() == {"Ada": 7.0, "Ben": 3.0}


def test_a_first_assignment_without_a_name_stays_within_reach(term: Term) -> None:
    term.grade(term.download("a", {"Ada/tiny.py": points(3)}))
    term.grade(term.download("b", {"Ada/tiny.py": points(7)}), assignment="Week 2")
    term.run("adjust", term.out, "Ada", "--points", "+1", "--reason", "on paper")
    assert (term.marks(), term.marks("Week 2")) == ({"Ada": 4.0}, {"Ada": 7.0})
    with pytest.raises(UsageError, match="is the folder of 'Week 2', and --assignment"):
        place = term.folder / "b.zip"
        term.grade(place, out=term.out / "Week 2", assignment="Week 3")
    for taken in ("grades.csv", "reports"):
        with pytest.raises(UsageError, match="is the name of a file of the gradebook"):
            term.grade(term.folder / "b.zip", assignment=taken)


def test_a_new_due_date_keeps_what_lateness_costs_and_the_other_way_round(term: Term) -> None:
    roster = term.roster("name,submitted_at\nAda,2026-03-03T10:00Z\n")
    place = term.download("a", {"Ada/tiny.py": points(10)})
    term.grade(place, roster=roster, due="2026-03-03T00:00Z", late="10%/day")
    assert term.marks() == {"Ada": 9.0}
    term.grade(place, due="2026-03-02T00:00Z")
    assert term.marks() == {"Ada": 8.0}
    term.grade(place, late="20%/day")
    assert term.marks() == {"Ada": 6.0}


# ------------------------------------------------------------------- nothing changes without a word


def test_options_are_remembered(term: Term) -> None:
    roster = term.roster("name,submitted_at\nAda,2026-03-02T10:00Z\n")
    place = term.download("a", {"Ada/Tiny.py": points(8)})
    term.grade(
        place, roster=roster, accept_near_names=True, due="2026-03-02T00:00Z", late="50%/day"
    )
    assert term.marks() == {"Ada": 4.0}
    term.grade(place)
    assert term.marks() == {"Ada": 4.0}
    term.grade(place, roster=term.roster("name,sid\nAda,7\n"))  # it has no column of times
    assert term.marks() == {"Ada": 4.0}
    term.grade(place, due="none")
    assert term.marks() == {"Ada": 8.0}
    with Gradebook.open(term.out) as book:
        assert book.about("near_names") == "1"
    term.grade(place, accept_near_names=False)
    with Gradebook.open(term.out) as book:
        assert book.about("near_names") == "0"


def test_every_change_of_a_mark_is_announced_with_its_cause(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    roster = term.roster("name,submitted_at\nAda,2026-03-02T10:00Z\nBen,2026-03-01T10:00Z\n")
    place = term.download("a", {"Ada/tiny.py": points(8), "Ben/tiny.py": points(8)})
    term.grade(place, roster=roster)
    term.run("export", term.out, "--to", "csv")
    capsys.readouterr()
    term.grade(place, due="2026-03-02T00:00Z", late="50%/day")
    said = capsys.readouterr().out
    assert "10 h 0 min late" not in said and "Ada" in said and "50 % off" in said
    assert "Ben" not in said.split("1 changed")[0]
    term.run("adjust", term.out, "Ben", "--points", "-2", "--reason", "copied")
    listed = list(csv.reader(io.StringIO(term.run("changes", term.out, "--to", "csv"))))
    assert [row[1:5] for row in listed[1:]] == [["Ada", "Ada", "8", "4"], ["Ben", "Ben", "8", "6"]]
    term.run("adjust", term.out, "Ben", "--undo")
    listed = list(csv.reader(io.StringIO(term.run("changes", term.out, "--to", "csv"))))
    assert [row[1] for row in listed[1:]] == ["Ada"]
    since = term.run("changes", term.out, "--since", "2099-01-01T00:00Z")
    assert since == "every mark is as it was then\n"


def test_changes_of_one_assignment_are_told_whatever_the_others_are(term: Term) -> None:
    for week in ("Week 1", "Week 2"):
        term.grade(term.download(week, {"Ada/tiny.py": points(8)}), assignment=week)
    term.run("export", term.out / "Week 1", "--to", "csv")
    said = term.run("changes", term.out / "Week 1")
    assert said == "every mark is as at the last export\n"


def test_what_was_done_and_undone_is_no_cause_of_what_came_after(term: Term) -> None:
    """Each is announced when it is done; who compares two times reads what made the difference."""
    roster = term.roster("name,submitted_at\nAda,2026-03-02T10:00Z\n")
    place = term.download("a", {"Ada/tiny.py": points(8)})
    term.grade(place, roster=roster, due="2026-03-02T00:00Z", late="50%/day")
    term.run("export", term.out, "--to", "csv")
    for late in ("20%/day", "50%/day"):
        term.grade(place, late=late)
    assert term.run("changes", term.out) == "every mark is as at the last export\n"
    term.run("adjust", term.out, "Ada", "--points", "1", "--reason", "on paper")
    ((*_, why),) = [*csv.reader(io.StringIO(term.run("changes", term.out, "--to", "csv")))][1:]
    assert why == "adjustment: on paper"


def test_a_time_is_read_in_the_zone_of_the_class(term: Term) -> None:
    term.grade(term.download("a", {"Ada/tiny.py": points(8)}))
    with pytest.raises(UsageError, match="--since: '2026-03-02T10:00' "):
        term.run("changes", term.out, "--since", "2026-03-02T10:00")
    with Gradebook.open(term.out) as book:
        book.set_zone("Asia/Seoul")
        assert time_in(book, "2026-03-02T10:00") == "2026-03-02T01:00:00+00:00"
    assert "as it was then" in term.run("changes", term.out, "--since", "2099-03-02T10:00")


def test_what_a_person_did_is_the_reason_for_a_changed_mark(
    term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it is said, in what explains the mark, and in what students read."""
    monkeypatch.setattr("grader.cli.batch.course", lambda root: term.course)
    monkeypatch.setattr("grader.cli.batch.own_host", NoHost)
    files = {f"{who}/tiny.py": points(n) for n, who in enumerate(["Ada", "Ben", "Cy"], 4)}
    files |= {"zed/tiny.py": points(8), "upload/solution.txt": points(9), "Dee/x.txt": ""}
    term.grade(term.download("a", files))
    for words, who, why in (
        (["swap", "Ada", "Ben"], "Ada", "exchanged with Ben"),
        (["swap", "Ben", "--undo"], "Ben", "exchange with Ada undone"),
        (["adjust", "Cy", "--points", "2", "--reason", "on paper"], "Cy", "adjustment: on paper"),
        (["adjust", "Cy", "--undo"], "Cy", "adjustment undone: on paper"),
        (
            ["give", "upload/solution.txt", "Dee", "--sandbox", "off"],
            "Dee",
            "given: upload/solution",
        ),
        (["give", "Dee", "--undo"], "Dee", "taken back: upload/solution.txt"),
        (["rename", "zed", "Ben", "--merge"], "Ben", "handed in as zed"),
        (["rename", "Ben", "--undo"], "Ben", "handed in as zed: undone"),
    ):
        said = term.run(words[0], term.out, *words[1:])
        assert why in said or words[0] == "adjust", (words, said)
        *_, newest = re.findall(r"^20.+Z? UTC +\S+ +(.+)$", term.run("show", term.out, who), re.M)
        assert newest.startswith(why), (words, newest)
        if "--undo" not in words:
            since = "--since", "2020-01-01T00:00Z"
            told = term.run("changes", term.out, *since, "--to", "comments")
            swapped = words[0] == "swap"
            assert ("a file was moved to its owner" if swapped else why) in told, words
            assert "with Ben" not in told and "with Ada" not in told  # students read it


def test_an_extension_that_ended_is_the_reason(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    place = term.download("a", {"Ada/tiny.py": points(8)})
    roster = "name,submitted_at,due\nAda,2026-03-02T10:00Z,{}\n"
    rule = {"due": "2026-03-02T00:00Z", "late": "50%/day"}
    for due, why in (
        ("+2d", ""),
        ("", "extension ended; "),
        ("+1d", "extension changed; not late"),
    ):
        capsys.readouterr()
        term.grade(place, roster=term.roster(roster.format(due)), **rule)
        assert why in capsys.readouterr().out


def test_comments_on_changed_marks_name_no_hidden_check(
    term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Students read them; the instructor's tables name it."""
    monkeypatch.setitem(globals(), "DOUBLE", replace(DOUBLE, hidden=True))
    for day, earned in enumerate((5, 10)):
        term.grade(term.download(f"{day}", {"Ada/tiny.py": points(earned)}, MONDAY + day * DAY))
    assert "tiny.double failed → passed" in term.run("changes", term.out, "--to", "csv")
    comments = term.run("changes", term.out, "--to", "comments")
    assert "tiny: 1 check failed → passed" in comments and "double" not in comments


@pytest.mark.parametrize("at", ["classroom.batch.write_outputs", "cli.batch_screen.Summary.show"])
def test_a_run_that_was_killed_leaves_its_changes_to_be_said(
    term: Term, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """After all is stored, and before the table is printed; once they are said, it is enough."""
    place = term.download("b", {"Ada/tiny.py": points(8), "Ben/tiny.py": points(5)}, MONDAY + DAY)
    term.grade(term.download("a", {"Ada/tiny.py": points(3), "Ben/tiny.py": points(5)}))

    def killed(*_: object, **__: object) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(f"grader.{at}", killed)
        term.grade(place)
    term.run("adjust", term.out, "Ben", "--points", "1", "--reason", "on paper")
    capsys.readouterr()
    term.grade(place)
    said = capsys.readouterr().out
    assert re.search(r"Ada +3 +8 +attempt 2 counts", said) and "1 changed" in said, said
    term.grade(place)
    assert "1 changed" not in capsys.readouterr().out


# ---------------------------------------------------------------------- marks reach their owners


def test_two_files_that_were_swapped_go_to_their_owners(term: Term) -> None:
    """Pages and comments on lines follow; a later download, and a new file of one, too."""
    place = term.download("a", {"Ada/tiny.py": points(3, "Ben's"), "Ben/tiny.py": points(10)})
    term.grade(place)
    term.run("comment", term.out, "Ada:tiny:1", "well done")
    term.run("swap", term.out, "Ada", "Ben")
    assert term.marks() == {"Ada": 10.0, "Ben": 3.0}
    assert "well done" in (term.out / "reports" / "Ben.html").read_text("utf-8")
    assert "<strong>10 / 10</strong>" in (term.out / "reports" / "Ada.html").read_text("utf-8")
    term.grade(place)
    assert term.marks() == {"Ada": 10.0, "Ben": 3.0}
    newer = {"Ada/tiny.py": points(3, "Ben's"), "Ben/tiny.py": points(7)}
    term.grade(term.download("b", newer, MONDAY + DAY))
    assert term.marks() == {"Ada": 10.0, "Ben": 7.0}
    term.run("swap", term.out, "ben", "--undo")
    assert term.marks() == {"Ada": 3.0, "Ben": 7.0}


def test_what_was_said_of_a_file_follows_it_when_a_swap_is_undone(term: Term) -> None:
    """Whenever it was said; but of a file that came later it stays."""
    place = term.download("a", {"Ada/tiny.py": points(3), "Ben/tiny.py": points(10)})
    term.grade(place)
    term.run("comment", term.out, "Ada:tiny:1", "of the three points")
    term.run("swap", term.out, "Ada", "Ben")
    term.run("comment", term.out, "Ada:tiny:1", "of the ten points")
    term.run("swap", term.out, "Ada", "--undo")
    assert "of the three points" in term.run("comment", term.out, "Ada")
    assert "of the ten points" in term.run("comment", term.out, "Ben")
    term.run("swap", term.out, "Ada", "Ben")
    newer = {"Ada/tiny.py": points(3), "Ben/tiny.py": points(7)}
    term.grade(term.download("b", newer, MONDAY + DAY))
    term.run("comment", term.out, "Ben:tiny:1", "of the seven points")
    term.run("swap", term.out, "Ada", "--undo")
    assert "of the seven points" in term.run("comment", term.out, "Ben")


def test_how_late_somebody_was_stays_with_the_person_after_a_swap(term: Term) -> None:
    """Who has no known time has none with the file of another one, late or not."""
    roster = term.roster("name,submitted_at\nAda,2026-03-02T10:00Z\nBen,\nCy,2026-03-01T10:00Z\n")
    handed = {"Ada/tiny.py": points(8), "Ben/tiny.py": points(10), "Cy/tiny.py": points(4)}
    place = term.download("a", handed)
    term.grade(place, roster=roster, due="2026-03-02T00:00Z", late="50%/day")
    before = term.marks()
    assert before == {"Ada": 4.0, "Ben": 10.0, "Cy": 4.0}
    term.run("swap", term.out, "Ada", "Ben")
    assert term.marks() == {"Ada": 5.0, "Ben": 8.0, "Cy": 4.0}
    term.run("swap", term.out, "Ben", "Cy")
    assert term.marks() == {"Ada": 5.0, "Ben": 4.0, "Cy": 8.0}
    term.grade(place)
    assert term.marks() == {"Ada": 5.0, "Ben": 4.0, "Cy": 8.0}
    term.run("swap", term.out, "Cy", "--undo")
    term.run("swap", term.out, "Ada", "--undo")
    assert term.marks() == before


def test_who_was_late_by_canvas_stays_late_after_a_swap(term: Term) -> None:
    files = {"doejane_LATE_11_101_tiny.py": points(3), "roeben_12_102_tiny.py": points(10)}
    term.grade(term.download("a", files))
    term.run("swap", term.out, "11", "12")
    with Gradebook.open(term.out) as book:
        late = {one.ids["canvas_id"]: e.late for e in book.entries() for one in e.students}
        (there,) = [e for e in book.entries() for one in e.students if one.ids["canvas_id"] == "11"]
    assert late == {"11": True, "12": False}
    assert [one.late for one in there.attempts] == [True]


def test_feedback_for_canvas_returns_under_the_names_of_who_handed_in(term: Term) -> None:
    """Canvas finds the student by the user id in a file's name."""
    files = {"doejane_11_101_tiny.py": points(3), "roeben_12_102_tiny.py": points(10)}
    term.grade(term.download("a", files | {"poeal_13_103_tiny.py": points(5)}))

    def returned() -> dict[str, str]:
        said = term.run("feedback", term.out, "--to", "canvas")
        with zipfile.ZipFile(term.out / "feedback-canvas.zip") as archive:
            pages = {name: archive.read(name).decode() for name in archive.namelist()}
        return {name: page.split()[1] for name, page in pages.items()} | {"": said}

    term.run("swap", term.out, "11", "12")
    term.run("swap", term.out, "12", "13")
    said = returned().pop("")
    assert "look at this" not in said
    assert {name: earned for name, earned in returned().items() if name} == {
        "doejane_11_101_tiny.py": "10",
        "roeben_12_102_tiny.py": "5",
        "poeal_13_103_tiny.py": "3",
    }


def test_feedback_for_canvas_goes_to_nobody_who_only_handed_the_file_in(term: Term) -> None:
    """After a rename, the file's name is still that of the one under whom it came."""
    roster = term.roster("name,canvas_id\nJane Doe,11\nBen Roe,12\n")
    place = term.download("a", {"doejane_11_101_tiny.py": points(3), "x.txt": ""})
    term.grade(place, roster=roster)
    with Gradebook.open(term.out) as book:
        jane, ben = book.entry_of("11").name, book.entry_of("12").name
    term.run("rename", term.out, jane, ben)
    assert "came under another student" in term.run("feedback", term.out, "--to", "canvas")
    with zipfile.ZipFile(term.out / "feedback-canvas.zip") as archive:
        assert archive.namelist() == []


def test_what_was_done_in_all_assignments_is_listed_with_commands_that_undo_it(
    term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Undone in the order that it says, all marks are what they were."""
    monkeypatch.chdir(term.folder)
    files = {f"{who}/tiny.py": points(n) for n, who in enumerate(["Ada B", "Ben", "Cy", "cyy"], 1)}
    for week in ("Week 1", "Week 2"):
        term.grade(term.download(week, files), assignment=week)
    before = term.marks("Week 1"), term.marks("Week 2")
    term.run("swap", "term/Week 1", "Ada B", "Ben")
    term.run("forget", "term/Week 1", "Ben")
    term.run("rename", "term/Week 2", "Ada B", "Zoe")
    term.run("person", "term", "cyy", "Cy")
    commands = []
    while found := re.findall(r"^ +grade (.+ --undo)$", term.run("forget", "term"), re.MULTILINE):
        commands.append(found[0])
        term.run(*shlex.split(found[0]))
    assert (term.marks("Week 1"), term.marks("Week 2")) == before
    assert commands == [
        "forget 'term/Week 1' Ben --undo",
        "swap 'term/Week 1' 'Ada B' --undo",
        "rename 'term/Week 2' Zoe --undo",
        "person term Cy --undo",
    ]
    listed = term.run("forget", "term")
    assert re.findall("^(.+):$", listed, re.MULTILINE) == ["Week 1", "Week 2", "people"]
    only = term.run("forget", "term/Week 2")
    assert "Zoe (undone)" in only and "Ben" not in only
    with pytest.raises(UsageError, match=r"grade comment 'term/Week 1' 'Ada B'$"):
        term.run("comment", "term/Week 1", "Ada B", "--withdraw", 7)


def test_a_file_that_is_nobodys_is_given_to_its_owner(
    term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is graded; later runs leave it so; it can be taken back."""
    monkeypatch.setattr("grader.cli.batch.course", lambda root: term.course)
    monkeypatch.setattr("grader.cli.batch.own_host", NoHost)
    roster = term.roster("name,sid\nAda,1\nBen,2\n")
    place = term.download("a", {"Ada/tiny.py": points(3), "upload/solution.txt": points(9)})
    term.grade(place, roster=roster)
    before = term.marks()
    assert before["Ben"] is None
    term.run("give", term.out, "upload/solution.txt", "Ben", "--sandbox", "off")
    assert term.marks()["Ben"] == 9.0
    term.grade(place)
    assert term.marks()["Ben"] == 9.0
    term.run("give", term.out, "Ben", "--undo")
    assert term.marks() == before
    with pytest.raises(UsageError, match="Ada has handed in a file for tiny"):
        term.run("give", term.out, "upload/solution.txt", "Ada", "--sandbox", "off")
    with pytest.raises(UsageError, match=r"upload/other\.txt is not in .*a\.zip"):
        term.run("give", term.out, "upload/other.txt", "Ben")
    term.run("give", term.out, "upload/solution.txt", "Ben", "--sandbox", "off")
    term.run("forget", term.out, "Ben")
    term.grade(place)
    assert term.marks().keys() == {"Ada", "upload"}


def test_a_file_of_canvas_is_given_by_the_path_that_was_printed(
    term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.batch.course", lambda root: term.course)
    monkeypatch.setattr("grader.cli.batch.own_host", NoHost)
    roster = term.roster("name,canvas_id\nBen Ito,11\nAda Lee,12\n")
    files = {"itoben_11_51_tiny.py": points(3), "itoben_11_52_ada_tiny.py": points(9)}
    term.grade(term.download("a", files), roster=roster)
    path = "itoben/itoben_11_52_ada_tiny.py"  # as a batch prints it
    term.run("give", term.out, path, "12", "--sandbox", "off")
    assert term.marks() == {"itoben": 3.0, "Ada Lee": 9.0}


def test_a_mark_is_explained_and_the_parts_add_up(term: Term) -> None:
    roster = term.roster("name,sid,submitted_at\nAda Lovelace,42,2026-03-02T10:00Z\n")
    due = {"due": "2026-03-01T23:59+09:00", "late": "20%/day", "zone": "Asia/Seoul"}
    place = term.download("a", {"Ada Lovelace/tiny.py": points(5)})
    term.grade(place, roster=roster, **due)
    term.run("adjust", term.out, "42", "--points", "+0.5", "--reason", "explained it to me")
    said = term.run("show", term.out, "42")
    for words in (
        "Ada Lovelace (sid 42)",
        "4.5 of 10",
        "2026-03-02 19:00",
        "counts (last)",
        "19 h 1 min late, 20 % off",
        "due 2026-03-01 23:59",
        "explained it to me",
        "double doubles",
        "--student 'Ada Lovelace'",
        "grade replay tiny.double",
    ):
        assert words in " ".join(said.split()), words
    page = (term.out / "reports" / "Ada Lovelace.html").read_text("utf-8")
    assert "<strong>4.5 / 10</strong>" in page
    assert "due 2026-03-01 23:59 UTC+09:00, handed in 2026-03-02 19:00 UTC+09:00" in page


def test_the_table_of_a_term_has_people_by_assignments_and_weighted_totals(term: Term) -> None:
    roster = term.roster("name,sid\nAda,1\nBen,2\n")
    for week, marks in (("Week 1", {"Ada": 10, "Ben": 5}), ("Week 2", {"Ada": 4})):
        handed = {f"{name}/tiny.py": points(earned) for name, earned in marks.items()}
        term.grade(term.download(week, handed | {"x/y.txt": ""}), assignment=week, roster=roster)

    def table() -> dict[str, dict[str, str]]:
        term.run("export", term.out, "--to", "csv")
        text = (term.out / "term.csv").read_text("utf-8-sig")
        return {row["name"]: row for row in csv.DictReader(io.StringIO(text))}

    shown = {name: (row["sid"], row["Week 1"], row["Week 2"]) for name, row in table().items()}
    assert shown == {"Ada": ("1", "10.0", "4.0"), "Ben": ("2", "5.0", ""), "x": ("", "", "")}
    assert {name: row["total"] for name, row in table().items()} | {"x": ""} == {
        "Ada": "70.0",
        "Ben": "25.0",
        "x": "",
    }
    (term.out / "term.toml").write_text('[weights]\n"Week 1" = 20\n"Week 2" = 80\n')
    assert [row["total"] for row in table().values()][:2] == ["52.0", "10.0"]
    (term.out / "term.toml").write_text('[weights]\n"Week 1" = 0\n"Week 2" = 0.5\n')
    assert [row["total"] for row in table().values()][:2] == ["0.2", "0.0"]
    (term.out / "term.toml").write_text(
        '[weights]\n"Week 1" = 20\n"Week 2" = 80\n[excused]\n2 = ["Week 2"]\n'
    )
    ada, ben, *_ = table().values()
    assert [ada[key] for key in ("Week 2", "missing", "total", "of")] == [
        "4.0",
        "0",
        "52.0",
        "100.0",
    ]
    assert [ben[key] for key in ("Week 2", "missing", "total", "of")] == [
        "excused",
        "0",
        "10.0",
        "20.0",
    ]
    for line, said in (
        ('"Cy" = ["Week 1"]', "Nobody in the gradebook is called 'Cy'"),
        ('"Ben" = ["Week 3"]', "there is no assignment 'Week 3'"),
        ('"Ben" = "Week 1"', "write a list of assignments"),
    ):
        (term.out / "term.toml").write_text(f"[excused]\n{line}\n")
        with pytest.raises(UsageError, match=rf"term\.toml:2: {said}"):
            term.run("export", term.out, "--to", "csv")
    (term.out / "term.toml").write_text("excused = 3\n")
    with pytest.raises(UsageError, match=r"term\.toml:1: excused is a table"):
        term.run("export", term.out, "--to", "csv")
    (term.out / "term.toml").write_text('[weights]\n"Week 1" = 20\n"Week 9" = 80\n')
    with pytest.raises(UsageError, match=r"term\.toml:3: there is no assignment 'Week 9'"):
        term.run("export", term.out, "--to", "csv")
    term.run("forget", term.out, "Week 1")
    weights = '[weights]\n"Week 1" = 20\n"Week 2" = 80\n[excused]\nBen = ["Week 1"]\n'
    (term.out / "term.toml").write_text(weights)
    assert [row["total"] for row in table().values()][:2] == ["32.0", "0.0"]


# ------------------------------------------------------------------------------- any order of deeds


class Model:
    """What the marks must be: the newest attempt's points, and what people added."""

    def __init__(self, people: list[str]) -> None:
        self.attempts: dict[str, list[tuple[int, tuple[int, str, int]]]] = {
            one: [] for one in people
        }
        self.added: dict[str, list[int]] = {one: [] for one in people}
        self.names = {one: one for one in people}
        self.owners: dict[tuple[int, str, int], str] = {}

    def hand_in(self, person: str, day: int, earned: int) -> None:
        attempt = (day, person, earned)
        if attempt not in self.owners:
            self.owners[attempt] = person
            self.attempts[person].append((day, attempt))
            self.attempts[person].sort()

    def swap(self, one: str, other: str) -> None:
        """Each takes the other's place in time."""
        (at, mine), (then, theirs) = self.attempts[one].pop(), self.attempts[other].pop()
        self.attempts[one].append((at, theirs))
        self.attempts[other].append((then, mine))

    def mark(self, person: str) -> float | None:
        attempts, added = self.attempts[person], self.added[person]
        if not attempts and not added:
            return None
        return max(0.0, float((attempts[-1][1][2] if attempts else 0) + sum(added)))


def gradescope(term: Term, day: int, handed: Mapping[str, int]) -> Path:
    """Write an export, in which each submission has the time of its day."""
    lines, files = ["---"], {}
    for number, (person, earned) in enumerate(handed.items(), 100 * day):
        lines += [f"submission_{number}:", "  :submitters:", f"  - :name: {person}"]
        lines += [f"    :sid: {person[-1]}", f"  :created_at: 2026-03-{day:02} 10:00:00.0 Z"]
        files[f"export/submission_{number}/tiny.py"] = points(earned, f"{person} on day {day}")
    metadata = {"export/submission_metadata.yml": "\n".join(lines) + "\n"}
    return term.download(f"day{day}", metadata | files, MONDAY + day)


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(n, marks=pytest.mark.proof) for n in range(3, 30))]
)
def test_marks_are_what_they_must_be_after_any_deeds(
    term: Term, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(seed)
    people = [f"Student {number}" for number in range(1, 7)]
    model, downloads = Model(people), []
    roster = term.roster("name,sid\n" + "".join(f"{one},{one[-1]}\n" for one in people))
    days = [*range(2, 20)]
    rng.shuffle(days)

    def download() -> None:
        day = days.pop()
        part = rng.sample(people, rng.randint(1, len(people)))
        handed = {one: rng.randint(0, 10) for one in part}
        downloads.append((gradescope(term, day, handed), day, handed))
        grade(downloads[-1])

    def grade(one: tuple[Path, int, dict[str, int]], **options: Any) -> None:
        place, day, handed = one
        term.grade(place, roster=roster, **options)
        for person, earned in handed.items():
            model.hand_in(person, day, earned)

    def again() -> None:
        grade(rng.choice(downloads), regrade=rng.random() < 0.3)

    def swap() -> None:
        able = [one for one in people if model.attempts[one]]
        if len(able) > 1:
            pair = rng.sample(able, 2)
            term.run("swap", term.out, *(one[-1] for one in pair))
            model.swap(*pair)

    def adjust() -> None:
        one, change = rng.choice(people), rng.choice([-2, -1, 1, 2])
        term.run("adjust", term.out, one[-1], "--points", change, "--reason", "why not")
        model.added[one].append(change)

    def take_back() -> None:
        adjusted = [one for one in people if model.added[one]]
        if adjusted:
            one = rng.choice(adjusted)
            term.run("adjust", term.out, one[-1], "--undo")
            model.added[one].pop()

    def rename() -> None:
        one = rng.choice(people)
        new = f"{model.names[one]}x"
        term.run("rename", term.out, model.names[one], new)
        model.names[one] = new

    download()
    deeds = [download, again, swap, adjust, take_back, rename]
    for deed in [download, swap, *rng.choices(deeds, k=10)]:
        deed()
        with Gradebook.open(term.out) as book:
            entries = list(book.entries())
            found = {one.ids["sid"]: entry for entry in entries for one in entry.students}
            assert len(entries) == len(found) == len(people)
            for one in people:
                entry, mark = found[one[-1]], model.mark(one)
                assert (total_points(entry), entry.name) == (mark, model.names[one]), deed
                history = book.history(entry.name)
                assert mark is None or history[-1][1] == mark
