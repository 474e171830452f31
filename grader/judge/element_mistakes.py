"""Rules for results of the right shape in which only some elements are wrong, in any lesson."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from grader.core.i18n import phrase
from grader.judge.diagnosis import Failure, Mistake, mistake, same
from grader.judge.remote.session import Student
from grader.judge.value_mistakes import compared_tensors

Facts = dict[str, Any]
CAUSES_OF_NAN = (
    "Look for 0 / 0, a logarithm or root of a negative number, 0 times infinity, or infinity minus"
    " or divided by infinity."
)
CAUSES_OF_INFINITY = (
    "Look for an exp or a product that overflows, a division by 0, or a logarithm of 0."
)
FEWEST = 2
"""As many elements of each kind, right and wrong, are evidence for a sign."""


def floating_pair(failure: Failure) -> tuple[Tensor, Tensor] | None:
    """Return the returned and the expected tensor if both have one shape and floating values."""
    both = compared_tensors(failure)
    if both is None or both[0].shape != both[1].shape or not both[0].dtype.is_floating_point:
        return None
    return both


@mistake(
    "common_not_finite",
    about=(),
    title="NaN or infinity where the result is finite",
    explanation=("{count} of {total} values are {kinds}; all expected values are finite. {causes}"),
)
def not_finite(failure: Failure, student: Student) -> Facts | None:
    """Recognize NaN or infinity where the expected value is finite, with right values elsewhere."""
    both = floating_pair(failure)
    if both is None:
        return None
    actual, expected = both
    bad = ~actual.isfinite()
    if not bad.any() or not expected.isfinite().all():
        return None
    if not same(actual[~bad], expected[~bad], rtol=1e-4):
        return None
    found = (("NaN", actual.isnan()), ("inf", actual.isposinf()), ("-inf", actual.isneginf()))
    kinds = ", ".join(name for name, where in found if where.any())
    causes = phrase(CAUSES_OF_NAN if actual.isnan().any() else CAUSES_OF_INFINITY)
    return {"count": int(bad.sum()), "total": actual.numel(), "kinds": kinds, "causes": causes}


@mistake(
    "common_wrong_diagonal",
    about=(),
    title="The diagonal is wrong by a factor",
    explanation=(
        "The elements on the diagonal are {factor} times the expected ones; all others are right."
        " Adding a triangle and its transpose, for example, counts the diagonal twice."
    ),
)
def wrong_diagonal(failure: Failure, student: Student) -> Facts | None:
    """Recognize a multiple of the expected values on the diagonal of a matrix, and only there."""
    both = floating_pair(failure)
    if both is None or both[1].dim() != 2 or not FEWEST <= both[1].shape[0] == both[1].shape[1]:
        return None
    inside = torch.eye(len(both[1]), dtype=torch.bool)
    mine, truth = (tensor[inside] for tensor in both)
    beside = (tensor[~inside] for tensor in both)
    if not truth.all() or same(mine, truth) or not same(*beside, rtol=1e-4):
        return None
    factors = mine / truth
    if not same(factors, factors[:1].expand_as(factors), rtol=1e-4):
        return None
    return {"factor": f"{float(factors[0]):.6g}"}


def conditions(value: Tensor) -> Iterator[tuple[str, Tensor, int]]:
    """Yield conditions on an input's elements: as text, where they hold, and how many elements
    are evidence for it.
    """
    yield "{name} is 0", value == 0, 1
    yield "{name} is negative", value < 0, FEWEST
    yield "{name} is positive", value > 0, FEWEST


@mistake(
    "common_wrong_where",
    about=(),
    title="The result is wrong for some values of an input",
    explanation=(
        "Only the elements where {where} are wrong: there you returned {mine}, expected {truth}."
        " Look at the case of the code that handles them, or at a case that is missing."
    ),
)
def wrong_where(failure: Failure, student: Student) -> Facts | None:
    """Recognize that exactly the elements are wrong where an input is 0, negative or positive."""
    both = floating_pair(failure)
    if both is None:
        return None
    actual, expected = both
    bad = ~torch.isclose(actual, expected.to(actual.dtype), rtol=1e-4, atol=1e-7, equal_nan=True)
    if not bad.any() or bad.all() or not actual.any():
        return None
    found = [
        (name, text)
        for name, value in failure.inputs.items()
        if isinstance(value, Tensor) and value.shape == bad.shape
        for text, where, fewest in conditions(value.detach())
        if torch.equal(where, bad) and min(int(where.sum()), int((~where).sum())) >= fewest
    ]
    if len(found) != 1:
        return None
    name, text = found[0]
    return {"where": phrase(text, name=name), "mine": actual[bad], "truth": expected[bad]}


ELEMENTS: tuple[Mistake, ...] = (not_finite, wrong_diagonal, wrong_where)
