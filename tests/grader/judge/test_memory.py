"""If a student's values exceed the judge's memory limit, only that check fails."""

from __future__ import annotations

import shutil

import pytest
from graded import Grade, by_name

from grader.core.report import Outcome
from grader.course.course import Course, Lesson, load_course
from grader.judge.exception_verdicts import JUDGE_BYTES, JudgeMemory, free_frames

pytestmark = pytest.mark.linux
CHECKS = """

@check(points=1, about="double")
def test_outer(student):
    \"\"\"outer\"\"\"
    import torch
    got = student.double(torch.ones(3, dtype=torch.float64))
    assert_that(bool((got[:, None] * got[None, :]).sum() == 36), "the outer product is wrong")


@check(points=1, about="double")
def test_list(student):
    \"\"\"list\"\"\"
    import torch
    got = student.double(torch.ones(3, dtype=torch.float64))
    assert_that(len([0] * len(got) ** 2) == 9, "the list is wrong")


@check(points=1, about="triple")
def test_our_own(student):
    \"\"\"our own\"\"\"
    import torch
    student.triple(torch.ones(1, dtype=torch.float64))
    torch.ones(1 << 30, dtype=torch.float64)
"""
GOOD = "def double(x): return 2 * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"
WIDE = GOOD.replace("return 2 * x", "return (2 * x).repeat(7_000)")


@pytest.fixture(scope="module")
def lesson(small_course: Course, tmp_path_factory: pytest.TempPathFactory) -> Lesson:
    root = tmp_path_factory.mktemp("memory") / "course"
    shutil.copytree(small_course.root, root)
    with (root / "tests/checks/tiny/test_hidden.py").open("a", encoding="utf-8") as stream:
        stream.write(CHECKS.replace("assert_that", "helping.assert_that"))
        stream.write("\n\nimport grader.authoring as helping\n")
    return load_course(root).lesson("tiny")


def test_values_that_take_too_much_memory_fail_their_check(
    grade_text: Grade, lesson: Lesson
) -> None:
    """This holds in torch and in Python; the next submission has all of the memory again."""
    for _ in range(3):
        wrong = by_name(grade_text(lesson, WIDE))
        for name in ("outer", "list"):
            assert wrong[name].outcome is Outcome.FAILED
            assert "1024 MB" in str(wrong[name].message)
        right = by_name(grade_text(lesson, GOOD))
        assert {right[name].outcome for name in ("outer", "list")} == {Outcome.PASSED}


def test_what_takes_too_much_with_the_reference_too_is_our_fault(
    grade_text: Grade, lesson: Lesson
) -> None:
    check = by_name(grade_text(lesson, GOOD))["our_own"]
    assert check.outcome is Outcome.GRADER_ERROR
    assert "allocate memory" in str(check.message)


def test_a_judge_that_holds_half_of_its_memory_is_crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    used = [1000]
    monkeypatch.setattr("grader.judge.exception_verdicts.address_space_bytes", lambda: used[0])
    monkeypatch.setattr("grader.judge.exception_verdicts.set_limit", lambda which, value: value)
    memory = JudgeMemory()
    memory.limit()
    assert memory.limited and not memory.crowded
    used[0] += JUDGE_BYTES // 2 + 1
    assert memory.crowded


def test_a_host_that_allows_less_is_not_the_students_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.judge.exception_verdicts.set_limit", lambda which, value: value - 1)
    memory = JudgeMemory()
    memory.limit()
    assert not memory.limited


class Held:
    """An object that reports when it is freed."""

    dropped = False

    def __del__(self) -> None:
        Held.dropped = True


def test_an_exception_lets_go_of_what_its_frames_hold() -> None:
    def fail() -> None:
        held = Held()
        raise ValueError(str(held)[:1])

    try:
        fail()
    except ValueError as error:
        assert not Held.dropped
        free_frames(error)
        assert Held.dropped
