"""Statistics of a class: item analysis agrees with the formulas, and each number counts the right
people.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import replace

import pytest
from factories.gradebook import make_report
from factories.random_gradebook import random_columns, random_entries

from grader.classroom.gradebook.entry import Adjustment, CheckColumn, GradebookEntry, LessonColumn
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.statistics.class_page import deviation, percent, topics
from grader.classroom.statistics.collect import (
    FEWEST,
    CheckFacts,
    Classroom,
    Moments,
    State,
    collect_statistics,
    histogram,
    point_biserial,
    ranked_pairs,
)
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report

LESSON = LessonColumn(
    "tiny",
    "Tiny",
    4.0,
    0.0,
    (
        CheckColumn("tiny.one", "one", 2.0, False, False),
        CheckColumn("tiny.two", "two", 2.0, False, True),
    ),
)


def moments(numbers: list[float]) -> Moments:
    kept = Moments()
    for number in numbers:
        kept.add(number)
    return kept


def handed(
    name: str,
    *outcomes: Outcome,
    diagnoses: tuple[str | None, ...] = (None, None),
    bonus: float = 0.0,
) -> GradebookEntry:
    """Return a submission of the tiny lesson, given an outcome and a mistake for each of its two
    checks.
    """
    checks = tuple(
        CheckResult(
            column.id,
            column.title,
            "f",
            outcome,
            2.0 if outcome is Outcome.PASSED else 0.0,
            2.0,
            diagnosis=diagnosis,
            diagnosis_title=diagnosis and f"{diagnosis}, in words",
            evidence=diagnosis and f"{name} returned 3",
        )
        for column, outcome, diagnosis in zip(LESSON.checks, outcomes, diagnoses, strict=True)
    )
    score = sum(check.points for check in checks)
    lesson = LessonResult(
        "tiny",
        "Tiny",
        LessonStatus.PASSED if score == 4 else LessonStatus.FAILED,
        score,
        4.0,
        checks=checks,
    )
    return GradebookEntry(
        name,
        (StudentIdentity(name),),
        replace(
            blank(), submission=name, score=score, max_score=4.0, bonus=bonus, lessons=(lesson,)
        ),
    )


def blank() -> Report:
    return make_report("x")


def check(room: Classroom, number: int) -> CheckFacts:
    return room.lessons[0].checks[number]


PASSED, FAILED, SKIPPED, UNTOUCHED = (
    Outcome.PASSED,
    Outcome.FAILED,
    Outcome.SKIPPED,
    Outcome.NOT_STARTED,
)


def test_point_biserial_is_the_correlation_of_right_with_the_rest() -> None:
    """The oracle is Pearson's correlation with right as 1 and wrong as 0, of which it is a special
    case.
    """
    rng = random.Random(3)
    right, wrong = [rng.gauss(40, 9) for _ in range(31)], [rng.gauss(35, 9) for _ in range(22)]
    pearson = statistics.correlation([1.0] * 31 + [0.0] * 22, right + wrong)
    assert point_biserial(moments(right), moments(wrong)) == pytest.approx(pearson)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [([1.0] * 20, []), ([], [1.0] * 20), ([3.0] * 10, [3.0] * 10), ([1.0] * (FEWEST - 2), [2.0])],
    ids=["all right", "all wrong", "all alike", "too few"],
)
def test_there_is_no_discrimination_where_it_is_not_defined(
    right: list[float], wrong: list[float]
) -> None:
    assert point_biserial(moments(right), moments(wrong)) is None


def test_a_checks_own_points_are_not_in_what_it_is_held_against() -> None:
    """Two checks disagree; with their own points in the score they would seem to agree with it."""
    class_of_twenty = [
        handed(f"{n:02}", *((PASSED, FAILED) if n % 2 else (FAILED, PASSED))) for n in range(20)
    ]
    assert check(collect_statistics(class_of_twenty, [LESSON]), 0).discrimination == pytest.approx(
        -1.0
    )


def test_full_marks_are_in_the_last_column_of_the_histogram_and_nothing_falls_out() -> None:
    bins = histogram([-1.0, 0.0, 0.999, 1.0, 9.0, 10.0, 12.0], 10.0)
    assert [one.count for one in bins] == [3, 1, 0, 0, 0, 0, 0, 0, 0, 3]


def test_pairs_are_ranked_by_their_jaccard_index() -> None:
    pairs = ranked_pairs([((0, 1), 3), ((0, 2), 4), ((1, 2), 1)], [10, 3, 4], 2)
    assert pairs == [(0, 2, 4, 0.4), (0, 1, 3, 0.3)]


def test_students_who_did_not_begin_count_in_no_share() -> None:
    """One is right, one wrong, one waits, one has not begun: right are 1 of 3 who began, and 1 of
    the 2 for whom the check ran.
    """
    room = collect_statistics(
        [
            handed("a", PASSED, PASSED),
            handed("b", PASSED, FAILED),
            handed("c", FAILED, SKIPPED),
            handed("d", PASSED, UNTOUCHED),
        ],
        [LESSON],
    )
    second = check(room, 1)
    assert (second.passed, second.began, second.judged, second.difficulty) == (1, 3, 2, 0.5)


def test_a_check_that_nobody_passes_is_doubted_and_is_nothing_to_reteach() -> None:
    room = collect_statistics([handed(name, PASSED, FAILED) for name in "abc"], [LESSON])
    assert [one.column.id for one in room.doubtful] == ["tiny.two"]
    assert topics(room) == ()
    assert (
        collect_statistics([handed(name, PASSED, FAILED) for name in "ab"], [LESSON]).doubtful == ()
    )


def test_a_check_against_the_rest_is_doubted() -> None:
    room = collect_statistics(
        [handed(f"{n:02}", *((PASSED, FAILED) if n % 2 else (FAILED, PASSED))) for n in range(20)],
        [LESSON],
    )
    assert "better scores" in (check(room, 0).doubt or "")


def test_a_check_that_chance_may_have_turned_is_not_doubted() -> None:
    """A correlation of −0.4 means little with twenty answers, and much with two hundred."""
    pattern = (
        [(PASSED, FAILED)] * 7
        + [(FAILED, PASSED)] * 7
        + [(PASSED, PASSED)] * 3
        + [(FAILED, FAILED)] * 3
    )
    few, many = ([handed(f"{n:03}", *pattern[n % 20]) for n in range(size)] for size in (20, 200))
    assert check(collect_statistics(few, [LESSON]), 0).discrimination == pytest.approx(-0.4)
    assert collect_statistics(few, [LESSON]).doubtful == ()
    assert len(collect_statistics(many, [LESSON]).doubtful) == 2


def test_a_mistake_counts_once_for_each_person() -> None:
    """The number of failed checks does not matter; the example is the first person's and names
    nobody.
    """
    room = collect_statistics(
        [
            handed("a", FAILED, FAILED, diagnoses=("m", "m")),
            handed("b", FAILED, PASSED, diagnoses=("m", None)),
        ],
        [LESSON],
    )
    (mistake,) = room.mistakes
    assert [person.name for person in mistake.people.first] == ["a", "b"]
    assert (mistake.title, mistake.check) == ("m, in words", "one")


def test_topics_are_the_commonest_mistakes_and_then_what_has_no_name() -> None:
    room = collect_statistics(
        [
            handed("a", FAILED, FAILED, diagnoses=("rare", None)),
            handed("b", FAILED, FAILED, diagnoses=("common", None)),
            handed("c", FAILED, PASSED, diagnoses=("common", None)),
            handed("d", PASSED, PASSED),
        ],
        [LESSON],
    )
    assert [(topic.title, topic.people.count, bool(topic.check)) for topic in topics(room)] == [
        ("common, in words", 2, True), ("two", 2, False),
    ]  # fmt: skip


def test_what_one_person_got_wrong_is_not_what_to_reteach() -> None:
    one = collect_statistics([handed("a", FAILED, FAILED, diagnoses=("rare", None))], [LESSON])
    assert topics(one) == ()


def test_sections_and_versions_are_counted() -> None:
    a, b = handed("a", PASSED, PASSED), handed("b", PASSED, FAILED)
    north = StudentIdentity("A", {}, {"section": "north"})
    south = StudentIdentity("B", {}, {"section": "south"})
    room = collect_statistics(
        [replace(a, students=(north,), history=(1.0, 4.0)), replace(b, students=(south, north))],
        [LESSON],
    )
    assert {name: list(scores) for name, scores in room.sections.items()} == {
        "north": [a.score, b.score], "south": [b.score],
    }  # fmt: skip
    assert [(moments.count, moments.total) for moments in room.again] == [(1, 1.0), (1, 4.0)]
    assert [(row.history, row.section) for row in room.rows] == [
        ((1.0, 4.0), "north"), ((), "south, north"),
    ]  # fmt: skip
    lesson = room.lessons[0]
    assert deviation(lesson.scores) == f"{statistics.pstdev([a.earned, b.earned]):.1f}"
    assert sum(column.count for column in lesson.bins) == 2


def test_our_fault_is_no_zero() -> None:
    """A submission with a grader fault is in no average, and the check has no verdict for it."""
    room = collect_statistics(
        [handed("a", PASSED, PASSED), handed("b", PASSED, Outcome.GRADER_ERROR)], [LESSON]
    )
    assert list(room.scores) == [4.0]
    assert [note.person.name for note in room.faults] == ["b"]
    assert list(room.rows)[1].states == (State.FAULT,)
    assert check(room, 1).judged == 1


def test_a_file_that_was_not_graded_for_its_name_is_no_zero() -> None:
    right = handed("a", Outcome.PASSED, Outcome.PASSED)
    assert right.report is not None
    ignored = LessonResult("tiny", "Tiny", LessonStatus.MISSING, 0, 4.0, file="tiny (1).py")
    entry = GradebookEntry("b", (), replace(right.report, score=0, lessons=(ignored,)))
    room = collect_statistics([right, entry], [LESSON])
    assert list(room.scores) == [4.0]
    assert [row.score for row in room.rows] == [4.0, None]


def test_a_submission_that_was_never_judged_is_a_grader_fault() -> None:
    room = collect_statistics(
        [GradebookEntry("a", (), problem="its host died twice", fault=True)], [LESSON]
    )
    assert [note.text for note in room.faults] == ["its host died twice"]
    assert not room.problems
    assert next(iter(room.rows)).states == (State.FAULT,)


def test_missing_and_unreadable_are_rows_with_a_state_and_no_score() -> None:
    room = collect_statistics(
        [GradebookEntry("a", (), missing=True), GradebookEntry("b", (), problem="no zip")], [LESSON]
    )
    assert [row.states for row in room.rows] == [(State.MISSING,), (State.PROBLEM,)]
    assert list(room.scores) == []
    assert room.problems[0].text == "no zip"


def test_adjustments_are_in_the_scores_and_in_full_marks() -> None:
    entry = replace(
        handed("a", PASSED, FAILED),
        adjustments=(Adjustment(2.0, "the check was wrong", "ada", "2026-11-20T09:00:00Z"),),
    )
    room = collect_statistics([entry], [LESSON])
    assert list(room.scores) == [4.0]
    assert set(next(iter(room.rows)).states) == {State.ADJUSTED, State.FULL}


def test_what_the_columns_do_not_have_is_counted_all_the_same() -> None:
    """If the course changed between two gradings, nothing of a report is lost."""
    assert [
        one.column.id
        for one in collect_statistics([handed("a", PASSED, FAILED)], []).lessons[0].checks
    ] == ["tiny.one", "tiny.two"]


def test_entries_are_read_once() -> None:
    """A stream of entries is enough."""
    assert len(collect_statistics(iter(list(random_entries(9))), random_columns()).rows) == 9


def test_a_share_is_nothing_or_all_only_where_it_is() -> None:
    assert [percent(part) for part in (0.0, 0.001, 0.999, 1.0, None)] == [
        "0\xa0%",
        "1\xa0%",
        "99\xa0%",
        "100\xa0%",
        "–",
    ]
