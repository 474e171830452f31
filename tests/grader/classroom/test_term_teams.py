"""Teams in a term: a line stays its team's when members change, and nobody is on two lines."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.gradebook.entry import students_as_json, total_points
from grader.classroom.gradebook.store import Gradebook
from grader.classroom.imports.entries import StudentIdentity
from grader.core.errors import UsageError
from grader.course.course import Course

from .test_term import DAY, MONDAY, Term, points, recorded

PEOPLE = {"Ahmed, Yusuf": 4001, "Brown, Olivia": 4002, "Chen, Wei": 4003, "Evans, Harry": 4004}
Rows = dict[str, tuple[str, float | None]]


@pytest.fixture
def term(tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Term:
    monkeypatch.setattr("grader.runtime.grading.grade_and_repair", recorded)
    return Term(tmp_path, small_course)


def rows(term: Term) -> Rows:
    """Return who is on each line, by the first names, and the mark."""
    with Gradebook.open(term.out) as book:
        found = {}
        for entry in book.entries():
            who = [one.name.partition(", ")[2] or one.name.split()[0] for one in entry.students]
            found[entry.name] = ("; ".join(sorted(who)), total_points(entry))
        people = [one.person for entry in book.entries() for one in entry.students]
        assert len(people) == len({*people}), found
        return found


def moodle(term: Term, name: str, *teams: str, at: float = MONDAY) -> Path:
    """Write a download, of teams such as ``Alpha 77001 10``."""
    files = {}
    for number, team in enumerate(teams):
        *called, group, earned = team.split()
        folder = f"{' '.join(called)}_{group}_assignsubmission_file"
        files[f"{folder}/tiny.py"] = points(float(earned), f"{group} {number}")
    return term.download(name, files, at)


def worksheet(term: Term, **groups: str) -> Path:
    """Write Moodle's worksheet, with everybody's group by the first name."""
    lines = ["Identifier,Full name,Email address,Group"]
    for number, (name, group) in enumerate(groups.items(), 402_209):
        lines.append(f"Participant {number},{name} Fischer,{name.lower()}@x.edu,{group}")
    return term.roster("\n".join(lines) + "\n")


def canvas(term: Term, name: str = "c", **earned: float) -> Path:
    """Write a download of teams' files, each with the id of a member: ``team1_4002=10``."""
    files = {
        f"{team}_100{n}_tiny.py": points(p, team) for n, (team, p) in enumerate(earned.items())
    }
    return term.download(name, files)


def test_a_team_is_not_forgotten_by_the_name_of_one_of_it(term: Term) -> None:
    """The others would lose their marks without being named."""
    listed = worksheet(term, Eve="Alpha", Flo="Alpha")
    term.grade(moodle(term, "a", "Alpha 77001 8"), roster=listed)
    with pytest.raises(UsageError, match="is in Alpha, with others: Eve Fischer, Flo Fischer"):
        term.run("forget", term.out, "Flo Fischer")
    assert rows(term) == {"Alpha": ("Eve; Flo", 8.0)}
    said = term.run("forget", term.out, "Alpha")
    assert said.startswith("Alpha (Eve Fischer, Flo Fischer) is forgotten")
    with pytest.raises(UsageError, match="Alpha is forgotten"):
        term.run("show", term.out, "Flo Fischer")


def students(term: Term, *groups: str, people: Mapping[str, int] = PEOPLE) -> Path:
    lines = [
        f'"{name}",{number},u{number},A,{group}'
        for (name, number), group in zip(people.items(), groups, strict=True)
    ]
    return term.roster("\n".join(["Student,ID,SIS Login ID,Section,group", *lines]) + "\n")


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join("".join(capsys.readouterr()).split())


ALPHA: Rows = {"Alpha": ("José; Lena", 10.0), "Gamma": ("Ben", 6.0)}
MOVED: Rows = {"Alpha": ("Lena", 10.0), "Gamma": ("Ben; José", 6.0)}


def test_who_moves_to_another_team_leaves_the_line_of_the_first(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    place = moodle(term, "t1", "Alpha 77001 10", "Gamma 77002 6")
    first = {"Lena": "Alpha", "José": "Alpha", "Ben": "Gamma"}
    term.grade(place, roster=worksheet(term, **first))
    assert rows(term) == ALPHA
    said(capsys)
    term.grade(place, roster=worksheet(term, **first | {"José": "Gamma"}))
    assert rows(term) == MOVED
    printed = said(capsys)
    assert "not in this download" not in printed
    assert "José Fischer 10 6 now in Gamma" in printed
    term.grade(place)
    assert rows(term) == MOVED and "now in" not in said(capsys)
    term.grade(place, roster=worksheet(term, **first))
    assert rows(term) == ALPHA
    assert "José Fischer 6 10 now in Alpha" in said(capsys)


def test_who_is_in_a_team_has_its_mark_whatever_they_hand_in_alone(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if the team is in another download; their own counts if they are in no team."""
    teams = {"Alpha/tiny.py": points(10), "Gamma/tiny.py": points(6)}
    own = {"Lena Fischer/tiny.py": points(2.5)}
    both, alone = term.download("both", teams | own), term.download("alone", own, MONDAY + DAY)
    first = {"Lena": "Alpha", "José": "Alpha", "Ben": "Gamma"}
    term.grade(both, assignment="Lab", roster=worksheet(term, **first))
    term.out /= "Lab"

    def note(team: str) -> str:
        return f"ignored: Lena Fischer: Lena Fischer is in {team}, whose mark counts"

    assert rows(term) == ALPHA and note("Alpha") in said(capsys)
    term.grade(alone)
    assert rows(term) == ALPHA and note("Alpha") in said(capsys)
    assert "Lab · Alpha: 10 of 10" in term.run("show", term.out, "Lena")
    table = term.run("export", term.out.parent, "--to", "csv")
    assert "look at this" not in table and '"Lena Fischer"' not in table
    term.grade(both, roster=worksheet(term, **first | {"Lena": "Gamma"}))
    printed = said(capsys)
    assert "Lena Fischer 10 6 now in Gamma" in printed and note("Gamma") in printed
    term.grade(both, roster=worksheet(term, **first | {"Lena": ""}))
    assert rows(term)["Lena Fischer"] == ("Lena", 2.5)
    assert "Lena Fischer 6 2.5 no longer in Gamma" in said(capsys)
    term.grade(alone, roster=worksheet(term, **first))
    assert rows(term) == ALPHA
    assert "Lena Fischer 2.5 10 now in Alpha" in said(capsys)
    term.run("forget", term.out, "Alpha")
    term.grade(alone)
    assert rows(term)["Lena Fischer"] == ("Lena", 2.5)


@pytest.mark.parametrize("gamma", ["77002", "402211"])
def test_who_is_in_a_team_is_known_by_their_own_number_in_moodle(
    term: Term, gamma: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if the team came under that number."""
    teams = ("Alpha 77001 10", f"Gamma {gamma} 6")
    own = "Ben Fischer 402211 2.5"
    sheet = worksheet(term, Lena="Alpha", José="Alpha", Ben="Gamma")
    places = [moodle(term, "first", *teams), moodle(term, "both", *teams, own, at=MONDAY + DAY)]
    for place in (*places, *places):
        term.grade(place, roster=sheet)
        assert rows(term) == ALPHA
        printed = said(capsys)
        why = "Ben Fischer is in Gamma, whose mark counts, so this is not graded"
        assert (why in printed) == (place == places[1])
        assert "not found on the roster" not in printed and "is the name of" not in printed
        assert "3 people" in term.run("person", term.out)
    term.grade(places[1], roster=worksheet(term, Lena="Alpha", José="Alpha", Ben=""))
    assert rows(term)["Ben Fischer"] == ("Ben", 2.5)


def test_who_was_taken_for_a_group_leaves_that_line_at_once(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """An earlier version took every number for a group's."""
    place = moodle(term, "t", "Alpha 77001 10", "Gamma 77002 6", "Ben Fischer 402211 2.5")
    groups = {"Lena": "Alpha", "José": "Alpha"}
    term.grade(place, roster=worksheet(term, **groups, Ben=""))
    with Gradebook.open(term.out) as book:
        stranger = StudentIdentity("Ben Fischer", {"moodle_group": "402211"})
        stranger = replace(stranger, person=book.insert("people", {"name": stranger.name}))
        number = book.number_of("Ben Fischer") or 0
        book.change("submissions", number, {"students": students_as_json([stranger])})
        book.db.commit()
    said(capsys)
    term.grade(place, roster=worksheet(term, **groups, Ben="Gamma"))
    assert rows(term) == ALPHA
    printed = said(capsys)
    assert "has several submissions" not in printed and "not in this download" not in printed


@pytest.mark.parametrize(
    ("second", "cause"),
    [
        ({"Gamma/tiny.py": points(6)}, "now in Gamma"),
        ({"Gamma/tiny (1).py": points(6)}, "now in Gamma"),
        ({"zz7/tiny.py": points(6)}, "has several submissions"),
    ],
)
def test_who_has_several_marks_has_none_in_the_table_of_the_term(
    term: Term, second: dict[str, str], cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in exports, and as the table of changes says."""
    sheet = term.roster("name,sid,group\nLena Fischer,1,Alpha; Gamma\nBen,2,Alpha\n")
    first = {"Alpha/tiny.py": points(10)}
    term.grade(term.download("a", first), assignment="Lab", roster=sheet)

    def exported(row: str) -> str:
        said = term.run("export", term.out, "--to", "csv")
        assert row in (term.out / "term.csv").read_text().splitlines()
        return said

    exported("Lena Fischer,1,,10.0,0,0,100.0,100.0")
    term.grade(term.download("b", first | second, MONDAY + DAY), assignment="Lab")
    if "zz7/tiny.py" in second:
        assert "Lena Fischer 10 none" not in said(capsys)
        exported("Lena Fischer,1,,10.0,0,0,100.0,100.0")
        print(term.run("person", term.out, "zz7", "Lena Fischer"))
    assert f"Lena Fischer 10 none {cause}" in said(capsys)
    note = "Lena Fischer: has several submissions in Lab, with different marks, so the table has"
    printed = exported("Lena Fischer,1,,,0,1,,100.0")
    assert note in printed or "Gamma/tiny (1).py" in second
    if "zz7/tiny.py" in second:
        undone = term.run("person", term.out, "Lena Fischer", "--undo")
        assert "Lena Fischer none 10 has one submission" in " ".join(undone.split())


def test_a_group_that_is_renamed_while_somebody_moves_stays_the_team(term: Term) -> None:
    place = moodle(term, "b", "Birch 77001 8", "Fjord 77002 9")
    groups = dict.fromkeys(("Kim", "Emma", "Aisha", "Oliver"), "Birch") | {"Mai": "Fjord"}
    term.grade(place, roster=worksheet(term, **groups))
    later = moodle(term, "b2", "Beech 77001 8", "Fjord 77002 9", at=MONDAY + DAY)
    groups |= dict.fromkeys(("Emma", "Aisha", "Oliver"), "Beech") | {"Kim": "Fjord"}
    renamed = worksheet(term, **groups)
    moved = {"Birch": ("Aisha; Emma; Oliver", 8.0), "Fjord": ("Kim; Mai", 9.0)}
    for download in (place, later, place, later):  # the newer roster with the older zip, too
        term.grade(download, roster=renamed)
        assert rows(term) == moved


def test_an_older_download_has_the_members_of_now(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under the name that the group had then, which the roster does not have any more."""
    place = moodle(term, "t1", "Alpha 77001 10", "Gamma 77002 6")
    groups = {"Lena": "Alpha", "José": "Alpha", "Ben": "Gamma"}
    term.grade(place, roster=worksheet(term, **groups))
    later = moodle(term, "t3", "Alfa 77001 10", "Gamma 77002 6", at=MONDAY + DAY)
    sheet = worksheet(term, **groups | {"Lena": "Alfa", "José": "Alfa"})
    term.grade(later, roster=sheet)
    assert rows(term) == ALPHA
    said(capsys)
    term.grade(place)
    assert rows(term) == ALPHA
    assert "column group" not in said(capsys)
    term.grade(later, roster=sheet)
    assert rows(term) == ALPHA
    assert "Alpha" not in term.run("person", term.out)


def test_who_is_taken_out_of_all_teams_handed_in_nothing(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    place = canvas(term, team1_4002=10, team2_4004=1)
    teams = ("Team 1", "Team 1", "Team 2", "Team 2")
    term.grade(place, roster=students(term, *teams))
    before = rows(term)
    assert before == {"team1": ("Olivia; Yusuf", 10.0), "team2": ("Harry; Wei", 1.0)}
    term.run("export", term.out, "--to", "csv")
    said(capsys)
    term.grade(place, roster=students(term, "Team 2", *teams[1:]))
    assert rows(term) == {"team1": ("Olivia", 10.0), "team2": ("Harry; Wei; Yusuf", 1.0)}
    assert "Ahmed, Yusuf 10 1 now in team2" in said(capsys)
    assert 'team2,"Ahmed, Yusuf",10,1,now in team2' in term.run("changes", term.out, "--to", "csv")
    assert "now in team2" in term.run("show", term.out, "4001")
    term.grade(place, roster=students(term, "", *teams[1:]))
    assert rows(term) == {
        "team1": ("Olivia", 10.0),
        "team2": ("Harry; Wei", 1.0),
        "Ahmed, Yusuf": ("Yusuf", None),
    }
    printed = said(capsys)
    assert "Ahmed, Yusuf 1 none no longer in team2" in printed
    assert "handed in nothing: Ahmed, Yusuf" in printed
    assert '"Ahmed, Yusuf","Ahmed, Yusuf",10,none,' in term.run("changes", term.out, "--to", "csv")
    term.grade(place, roster=students(term, *teams))
    assert rows(term) == before
    assert "every mark is as" in term.run("changes", term.out)


def test_a_team_of_one_stays_a_team(term: Term) -> None:
    place = canvas(term, team1_4002=10, team2_4004=1)
    teams = ("Team 1", "Team 1", "Team 2", "Team 2")
    for groups in (teams, ("Team 2", *teams[1:]), teams):
        term.grade(place, roster=students(term, *groups))
        yusuf = groups[0] == "Team 2"
        assert rows(term) == {
            "team1": ("Olivia" if yusuf else "Olivia; Yusuf", 10.0),
            "team2": ("Harry; Wei; Yusuf" if yusuf else "Harry; Wei", 1.0),
        }


@pytest.mark.parametrize("system", ["canvas", "moodle"])
def test_a_column_group_that_was_forgotten_changes_marks_aloud(
    term: Term, capsys: pytest.CaptureFixture[str], system: str
) -> None:
    place = (
        canvas(term, team1_4002=10, team2_4004=1)
        if system == "canvas"
        else moodle(term, "m", "team1 4002 10", "team2 4004 1")
    )
    term.grade(place, roster=students(term, "", "", "", ""))
    first = said(capsys)
    if system == "canvas":
        note = "team1 came under Brown, Olivia's id; team2 came under Evans, Harry's id: is it a"
        assert note in first
    without = rows(term)
    term.run("export", term.out, "--to", "csv")
    term.grade(place, roster=students(term, "Team 1", "Team 1", "Team 2", "Team 2"))
    printed = said(capsys)
    assert rows(term) == {"team1": ("Olivia; Yusuf", 10.0), "team2": ("Harry; Wei", 1.0)}
    assert "Ahmed, Yusuf none 10 now in team1" in printed
    assert "Chen, Wei none 1 now in team2" in printed
    assert "came under" not in printed
    assert "Ahmed, Yusuf" in term.run("changes", term.out, "--to", "comments")
    if system == "canvas":
        term.grade(place, roster=students(term, "", "", "", ""))
        assert rows(term) == without


def test_two_lines_of_a_team_are_one_at_once(term: Term) -> None:
    """Under another name and number, with another member, so that it is not found again."""
    first = moodle(term, "a", "Alpha 77001 4")
    second = moodle(term, "b", "Beta 77002 9", at=MONDAY + DAY)
    term.grade(first, roster=worksheet(term, Lena="Alpha", José="Alpha", Ben="Beta"))
    sheet = worksheet(term, Lena="Beta", José="Alpha", Ben="Beta")
    term.grade(second, roster=sheet)
    assert rows(term) == {"Alpha": ("José", 4.0), "Beta": ("Ben; Lena", 9.0)}
    term.run("rename", term.out, "Alpha", "Beta", "--merge")
    one = {"Beta": ("Ben; José; Lena", 9.0)}
    assert rows(term) == one
    for place in (first, second):
        term.grade(place, roster=sheet)
        assert rows(term) == one
    term.run("rename", term.out, "Beta", "--undo")
    term.grade(second)
    assert rows(term) == {"Alpha": ("José", 4.0), "Beta": ("Ben; Lena", 9.0)}


def test_what_came_under_the_own_id_stays_if_somebody_was_not_that_person(term: Term) -> None:
    anonymous = {
        f"anon_{one}_500{n}_tiny.py": points(8 + n) for n, one in enumerate(("Ab3", "Zk9"))
    }
    term.grade(term.download("anon", anonymous), roster=students(term, "", "", "", ""))
    term.run("person", term.out, "anon_Ab3", "4001")
    listed = term.run("person", term.out)
    assert "anon_Ab3" not in listed and "5 people" in listed
    assert "1 person" in term.run("person", term.out, "anon_Ab3")
    named = {"ahmedyusuf_4001_600_tiny.py": points(8)}
    place = term.download("named", named, MONDAY + DAY)
    for undo in (False, True):
        if undo:
            term.run("person", term.out, "4001", "--undo")
        else:
            term.grade(place)
        with Gradebook.open(term.out) as book:
            entry = book.entry_of("4001")
            assert total_points(entry) == 8.0 and not entry.missing
    with Gradebook.open(term.out) as book:
        assert total_points(book.entry("anon_Ab3")) == 8.0
        assert total_points(book.entry("anon_Zk9")) == 9.0
        gradings = book.value("SELECT count(*) FROM gradings")
    term.grade(place)
    with Gradebook.open(term.out) as book:
        assert book.value("SELECT count(*) FROM gradings") == gradings
        assert len(book.entry_of("4001").attempts) == 1


def test_doubles_of_an_older_version_are_gone_after_the_next_run(term: Term) -> None:
    place = moodle(term, "t1", "Alpha 77001 10", "Gamma 77002 6")
    groups = {"Lena": "Alpha", "José": "Alpha", "Ben": "Gamma"}
    term.grade(place, roster=worksheet(term, **groups))
    with Gradebook.open(term.out) as book:
        old = book.row("SELECT * FROM submissions WHERE name = 'Alpha'")
        assert old is not None
        lena = book.entry_of("Lena Fischer").students
        double = {**old, "id": None, "name": "Alpha-lena@x.edu", "team": None}
        double["students"] = students_as_json([one for one in lena if one.name.startswith("Lena")])
        number = book.insert("submissions", double)
        attempt = book.row("SELECT * FROM attempts WHERE id = ?", old["attempt"])
        again = {**(attempt or {}), "id": None, "submission": number, "came_under": number}
        book.change("submissions", number, {"attempt": book.insert("attempts", again)})
        book.db.execute("UPDATE submissions SET team = NULL")
        book.db.execute("DELETE FROM places")
        book.db.commit()
    term.grade(place, roster=worksheet(term, **groups | {"José": "Gamma"}))
    assert rows(term) == MOVED
    term.grade(place, roster=worksheet(term, **groups | {"Lena": "", "José": ""}))
    assert rows(term) == {
        "Gamma": ("Ben", 6.0),
        "José Fischer": ("José", None),
        "Lena Fischer": ("Lena", None),
    }
    term.grade(place, roster=worksheet(term, **groups | {"José": "Gamma"}))
    assert rows(term) == MOVED


def test_who_hands_in_with_others_leaves_the_line_of_the_first_ones(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gradescope names a team's members itself; comments for students name nobody else."""

    def export(number: int, earned: int, *names: str) -> Path:
        who = "".join(f"  - :name: {name}\n    :sid: {name}\n" for name in names)
        files = {
            "e/submission_metadata.yml": f"---\nsubmission_{number}:\n  :submitters:\n{who}",
            f"e/submission_{number}/tiny.py": points(earned),
        }
        return term.download(f"e{number}", files, MONDAY + number)

    first, second = export(1, 9, "Ada", "Ben"), export(2, 5, "Ada", "Cy")
    roster = term.roster("name,sid\nAda,Ada\nBen,Ben\nCy,Cy\n")
    term.grade(first, roster=roster)
    term.run("export", term.out, "--to", "csv")
    said(capsys)
    term.grade(second)
    assert rows(term) == {"Ada + Ben": ("Ben", 9.0), "Ada + Cy": ("Ada; Cy", 5.0)}
    assert "Ada 9 5 now in a team" in said(capsys)
    comments = term.run("changes", term.out, "--to", "comments").splitlines()[1:]
    assert comments == [
        ",Ada + Cy,Cy,Your mark changed from none to 5: handed in",
        ",Ada + Cy,Ada,Your mark changed from 9 to 5: now in a team",
    ]
    term.grade(first)
    assert rows(term) == {"Ada + Ben": ("Ada; Ben", 9.0), "Ada + Cy": ("Cy", 5.0)}


class Model:
    """What the marks must be: the newest attempt of each team, for those who are in it now."""

    def __init__(self, names: list[str], teams: list[str]) -> None:
        self.group = dict.fromkeys(names, "")
        self.called = {team: team for team in teams}
        self.handed: dict[str, dict[int, int]] = {team: {} for team in teams}
        self.known: set[str] = set()

    def members(self, team: str) -> set[str]:
        return {name for name, group in self.group.items() if group == team}

    def graded(self, download: Mapping[str, tuple[int, int]]) -> None:
        for team, (day, earned) in download.items():
            if self.members(team) or team not in self.known:
                self.handed[team][day] = earned
        self.known |= {team for team in self.handed if self.handed[team] and self.members(team)}

    def marks(self) -> dict[str, float | None]:
        handed = {team: days[max(days)] for team, days in self.handed.items() if days}
        return {name: handed.get(group) for name, group in self.group.items()}


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(n, marks=pytest.mark.proof) for n in range(3, 30))]
)
def test_whoever_moves_has_the_mark_of_the_team_of_now(
    term: Term, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever part of the class a download holds, and in whatever order they come."""
    rng = random.Random(seed)
    model = Model(["Lena", "José", "Ben", "Emma", "Kim", "Mai"], ["Alpha", "Gamma", "Delta"])
    downloads: list[tuple[Path, dict[str, tuple[int, int]]]] = []
    numbers = {team: 77_001 + place for place, team in enumerate(model.called)}
    newest: dict[str, tuple[int, int]] = {}

    def download(*teams: str) -> None:
        day = len(downloads) + 1
        newest.update({team: (day, rng.randint(1, 10)) for team in rng.sample(teams, 1)})
        held = {team: newest[team] for team in teams if team in newest}
        files = {
            f"{model.called[team]}_{numbers[team]}_assignsubmission_file/tiny.py": points(
                earned, f"{team} on day {handed}"
            )
            for team, (handed, earned) in held.items()
        }
        downloads.append((term.download(f"day{day}", files, MONDAY + DAY * day), held))
        grade(-1)

    def grade(which: int, *, told: bool = False) -> None:
        before, lines = model.marks(), who_is_where(term)
        place, held = downloads[which]
        groups = {name: model.called.get(group, "") for name, group in model.group.items()}
        term.grade(place, **({} if told else {"roster": worksheet(term, **groups)}))
        model.graded(held)
        found, printed = who_is_where(term), said(capsys)
        assert {name: mark for name, (_, mark) in found.items()} == model.marks()
        for name, mark in model.marks().items():
            line, old_line = found[name][0], lines.get(name, ("", None))[0]
            if lines and mark != before[name] and before[name] is not None:
                called = line if line == old_line else f"{name} Fischer"
                shown = "none" if mark is None else f"{mark:g}"
                assert f"{called} {before[name]:g} {shown}" in printed, (name, printed)

    def move() -> None:
        for name in rng.sample([*model.group], rng.randint(1, 3)):
            model.group[name] = rng.choice(["", *model.called])
        grade(rng.randrange(len(downloads)))

    def rename() -> None:
        team = rng.choice([*model.called])
        if model.members(team):
            model.called[team] += rng.choice("xyz")
            download(team)

    def some() -> None:
        download(*rng.sample([*model.called], rng.randint(1, 3)))

    def again() -> None:
        grade(rng.randrange(len(downloads)), told=True)

    for name in model.group:
        model.group[name] = rng.choice([*model.called])
    download(*model.called)
    for deed in [move, some, rename, again, *rng.choices([move, move, some, rename, again], k=8)]:
        deed()


def who_is_where(term: Term) -> dict[str, tuple[str, float | None]]:
    """Return everybody's line and mark, by the first name; nobody is on two lines."""
    found: dict[str, tuple[str, float | None]] = {}
    if not term.out.exists():
        return found
    with Gradebook.open(term.out) as book:
        for entry in book.entries():
            for name in (one.name.split()[0] for one in entry.students if " " in one.name):
                assert name not in found, name
                found[name] = (entry.name, total_points(entry))
    return found
