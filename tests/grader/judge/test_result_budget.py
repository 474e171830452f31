"""The size of each value, check and lesson in a result is bounded."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from graded import Grade

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, Outcome
from grader.course.course import Course
from grader.judge.describe import MAX_TEXTS, MAX_VALUES, describe
from grader.judge.diagnosis import MAX_FACT, fill_text
from grader.judge.exception_verdicts import CheckVerdict
from grader.judge.results import (
    CHECK_BYTES,
    LEFT_OUT,
    LESSON_BYTES,
    SHORT,
    described_pair,
    fit,
    size_of,
)


def leaves(data: Any) -> int:
    if isinstance(data, dict):
        return sum(map(leaves, data.values()))
    return sum(map(leaves, data)) if isinstance(data, list) else 1


def nested(leaf: Any, depth: int) -> Any:
    return [nested(leaf, depth - 1)] * 30 if depth else leaf


@pytest.mark.parametrize("leaf", [float("nan"), [], {}, {1: ()}, "text"])
def test_a_nested_value_is_bounded_and_says_what_was_cut(leaf: Any) -> None:
    """The limit is not only for the outermost list."""
    data = describe(nested(leaf, 3))
    assert leaves(data) <= 2 * MAX_VALUES
    assert data["cut"] == 30 - len(data["list"]) > 0


def test_the_texts_of_a_value_are_bounded_together() -> None:
    data = describe(["x" * 1500] * 10)
    assert sum(text.count("x") for text in data["list"]) == MAX_TEXTS
    assert data["list"][2] == "x" * 1000 + "… [500 more characters]"


def test_an_integer_that_python_refuses_to_write_is_described() -> None:
    assert describe(1 << 20_000) == "an integer of 20,001 bits"
    assert describe(10**3000) == "1" + "0" * 1999 + "… [1,001 more characters]"


def test_a_text_in_a_message_is_bounded() -> None:
    assert len(fill_text("{got}", {"got": "x" * 100_000}, Catalogue())) == MAX_FACT


@pytest.mark.parametrize(
    ("expected", "actual", "shown"),
    [
        (1.0, "x" * 50, (None, None)),
        (1.0, "y" * 50, (1.0, "y" * 50)),
        (1.0, "x", (1.0, "x")),
        ("x" * 49, "x" * 50, ("x" * 49, "x" * 50)),
    ],
)
def test_a_long_text_in_a_message_is_not_shown_again(
    expected: Any, actual: Any, shown: tuple[Any, Any]
) -> None:
    verdict = CheckVerdict(Outcome.FAILED, "", expected=expected, actual=actual)
    assert described_pair(verdict, f"raised: {'x' * 50}") == shown


RESULT = CheckResult(
    "a.b", "holds", "f", Outcome.FAILED, 0, 1, message="wrong", expected=1.0, actual=[2.0]
)


@pytest.mark.parametrize(
    ("large", "left"),
    [
        ({"figures": [{"kind": "x" * CHECK_BYTES}]}, {"figures": []}),
        ({"output": "x" * CHECK_BYTES}, {"output": "x" * SHORT + "…"}),
        ({"note": "x" * CHECK_BYTES}, {"note": "x" * SHORT + "…"}),
        ({"inputs": {"x": "x" * CHECK_BYTES}}, {"inputs": {}}),
        ({"actual": "x" * CHECK_BYTES}, {"actual": LEFT_OUT}),
        ({"message": "x" * CHECK_BYTES}, {"message": "x" * SHORT + "…"}),
    ],
)
def test_what_is_too_large_is_left_out(large: dict[str, Any], left: dict[str, Any]) -> None:
    data = {**RESULT.as_json(), **large}
    fitted, size = fit(CheckResult.from_json(data), CHECK_BYTES)
    assert size == size_of(fitted) < CHECK_BYTES // 2
    assert fitted.as_json().items() >= left.items()
    assert (fitted.id, fitted.outcome, fitted.points) == (RESULT.id, RESULT.outcome, 0)


def test_a_result_within_its_budget_is_as_it_was() -> None:
    assert fit(RESULT, CHECK_BYTES)[0] is RESULT


FLOOD = """
def flood(*args):
    print("\\0" * 100_000)
    return {key * 500: ["\\1" * 2000] * 20 for key in "abcdefgh"}
"""


def test_a_lesson_of_wrong_answers_is_bounded(grade_text: Grade, course: Course) -> None:
    """Each check prints and returns more than a report shows."""
    lesson = course.lesson("vector_backward")
    text = lesson.solution.read_text("utf-8") + FLOOD
    for name in re.findall(r"^def (\w+)", text, re.MULTILINE):
        text += f"{name} = flood\n"
    result = grade_text(lesson, text)
    failed = [check for check in result.checks if check.outcome is not Outcome.SKIPPED]
    assert len(failed) > 2
    assert max(map(size_of, result.checks)) <= CHECK_BYTES
    assert len(json.dumps(result.as_json())) < LESSON_BYTES
    assert all(check.outcome is not Outcome.GRADER_ERROR for check in result.checks)
