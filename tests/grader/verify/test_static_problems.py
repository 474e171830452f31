"""Check a contract against the texts, the checks and the wrong answers of its lesson."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.core.report import Outcome
from grader.course.course import Course, Lesson, find_course, load_course
from grader.verify.case_result import Case, CaseResult
from grader.verify.static_problems import contract_problems, held_promises, unbroken_problems

CONTRACT = """
[double.value]
says = ["Twice x."]
checks = ["double", "gradient_of_double"]
broken_by = ["squares"]

[triple.value]
says = ["Three times x.", "`double(x)` returns **twice x**."]
checks = ["triple", "gradient_of_triple"]

[LIMIT.value]
says = ["LIMIT is 20."]
checks = ["limit", "limit_is_a_float"]
broken_by = ["off_by_one"]
"""
TOML = "tests/checks/tiny/contract.toml"
TASKS = "# Tiny\n\n## Your tasks\n\n`double(x)` returns twice x. LIMIT is 20.\n"


@pytest.fixture
def lesson(small_course: Course, tmp_path: Path) -> Lesson:
    root = Path(shutil.copytree(small_course.root, tmp_path / "course"))
    found = load_course(root).lesson("tiny")
    (found.checks / "contract.toml").write_text(CONTRACT, "utf-8")
    (found.folder / "README.md").write_text(TASKS, "utf-8")
    return found


def change(lesson: Lesson, old: str, new: str) -> None:
    path = lesson.checks / "contract.toml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_a_whole_contract_has_no_problem(lesson: Lesson) -> None:
    assert problems(lesson) == []


def problems(lesson: Lesson) -> list[str]:
    """Return a contract's problems; a lesson's path is left out."""
    return [text.removeprefix(f"{lesson.root}/") for text in contract_problems(lesson)]


def test_a_lesson_without_a_contract_has_none(small_course: Course) -> None:
    assert list(contract_problems(small_course.lesson("tiny"))) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '"Twice x."',
            "",
            "solutions/tiny.py:7: no promise about double in contract.toml quotes this sentence:"
            " Twice x.",
        ),
        (
            '"LIMIT is 20."',
            "",
            "exercises/tiny/README.md:5: no promise in contract.toml quotes this sentence:"
            " LIMIT is 20.",
        ),
        (
            '"LIMIT is 20."',
            '"LIMIT is 20.", "And 21."',
            f"{TOML}:12: neither the stub of LIMIT nor the README says: And 21.",
        ),
        (
            ', "limit_is_a_float"',
            "",
            "tests/checks/tiny/test_hidden.py:34: the check limit_is_a_float holds no promise of"
            " contract.toml",
        ),
        (
            '"limit", ',
            '"limit", "limits", ',
            f"{TOML}:11: [LIMIT.value] names the check limits, which does not exist",
        ),
        (
            '"off_by_one"',
            '"off_by_two"',
            f"{TOML}:11: [LIMIT.value] names the wrong answer off_by_two, which does not exist",
        ),
        (
            '["triple", "gradient_of_triple"]',
            '["triple", "gradient_of_triple", "limit"]',
            f"{TOML}:7: [triple.value] shares the check limit with another promise; name in"
            " broken_by a wrong answer that breaks this one",
        ),
        (
            "[LIMIT.value]",
            '[LIMIT.more]\nsays = ["LIMIT is 20."]\n[LIMIT.value]',
            f"{TOML}:11: [LIMIT.more] has no checks, allows nothing and does not say why",
        ),
        (
            "[LIMIT.value]",
            '[LIMIT.more]\nsays = ["LIMIT is 20."]\nallows = ["other"]\n[LIMIT.value]',
            f"{TOML}:11: [LIMIT.more] names the accepted answer other, which does not exist",
        ),
    ],
)
def test_each_gap_is_named(lesson: Lesson, old: str, new: str, problem: str) -> None:
    change(lesson, old, new)
    assert problems(lesson) == [problem]


def test_a_promise_about_something_else_is_named(lesson: Lesson) -> None:
    change(lesson, "[LIMIT.value]", "[LIMITS.value]")
    said = f"{TOML}:11: [LIMITS.value] is about LIMITS, which course.toml doesn't list"
    assert said in problems(lesson)


def failing(*checks: str) -> CaseResult:
    return CaseResult(outcomes=tuple((name, Outcome.FAILED) for name in checks))


def test_points_are_shared_and_a_wrong_answer_has_to_break_its_promise_alone(
    lesson: Lesson,
) -> None:
    change(lesson, '"triple", "gradient_of_triple"', '"triple", "gradient_of_triple", "limit"')
    points = (("double", 3.0), ("gradient_of_double", 2.0), ("limit", 1.0), ("triple", 2.0))
    found = {
        Case(lesson, "solution", "", ""): {1: CaseResult(points=points)},
        Case(lesson, "mistake", "squares", ""): {
            1: failing("double"),
            2: failing("double", "gradient_of_double"),
        },
        Case(lesson, "mistake", "adds_three", ""): {1: failing("triple", "double")},
        Case(lesson, "mistake", "off_by_one", ""): {1: failing("limit"), 2: CaseResult()},
    }
    held = held_promises(lesson, found)
    assert [(one.name, one.points, one.shown_by) for one in held] == [
        ("double.value", 5.0, ("squares",)),
        ("triple.value", 2.5, ()),
        ("LIMIT.value", 0.5, ()),
    ]
    assert list(unbroken_problems(lesson, held, found)) == [
        "[triple.value] has no wrong answer that breaks it alone:"
        " off_by_one passes from some seed; adds_three also fails double",
        "[LIMIT.value] has no wrong answer that breaks it alone: off_by_one passes from some seed",
    ]


def test_of_promises_that_share_a_check_each_is_broken_by_what_it_names(lesson: Lesson) -> None:
    """Else the answer that breaks one would be the proof of both."""
    change(lesson, '"limit", "limit_is_a_float"', '"double"')
    found = {Case(lesson, "mistake", "squares", ""): {1: failing("double")}}
    held = held_promises(lesson, found)
    assert [(one.name, one.shown_by) for one in held] == [
        ("double.value", ("squares",)),
        ("triple.value", ()),
        ("LIMIT.value", ()),
    ]
    assert list(unbroken_problems(lesson, held, found)) == [
        "[triple.value] has no wrong answer that breaks it alone: none fails its checks",
        "[LIMIT.value] has no wrong answer that breaks it alone: off_by_one passes from some seed",
    ]


@pytest.mark.parametrize(
    "lesson_of_the_course", load_course(find_course()).lessons, ids=lambda lesson: lesson.id
)
def test_every_lesson_of_the_course_has_a_whole_contract(lesson_of_the_course: Lesson) -> None:
    assert (lesson_of_the_course.checks / "contract.toml").exists()
    assert list(contract_problems(lesson_of_the_course)) == []
