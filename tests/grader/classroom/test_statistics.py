"""Statistics of a class: item analysis agrees with the formulas, and each number counts the right
people.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import replace

import pytest
from factories.gradebook import make_check, make_lesson, make_report, missing_lesson
from factories.random_gradebook import random_columns, random_entries

from grader.classroom.gradebook.entry import (
    Adjustment,
    CheckColumn,
    GradebookEntry,
    Lateness,
    LessonColumn,
)
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.statistics.class_page import deviation, percent
from grader.classroom.statistics.collect import (
    CheckFacts,
    Classroom,
    Loss,
    State,
    collect_statistics,
    histogram,
)
from grader.classroom.statistics.first_screen import first_screen
from grader.classroom.statistics.item_analysis import FEWEST, Moments, point_biserial
from grader.core.report import LessonStatus, Outcome

CHECKS = (
    CheckColumn("tiny.one", "one", 2.0, False, False),
    CheckColumn("tiny.two", "two", 2.0, False, True),
)
LESSON = LessonColumn("tiny", "Tiny", 4.0, 0.0, CHECKS)
PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


def moments(numbers: list[float]) -> Moments:
    kept = Moments()
    for number in numbers:
        kept.add(number)
    return kept


def handed(
    name: str, *outcomes: Outcome, diagnoses: tuple[str | None, ...] = (None, None)
) -> GradebookEntry:
    """Return a submission of the tiny lesson, given an outcome and a mistake for each of its two
    checks.
    """
    checks = [
        make_check(
            column,
            outcome,
            diagnosis=diagnosis,
            diagnosis_title=diagnosis and f"{diagnosis}, in words",
            evidence=diagnosis and f"{name} returned 3",
        )
        for column, outcome, diagnosis in zip(CHECKS, outcomes, diagnoses, strict=True)
    ]
    report = make_report(name, [make_lesson(LESSON, checks)])
    return GradebookEntry(name, (StudentIdentity(name),), report)


def room_of(*entries: GradebookEntry) -> Classroom:
    return collect_statistics(entries, [LESSON])


def check(room: Classroom, number: int) -> CheckFacts:
    return room.lessons[0].checks[number]


WIDE = LessonColumn(
    "wide",
    "Wide",
    12.0,
    1.0,
    (
        *(CheckColumn(f"wide.{n}", f"check {n}", 2.0, False, False) for n in range(6)),
        CheckColumn("wide.bonus", "bonus", 1.0, True, False),
    ),
)
MARKS = {"p": PASSED, "f": FAILED, "w": Outcome.SKIPPED, ".": Outcome.NOT_STARTED}


def wide(name: str, marks: str, diagnosis: str | None = None) -> GradebookEntry:
    """Return a submission of the wide lesson: a mark for each check, in which w waits for the
    first. Its functions are f (the first three checks) and g; failures show the mistake.
    """
    checks = []
    for n, (column, mark) in enumerate(zip(WIDE.checks, marks, strict=False)):
        named = diagnosis if mark == "f" else None
        result = make_check(
            column,
            MARKS[mark],
            needs="wide.0" if mark == "w" else None,
            diagnosis=named,
            diagnosis_title=named,
            signature=None if named or mark != "f" else "alike",
        )
        checks.append(replace(result, function="f" if n < 3 else "g"))
    return GradebookEntry(name, (), make_report(name, [make_lesson(WIDE, checks)]))


def wide_room(*answers: str, diagnosis: str | None = None) -> Classroom:
    """Return the statistics of a class with the answers that these marks stand for."""
    entries = [wide(f"{n:02}", marks, diagnosis) for n, marks in enumerate(answers)]
    return collect_statistics(entries, [WIDE])


def suspected(room: Classroom) -> list[str]:
    return [one.check.column.id for one in first_screen(room).suspects]


def opposed() -> Classroom:
    """Return the statistics of twenty people, each of whom passes one of two checks."""
    pairs = [(PASSED, FAILED) if n % 2 else (FAILED, PASSED) for n in range(20)]
    return room_of(*(handed(f"{n:02}", *pair) for n, pair in enumerate(pairs)))


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
    assert check(opposed(), 0).discrimination == pytest.approx(-1.0)


def test_full_marks_are_in_the_last_column_of_the_histogram_and_nothing_falls_out() -> None:
    bins = histogram([-1.0, 0.0, 0.999, 1.0, 9.0, 10.0, 12.0], 10.0)
    assert [one.count for one in bins] == [3, 1, 0, 0, 0, 0, 0, 0, 0, 3]


def test_mistakes_made_together_are_ranked_by_their_jaccard_index() -> None:
    """Two that only two people share may be chance."""
    made = [("a", "b")] * 3 + [("a", "c")] * 4 + [("a", None)] * 3 + [("b", "c")] * 2
    entries = (handed(f"{n}", FAILED, FAILED, diagnoses=pair) for n, pair in enumerate(made))
    found = [(one.one.id, one.other.id, one.both, one.share) for one in room_of(*entries).together]
    assert found == [("a", "c", 4, 4 / 12), ("a", "b", 3, 3 / 12)]


def test_students_who_did_not_begin_count_in_no_share() -> None:
    """One is right, one wrong, one waits, one has not begun: right are 1 of 3 who began, and 1 of
    the 2 for whom the check ran.
    """
    room = room_of(
        handed("a", PASSED, PASSED),
        handed("b", PASSED, FAILED),
        handed("c", FAILED, Outcome.SKIPPED),
        handed("d", PASSED, Outcome.NOT_STARTED),
    )
    second = check(room, 1)
    assert (second.passed, second.began, second.judged, second.difficulty) == (1, 3, 2, 0.5)


def test_a_check_that_nobody_passes_is_doubted_and_is_nothing_to_reteach() -> None:
    entries = [handed(name, PASSED, FAILED) for name in "abc"]
    room = room_of(*entries)
    assert suspected(room) == ["tiny.two"]
    assert first_screen(room).topics == []
    assert suspected(room_of(*entries[:2])) == []


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (["pppppf"] * 6 + ["pppppp"] * 3, ["wide.5"]),
        (["pppppf"] * 5 + ["pppppp"] * 3, []),
        (["pppppf"] * 2 + ["pppppp"], []),
        (["ffpppf"] * 6 + ["pppppp"] * 3, []),
        (["ppppff"] * 6 + ["pppppp"], ["wide.4", "wide.5"]),
        (["fwwppp"] * 6 + ["pppppp", "pfffff"], ["wide.0"]),
        (["fwwppp"] * 6 + ["pffppp"] * 4 + ["pppppp"], ["wide.1", "wide.2"]),
        (["fwwffp"] * 6 + ["pppppp"] * 3, []),
        (["ppppppf"] * 10 + ["ppfpfpp"] * 10, []),
    ],
    ids=[
        "most answers that look right fail it",
        "many do",
        "too few do",
        "those who fail it fail others",
        "two such checks",
        "others wait for it",
        "others wait for it, and who passes it fails them",
        "others wait for it, and the rest is wrong",
        "a bonus",
    ],
)
def test_a_check_that_most_answers_that_look_right_fail_is_suspected(
    answers: list[str], found: list[str]
) -> None:
    assert suspected(wide_room(*answers)) == found


def test_a_suspected_check_comes_with_its_mistake_which_is_nothing_to_reteach() -> None:
    """A mistake that most people also made elsewhere stays."""
    answers = ["pppppf"] * 6 + ["pppppp"] * 2
    first = first_screen(wide_room(*answers, diagnosis="m"))
    assert [[mistake.id for mistake in one.mistakes] for one in first.suspects] == [["m"]]
    assert first.topics == []
    first = first_screen(wide_room(*answers, *["fpfpfp"] * 6, diagnosis="m"))
    assert [one.mistakes for one in first.suspects] == [[]]
    assert [topic.title for topic in first.topics] == ["m"]


def test_a_missed_bonus_is_not_a_mistake() -> None:
    room = wide_room(*["ppppppf"] * 4, diagnosis="m")
    unnamed = wide_room(*["ppppppf"] * 4)
    assert (room.mistakes, unnamed.groups) == ([], [])
    assert [*first_screen(room).topics, *first_screen(unnamed).topics] == []
    assert check(room, 6).outcomes[FAILED] == 4
    assert [row.mistakes for row in room.rows] == [()] * 4


def test_what_a_mistake_costs_includes_the_points_that_wait_for_it() -> None:
    room = wide_room("fwwppp", "fwwfpp", "pppppp", diagnosis="m")
    (mistake,) = room.mistakes
    assert mistake.loss == Loss(points=14.0, waiting=8.0)
    assert check(room, 0).loss == Loss(points=12.0, waiting=8.0)
    assert [topic.loss for topic in first_screen(room).topics] == [mistake.loss]


def test_far_behind_is_who_has_less_than_half_the_median_and_why() -> None:
    """Neither a penalty for lateness nor a file that could not be loaded puts anybody behind."""
    late = replace(
        wide("late", "pppppp"), lateness=Lateness("2026-12-01T00:00:00+00:00", 60.0, 90.0)
    )
    broken = replace(missing_lesson(WIDE), status=LessonStatus.INVALID, file="w/wide.py")
    entries = [
        wide("a", "pppppp"),
        wide("b", "ppfffp", "m"),
        wide("c", "fwwfff", "m"),
        wide("d", "pppppf"),
        late,
        GradebookEntry("broken", (), make_report("broken", [broken])),
    ]
    room = collect_statistics(entries, [WIDE])
    assert room.behind_below == 5.0
    first = first_screen(room)
    (one,) = first.behind
    assert (one.person.name, one.score, one.not_handed_in) == ("c", 0.0, 0)
    assert [(part.lesson.id, part.points, part.mistake) for part in one.lessons] == [
        ("wide", 0.0, "m")
    ]
    assert [(note.person.name, note.where) for note in first.ungraded] == [("broken", "w/wide.py")]
    behind = [State.BEHIND in room.states(row) for row in room.rows]
    assert behind == [False, False, True, False, False, False]


def test_a_file_with_other_content_is_no_answer_to_the_checks() -> None:
    """The note has its path, what it defines and the lesson that has these functions."""
    swapped = make_lesson(LESSON, [make_check(one, FAILED) for one in CHECKS])
    swapped = replace(swapped, file="week 2/tiny.py", defines_instead=("g", "helper"))
    entry = GradebookEntry("b", (), make_report("b", [swapped]))
    room = collect_statistics([wide("a", "pppppp"), handed("c", PASSED, PASSED), entry], [])
    (note,) = room.foreign
    assert note.where == "week 2/tiny.py"
    assert note.text == "defines none of the functions of “Tiny”, but those of “Wide”"
    tiny = next(one for one in room.lessons if one.id == "tiny")
    assert (tiny.began, len(tiny.scores), tiny.checks[0].judged) == (1, 1, 1)
    assert [row.states for row in room.rows if row.person.name == "b"] == [(State.FOREIGN,)]
    assert note in first_screen(room).ungraded


def test_a_check_against_the_rest_is_doubted() -> None:
    assert "better scores" in (check(opposed(), 0).doubt or "")


def test_a_check_that_chance_may_have_turned_is_not_doubted() -> None:
    """A correlation of −0.4 means little with twenty answers, and much with two hundred."""
    pattern = [(PASSED, FAILED), (FAILED, PASSED)] * 7 + [(PASSED, PASSED), (FAILED, FAILED)] * 3
    entries = [handed(f"{n:03}", *pattern[n % 20]) for n in range(200)]
    few, many = room_of(*entries[:20]), room_of(*entries)
    assert check(few, 0).discrimination == pytest.approx(-0.4)
    assert (len(suspected(few)), len(suspected(many))) == (0, 2)


def test_a_mistake_counts_once_for_each_person() -> None:
    """The number of failed checks does not matter; the example is the first person's and names
    nobody.
    """
    room = room_of(
        handed("a", FAILED, FAILED, diagnoses=("m", "m")),
        handed("b", FAILED, PASSED, diagnoses=("m", None)),
    )
    (mistake,) = room.mistakes
    assert [person.name for person in mistake.people.first] == ["a", "b"]
    assert (mistake.title, mistake.check) == ("m, in words", "one")


def test_topics_are_the_commonest_mistakes_and_then_what_has_no_name() -> None:
    rare = handed("a", FAILED, FAILED, diagnoses=("rare", None))
    room = room_of(
        rare,
        handed("b", FAILED, FAILED, diagnoses=("common", None)),
        handed("c", FAILED, PASSED, diagnoses=("common", None)),
        handed("d", PASSED, PASSED),
    )
    found = [
        (topic.title, topic.people.count, bool(topic.check)) for topic in first_screen(room).topics
    ]
    assert found == [("common, in words", 2, True), ("two", 2, False)]
    assert first_screen(room_of(rare)).topics == []  # one person's mistakes are not for the class


def test_sections_and_versions_are_counted() -> None:
    a, b = handed("a", PASSED, PASSED), handed("b", PASSED, FAILED)
    north = StudentIdentity("A", {}, {"section": "north"})
    south = StudentIdentity("B", {}, {"section": "south"})
    room = room_of(
        replace(a, students=(north,), history=(1.0, 4.0)), replace(b, students=(south, north))
    )
    sections = {name: list(scores) for name, scores in room.sections.items()}
    assert sections == {"north": [a.score, b.score], "south": [b.score]}
    assert [(moments.count, moments.total) for moments in room.again] == [(1, 1.0), (1, 4.0)]
    shown = [(row.history, row.section) for row in room.rows]
    assert shown == [((1.0, 4.0), "north"), ((), "south, north")]
    lesson = room.lessons[0]
    assert deviation(lesson.scores) == f"{statistics.pstdev([a.earned, b.earned]):.1f}"
    assert sum(column.count for column in lesson.bins) == 2


def test_our_fault_is_no_zero() -> None:
    """A submission with a grader fault is in no average, and the check has no verdict for it."""
    room = room_of(handed("a", PASSED, PASSED), handed("b", PASSED, Outcome.GRADER_ERROR))
    assert list(room.scores) == [4.0]
    assert [note.person.name for note in room.faults] == ["b"]
    assert list(room.rows)[1].states == (State.FAULT,)
    assert check(room, 1).judged == 1


def test_a_file_that_was_not_graded_for_its_name_is_no_zero() -> None:
    ignored = replace(missing_lesson(LESSON), file="tiny (1).py")
    flags = ("tiny: tiny (1).py is not called tiny.py",)
    entry = GradebookEntry("b", (), make_report("b", [ignored], flags=flags))
    room = room_of(handed("a", PASSED, PASSED), entry)
    assert list(room.scores) == [4.0]
    assert [row.score for row in room.rows] == [4.0, None]
    assert [(note.person.name, note.text) for note in room.problems] == [("b", ignored.message)]
    assert room.flags == []


def test_a_submission_that_was_never_judged_is_a_grader_fault() -> None:
    room = room_of(GradebookEntry("a", (), problem="its host died twice", fault=True))
    assert [note.text for note in room.faults] == ["its host died twice"]
    assert not room.problems
    assert next(iter(room.rows)).states == (State.FAULT,)


def test_missing_and_unreadable_are_rows_with_a_state_and_no_score() -> None:
    unreadable = GradebookEntry("b", (), problem="no zip")
    room = room_of(GradebookEntry("a", (), missing=True), unreadable)
    assert [row.states for row in room.rows] == [(State.MISSING,), (State.PROBLEM,)]
    assert list(room.scores) == []
    assert room.problems[0].text == "no zip"


def test_adjustments_are_in_the_scores_and_in_full_marks() -> None:
    given = Adjustment(2.0, "the check was wrong", "ada", "2026-11-20T09:00:00Z")
    room = room_of(replace(handed("a", PASSED, FAILED), adjustments=(given,)))
    assert list(room.scores) == [4.0]
    assert set(next(iter(room.rows)).states) == {State.ADJUSTED, State.FULL}


def test_a_lesson_that_was_not_handed_in_has_points_if_a_person_gave_some() -> None:
    given = Adjustment(2.0, "came by mail", "ada", "2026-11-20T09:00:00Z", lesson=LESSON.id)
    late = replace(handed("a", PASSED, FAILED), report=make_report("a", [missing_lesson(LESSON)]))
    room = room_of(late, replace(late, name="b", adjustments=(given,)))
    assert [row.points for row in room.rows] == [(None,), (2.0,)]


def test_what_the_columns_do_not_have_is_counted_all_the_same() -> None:
    """If the course changed between two gradings, nothing of a report is lost."""
    (lesson,) = collect_statistics([handed("a", PASSED, FAILED)], []).lessons
    assert [one.column.id for one in lesson.checks] == ["tiny.one", "tiny.two"]


def test_entries_are_read_once() -> None:
    """A stream of entries is enough."""
    assert len(collect_statistics(iter(list(random_entries(9))), random_columns()).rows) == 9


def test_a_share_is_nothing_or_all_only_where_it_is() -> None:
    shown = [percent(part) for part in (0.0, 0.001, 0.999, 1.0, None)]
    assert shown == ["0\xa0%", "1\xa0%", "99\xa0%", "100\xa0%", "–"]
