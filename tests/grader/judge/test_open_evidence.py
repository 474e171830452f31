"""What is said about a hidden check's failure shows properties, and no value."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.core.errors import StudentCodeError
from grader.core.report import Outcome
from grader.course.source import Source
from grader.judge.diagnosis import Diagnosis
from grader.judge.exception_verdicts import CheckVerdict
from grader.judge.open_evidence import open_evidence, open_message

SOURCE = Source("LIMIT = 20.0\ndef f(x, y): return x\n", "l.py")
WANT = torch.tensor([0.8125, -3.0, 7.5], dtype=torch.float64)


def told(
    actual: Any, expected: Any = WANT, message: str = "wrong for {x}", *, drawn: bool = True
) -> str | None:
    inputs = {"x": WANT} if drawn else {}
    verdict = CheckVerdict(Outcome.FAILED, message, {}, expected, actual, inputs)
    said = open_message(verdict, SOURCE, "f")
    return None if said is None else str(said)


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        (None, "None came back"),
        ([1.0], "the type is list, expected Tensor"),
        (WANT[:2], "the shape is (2,), expected (3,)"),
        (WANT.float(), "the dtype is float32, expected float64"),
        (WANT / 0, "3 of 3 elements are NaN or infinite"),
        (0 * WANT, "every element is 0"),
        (-WANT, "every element is -1 times the expected one"),
        (WANT / 2, "every element is 0.5 times the expected one"),
        (WANT * 1.2345, "3 of 3 elements are wrong"),
        (torch.cat([WANT[:2], WANT[:1]]), "1 of 3 elements are wrong"),
        (WANT, None),
    ],
)
def test_the_plainest_difference_is_told(actual: Any, said: str | None) -> None:
    """A factor that is not a usual one could carry a hidden input."""
    assert told(actual) == said


def test_a_fixed_message_stays() -> None:
    assert told(WANT[:2], message="not x") == "not x: the shape is (2,), expected (3,)"
    assert told(None, message="nothing came back") == "nothing came back"
    assert told(WANT, message="not x") == "not x"


@pytest.mark.parametrize(("which", "stays"), [("y", True), ("f", True), ("0.8125", False)])
def test_a_message_may_show_names_of_the_file(which: str, stays: bool) -> None:
    verdict = CheckVerdict(Outcome.FAILED, "{which} is wrong", {"which": which}, WANT, WANT)
    assert (str(open_message(verdict, SOURCE, "f")) == f"{which} is wrong") is stays


@pytest.mark.parametrize(("actual", "expected"), [(False, True), ("a", "b"), (3, 4), ({}, {1: 2})])
def test_other_values_have_no_property(actual: Any, expected: Any) -> None:
    assert told(actual, expected) is None


def test_a_factor_is_told_only_of_drawn_inputs() -> None:
    """Without inputs, anyone can compute the result, and with the factor the expected value."""
    assert told(2 * WANT, drawn=False) == "3 of 3 elements are wrong"
    assert told(-2.0, 1.0) == "every element is -2 times the expected one"
    assert told(-2.0, 1.0, drawn=False) == "1 of 1 elements are wrong"


def test_nothing_is_told_of_a_constant() -> None:
    verdict = CheckVerdict(Outcome.FAILED, "{actual}", {}, 20.0, -20.0, {"x": WANT})
    assert open_message(verdict, SOURCE, "LIMIT") is None


@pytest.mark.parametrize(("name", "said"), [("ValueError", True), ("X0_8125", False)])
def test_an_exceptions_text_is_the_students(name: str, said: bool) -> None:
    error = StudentCodeError(name, "x is 0.8125")
    verdict = CheckVerdict(Outcome.ERROR, "{raised}", {"raised": str(error)}, error=error)
    wanted = f"your code raised {name}" if said else "None"
    assert str(open_message(verdict, SOURCE, "f")) == wanted


@pytest.mark.parametrize(
    ("template", "by", "stays"),
    [
        ("Pass create_graph=True.", "rule", True),
        ("Pass create_graph=True.", "example", True),
        ("You returned {actual}.", "rule", False),
        ("It is in line {line}.", "rule", False),
        ("{count} of {total} values are {kinds}.", "engine", True),
        ("Only where {where}: there you returned {mine}.", "engine", False),
    ],
)
def test_an_explanation_with_values_is_withheld(template: str, by: str, stays: bool) -> None:
    """A lesson may call any fact ``line``; only the engine's own rules are known."""
    found = Diagnosis("m", "M", "as shown", template, by)
    assert (open_evidence(found) == "as shown") is stays
