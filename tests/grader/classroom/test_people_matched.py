"""No mark goes to another person: who is matched shares an id or a name, and has no double.

A few people are drawn for each class, with namesakes, Korean names, and missing or shared ids.
Rosters, sheets and submissions are drawn from them.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.exports import canvas, moodle
from grader.classroom.exports.common import LmsMark
from grader.classroom.exports.matching import Roll, SheetPerson
from grader.classroom.exports.matching import match as match_sheet
from grader.classroom.gradebook.roster import match as match_roster
from grader.classroom.gradebook.teams import as_group
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import forms_of

NAMES = st.sampled_from(
    ("Kim Minsu", "Minsu Kim", "Kim, Minsu", "김민수", "김 민수", "이영희", "李", "Bob", "1001")
)
VALUES = st.sampled_from(("1", "a1", "A1", "1001", "Kim@x.edu", "bob"))
WORDS = st.sampled_from(("id", "sid", "username", "email", "canvas_id", "moodle_participant"))
PEOPLE = st.lists(
    st.builds(StudentIdentity, NAMES, st.dictionaries(WORDS, VALUES, max_size=2)),
    min_size=1,
    max_size=4,
)


def values(ids: dict[str, str]) -> set[str]:
    return {value.casefold() for value in ids.values()}


def sheet_person(row: int, one: StudentIdentity, kinds: dict[str, tuple[str, ...]]) -> SheetPerson:
    ids = {
        kind: one.ids[word] for kind, words in kinds.items() for word in words if word in one.ids
    }
    return SheetPerson(row, one.name, ids, forms_of(one.name))


@given(st.data(), PEOPLE, st.sampled_from((canvas.KINDS, moodle.KINDS)))
def test_a_mark_in_a_sheet_is_of_a_person_who_fits_the_row(
    data: st.DataObject, people: list[StudentIdentity], kinds: dict[str, tuple[str, ...]]
) -> None:
    drawn = data.draw(st.lists(st.sampled_from(people), max_size=5))
    teams = data.draw(st.lists(st.lists(st.sampled_from(people), max_size=2), max_size=4))
    rows = [sheet_person(row, one, kinds) for row, one in enumerate(drawn)]
    marks = [
        LmsMark(f"m{n}", people[0].name, tuple(team), 1.0, {}, ()) for n, team in enumerate(teams)
    ]
    by_row = match_sheet(Roll(rows, kinds), marks).by_row
    for row, mark in by_row.items():
        person = rows[row]
        assert [(one.ids, one.names) for one in rows].count((person.ids, person.names)) == 1
        assert any(
            person.names & forms_of(one.name) or values(person.ids) & values(one.ids)
            for one in mark.students or (StudentIdentity(mark.label),)
        )


@given(st.data(), PEOPLE)
def test_a_student_on_the_roster_shares_an_id_or_a_name_with_the_submission(
    data: st.DataObject, people: list[StudentIdentity]
) -> None:
    """A line of the roster is a student's, or its student is absent."""
    listed = data.draw(st.lists(st.sampled_from(people), max_size=5))
    team: Any = st.lists(st.sampled_from(people), max_size=2).map(tuple)
    handed = data.draw(st.dictionaries(NAMES, team, max_size=4))
    roster = [
        (line, StudentIdentity(one.name, one.ids, {"section": str(line)}))
        for line, one in enumerate(listed)
    ]
    matched = match_roster(roster, handed.items())
    found = []
    for name, students in matched.students.items():
        for before, after in zip(handed[name], students, strict=True):
            if not after.details:
                assert after in (before, as_group(before))
                continue
            line = listed[int(after.details["section"])]
            found.append(line)
            called = [before.name, *([name] if len(students) == 1 else [])]
            assert listed.count(line) == 1
            assert (
                any(forms_of(one) & forms_of(line.name) for one in called)
                or values(line.ids) & values(before.ids)
                or values(line.ids) & {one.casefold() for one in called}
            )
    assert all((line in matched.unmatched) != (one in found) for line, one in enumerate(listed))
