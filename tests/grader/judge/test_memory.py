"""If a student's values exceed the judge's memory limit, only that check fails."""

from __future__ import annotations

import shutil

import pytest

from grader.core.messages import Settings
from grader.core.report import CheckResult, Outcome
from grader.course.course import Course, load_course
from grader.course.submission import LessonFile
from grader.judge.exception_verdicts import JUDGE_BYTES, JudgeMemory, free_frames
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson

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
def course(small_course: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("memory") / "course"
    shutil.copytree(small_course.root, root)
    with (root / "tests/checks/tiny/test_hidden.py").open("a", encoding="utf-8") as stream:
        stream.write(CHECKS.replace("assert_that", "helping.assert_that"))
        stream.write("\n\nimport grader.authoring as helping\n")
    return load_course(root)


def graded(host: ForkServerClient, course: Course, text: str) -> dict[str, CheckResult]:
    lesson = course.lesson("tiny")
    result = grade_lesson(host, lesson, LessonFile("tiny", "tiny.py", text), Settings(3)).result
    return {check.title: check for check in result.checks}


def test_values_that_take_too_much_memory_fail_their_check(
    host: ForkServerClient, course: Course
) -> None:
    """This holds in torch and in Python; the next submission has all of the memory again."""
    for _ in range(3):
        wrong = graded(host, course, WIDE)
        for name in ("outer", "list"):
            assert wrong[name].outcome is Outcome.FAILED
            assert "1024 MB" in str(wrong[name].message)
        right = graded(host, course, GOOD)
        assert {right[name].outcome for name in ("outer", "list")} == {Outcome.PASSED}


def test_what_takes_too_much_with_the_reference_too_is_our_fault(
    host: ForkServerClient, course: Course
) -> None:
    check = graded(host, course, GOOD)["our own"]
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
