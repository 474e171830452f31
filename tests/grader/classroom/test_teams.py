"""A team's submission belongs to all its members, a group's number is nobody's, and nothing is
guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.gradebook.people import enrol
from grader.classroom.gradebook.roster import MatchedStudents, Roster, match
from grader.classroom.gradebook.store import Gradebook
from grader.classroom.imports.entries import ClassImport, StudentIdentity, Submission

NAMES = {2: "Ada Ek", 3: "Bo Dal", 4: "Cy Ho"}
NUMBERS = {2: "1000", 3: "1001", 4: "1002"}


def roster(
    groups: Mapping[int, str], kind: str = "moodle_participant", **details: str
) -> list[tuple[int, StudentIdentity]]:
    """Return a roster with lines 2, 3 and 4, with the groups of those that have one."""
    return [
        (
            line,
            StudentIdentity(
                name,
                {kind: NUMBERS[line]},
                {**details, **({"group": groups[line]} if groups.get(line) else {})},
            ),
        )
        for line, name in NAMES.items()
    ]


def handed(*submissions: str, kind: str = "moodle_participant") -> list[Any]:
    """Return submissions of one student each, from texts such as ``Group 1 55``."""
    found = []
    for one in submissions:
        name, _, number = one.rpartition(" ")
        ids = {"moodle_group": "0"} if number == "-" else {kind: number}
        found.append((name, (StudentIdentity(name, ids),)))
    return found


def names(found: MatchedStudents) -> dict[str, list[str]]:
    return {name: [one.name for one in those] for name, those in found.students.items()}


def missing(found: MatchedStudents) -> dict[str, str]:
    """Return the absent students, with what is said of each."""
    return {NAMES[line]: said or "nothing was handed in" for line, said in found.unmatched.items()}


TEAMS = {2: "Group 1", 3: "Group 1", 4: "Group 2"}


@pytest.mark.parametrize("kind", ["moodle_participant", "id"])
def test_each_member_gets_the_team_s_work_with_the_roster_s_ids(kind: str) -> None:
    """The groups' numbers are those of participants here."""
    students = roster(TEAMS, kind, section="A", due="+1d")
    found = match(students, handed("Group 1 1002", "Group 2 1000"))
    assert found.students == {
        "Group 1": (students[0][1], students[1][1]),
        "Group 2": (students[2][1],),
    }
    assert (found.unmatched, found.notes) == ({}, ())


@pytest.mark.parametrize(
    ("cell", "called"),
    [
        ("Group 1", "group 1"),
        ("Team: A/B", "Team AB"),
        ("조 1", "조 1"),
        ("Kim, Lee & Co", "Kim, Lee Co"),
        ("Group 1", "group-1"),
        ("Group 1; Group 7", "Group 7"),
        ("Group 1, Group 2", "Group 1"),
    ],
)
def test_a_group_is_found_in_the_spelling_of_a_download(cell: str, called: str) -> None:
    groups = {2: cell, 3: cell, 4: "Group 1" if "," in cell and "Group" in cell else ""}
    found = match(roster(groups), handed(f"{called} 55"))
    assert names(found)[called][:2] == ["Ada Ek", "Bo Dal"]


@pytest.mark.parametrize("kind", ["username", "canvas_id"])
def test_a_team_of_github_or_a_folder_is_its_members(kind: str) -> None:
    """GitHub's user name is that of the team, so no member gets it."""
    found = match(roster(TEAMS, "sid"), [("group-1", (StudentIdentity("group-1", {kind: "x"}),))])
    assert [(one.name, [*one.ids]) for one in found.students["group-1"]] == [
        ("Ada Ek", ["sid"]),
        ("Bo Dal", ["sid"]),
    ]
    assert missing(found) == {"Cy Ho": "nothing was handed in"}


def test_groups_whose_letters_are_the_same_are_told_apart() -> None:
    found = match(roster({2: "A", 3: "A+"}), handed("A 55", "A+ 56"))
    assert names(found) == {"A": ["Ada Ek"], "A+": ["Bo Dal"]}
    assert names(match(roster({2: "A+", 3: "A!"}), handed("A 55"))) == {"A": ["A"]}


@pytest.mark.parametrize("kind", ["moodle_participant", "id"])
def test_a_group_s_number_is_never_a_participant_s_id(kind: str) -> None:
    """Without groups on the roster nobody is found, and nobody is said to have handed in nothing.
    The remedy is said.
    """
    found = match(roster({}, kind), handed("Group 1 1002", "Group 2 1000"))
    assert [one.ids for those in found.students.values() for one in those] == [
        {"moodle_group": "1002"},
        {"moodle_group": "1000"},
    ]
    assert missing(found).keys() == {"Ada Ek", "Bo Dal", "Cy Ho"}
    assert all("this is not certain" in said for said in missing(found).values())
    assert any("add a column group to the roster" in note for note in found.notes)


def test_a_team_that_is_not_on_the_roster_may_be_anybody_s_who_handed_in_nothing() -> None:
    found = match(roster({4: "Group 2"}), handed("Group 9 55", "Group 2 56"))
    assert names(found) == {"Group 9": ["Group 9"], "Group 2": ["Cy Ho"]}
    assert missing(found).keys() == {"Ada Ek", "Bo Dal"}
    assert all("Group 9 may be" in said for said in missing(found).values())


def test_where_nobody_is_found_at_all_nobody_handed_in_nothing() -> None:
    """Repositories are called after user names or teams that the roster lacks."""
    repositories = [(name, (StudentIdentity(name, {"username": name}),)) for name in ("crew", "x9")]
    found = match(roster({}, "sid"), repositories)
    assert all("crew, x9 may be" in said for said in missing(found).values())
    repositories.append(("bo-dal", (StudentIdentity("bo-dal", {"username": "bo-dal"}),)))
    found = match(roster({}, "sid"), repositories)
    assert missing(found) == dict.fromkeys(("Ada Ek", "Cy Ho"), "nothing was handed in")


@pytest.mark.parametrize(
    ("listed", "called"),
    [
        ("Participant 31", "Participant 31"),
        ("참가자31", "참가자"),
        ("Teilnehmer/in31", "Teilnehmerin"),
        ("31", "Participant 31"),
    ],
)
def test_hidden_names_are_those_of_persons(listed: str, called: str) -> None:
    line = StudentIdentity(listed, {"moodle_participant": "31"}, {"due": "+1d"})
    handed_in = StudentIdentity(called, {"moodle_participant": "31"})
    found = match([(2, line)], [("x", (handed_in,))])
    assert found.students["x"] == (line,)


def test_among_persons_a_stranger_is_no_team() -> None:
    """So who is missing can be said in an assignment of persons."""
    found = match(roster({}), handed("Ada Ek 1000", "Guest 77"))
    assert names(found) == {"Ada Ek": ["Ada Ek"], "Guest": ["Guest"]}
    assert missing(found) == dict.fromkeys(("Bo Dal", "Cy Ho"), "nothing was handed in")


def test_among_teams_a_name_is_no_person_s() -> None:
    """The team that is called like Bo is not on the roster."""
    found = match(roster({2: "Group 1"}), handed("Group 1 55", "Bo Dal 56"))
    assert found.students["Bo Dal"] == (StudentIdentity("Bo Dal", {"moodle_group": "56"}),)
    assert all("Bo Dal may be" in said for said in missing(found).values())


@pytest.mark.parametrize("of_team", ["Group 1 55", "Default group -"])
def test_among_teams_a_number_with_its_name_is_a_person_s(of_team: str) -> None:
    """The others' numbers stay those of groups."""
    students = roster({2: "Group 1", 3: "Group 1"})
    found = match(students, handed(of_team, "Bo Dal 1001", "Group 9 1002"))
    assert found.students["Bo Dal"] == (students[1][1],)
    assert found.students["Group 9"] == (StudentIdentity("Group 9", {"moodle_group": "1002"}),)
    assert "Group 9 may be" in missing(found)["Cy Ho"]


def test_a_group_s_number_may_be_in_its_name_and_a_participant_s() -> None:
    found = match(roster({2: "Group 1000", 3: "Group 1000"}), handed("Group 1000 1000"))
    assert names(found) == {"Group 1000": ["Ada Ek", "Bo Dal"]}


def test_the_default_group_is_that_of_students_without_one() -> None:
    """It is theirs for certain only if the roster says so, as Moodle's worksheet does."""
    said = roster({2: "Default group", 3: "Default group", 4: "Group 2"})
    found = match(said, handed("Default group -"))
    assert names(found) == {"Default group": ["Ada Ek", "Bo Dal"]}
    assert missing(found) == {"Cy Ho": "nothing was handed in"}
    found = match(roster({4: "Group 2"}), handed("Default group -"))
    assert names(found) == {"Default group": ["Default group"]}
    assert missing(found).pop("Cy Ho") == "nothing was handed in"
    assert all("Default group" in said for name, said in missing(found).items() if name != "Cy Ho")
    # Somebody handed in, although the roster has everybody in a group.
    found = match(roster(TEAMS), handed("Default group -", "Group 2 56"))
    assert missing(found).keys() == {"Ada Ek", "Bo Dal"}
    assert all("Default group may be" in said for said in missing(found).values())


@pytest.mark.parametrize("groups", [{2: "Bo Dal"}, {2: "Bo Dal", 3: "Bo Dal"}, {2: "1001"}])
def test_a_group_with_the_name_of_a_person_is_given_to_nobody(groups: dict[int, str]) -> None:
    called = groups[2]
    found = match(roster(groups, "sid"), [(called, (StudentIdentity(called),))])
    assert names(found) == {called: [called]}
    assert all(called in missing(found)[name] for name in ("Ada Ek", "Bo Dal"))
    assert "a group and of a student" in found.notes[0]
    assert "Rename the group" in found.notes[0]


def test_a_person_known_by_an_id_is_no_group() -> None:
    found = match(
        roster({2: "Bo Dal"}, "email"),
        [("Bo Dal", (StudentIdentity("Bo Dal", {"email": "1001"}),))],
    )
    assert names(found) == {"Bo Dal": ["Bo Dal"]}
    assert missing(found) == dict.fromkeys(("Ada Ek", "Cy Ho"), "nothing was handed in")


def test_a_member_s_id_makes_a_team_no_person() -> None:
    """Canvas names a group's file after the group, with the id of the member who handed in."""
    students = roster(TEAMS, "canvas_id")
    found = match(students, [("group1", (StudentIdentity("group1", {"canvas_id": "1001"}),))])
    assert found.students["group1"] == (students[0][1], students[1][1])


def test_two_submissions_of_one_group_are_given_to_nobody() -> None:
    found = match(roster(TEAMS), handed("Group 1 55", "GROUP 1 56"))
    assert names(found) == {"Group 1": ["Group 1"], "GROUP 1": ["GROUP 1"]}
    assert "all called like one group" in found.notes[0]
    assert all("Group 1" in missing(found)[name] for name in ("Ada Ek", "Bo Dal"))


def test_a_student_in_two_teams_is_in_both_and_that_is_said() -> None:
    found = match(roster(TEAMS | {2: "Group 1; Group 2"}), handed("Group 1 55", "Group 2 56"))
    assert names(found) == {"Group 1": ["Ada Ek", "Bo Dal"], "Group 2": ["Ada Ek", "Cy Ho"]}
    assert "Ada Ek (line 2 of the roster) is in several teams" in found.notes[0]
    # only one of the teams handed in
    found = match(roster(TEAMS | {2: "Group 1; Group 2"}), handed("Group 2 56"))
    assert missing(found) == {"Bo Dal": "nothing was handed in"}


def test_who_is_left_out_of_a_team_s_list_has_not_handed_in_nothing() -> None:
    """Gradescope lists a team's submitters; the third of the group was forgotten."""
    groups = {2: "Crew", 3: "Crew", 4: "Crew"}
    team = tuple(StudentIdentity(name) for name in ("Ada Ek", "Bo Dal"))
    found = match(roster(groups, "sid"), [("Ada Ek + Bo Dal", team)])
    assert names(found) == {"Ada Ek + Bo Dal": ["Ada Ek", "Bo Dal"]}
    assert "Ada Ek + Bo Dal may be" in missing(found)["Cy Ho"]
    # A group that handed in several times is no team.
    ada = StudentIdentity("Ada Ek", {"sid": "1000"})
    twice = [("Ada Ek + Bo Dal", (ada, team[1])), ("Ada Ek", (ada,))]
    assert missing(match(roster(groups, "sid"), twice)) == {"Cy Ho": "nothing was handed in"}
    # In work of persons, a group says nothing.
    found = match(roster(groups, "sid"), [("Ada Ek", (StudentIdentity("Ada Ek"),))])
    assert missing(found) == dict.fromkeys(("Bo Dal", "Cy Ho"), "nothing was handed in")


def test_who_gradescope_does_not_name_has_not_handed_in() -> None:
    """Its metadata names all members, so a team of an earlier week is not asked about."""
    people = [
        (
            ", ".join(those.values()),
            tuple(
                StudentIdentity(name, {"sid": sid, "gradescope_submission": number})
                for sid, name in those.items()
            ),
        )
        for number, those in (("7", {"1000": "Ada Ek"}), ("8", {"1002": "Cy Ho", "1003": "Di Li"}))
    ]
    known = [*roster(TEAMS, "sid"), (5, StudentIdentity("Di Li", {"sid": "1003"}))]
    assert missing(match(known, people)) == {"Bo Dal": "nothing was handed in"}


def test_a_team_that_nobody_is_known_of_is_no_person_in_the_next_run_either(tmp_path: Path) -> None:
    """It is kept as somebody until a roster says who is in it."""
    download = tuple(
        Submission(name, students, lambda lessons: {})
        for name, students in handed("Group 1 1002", "Group 2 1000")
    )
    found = ClassImport("moodle", download)
    with Gradebook.open(tmp_path, create=True) as book:
        for groups in ({}, {}, TEAMS, TEAMS):
            given = Roster(tuple(roster(groups)))
            enrolled = enrol(book, found, given)
            people = [[who.name for who in one.students] for one in enrolled.found.handed]
            missing = [entry.name for entry in book.entries() if entry.missing]
            assert missing == []
            members = [["Ada Ek", "Bo Dal"], ["Cy Ho"]]
            assert sorted(people) == (members if groups else [["Group 1"], ["Group 2"]])


GROUPS = st.sampled_from(("", "Group 1", "Group 2", "Ada Ek", "Bo Dal", "1001", "group-1"))
LINES = st.dictionaries(st.sampled_from([*NAMES]), GROUPS)
KIND = st.sampled_from(("moodle_participant", "id", "sid"))


@given(st.data(), LINES, KIND, st.booleans())
def test_nobody_gets_the_work_of_another_team_or_person(
    data: st.DataObject, groups: dict[int, str], kind: str, on_github: bool
) -> None:
    """Who gets a submission has its name, or is in the group of that name. Whose group handed in
    is never listed as having handed in nothing.
    """
    called = st.sampled_from(("Group 1", "Group 2", "Group 9", "Ada Ek", "Bo Dal"))
    drawn = data.draw(st.lists(called, unique=True, max_size=4))
    numbers = data.draw(st.permutations((*NUMBERS.values(), "55")))
    students = roster(groups, kind)
    download = handed(*map(" ".join, zip(drawn, numbers, strict=False)))
    if on_github:
        download = [(name, (StudentIdentity(name, {"username": name}),)) for name, _ in download]
    found = match(students, download)
    by_name = {name: line for line, name in NAMES.items()}
    for name, those in found.students.items():
        for one in those:
            if (line := by_name.get(one.name)) and kind in one.ids:
                group = groups.get(line, "").replace("-", " ").casefold()
                assert name == one.name or name.casefold() == group
    nothing = {name for name, said in missing(found).items() if said == "nothing was handed in"}
    for line, name in NAMES.items():
        if name in nothing:
            assert name not in drawn
            # Ada's own work, known by her number, is not that of a group with her name.
            assert groups.get(line) not in drawn or groups.get(line) in by_name
