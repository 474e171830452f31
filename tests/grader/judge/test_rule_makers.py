"""Rules by message or fact, rules about a backward that is not linear, and formulas as text."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.authoring import (
    Backward,
    Failure,
    LessonRule,
    Student,
    formula_value,
    has_facts,
    nonlinear_backward,
    raises,
    says,
    term_beside_v,
    value_and_gradients,
    value_rule,
)
from grader.core.errors import StudentCodeError
from grader.core.report import Outcome
from grader.judge.random_inputs import RandomInputs

STUDENT: Any = SimpleNamespace()
V = torch.tensor([1.0, -3.0], dtype=torch.float64)


def failure(**details: Any) -> Failure:
    known = {"check": "test_one", "about": "f", "reference": STUDENT, "draw": RandomInputs(1)}
    return Failure(Outcome.FAILED, **{**known, **details})


def facts_of(one: LessonRule, **details: Any) -> dict[str, Any] | None:
    return one.recognize(failure(**details), STUDENT)


def test_a_value_rule_is_skipped_where_the_code_raised() -> None:
    one = value_rule(lambda failure, student: {"asked": True})
    assert facts_of(one) == {"asked": True}
    assert facts_of(one, error=StudentCodeError("ValueError", "no")) is None


def test_a_rule_by_message_wants_all_fragments_and_facts() -> None:
    one = says("entry {number}", "of type", type="int")
    message = "entry {number} is of type {type}"
    assert facts_of(one, message=message, facts={"type": "int", "number": [1]}) == {}
    assert facts_of(one, message=message, facts={"type": "str"}) is None
    assert facts_of(one, message="entry {number} is wrong", facts={"type": "int"}) is None


def test_a_rule_by_facts_wants_the_names_and_the_values() -> None:
    one = has_facts("below", type="NoneType")
    assert facts_of(one, facts={"below": ["a"], "type": "NoneType"}) == {}
    assert facts_of(one, facts={"below": ["a"], "type": "int"}) is None
    assert facts_of(one, facts={"type": "NoneType"}) is None


def test_an_exception_can_be_recognized_in_one_check_only() -> None:
    one = raises("ValueError", "no", unless=["nowhere"], check="test_one")
    assert facts_of(one, error=StudentCodeError("ValueError", "no")) == {"said": "no"}
    assert facts_of(one, error=StudentCodeError("ValueError", "nowhere")) is None
    assert facts_of(one, error=StudentCodeError("ValueError", "no"), check="test_other") is None
    assert facts_of(one) is None


def test_a_formula_has_torchs_functions() -> None:
    x = torch.tensor([0.5, 2.0])
    assert torch.equal(formula_value("v * log(x) ** 2", v=3.0, x=x), 3.0 * torch.log(x) ** 2)
    assert formula_value("f(x + h)", f=lambda x: x * x, x=1.0, h=2.0) == 9.0


def test_gradients_are_of_copies_and_none_where_there_is_no_graph() -> None:
    x, y = torch.tensor([2.0, 5.0]), torch.tensor([3.0, 7.0])
    v = torch.tensor([1.0, 10.0])
    value, gradients = value_and_gradients(lambda x, y: x * x, [x, y], v)
    assert torch.equal(value, x * x) and gradients[1] is None
    assert gradients[0] is not None and torch.equal(gradients[0], v * 2 * x)
    assert not x.requires_grad
    assert value_and_gradients(lambda x, y: x.detach(), [x, y], v)[1] == (None, None)
    assert value_and_gradients(lambda x, y: (x * y).sum(), [x, y], v)[1] == (None, None)


def backward_is(formula: Callable[[Tensor], Any]) -> Callable[[Failure, Student], Backward]:
    return lambda failure, student: (V, lambda v: {"x": 2 * v, "y": formula(v)})


@pytest.mark.parametrize(
    ("formula", "rest", "factor"),
    [
        (lambda v: 3 * v, False, None),
        (lambda v: 3 * v + 1, True, -1.0),
        (lambda v: torch.full_like(v, 3.0), False, None),
        (lambda v: v.abs(), False, -1.0),
        (lambda v: v.clamp(-50, 50), False, 100.0),
        (lambda v: v.clamp(-500, 500), False, 1e6),
        (lambda v: None, False, None),
        (lambda v: v * torch.nan, False, None),
    ],
)
def test_a_backward_is_linear(formula: Any, rest: bool, factor: float | None) -> None:
    found = facts_of(term_beside_v(backward_is(formula)))
    assert (found is not None) is rest
    if found:
        assert found["which"] == "y" and torch.equal(found["rest"], torch.ones_like(V))
    found = facts_of(nonlinear_backward(backward_is(formula)))
    assert (found and found["factor"]) == factor
    if found:
        assert found["which"] == "y" and torch.equal(found["want"], factor * found["got"])


def test_a_wrong_backward_explains_no_failure_of_forward() -> None:
    wrong = backward_is(lambda v: v.abs() + 1)
    for one in (term_beside_v(wrong), nonlinear_backward(wrong)):
        assert facts_of(one, at="F.backward") is not None
        assert facts_of(one, at="F.forward") is None
