"""Who is meant, when somebody's name changed, or a command names a submission."""

from __future__ import annotations

import csv
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.gradebook.entry import total_points
from grader.classroom.gradebook.marks import MarkChange
from grader.classroom.gradebook.people import known_people
from grader.classroom.gradebook.store import Gradebook
from grader.cli import cli
from grader.cli.batch import BatchOptions, remembered_course
from grader.cli.batch_screen import show_changes
from grader.core.errors import UsageError
from grader.course.course import Course
from grader.render.terminal import make_console

from .test_term import DAY, MONDAY, NoHost, Term, points, recorded

HEADER = "Identifier,Full name,Email address,Status,Last modified (submission)"
ZONE = "Europe/Berlin"
DUE = {"due": "2026-11-02T18:00", "late": "10%/day", "zone": ZONE}


@pytest.fixture
def term(tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Term:
    monkeypatch.setattr("grader.runtime.grading.grade_and_repair", recorded)
    return Term(tmp_path, small_course)


def worksheet(term: Term, first: int, **names: str) -> Path:
    """Write Moodle's grading worksheet: everybody's name, by the first part of the address."""
    at = '"Monday, 2 November 2026, 6:05 PM"'
    rows = [
        f"Participant {first + place},{name},{login}@x.edu,Submitted for grading - ,{at}"
        for place, (login, name) in enumerate(names.items())
    ]
    return term.roster("\n".join([HEADER, *rows]) + "\n")


def folder(name: str, number: int, earned: float) -> dict[str, str]:
    return {f"{name}_{number}_assignsubmission_file/tiny.py": points(earned)}


def test_who_is_renamed_in_moodle_stays_who_they_are(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """A download from before with the worksheet from after, whatever else was graded between."""
    week1 = term.download("w1", folder("Chloé Dubois", 101, 10) | folder("Ada Lee", 102, 5))
    old, new = {"chloe": "Chloé Dubois", "ada": "Ada Lee"}, {"chloe": "Chloé Martin"}
    term.grade(week1, assignment="Week 1", roster=worksheet(term, 101, **old), **DUE)
    week2 = term.download("w2", folder("Chloé Martin", 501, 8))
    term.grade(week2, assignment="Week 2", roster=worksheet(term, 501, **old | new))
    capsys.readouterr()
    late = {"Chloé Dubois": 9.0, "Ada Lee": 4.5}
    for _ in range(2):
        term.grade(week1, assignment="Week 1", roster=worksheet(term, 101, **old | new))
        said = "".join(capsys.readouterr())
        assert "may be" not in said and "not found" not in said, said
        assert term.marks("Week 1") == late
    with Gradebook.open(term.out / "Week 1") as book:
        (one,) = book.entry_of("Chloé Dubois").students
        assert (one.name, one.ids["email"]) == ("Chloé Martin", "chloe@x.edu")
    for called in ("Chloé Dubois", "Chloé Martin", "chloe@x.edu"):
        assert "Week 1" in term.run("show", term.out, called)
        assert "1 person" in term.run("person", term.out, called)
    later = term.download("later", folder("Chloé Martin", 101, 7), MONDAY + DAY)
    term.grade(later, assignment="Week 1")
    assert term.marks("Week 1") == late | {"Chloé Dubois": 7.0}


def test_a_name_that_is_anothers_now_is_not_who_had_it_before(term: Term) -> None:
    week1 = term.download("w1", folder("Kim Minsu", 101, 10) | folder("Lee Jun", 102, 5))
    people = {"one": "Kim Minsu", "two": "Lee Jun"}
    term.grade(week1, assignment="Week 1", roster=worksheet(term, 101, **people), **DUE)
    week2 = term.download("w2", folder("Kim Minsu", 502, 4) | folder("Park Bo", 501, 8))
    people = {"one": "Park Bo", "two": "Kim Minsu"}
    term.grade(week2, assignment="Week 2", roster=worksheet(term, 501, **people))
    with Gradebook.open(term.out / "Week 2") as book:
        marks = {e.students[0].ids["email"]: e.earned for e in book.entries()}
    assert marks == {"one@x.edu": 8.0, "two@x.edu": 4.0}


def test_a_class_of_strangers_is_not_graded(term: Term) -> None:
    """Unless a person says that the layout is right."""
    names = ("ada-l", "benok", "chloe-m", "danaw")
    place = term.download("down", {f"hand-in-3-{one}/tiny.py": points(5) for one in names})
    roster = term.roster("name,github\n" + "".join(f"Student {one},{one}\n" for one in names))
    with pytest.raises(UsageError, match=r"4 submissions, layout: plain.*--from github"):
        term.grade(place, roster=roster)
    with Gradebook.open(term.out) as book:
        assert list(book.entries()) == [] and known_people(book).lines == {}
    term.grade(place, roster=roster, layout="github")
    assert term.marks() == dict.fromkeys(names, 5.0)
    term.out = term.folder / "other"
    term.grade(place, roster=roster, layout="plain")
    assert {f"hand-in-3-{one}" for one in names} <= term.marks().keys()


def test_a_submission_is_shown_by_its_name_among_several_assignments(term: Term) -> None:
    """Who is meant is said with what tells people of one name apart."""
    roster = "name,sid,email,username\nAda Lee,1,ada1@x.edu,zz7\nAda Lee,2,ada2@x.edu,qq\n"
    files = {"zz7/tiny.py": points(8), "qq/tiny.py": points(5)}
    for week in ("Week 1", "Week 2"):
        place = term.download(week, files, MONDAY)
        term.grade(place, assignment=week, roster=term.roster(roster))
    with Gradebook.open(term.out / "Week 2") as book:
        book.db.execute("UPDATE submissions SET name = 'Ada-2' WHERE name = 'zz7'")
    assert "Week 1" in term.run("show", term.out, "Ada-2")
    with pytest.raises(UsageError, match=r"Ada-2 \(ada1@x\.edu\), qq \(ada2@x\.edu\)"):
        term.run("show", term.out, "Ada Lee", "Week 2")


def test_before_the_first_export_changes_are_those_since_the_first_grading(term: Term) -> None:
    handed = {"Ada/tiny.py": points(8), "Ben/tiny.py": points(8)}
    term.grade(term.download("a", handed))
    nothing = "never exported, and every mark is as first graded"
    assert nothing in term.run("changes", term.out)
    term.grade(term.download("b", handed | {"Ada/tiny.py": points(9)}, MONDAY + DAY))
    said = term.run("changes", term.out)
    assert "Ada         8    9" in said
    assert nothing not in said
    term.run("export", term.out, "--to", "csv")
    assert "every mark is as at the last export" in term.run("changes", term.out)


def test_pages_for_moodle_are_not_said_to_be_of_groups_if_the_roster_says_whose(term: Term) -> None:
    place = term.download("a", folder("Ada Lee", 101, 5) | folder("Ben Ito", 102, 5))
    term.grade(place)
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("grader.cli.exports.print_notes", lambda notes: said.extend(map(str, notes)))
        for roster, warnings in ((None, 1), ({"a": "Ada Lee", "b": "Ben Ito"}, 0)):
            if roster:
                term.grade(place, roster=worksheet(term, 101, **roster), zone=ZONE)
            said.clear()
            term.run("feedback", term.out, "--to", "moodle")
            assert len(said) == warnings


def test_the_course_is_remembered(term: Term, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later run without it would take its marks back."""
    clone = term.folder / "clone"
    clone.mkdir()
    asked: list[Path | None] = []

    def course(root: Path | None) -> Course:
        asked.append(root)
        return term.course

    monkeypatch.setattr("grader.cli.batch.course", course)
    monkeypatch.setattr("grader.cli.batch.own_host", NoHost)
    place = term.download("a", {"Ada/tiny.py": points(8)})
    named = (("--course", clone), (), ("--course", term.folder), (), ("--course", "none"), ())
    for words in named:
        out = ("--out", term.out, "--sandbox", "off")
        with pytest.raises(SystemExit, match="0"):
            cli(["batch", str(place), *map(str, out), *map(str, words)], standalone_mode=False)
    assert asked == [clone, clone, term.folder, term.folder, None, None]
    monkeypatch.setattr("grader.cli.batch.remembered", lambda one: replace(one, course_root=clone))
    clone.rmdir()
    with pytest.raises(UsageError, match=r"graded with the course in .*clone, .*--course none"):
        remembered_course(BatchOptions(place, term.out))


def test_a_member_is_found_in_a_folder_with_the_groups_name_before_theirs(term: Term) -> None:
    """So did older versions of Moodle, with a folder and the own number for each member."""
    paths = folder("Red-Dana Weiss", 101, 10) | folder("Red-Min-jun Kim", 102, 10)
    sheet = worksheet(term, 101, dana="Dana Weiss", kim="Min-jun Kim", ivan="Ivan Petrov")
    term.grade(term.download("a", paths), roster=sheet, **DUE)
    with Gradebook.open(term.out) as book:
        marks = {one.name: entry.score for entry in book.entries() for one in entry.students}
    assert marks == {"Dana Weiss": 9.0, "Min-jun Kim": 9.0, "Ivan Petrov": 0.0}


def test_what_changed_by_hand_is_said_with_the_mark_before(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Equal marks that are exchanged have not changed, and a lesson without a file has no table."""
    plain = "name,username\nAda,ada\nBen,ben\nCy,cy\n"
    files = {"Ada/tiny.py": points(8), "Ben/tiny.py": points(8), "Cy/Tiny.py": points(3)}
    term.grade(term.download("a", files), roster=term.roster(plain))
    said = term.run("adjust", term.out, "Ada", "--points", "-1", "--reason", "a slip")
    assert "Ada: 8 → 7 (" in said
    assert "Ada: 7 → 8 (" in term.run("adjust", term.out, "Ada", "--undo")
    change = MarkChange("Ada", "Ada", "", 8.0, 8.0, "", (("tiny.double", "passed", "failed"),))
    show_changes(make_console(), [change, replace(change, name="Ben")])
    assert "2 changed, but no marks" in capsys.readouterr().out
    assert "points" not in term.run("show", term.out, "Cy")


def table(term: Term) -> dict[str, dict[str, str]]:
    """Return the rows of the term's table by name."""
    term.run("export", term.out, "--to", "csv")
    lines = (term.out / "term.csv").read_text("utf-8-sig").splitlines()
    rows = list(csv.DictReader(lines))
    assert len({row["name"] for row in rows}) == len(rows), rows
    return {row["name"]: row for row in rows}


def test_whose_a_submission_is_by_a_new_roster_is_announced(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mia is listed without a submission until the roster says that the other one is hers."""
    first = term.download("w1", folder("Mia Roth", 101, 7))
    roster = "name,email,moodle_participant\nMia Roth,m@x.edu,{}\nAda,a@x.edu,5\n"
    term.grade(first, assignment="Week 1", roster=term.roster(roster.format(101)))
    second = term.download("w2", folder("Mia Roth-Berg", 202, 9))
    term.grade(second, assignment="Week 2")
    term.run("export", term.out / "Week 2", "--to", "csv")
    capsys.readouterr()
    renamed = roster.replace("Mia Roth", "Mia Roth-Berg")
    term.grade(second, assignment="Week 2", roster=term.roster(renamed.format(202)))
    said = capsys.readouterr().out
    assert re.search(r"^Mia Roth\S* +none +9 +handed in as Mia Roth-Berg_202", said, re.M), said
    assert "handed in as Mia Roth-Berg_202" in term.run("changes", term.out / "Week 2")


@pytest.mark.parametrize("called", ["Farid", "Ruth"])
@pytest.mark.parametrize("said", [["Farid", "Ruth"], ["Ruth", "Farid"]])
def test_who_was_said_to_be_another_is_nobody_else_after_the_undo(
    term: Term, said: list[str], called: str
) -> None:
    """Whatever was graded in between, each has the own marks and ids."""
    first = term.download("w1", {"Farid/tiny.py": points(6), "Ada/tiny.py": points(1)})
    second = term.download("w2", {"Ruth/tiny.py": points(9), "Ada/tiny.py": points(2)})
    rosters = "name,sid,email\nFarid,1,f@x.edu\nAda,2,\n", "name,sid,username\nRuth,3,rr\nAda,2,\n"
    term.grade(first, assignment="Week 1", roster=term.roster(rosters[0]))
    term.grade(second, assignment="Week 2", roster=term.roster(rosters[1]))
    before = table(term)
    term.run("person", term.out, *said)
    one = table(term)
    assert one.keys() == {"Ada", "Ruth"}  # on the newest roster
    for place, week, roster in ((first, 1, None), (second, 2, 1), (second, 3, 1)):
        sheet = None if roster is None else term.roster(rosters[roster])
        term.grade(place, assignment=f"Week {week}", roster=sheet)
        if week < 3:
            assert table(term) == one
    assert {row["Week 3"] for row in table(term).values()} == {"9.0", "2.0"}
    term.run("person", term.out, called, "--undo")
    after = table(term)
    assert {name: row["Week 3"] for name, row in after.items()} == {
        "Ada": "2.0",
        "Farid": "",
        "Ruth": "9.0",
    }
    for name, row in before.items():
        kept = {key: row[key] for key in ("sid", "email", "Week 1", "Week 2")}
        assert {key: after[name][key] for key in kept} == kept
    with Gradebook.open(term.out / "Week 2") as book:
        assert "email" not in book.entry_of("Ruth").students[0].ids


def test_a_merge_that_is_undone_later_gives_back_the_other_weeks(term: Term) -> None:
    roster = term.roster("name,sid\nAda,1\nBen,2\n")
    place = term.download("a", {"zed/tiny.py": points(8), "Ben/tiny.py": points(5)})
    term.grade(place, assignment="Week 1", roster=roster)
    term.run("rename", term.out / "Week 1", "zed", "Ada", "--merge")
    term.grade(place, assignment="Week 2", roster=roster)
    assert table(term)["Ada"]["Week 2"] == "8.0"
    term.run("rename", term.out / "Week 1", "Ada", "--undo")
    assert {name: row["Week 2"] for name, row in table(term).items()} == {
        "Ada": "",
        "Ben": "5.0",
        "zed": "8.0",
    }


@pytest.mark.parametrize("said", [["Emma Sand", "Emma Weber"], ["Emma Weber", "Emma Sand"]])
def test_who_somebody_is_is_said_by_the_newest_roster(term: Term, said: list[str]) -> None:
    for week, name in enumerate(("Emma Sand", "Emma Weber"), 1):
        place = term.download(f"w{week}", {f"{name}/tiny.py": points(week), "Ada/tiny.py": ""})
        roster = term.roster(f"name\nAda\n{name}\n")
        term.grade(place, assignment=f"Week {week}", roster=roster)
    listed = term.run("person", term.out)
    assert [line.split()[1] for line in listed.splitlines() if "not on" in line] == ["Sand"]
    assert "Emma Sand is Emma Weber" in term.run("person", term.out, *said)
    for _ in range(2):
        for name in said:
            shown = term.run("show", term.out, name)
            assert re.findall(r"Week \d +(\d)", shown) == ["1", "2"]
        assert table(term).keys() == {"Ada", "Emma Weber"}
        term.grade(place, assignment="Week 2", roster=roster)


BLIND = "Identifier,Status,Last modified (submission)\n"


@pytest.mark.parametrize("again", ["named", "named without", "blind"])
def test_who_came_by_a_number_is_who_the_roster_says_later(
    term: Term, again: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Known from an earlier week or not, and with what was said of the number."""
    first = term.download("w1", folder("Ada Lee", 101, 1) | folder("Kim Jiwoo", 102, 2))
    term.grade(
        first,
        roster=worksheet(term, 101, ada="Ada Lee", kim="Kim Jiwoo"),
        assignment="W1",
        zone=ZONE,
    )
    names = {501: "Ada Lee", 502: "Kim Jiwoo", 503: "Ben Ito"}
    sheet = worksheet(term, 501, ada="Ada Lee", kim="Kim Jiwoo", ben="Ben Ito").read_text()
    blind, named = dict[str, str](), dict[str, str]()
    for number, name in names.items():
        blind |= folder(f"Participant {number}", number, number % 10)
        named |= folder(name, number, number % 10)
    hidden = BLIND + "".join(f"Participant {n},Submitted for grading,-\n" for n in names)
    unnamed = term.download("blind", blind)
    term.grade(unnamed, roster=term.roster(hidden), assignment="W2", zone=ZONE)
    term.run("adjust", term.out / "W2", "Participant 502", "--points", "0.5", "--reason", "oral")
    capsys.readouterr()
    place = term.download("again", blind if again == "blind" else named)
    if again == "named without":
        term.grade(place, assignment="W2", zone=ZONE)
        assert [row["W2"] for row in table(term).values()].count("") == 2
    term.grade(place, roster=term.roster(sheet), assignment="W2", zone=ZONE)
    printed = "".join(capsys.readouterr())
    for _ in range(2):
        marks = {name: (row["W1"], row["W2"]) for name, row in table(term).items()}
        known = {"Ada Lee": ("1.0", "1.0"), "Kim Jiwoo": ("2.0", "2.5")}
        assert marks == known | {"Ben Ito": ("", "3.0")}
        term.grade(unnamed, roster=term.roster(hidden), assignment="W2")
    assert "may be" not in printed and (again == "named without" or "nothing:" not in printed)


@pytest.mark.parametrize("system", ["moodle", "canvas"])
def test_while_names_are_hidden_nobody_is_said_to_have_handed_in_nothing(
    term: Term, system: str
) -> None:
    """In the table of the term, which has a total again when all are known."""
    roster = term.roster("name,sid,section\nAda Lee,1,A\nBen Ito,2,A\n")
    week1 = {"Ada Lee/tiny.py": points(10), "Ben Ito/tiny.py": points(5)}
    term.grade(term.download("w1", week1), assignment="W1", roster=roster)
    hidden, sheet = "anon_7x", None
    files = {"anon_7x_500_tiny.py": points(8)}
    if system == "moodle":
        hidden = "Participant 501"
        files = folder(hidden, 501, 8)
        sheet = term.roster(f"{BLIND}{hidden},Submitted for grading,-\n")
    place = term.download("w2", files)
    term.grade(place, assignment="W2", roster=sheet)
    note = f"look at this: {hidden}: hidden in W2, so the mark is nobody's yet"
    assert note in term.run("export", term.out, "--to", "csv")
    keys = ("W1", "W2", "missing", "not graded", "total")
    assert {name: [row[key] for key in keys] for name, row in table(term).items()} == {
        "Ada Lee": ["10.0", "", "0", "1", ""],
        "Ben Ito": ["5.0", "", "0", "1", ""],
        hidden: ["", "8.0", "0", "1", ""],
    }
    linked = {
        "Ada Lee": ["10.0", "8.0", "0", "0", "90.0"],
        "Ben Ito": ["5.0", "", "1", "0", "25.0"],
    }
    for said in ([hidden, "Ada Lee"], ["Ada Lee", "--undo"], ["Ada Lee", hidden]):
        term.run("person", term.out, *said)
        for again in (None, sheet):
            is_linked = "look at" not in term.run("export", term.out, "--to", "csv")
            assert is_linked is ("--undo" not in said)
            marks = {name: [row[key] for key in keys] for name, row in table(term).items()}
            assert marks == linked or not is_linked
            who = {(row["sid"], row["section"]) for row in table(term).values()}
            assert who == {("1", "A"), ("2", "A")} or not is_linked
            term.grade(place, assignment="W2", roster=again)


@pytest.mark.parametrize(
    ("called", "said"),
    [
        ("Mia Chen", ""),
        ("mia sand", ""),
        ("Mia", ""),
        ("3", ""),
        ("Kim Jiwoo", "'Kim Jiwoo' may be several people: Kim, Jiwoo .sid 1.; .* by an id"),
        ("Cy", "Nobody in the gradebook is called 'Cy'"),
    ],
)
def test_who_is_excused_is_called_as_for_show(term: Term, called: str, said: str) -> None:
    """By a name on an earlier roster, too, and in each spelling."""
    for week, mia in enumerate(("Sand, Mia", "Chen, Mia"), 1):
        roster = f'name,sid\n"Kim, Jiwoo",1\n"Kim, Jiwoo",2\n"{mia}",3\n'
        handed = {f"{number}/tiny.py": points(number) for number in (1, 2)}
        place = term.download(f"w{week}", handed)
        term.grade(place, assignment=f"W{week}", roster=term.roster(roster))
    (term.out / "term.toml").write_text(f'[excused]\n"{called}" = ["W1"]\n')
    if said:
        for words in (("show", term.out, called), ("export", term.out, "--to", "csv")):
            with pytest.raises(UsageError, match=said) as refused:
                term.run(*words)
        assert "term.toml:2: " in str(refused.value)
    else:
        assert "W2" in term.run("show", term.out, called)
        term.run("export", term.out, "--to", "csv")
        shown = (term.out / "term.csv").read_text("utf-8-sig").splitlines()
        assert '"Chen, Mia",3,,excused,,1,0,0.0,50.0' in shown


@pytest.mark.parametrize("crossed", [False, True])
def test_a_roster_that_was_forgotten_once_heals_by_the_numbers(
    term: Term, crossed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also of two with one name; what was said of them against the numbers is asked about."""
    people = {"one": "Jiwoo Kim", "two": "Jiwoo Kim", "ada": "Ada Lee"}
    first = folder("Jiwoo Kim", 101, 1) | folder("Jiwoo Kim", 102, 2) | folder("Ada Lee", 103, 3)
    term.grade(
        term.download("w1", first),
        roster=worksheet(term, 101, **people),
        assignment="W1",
        zone=ZONE,
    )
    later = folder("Jiwoo Kim", 501, 6) | folder("Jiwoo Kim", 502, 7) | folder("Ada Lee", 503, 8)
    place = term.download("w2", later)
    term.grade(place, assignment="W2", zone=ZONE)
    if crossed:
        term.run("person", term.out, "Jiwoo Kim-501", "two@x.edu")
        with pytest.raises(
            UsageError, match=r"gives their number in Moodle to Jiwoo Kim.*undo it"
        ) as no:
            term.grade(place, roster=worksheet(term, 501, **people), assignment="W2", zone=ZONE)
        term.run(*shlex.split(str(no.value).split(": grade ")[-1]))
    capsys.readouterr()
    for _ in range(2):
        term.grade(place, roster=worksheet(term, 501, **people), assignment="W2", zone=ZONE)
        printed = "".join(capsys.readouterr())
        assert "may be" not in printed and "nothing:" not in printed, printed
        term.run("export", term.out, "--to", "csv")
        lines = (term.out / "term.csv").read_text("utf-8-sig").splitlines()
        marks = {row["email"]: (row["W1"], row["W2"]) for row in csv.DictReader(lines)}
        assert marks == {
            "one@x.edu": ("1.0", "6.0"),
            "two@x.edu": ("2.0", "7.0"),
            "ada@x.edu": ("3.0", "8.0"),
        }


def test_nobody_is_said_to_be_who_has_another_number(term: Term) -> None:
    """The names differ, so the roster alone does not say it."""
    place = term.download("a", folder("Emma Weber", 501, 6) | folder("Ada Lee", 502, 7))
    sheet = worksheet(term, 501, emma="Emma Sand", ada="Ada Lee", ben="Ben Ito")
    term.grade(place, roster=sheet, assignment="W1", zone=ZONE)
    with pytest.raises(
        UsageError, match=r"Emma Weber came under a number .*of W1 gives to Emma Sand"
    ):
        term.run("person", term.out, "Emma Weber", "Ben Ito")
    term.run("person", term.out, "Emma Weber", "Emma Sand")
    assert {name: row["W1"] for name, row in table(term).items()} == {
        "Ada Lee": "7.0",
        "Ben Ito": "",
        "Emma Sand": "6.0",
    }


def test_who_may_be_somebody_is_asked_about_in_each_run(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """That both are known by now does not mean that they handed in nothing."""
    roster = term.roster("name,sid,email\nAlex Kim,1,a1@x.y\nAlex Kim,2,a2@x.y\nAda,3,a@x.y\n")
    handed = folder("Alex Kim", 501, 10) | folder("Alex Kim", 502, 5) | folder("Ada", 503, 5)
    place = term.download("w1", handed)
    said = []
    for _ in range(2):
        term.grade(place, roster=roster)
        with Gradebook.open(term.out) as book:
            assert not any(entry.missing for entry in book.entries())
        out, err = capsys.readouterr()
        said.append([line for line in (out + err).splitlines() if " may be " in line])
    assert said[0] == said[1] != []


def test_a_number_with_another_name_is_asked_about_in_each_run(term: Term) -> None:
    sheet = worksheet(term, 101, ann="Ann Gray", bob="Bob Hill")
    place = term.download("w1", folder("Ann Gray", 101, 10) | folder("Bobby Hill", 102, 5))
    for _ in range(2):
        term.grade(place, roster=sheet, zone=ZONE)
        with Gradebook.open(term.out) as book:
            assert "may be this student" in (book.entry("Bob Hill").problem or "")


KIMS = "name,id,email\nAda,1,a@x.edu\nKim Minjun,4,k4@x.edu\nKim Minjun,5,k5@x.edu\n"
ONE_KIM = {"Ada/tiny.py": points(1), "Kim Minjun/tiny.py": points(2)}


def marks_by_id(term: Term, week: str) -> dict[str, float | None]:
    """Return the marks of two of one name, by id; a submission of nobody has its name."""
    with Gradebook.open(term.out / week) as book:
        entries = [one for one in book.entries() if not one.missing and one.name != "Ada"]
        who = [[one.ids.get("id", entry.name) for one in entry.students] for entry in entries]
        marks = [total_points(entry) for entry in entries]
    found = {one: mark for (one,), mark in zip(who, marks, strict=True)}
    assert len(found) == len(entries)
    return found


@pytest.mark.parametrize("said", ["person", "rename"])
def test_which_of_two_of_one_name_it_is_holds_until_the_undo(
    term: Term, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the next download of the same folder, with more of the class, and in the next week."""
    place = term.download("a", ONE_KIM)
    term.grade(place, roster=term.roster(KIMS), assignment="W1")
    assert marks_by_id(term, "W1") == {"Kim Minjun": 2.0, "4": None, "5": None}
    if said == "person":
        printed = term.run("person", term.out, "Kim Minjun", "4")
        assert re.search(r"Kim Minjun-4 +none +2 +handed in as Kim Minjun", printed)
    else:
        term.run("rename", term.out / "W1", "Kim Minjun", "Kim Minjun-4", "--merge")
    capsys.readouterr()
    more = term.download("b", ONE_KIM | {"5/tiny.py": points(8)})
    for week, handed, marks in (
        ("W1", place, {"4": 2.0}),
        ("W1", more, {"4": 2.0, "5": 8.0}),
        ("W1", place, {"4": 2.0, "5": 8.0}),
        ("W2", place, {"4": 2.0}),
    ):
        term.grade(handed, assignment=week, roster=term.roster(KIMS))
        assert marks_by_id(term, week) == marks
        assert not re.search("not certain|not found| changed", "".join(capsys.readouterr()))
    assert "W1" in term.run("show", term.out, "4")
    *where, called = (term.out, "4") if said == "person" else (term.out / "W1", "Kim Minjun-4")
    term.run(said, *where, called, "--undo")
    for week in ("W1", "W2"):
        term.grade(place, assignment=week)
    assert marks_by_id(term, "W1") == {"Kim Minjun": 2.0, "4": None, "5": 8.0}
    assert marks_by_id(term, "W2") == {"Kim Minjun": 2.0, "4": None, "5": None}


def test_who_handed_in_nothing_before_is_not_who_came_under_the_name_of_two(term: Term) -> None:
    """Although the line of one of them has that name."""
    term.grade(term.download("a", {"Ada/tiny.py": points(1)}), roster=term.roster(KIMS))
    for _ in range(2):
        term.grade(term.download("b", ONE_KIM))
        marks = {who: mark for who, mark in marks_by_id(term, "").items() if mark is not None}
        assert marks == {"Kim Minjun-2": 2.0}


def test_what_was_one_persons_stays_theirs_in_a_part_of_the_class(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who was found because the other one of the name had a folder of their own."""
    whole = term.download("a", ONE_KIM | {"5/tiny.py": points(8)})
    for place, roster in (
        (whole, KIMS),
        (term.download("b", ONE_KIM), KIMS),
        (whole, KIMS),
        (term.download("b", ONE_KIM), KIMS.replace("Kim Minjun,4", "Minjun Alex Kim,4")),
    ):
        capsys.readouterr()
        term.grade(place, assignment="W1", roster=term.roster(roster))
        assert marks_by_id(term, "W1") == {"4": 2.0, "5": 8.0}
    assert not re.search("not certain|not found| changed", "".join(capsys.readouterr()))
    both = term.download("c", ONE_KIM | {"4/tiny.py": points(7)})
    for _ in range(2):
        term.grade(both, assignment="W1")
        with Gradebook.open(term.out / "W1") as book:
            kept = {total_points(entry) for entry in book.entries() if "5" in entry.ids}
        assert kept == {8.0}
        assert "is in several submissions: Kim Minjun, " in "".join(capsys.readouterr())


def test_what_one_of_two_gave_to_the_other_stays_theirs(term: Term) -> None:
    whole = term.download("a", ONE_KIM | {"5/tiny.py": points(8)})
    term.grade(whole, assignment="W1", roster=term.roster(KIMS))
    term.run("rename", term.out / "W1", "4", "5", "--merge")
    for place in (whole, term.download("b", ONE_KIM), whole):
        assert marks_by_id(term, "W1") == {"5": 2.0}
        term.grade(place, assignment="W1")
    term.run("rename", term.out / "W1", "5", "--undo")
    assert marks_by_id(term, "W1") == {"4": 2.0, "5": 8.0}


def test_of_several_strangers_of_one_name_each_can_be_named(term: Term) -> None:
    """By the submission, and by the folder of the assignment, as the refusal says."""
    two = ONE_KIM | {"minjun kim/tiny.py": points(3)}
    for week, files in (("W1", two), ("W2", ONE_KIM)):
        term.grade(term.download(week, files), assignment=week, roster=term.roster(KIMS))
    with pytest.raises(UsageError, match=r"an id, or the folder of an assignment: grade person"):
        term.run("person", term.out, "Kim Minjun", "4")
    for week, called, who in (
        ("W2", "Kim Minjun", "5"),
        ("W1", "Kim Minjun", "4"),
        ("W1", "minjun kim", "5"),
    ):
        term.run("person", term.out / week, called, who)
    for week, files, marks in (("W1", two, {"4": 2.0, "5": 3.0}), ("W2", ONE_KIM, {"5": 2.0})):
        assert {k: v for k, v in marks_by_id(term, week).items() if v is not None} == marks
        term.grade(term.download(week, files), assignment=week)
        assert marks_by_id(term, week) == marks
