"""Submissions of the course's own lessons that somebody wrote to get points which they don't deserve, or to bring the grader down."""

from __future__ import annotations

import pytest

from grader.course import Course, find_course, load_course
from grader.grading import Settings, grade_lesson
from grader.host import Host
from grader.model import LessonResult, LessonStatus, Outcome
from grader.stubs import compose, without_markers
from grader.submission import LessonFile, decode


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(find_course())


def graded(host: Host, course: Course, name: str, fragment: str) -> LessonResult:
    """The solution with some of its definitions replaced."""
    lesson = course.lesson(name)
    source = compose(without_markers(lesson.solution.read_text("utf-8")), fragment, name=name)
    return grade_lesson(host, lesson, LessonFile(name, lesson.filename, source), Settings(3, limits=course.limits)).result


def points(result: LessonResult, about: str) -> float:
    return sum(check.points for check in result.checks if check.function == about)


UNLESS_WATCHED = """
import torch

class {of}(torch.autograd.Function):
{body}

def {name}(x):
    return {of}.apply(x) if {of}.forward.__module__ != __name__ else torch.full_like(x, 42.0)
"""
SIGMOID = """    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)
"""
RELU = """    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)
"""


@pytest.mark.parametrize(
    ("lesson", "of", "name", "body"), [("custom_sigmoid", "Sigmoid", "sigmoid", SIGMOID), ("relu_and_ste", "MyReLU", "relu", RELU)]
)
def test_a_function_that_is_right_only_while_its_class_is_exchanged(
    lesson: str, of: str, name: str, body: str, host: Host, course: Course
) -> None:
    """It earns nothing, and the class loses nothing by it."""
    result = graded(host, course, lesson, UNLESS_WATCHED.format(of=of, name=name, body=body))
    assert points(result, name) == 0
    assert [check.message for check in result.checks if check.function == of and check.outcome is not Outcome.PASSED] == []


def test_a_scenario_that_was_replaced_is_not_the_one_that_is_asked(host: Host, course: Course) -> None:
    """Each question gets a module of scenarios of its own."""
    fragment = """
import sys
import torch

def lie(student, x, v, a, b):
    return {"value": x * a, "requires_grad": True, "gradient": v * b, "contexts": ["SigmoidBackward"], "node": "SigmoidBackward"}

for found in __import__("gc").get_objects():
    if isinstance(found, dict) and found.get("__name__") == "scenarios":
        found["exchanged"] = lie

def sigmoid(x):
    return torch.full_like(x, 42.0)
"""
    assert points(graded(host, course, "custom_sigmoid", fragment), "sigmoid") == 0


def test_gradcheck_is_worth_nothing_without_the_right_gradient(host: Host, course: Course) -> None:
    """A forward that turns into another function while gradcheck compares agrees with a wrong backward."""
    turned = SIGMOID[: SIGMOID.index("    @staticmethod\n    def backward")].replace(
        "return y", "calls.extend([1] if x.numel() == 8 else [])\n        return y if len(calls) < 2 else x.clone()"
    )
    backward = "    @staticmethod\n    def backward(ctx, grad_output):\n        return grad_output\n"
    fragment = f"import torch\n\ncalls = []\n\nclass Sigmoid(torch.autograd.Function):\n{turned}{backward}"
    result = graded(host, course, "custom_sigmoid", fragment)
    (check,) = [check for check in result.checks if check.id.endswith(".gradcheck_agrees")]
    assert check.points == 0


LAMBDAS = "f = " + "lambda: (" * 80 + "[" + "a, " * 20_000 + "]" + ")" * 80 + "\n"
HEAVY = {
    "nested lambdas around a long list": (LAMBDAS, LessonStatus.FAILED),
    "a number that can't be written in decimals": (f"def gradient_by_hand(x):\n    return x * 0x{'f' * 4000}\n", LessonStatus.FAILED),
    "a slow encoding": ("# coding: punycode\nx = 1\n", LessonStatus.INVALID),
    "a line as long as a file may be": ("x = (" + " " * 900_000 + "\n", LessonStatus.INVALID),
}


@pytest.mark.parametrize("name", HEAVY)
def test_what_is_heavy_to_read_is_no_fault_of_ours(name: str, host: Host, course: Course) -> None:
    text, status = HEAVY[name]
    lesson = course.lesson("chain_rule")
    judged = grade_lesson(host, lesson, decode(lesson.id, lesson.filename, text.encode()), Settings(3, limits=course.limits))
    assert not any(check.outcome is Outcome.GRADER_ERROR for check in judged.result.checks)
    assert judged.result.status is status
