"""chain_rule: rules that recognize mistakes by the numbers that come back."""

from __future__ import annotations

import math
import re
from typing import Any

import torch
from torch import Tensor

from grader.authoring import Again, Failure, Student, phrase, rule, same, value_rule

Facts = dict[str, Any]

LINE = (0.75, 2.5, 1.375)
"""An x, w and b at which the gradients of (w * x + b) ** 2 are three different numbers, none a
multiple of another; and 2 * b is not 1.
"""
BILL = (40.0, 3.0, 130.0, 7.0, 1.25)
"""A bill whose gradients are all different, except those of the intermediate results."""
PRICES = ("apple", "tangerine", "num_apple", "num_tangerine", "ctax")
AT_LINE, AT_FIVE = "x = 0.75, w = 2.5, b = 1.375", "x = 5, q = 3"


# ------------------------------------------------------------------------------------- asking again


def by_hand(failure: Failure, student: Student, *inputs: Tensor) -> list[Any]:
    """Return what a function of tensors returns, as a list; Nones for anything but its tensors."""
    count = 1 if failure.about == "gradient_by_hand" else 2
    result = getattr(student, failure.about)(*inputs[:count])
    results = result if isinstance(result, tuple) else (result,)
    return list(results) if len(results) == count else [None] * count


def asked_again(failure: Failure, student: Student) -> Again:
    """Ask for dz/dx ("value") and for dz/dq ("gradient"), at the README's x and q and at others."""
    x, q = torch.tensor([[5.0, 2.0], [3.0, 4.0]], dtype=torch.float64)

    def asked(place: int) -> Any:
        results = by_hand(failure, student, x, q)
        # in another order, none of them is a wrong formula for its place
        exchanged = len(results) == 2 and same(results[0], torch.log(x))
        return None if exchanged else results[place]

    alone = failure.about == "gradient_by_hand"
    return Again(
        names={"x": x, "q": q},
        right={"value": "3 / x + 1" if alone else "q / x", "gradient": "log(x)"},
        ask={"value": lambda at: asked(0), "gradient": lambda at: asked(1)},
        facts={"where": "x = [5, 2]" if alone else "x = [5, 2], q = [3, 4]"},
    )


def number(value: Any) -> float:
    """Return a number or a tensor of one as a float, and NaN for anything else."""
    if isinstance(value, Tensor) and value.numel() == 1 and not value.is_complex():
        return float(value)
    return float(value) if isinstance(value, int | float) else math.nan


def listed(result: Any) -> list[float]:
    """Return the numbers in a result: of a dictionary, those of the prices."""
    values = [result.get(key) for key in PRICES] if isinstance(result, dict) else result
    return [number(value) for value in values] if isinstance(values, tuple | list) else []


def numbers_for(failure: Failure) -> tuple[float, ...]:
    """Return numbers to call linear_gradients or shopping with."""
    return LINE if failure.about == "linear_gradients" else BILL


def both(failure: Failure, student: Student) -> tuple[list[float], list[float]]:
    """Return the gradients for these numbers: what came back, and what is right."""
    students, numbers = (student, failure.reference), numbers_for(failure)
    got, want = (listed(getattr(one, failure.about)(*numbers)) for one in students)
    return got, want


def close(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=1e-4, abs_tol=1e-6)


def all_close(left: Any, right: Any) -> bool:
    return len(left) == len(right) and all(map(close, left, right))


def none_for_a_gradient(failure: Failure) -> bool:
    """Return whether a number was asked of None. Other errors about None have other causes, because
    backward() and retain_grad() return it too.
    """
    methods = "item|tolist|clone|detach|data|numpy|float|double"
    taken = rf"no attribute '({methods})'|argument must be|must be real number"
    return failure.raised("NoneType") and re.search(taken, str(failure.error)) is not None


def only_entry(failure: Failure) -> tuple[str, float]:
    """Return the key and the number of a wrong entry of the bill, where one is shown by itself."""
    entries = failure.actual if isinstance(failure.actual, dict) else {}
    return next(((key, number(value)) for key, value in entries.items()), ("", math.nan))


# -------------------------------------------------------------------------------------------- rules


@value_rule
def stops_one_step_early(failure: Failure, student: Student) -> Facts | None:
    """The gradients of y, the argument of the last step: for x or for q, or of w * x + b."""
    if failure.about == "linear_gradients":
        got, want = both(failure, student)
        found = all_close(got, (LINE[1], LINE[0], 1.0))
        shown = {"where": AT_LINE, "factor": "2 * y", "got": tuple(got), "want": tuple(want)}
        return shown if found else None
    x, q = (failure.draw.tensor(3, low=1.6, high=4.0) for _ in range(2))
    to_x, to_q = by_hand(failure, student, x, q)
    if not same(to_x, q * x ** (q - 1)) and not same(to_q, x**q * torch.log(x)):
        return None
    got = by_hand(failure, student, *torch.tensor([5.0, 3.0], dtype=torch.float64))
    want = (0.6, math.log(5.0))
    return {"where": AT_FIVE, "factor": "1 / y", "got": tuple(got), "want": want}


@value_rule
def wrong_order(failure: Failure, student: Student) -> Facts | None:
    """The right numbers, permuted."""
    if failure.about == "linear_gradients":
        got, want = both(failure, student)
        permuted = not all_close(got, want) and all_close(sorted(got), sorted(want))
        shown = {"where": AT_LINE, "got": tuple(got), "order": "x, w, b"}
        return shown if permuted else None
    x, q = torch.tensor([5.0, 3.0], dtype=torch.float64)
    to_x, to_q = by_hand(failure, student, x, q)
    exchanged = same(to_x, torch.log(x)) and same(to_q, q / x)
    return {"where": AT_FIVE, "got": (to_x, to_q), "order": "x, q"} if exchanged else None


@value_rule
def numerical_differences(failure: Failure, student: Student) -> Facts | None:
    """Nearly right, and rough: the result jumps from x to the next x, because differences are
    divided by a small step. A formula that is inexact is smooth.
    """
    steps = 1e-9 * torch.arange(24, dtype=torch.float64)
    x, q = 2.0 - steps[12] + steps, 3.0 + steps
    results = by_hand(failure, student, x, q)
    wants = [3 / x + 1] if len(results) == 1 else [q / x, torch.log(x)]
    for got, want in zip(results, wants, strict=True):
        if not isinstance(got, Tensor) or (got.dtype, got.shape) != (want.dtype, want.shape):
            continue
        if (got.detach().diff(n=2).abs() > 2e-14 * want[2:]).any():
            worst = float(((got.detach() - want) / want).abs().max())
            return {"error": worst} if worst < 1e-2 else None
    return None


@rule
def tensors_not_numbers(failure: Failure, student: Student) -> Facts | None:
    """A tensor whose number is right."""
    right = "is wrong" not in failure.message
    return {} if failure.facts.get("type") == "Tensor" and right else None


@value_rule
def passes_add_up(failure: Failure, student: Student) -> Facts | None:
    """Whole multiples of the right gradients, from several passes."""
    got, want = both(failure, student)
    ratios = [found / one for found, one in zip(got, want, strict=False)]
    if len(ratios) != len(want) or not all(1e-3 < ratio < 9.5 for ratio in ratios):
        return None
    whole = [round(ratio) for ratio in ratios]
    if max(whole) < 2 or not all_close(ratios, whole):
        return None
    seen = student.observe("traced", failure.about, *numbers_for(failure))
    passes = seen["calls"].count("backward")
    return {"passes": passes, "ratios": ", ".join(map(str, whole))} if passes > 1 else None


@rule
def earlier_calls_add_up(failure: Failure, student: Student) -> Facts | None:
    """The gradients of each call come on top of those of the call before."""
    before, right = both(failure, student)
    got, _ = both(failure, student)
    grown = [left + one for left, one in zip(before, right, strict=False)]
    added = [close(*pair) for pair in zip(got, grown, strict=False)]
    others = [close(*pair) for pair in zip(got, right, strict=False)]
    known = len(added) == len(right) and all(map(max, added, others))
    return {"first": before, "then": got} if known and any(added) else None


@rule
def retain_grad_missing(failure: Failure, student: Student) -> Facts | None:
    """None, or 0 instead of None, for an intermediate gradient that was read or was to be kept, or
    an error about it, and fewer than three calls in time.
    """
    found = failure.actual if isinstance(failure.actual, dict) else {}
    missing = any(found.get(name, 1) in (None, 0) for name in ("apple_price", "price"))
    if not none_for_a_gradient(failure) and not missing and None not in found.values():
        return None
    seen = student.observe("retained", *BILL)
    zeros = all(found.get(name) == 0 for name in ("apple_price", "tangerine_price", "price"))
    made = seen["before"] < 3 and (seen["read"] or seen["after"] or zeros)
    return {"before": seen["before"], "after": seen["after"]} if made else None


@rule
def graph_is_cut(failure: Failure, student: Student) -> Facts | None:
    """.grad is None, or the result does not require grad, because no path leads back to one of the
    leaves.
    """
    texts = ("does not require grad", "not to have been used in the graph")
    if not none_for_a_gradient(failure) and not any(map(failure.raised, texts)):
        return None
    numbers = numbers_for(failure)
    for graph in student.observe("graphs", failure.about, numbers, {})["graphs"]:
        if sum(node["kind"] == "leaf" for node in graph["nodes"]) >= len(numbers):
            return None  # another .grad was read, or one that was cleared, or backward's result
    return {"said": failure.error.message} if failure.error else None


@rule
def factor_won_back_by_division(failure: Failure, student: Student) -> Facts | None:
    """Right, except where a number of pieces is 0."""
    if failure.check not in ("test_one_kind_of_fruit", "test_intermediate_results_get_gradients"):
        return None
    if failure.raised("ZeroDivisionError"):
        said = failure.error.message if failure.error else ""
        return {"said": phrase("Python said: {message}", message=said)}
    key, value = only_entry(failure)
    undefined = key and math.isnan(value) and not failure.error
    return {"said": phrase("a gradient is nan")} if undefined else None


@value_rule
def value_for_a_gradient(failure: Failure, student: Student) -> Facts | None:
    """Under a key stands the number itself, not its gradient."""
    key, got = only_entry(failure)
    value = failure.facts.get("value")
    found = value and close(got, value)
    return {"key": key, "want": failure.expected[key]} if found else None


@value_rule
def sum_passes_one_on(failure: Failure, student: Student) -> Facts | None:
    """1 for the price of a fruit, where the gradient is the tax."""
    key, got = only_entry(failure)
    if key not in ("apple_price", "tangerine_price") or not close(got, 1.0):
        return None
    want = failure.expected[key]
    return None if close(want, 1.0) else {"key": key, "want": want}


@value_rule
def two_keys_exchanged(failure: Failure, student: Student) -> Facts | None:
    """Two entries of the bill hold each other's gradient, and all others are right."""
    if failure.about != "shopping":
        return None
    got, want = (one.shopping(*BILL) for one in (student, failure.reference))
    if not isinstance(got, dict) or got.keys() != want.keys():
        return None
    wrong = [key for key in want if not close(number(got[key]), want[key])]
    exchanged = len(wrong) == 2 and all_close(
        [number(got[key]) for key in wrong], [want[key] for key in reversed(wrong)]
    )
    return {"first": wrong[0], "second": wrong[1]} if exchanged else None
