"""Progress is stored carefully, read tolerantly, and written as a whole or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.course.course import Course, Lesson
from grader.course.progress import (
    HISTORY_LENGTH,
    PROGRESS_FILE,
    LessonProgress,
    LessonState,
    MistakeRecord,
    Progress,
    ScorePoint,
    course_summary,
    find_workspace,
    needs,
    next_lesson,
    opened_by,
    read_progress,
    standing,
    update_progress,
)

MONDAY, TUESDAY, FRIDAY = (f"2026-03-0{day}T10:00:00+00:00" for day in (2, 3, 6))
EMPTY = LessonProgress()


def check(name: str, outcome: Outcome = Outcome.PASSED, **details: Any) -> CheckResult:
    details = {"function": "f", "points": 0.0, "max_points": 1.0, **details}
    return CheckResult(f"tiny.{name}", name, outcome=outcome, **details)


def failed(name: str, **details: Any) -> CheckResult:
    return check(name, Outcome.FAILED, **details)


def result(
    score: float, *checks: CheckResult, status: LessonStatus = LessonStatus.FAILED
) -> LessonResult:
    return LessonResult("tiny", "Tiny", status, score, 10.0, checks=checks)


def unchanged(progress: Progress) -> Progress:
    return progress


def test_a_result_raises_the_best_and_replaces_the_last() -> None:
    after = EMPTY.graded(result(8.0, check("a")), MONDAY)
    after = after.graded(result(3.0, check("a")), TUESDAY)
    assert (after.attempts, after.best, after.last) == (2, 8.0, 3.0)
    assert [(point.at, point.score) for point in after.history] == [(MONDAY, 8.0), (TUESDAY, 3.0)]


def test_a_lesson_is_begun_by_writing_not_by_grading_all_that_is_here() -> None:
    """A stub is not an attempt; a begun lesson that is a stub again is one."""
    blank = result(0.0, check("a", Outcome.NOT_STARTED), status=LessonStatus.NOT_STARTED)
    assert EMPTY.graded(blank, MONDAY) == EMPTY
    again = EMPTY.graded(result(8.0, check("a")), MONDAY).graded(blank, TUESDAY)
    assert (again.attempts, again.best, again.last) == (2, 8.0, 0.0)


def test_a_score_that_stays_is_one_point_of_the_history_and_the_history_is_bounded() -> None:
    progress = LessonProgress()
    for _ in range(3):
        progress = progress.graded(result(5.0, check("a")), MONDAY)
    assert len(progress.history) == 1
    for number in range(2 * HISTORY_LENGTH):
        progress = progress.graded(result(float(number % 2), check("a")), TUESDAY)
    assert len(progress.history) == HISTORY_LENGTH


def test_full_marks_complete_a_lesson_once_and_for_all() -> None:
    full = EMPTY.graded(result(10.0, check("a"), status=LessonStatus.PASSED), MONDAY)
    assert full.complete
    later = full.graded(result(0.0, failed("a")), TUESDAY)
    assert (later.complete, later.completed_at) == (True, MONDAY)


def test_a_bundles_lesson_is_complete_when_all_that_it_shows_is_right() -> None:
    """Checks that are held back can't be passed there, so completion must not depend on them."""
    shown = replace(result(6.0, check("a")), held_checks=3, held_points=4.0)
    partly = replace(shown, checks=(check("a"), failed("b")))
    nothing = replace(shown, checks=())
    complete = [EMPTY.graded(one, MONDAY).complete for one in (shown, partly, nothing)]
    assert complete == [True, False, False]


def test_a_mistake_is_cleared_when_its_own_check_passes_and_not_when_that_waits() -> None:
    def squared(progress: LessonProgress) -> MistakeRecord:
        return progress.mistakes["squared"]

    met = EMPTY.graded(result(0.0, failed("a", diagnosis="squared")), MONDAY)
    waiting = met.graded(result(0.0, failed("b"), check("a", Outcome.SKIPPED)), TUESDAY)
    assert squared(waiting).cleared_at is None
    cleared = waiting.graded(result(5.0, check("a")), FRIDAY)
    assert (squared(cleared).seen_at, squared(cleared).cleared_at) == (MONDAY, FRIDAY)
    again = cleared.graded(result(0.0, failed("a", diagnosis="squared")), FRIDAY)
    assert (cleared.cleared, again.cleared, squared(again).seen_at) == (1, 0, MONDAY)


def test_one_is_stuck_on_what_is_wrong_before_what_is_not_started() -> None:
    blank = check("a", Outcome.NOT_STARTED)
    wrong = check("b", Outcome.ERROR, function="g")
    assert EMPTY.graded(result(0.0, blank, wrong), MONDAY).stuck_on == "g"
    assert EMPTY.graded(result(0.0, check("c"), blank), MONDAY).stuck_on == "f"
    assert EMPTY.graded(result(1.0, check("c")), MONDAY).stuck_on is None


def test_what_was_wrong_in_the_last_run_is_known_with_its_seed() -> None:
    """Waiting checks and failures of earlier runs are not included."""
    wrong = [failed("a", seed=1), check("b", Outcome.ERROR, seed=2)]
    first = EMPTY.graded(result(0.0, *wrong), MONDAY)
    assert first.wrong == {"tiny.a": 1, "tiny.b": 2}
    waits = [check("c", Outcome.SKIPPED), check("d", Outcome.NOT_STARTED)]
    later = result(5.0, check("a"), check("b", Outcome.TIMEOUT, seed=3), *waits)
    assert first.graded(later, TUESDAY).wrong == {"tiny.b": 3}


def test_a_file_that_can_not_be_loaded_is_an_attempt_and_a_grader_fault_is_nothing() -> None:
    before = EMPTY.graded(result(8.0, check("a")), MONDAY)
    after = before.graded(result(0.0, status=LessonStatus.INVALID), TUESDAY)
    assert after == replace(before, attempts=2)
    assert before.graded(result(0.0, check("a", Outcome.GRADER_ERROR)), TUESDAY) == before


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    mine = LessonProgress(hints={"f": 2}, gave_up_at=FRIDAY).graded(
        result(4.0, failed("a", diagnosis="m")), MONDAY
    )
    update_progress(tmp_path, lambda progress: progress.having("tiny", mine))
    assert read_progress(tmp_path).of("tiny") == mine
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS_FILE]


@pytest.mark.parametrize(
    "lessons",
    [[], {"tiny": {"attempts": {"count": 3}}}, {"tiny": {"attempts": 3, "mood": "good"}}],
    ids=["a list", "another shape", "a field more"],
)
def test_a_file_of_a_newer_version_is_left_as_it_is(lessons: object, tmp_path: Path) -> None:
    newer = json.dumps({"version": 7, "theme": "dark", "lessons": lessons})
    (tmp_path / PROGRESS_FILE).write_text(newer)
    assert read_progress(tmp_path).of("tiny").attempts == (3 if "mood" in newer else 0)
    update_progress(tmp_path, lambda progress: progress.having("tiny", LessonProgress(attempts=1)))
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS_FILE]
    assert (tmp_path / PROGRESS_FILE).read_text() == newer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "\xff",
        "[" * 100_000,
        '{"lessons": {}' + " " * (1 << 20) + "}",
        '{"lessons": {"a": {"attempts": "many"}}}',
        '{"lessons": {"a": {"best": NaN}}}',
        '{"lessons": {"a": {"last": -3}}}',
        '{"lessons": {"a": {"hints": {"f": 9}}}}',
        '{"lessons": {"a": {"history": [[1], 2]}}}',
    ],
    ids=lambda text: text[:5],
)
def test_a_damaged_file_counts_as_none_and_is_set_aside(text: str, tmp_path: Path) -> None:
    (tmp_path / PROGRESS_FILE).write_bytes(text.encode("latin-1"))
    assert read_progress(tmp_path) == Progress()
    update_progress(tmp_path, unchanged)
    assert (tmp_path / f"{PROGRESS_FILE}.damaged").read_bytes() == text.encode("latin-1")
    assert json.loads((tmp_path / PROGRESS_FILE).read_text())["lessons"] == {}


def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update_progress(tmp_path, unchanged)
    before = (tmp_path / PROGRESS_FILE).read_text()

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="no space"):
        update_progress(tmp_path, lambda progress: progress.having("tiny", FULL))
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS_FILE]
    assert (tmp_path / PROGRESS_FILE).read_text() == before


def test_a_workspace_is_found_from_a_folder_inside_it_and_nowhere_else(tmp_path: Path) -> None:
    inside = tmp_path / "work" / "tiny"
    inside.mkdir(parents=True)
    assert find_workspace(inside) is None
    update_progress(tmp_path / "work", unchanged)
    assert find_workspace(inside) == (tmp_path / "work").resolve()
    assert find_workspace(tmp_path) is None


# ------------------------------------------------------------------------- a way through the course


FULL = LessonProgress(attempts=1, best=10.0, last=10.0, completed_at=MONDAY)


def lesson(name: str, *builds_on: str) -> Lesson:
    return Lesson(Path(), name, name, name, ("f",), builds_on=builds_on)


A, B, C, D = lesson("a"), lesson("b", "a"), lesson("c", "a", "b"), lesson("d")
COURSE = Course(Path(), "c", "C", "1", (A, B, C, D))


def done(*names: str) -> Progress:
    return Progress(dict.fromkeys(names, FULL))


def test_a_lesson_waits_for_what_it_builds_on() -> None:
    """One that is taken early is in progress as soon as it is tried."""
    assert needs(C, done("a")) == ("b",)
    complete, open, waiting = LessonState.COMPLETE, LessonState.OPEN, LessonState.WAITING
    states = [standing(one, done("a")) for one in COURSE.lessons]
    assert states == [complete, open, waiting, open]
    assert standing(C, Progress({"c": LessonProgress(attempts=1)})) is LessonState.BEGUN
    assert standing(C, Progress({"c": LessonProgress()})) is waiting


def test_next_is_the_first_unfinished_lesson_that_waits_for_none() -> None:
    found = [next_lesson(COURSE, done(*names)) for names in ("", "a", "abc", "abcd")]
    assert found == [A, B, D, None]


@pytest.mark.parametrize(("of_y", "following"), [((), 1), (("x",), 0)])
def test_next_passes_over_a_lesson_that_waits_for_a_later_one(
    of_y: tuple[str, ...], following: int
) -> None:
    """If they wait for each other, the first is next."""
    course = Course(Path(), "c", "C", "1", (lesson("x", "y"), lesson("y", *of_y)))
    assert next_lesson(course, done()) is course.lessons[following]


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
    assert (found.complete, found.lessons) == (2, 4)
    assert (found.score, found.max_score, found.bonus) == (20.0, 40.0, 1.0)
    assert (found.attempts, found.mistakes, found.hints) == (5, 1, 3)
    assert (found.solutions_seen, found.days) == (1, 1)
    assert (found.began, found.ended, found.finished) == ("2026-03-05", "2026-03-06", False)
    assert course_summary(COURSE, done("a", "b", "c", "d")).finished
