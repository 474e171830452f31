"""Each thing that is wrong with a lesson is said once, with the answers and seeds that show it."""

from __future__ import annotations

import pytest

from grader.core.report import CheckResult, Outcome
from grader.course.course import Course
from grader.verify.case_result import Case, CaseResult, fault_of
from grader.verify.grouped_problems import grouped


def troubles(course: Course, *found: tuple[str, dict[int, str]]) -> list[str]:
    """Group what mistakes of these names are told from seeds."""
    lesson = course.lesson("tiny")
    cases = {
        Case(lesson, "mistake", name, ""): {
            seed: CaseResult(trouble=(text,)) for seed, text in runs.items()
        }
        for name, runs in found
    }
    return list(grouped(lesson, cases))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([("a", {1: "x"})], ["tiny: mistake a, seed 1: x"]),
        ([("a", {1: "x is 0.5", 2: "x is -3"})], ["tiny: mistake a, seeds 1, 2: x is 0.5"]),
        (
            [("a", {1: "x"}), ("b", {2: "x"}), ("c", {2: "y"})],
            ["tiny: mistake a, mistake b, seeds 1, 2: x", "tiny: mistake c, seed 2: y"],
        ),
        (
            [(name, {1: "x"}) for name in "abcd"],
            ["tiny: mistake a, mistake b and 2 more, seed 1: x"],
        ),
    ],
)
def test_equal_troubles_are_one(
    found: list[tuple[str, dict[int, str]]], said: list[str], small_course: Course
) -> None:
    assert troubles(small_course, *found) == said


def test_what_is_wrong_in_a_file_begins_with_the_place(small_course: Course) -> None:
    place = f"{small_course.root}/tests/checks/tiny/test_hidden.py:3: KeyError: 'a'"
    assert troubles(small_course, ("a", {1: place})) == [f"{place} (tiny: mistake a, seed 1)"]


@pytest.mark.parametrize(
    ("frames", "raised", "said"),
    [
        (
            ["CHECKS/test_x.py", "/lib/torch.py"],
            "KeyError: 'a'",
            "CHECKS/test_x.py:7: KeyError: 'a'",
        ),
        (["CHECKS/a.py", "CHECKS/b.py"], "E: one\ntwo", "CHECKS/b.py:7: E: one"),
        (["CHECKS/a.py", "<scenarios>"], "E: one", "CHECKS/scenarios.py:7: E: one"),
        (["/lib/pytest.py", "tiny.py"], "E", "ROOT/solutions/tiny.py:7: E"),
        (["CHECKS/a.py"], "grader.core.errors.CourseError: CHECKS/a.py:9: no", "CHECKS/a.py:9: no"),
    ],
)
def test_a_traceback_is_the_lessons_line_and_the_exception(
    frames: list[str], raised: str, said: str, small_course: Course
) -> None:
    lesson = small_course.lesson("tiny")

    def placed(text: str) -> str:
        return text.replace("CHECKS", str(lesson.checks)).replace("ROOT", str(lesson.root))

    shown = "".join(f'  File "{name}", line 7, in f\n    code()\n' for name in frames)
    note = placed(f"Traceback (most recent call last):\n{shown}{raised}\n")
    check = CheckResult("tiny.a", "A", "double", Outcome.GRADER_ERROR, 0.0, 1.0, note=note)
    assert fault_of(check, lesson) == placed(said)


def test_a_traceback_without_a_line_of_the_lesson_stays(small_course: Course) -> None:
    note = 'Traceback (most recent call last):\n  File "/lib/a.py", line 1, in f\nE: one'
    check = CheckResult("tiny.a", "A", "double", Outcome.GRADER_ERROR, 0.0, 1.0, note=note)
    said = fault_of(check, small_course.lesson("tiny"))
    assert said == f"tiny.a: the grader's own fault: {note}"
