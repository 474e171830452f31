"""Rules for float64 results of which only the first digits are right, in any lesson."""

from __future__ import annotations

import math
from typing import Any

import torch

from grader.judge.diagnosis import Failure, Mistake, mistake, same
from grader.judge.remote.session import Student
from grader.judge.value_mistakes import compared_tensors

Facts = dict[str, Any]


@mistake(
    "common_rounded_to_float32",
    about=(),
    title="float64 values are rounded to float32",
    explanation=(
        "The result is float64, but every value is a float32 number: the largest error is {error}."
        " Look for .float(), or for a tensor that is created without a dtype."
    ),
)
def rounded_to_float32(failure: Failure, student: Student) -> Facts | None:
    """Recognize values that float32 holds exactly and that are wrong from the eighth digit on."""
    both = compared_tensors(failure)
    if both is None or {t.dtype for t in both} != {torch.float64} or both[1].numel() < 2:
        return None
    actual, expected = both
    if not same(actual, expected, rtol=1e-5, atol=1e-6) or same(
        actual, expected, rtol=1e-9, atol=1e-12
    ):
        return None
    if not torch.equal(actual, actual.float().double()) or bool((expected != 0)[actual == 0].any()):
        return None
    if torch.equal(expected, expected.float().double()):
        return None
    return {"error": float((actual - expected).abs().max())}


@mistake(
    "common_few_digits",
    about=(),
    title="The result is inexact",
    explanation=(
        "Only about {digits} digits of the result are right, and float64 has 16. For example, a"
        " small number that is added, rounding or float32 does this."
    ),
)
def few_digits(failure: Failure, student: Student) -> Facts | None:
    """Recognize float64 values of which all agree with the expected ones to 4 digits or more, but
    one to fewer than 12.
    """
    both = compared_tensors(failure)
    if both is None or {t.dtype for t in both} != {torch.float64} or not both[1].numel():
        return None
    actual, expected = both
    if actual.shape != expected.shape or not same(actual, expected, rtol=1e-4, atol=0.0):
        return None
    error = float(((actual - expected) / expected).nan_to_num().abs().max())
    return {"digits": math.floor(-math.log10(error))} if error > 1e-12 else None


PRECISION: tuple[Mistake, ...] = (rounded_to_float32, few_digits)
