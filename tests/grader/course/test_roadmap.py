"""A learner's way through a course: which lessons are open, which is next, and the totals."""

from __future__ import annotations

from pathlib import Path

from grader.course.course import Course, Lesson
from grader.course.progress import (
    LessonProgress,
    LessonState,
    MistakeRecord,
    Progress,
    ScorePoint,
    course_summary,
    needs,
    next_lesson,
    opened_by,
    standing,
)

FULL = LessonProgress(attempts=1, best=10.0, last=10.0, completed_at="2026-03-02T10:00:00+00:00")


def lesson(name: str, *builds_on: str) -> Lesson:
    return Lesson(Path(), name, name, name, ("f",), builds_on=builds_on)


A, B, C, D = lesson("a"), lesson("b", "a"), lesson("c", "a", "b"), lesson("d")
COURSE = Course(Path(), "c", "C", "1", (A, B, C, D))


def done(*names: str) -> Progress:
    return Progress(dict.fromkeys(names, FULL))


def test_a_lesson_waits_for_what_it_builds_on() -> None:
    assert needs(C, done("a")) == ("b",)
    assert [standing(one, done("a")) for one in COURSE.lessons] == [
        LessonState.COMPLETE,
        LessonState.OPEN,
        LessonState.WAITING,
        LessonState.OPEN,
    ]


def test_a_lesson_taken_early_is_in_progress_as_soon_as_it_is_tried() -> None:
    assert standing(C, Progress({"c": LessonProgress(attempts=1)})) is LessonState.BEGUN
    assert standing(C, Progress({"c": LessonProgress()})) is LessonState.WAITING


def test_next_is_the_first_unfinished_lesson_that_waits_for_none() -> None:
    assert next_lesson(COURSE, done()) is A
    assert next_lesson(COURSE, done("a")) is B
    assert next_lesson(COURSE, done("a", "b", "c")) is D
    assert next_lesson(COURSE, done("a", "b", "c", "d")) is None


def test_next_passes_over_a_lesson_that_waits_for_a_later_one() -> None:
    course = Course(Path(), "c", "C", "1", (lesson("x", "y"), lesson("y")))
    assert next_lesson(course, done()) is course.lessons[1]


def test_lessons_that_wait_for_each_other_still_have_a_next_one() -> None:
    course = Course(Path(), "c", "C", "1", (lesson("x", "y"), lesson("y", "x")))
    assert next_lesson(course, done()) is course.lessons[0]


def test_a_lesson_opens_those_that_wait_for_it_alone() -> None:
    assert opened_by(COURSE, A, done()) == (B,)
    assert opened_by(COURSE, B, done("a")) == (C,)


def test_the_end_counts_what_was_done_and_not_what_is_no_lesson() -> None:
    mine = LessonProgress(
        attempts=4,
        best=10.0,
        bonus=1.0,
        completed_at="2026-03-06T09:00:00+00:00",
        gave_up_at="2026-03-05T09:00:00+00:00",
        hints={"f": 2, "g": 1},
        mistakes={"m": MistakeRecord("c", "x", "y"), "n": MistakeRecord("c", "x")},
        history=(ScorePoint("2026-03-05T09:00:00+00:00", 3.0),),
    )
    progress = Progress({"a": mine, "b": FULL, "gone": FULL})
    found = course_summary(COURSE, progress)
    assert (found.complete, found.lessons, found.score, found.max_score, found.bonus) == (
        2,
        4,
        20.0,
        40.0,
        1.0,
    )
    assert (found.attempts, found.mistakes, found.hints, found.solutions_seen, found.days) == (
        5,
        1,
        3,
        1,
        1,
    )
    assert (found.began, found.ended, found.finished) == ("2026-03-05", "2026-03-06", False)
    assert course_summary(COURSE, done("a", "b", "c", "d")).finished
