"""Rules for mistakes that show in the returned values, in any lesson: the expected result in
another dtype, shape or type, or a multiple of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from grader.core.i18n import phrase
from grader.judge.diagnosis import Failure, Mistake, mistake, same
from grader.judge.remote.session import Student
from grader.worker.wire.values import Opaque

Facts = dict[str, Any]
MOST_DIMENSIONS = 4
RIGHT = {torch.float64: (1e-12, 1e-14), torch.float32: (1e-5, 1e-7)}
"""Relative and absolute tolerance, by dtype, within which values are called right. Checks may be
more tolerant.
"""
FACTORS = (-1.0, 2.0, 0.5, -2.0, -0.5, 3.0, 1 / 3, 4.0, 0.25, 10.0, 0.1)
"""Factors that count as evidence even for a single number."""


def compared_tensors(failure: Failure) -> tuple[Tensor, Tensor] | None:
    """Return the returned and the expected tensor, if both exist."""
    actual, expected = failure.actual, failure.expected
    if failure.error is None and isinstance(actual, Tensor) and isinstance(expected, Tensor):
        return actual.detach(), expected.detach()
    return None


def dtype_name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


@mistake(
    "common_wrong_dtype",
    about=(),
    title="The dtype changes on the way",
    explanation=(
        "The numbers are right, but they are {dtype} where {wanted} is expected. Look for a"
        " conversion, or for a tensor that is created with another dtype or none."
    ),
)
def wrong_dtype(failure: Failure, student: Student) -> Facts | None:
    """Recognize the right values in another dtype."""
    both = compared_tensors(failure)
    if both is None or both[0].dtype == both[1].dtype or both[0].dtype.is_complex:
        return None
    coarse = any(t.dtype in (torch.float16, torch.bfloat16) for t in both)
    tolerance = 2e-2 if coarse else 1e-4
    if not both[0].numel() or not same(*both, rtol=tolerance, atol=tolerance / 100):
        return None
    return {"dtype": dtype_name(both[0]), "wanted": dtype_name(both[1])}


@mistake(
    "common_swapped_dimensions",
    about=(),
    title="The dimensions are in the wrong order",
    explanation=(
        "The values are right, but the dimensions are swapped, as if transposed. Check the order"
        " of the factors in a product, and look for a missing or extra .T."
    ),
)
def swapped_dimensions(failure: Failure, student: Student) -> Facts | None:
    """Recognize the expected values, transposed."""
    both = compared_tensors(failure)
    if both is None or not 1 < both[1].dim() <= MOST_DIMENSIONS or same(*both):
        return None
    actual, expected = both
    orders = itertools.permutations(range(expected.dim()))
    return {} if any(same(actual, expected.permute(order)) for order in orders) else None


def arrangements(actual: Tensor, expected: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield what may be wrong with the shape, each with the tensor that would then be returned."""
    if not expected.numel():
        if not actual.numel() and actual.shape != expected.shape:
            yield "The result has no elements, as it should", expected.reshape(actual.shape)
        return
    if actual.numel() == expected.numel() and actual.shape != expected.shape:
        squeezed = actual.squeeze().shape == expected.squeeze().shape
        if squeezed and actual.dim() > expected.dim():
            yield "There is an extra dimension of size 1", expected.reshape(actual.shape)
        elif squeezed and actual.dim() < expected.dim():
            yield "A dimension of size 1 is missing", expected.reshape(actual.shape)
        else:
            yield "The values are right, but in a different shape", expected.reshape(actual.shape)
    if actual.dim() < expected.dim() and expected.dtype.is_floating_point:
        reduced = [()] if not actual.dim() else [(k,) for k in range(expected.dim())]
        for dims in reduced:
            yield "The result is summed", expected.sum(dims) if dims else expected.sum()
            yield "The result is averaged", expected.mean(dims) if dims else expected.mean()


@mistake(
    "common_wrong_shape",
    about=(),
    title="The shape is wrong",
    explanation="{what}: the shape is {shape}, expected {wanted}.",
)
def wrong_shape(failure: Failure, student: Student) -> Facts | None:
    """Recognize the expected values, but squeezed, reshaped, summed or averaged."""
    both = compared_tensors(failure)
    if both is None or same(*both):
        return None
    actual, expected = both
    for what, made in arrangements(actual, expected):
        if same(actual, made):
            return {
                "what": phrase(what),
                "shape": str(tuple(actual.shape)),
                "wanted": str(tuple(expected.shape)),
            }
    return None


def bare_numbers(value: Any) -> Any:
    """Return a value's numbers without their container; None for a value of another kind."""
    if isinstance(value, Tensor):
        return bare_numbers(value.detach().tolist())
    if isinstance(value, list | tuple):
        return [bare_numbers(item) for item in value]
    return float(value) if isinstance(value, int | float) else value


def close(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(close, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-5, abs_tol=1e-7)
    return bool(left is not None and left == right)


@mistake(
    "common_wrong_type",
    about=(),
    title="The values are right, but the type is wrong",
    explanation="Your result is of type {type}, expected {wanted}. The values in it are right.",
)
def wrong_type(failure: Failure, student: Student) -> Facts | None:
    """Recognize a list for a tuple, a number for a tensor, or a tensor for a number."""
    actual, expected = failure.actual, failure.expected
    if failure.error is not None or type(actual) is type(expected):
        return None
    kinds = (Tensor, list, tuple, int, float)
    if not isinstance(actual, kinds) or not isinstance(expected, kinds):
        return None
    if not close(bare_numbers(actual), bare_numbers(expected)):
        return None
    return {"type": type(actual).__name__, "wanted": type(expected).__name__}


@mistake(
    "common_numpy_array",
    about=(),
    title="A NumPy value is returned",
    explanation=(
        "Your result is a NumPy {type}, expected a tensor. Convert it with torch.as_tensor."
    ),
)
def numpy_array(failure: Failure, student: Student) -> Facts | None:
    """Recognize an array or a scalar of NumPy instead of a tensor."""
    actual, expected = failure.actual, failure.expected
    if not isinstance(actual, Opaque) or not isinstance(expected, Tensor):
        return None
    kinds = ("ndarray", "float16", "float32", "float64", "int64", "bool_")
    return {"type": actual.type_name} if actual.type_name in kinds else None


@mistake(
    "common_result_without_graph",
    about=(),
    title="The result has no graph",
    explanation=(
        "The values are right, but the result does not require grad: no gradient gets back to the"
        " input. Look for detach, .data, item, no_grad or a new tensor made from numbers."
    ),
)
def result_without_graph(failure: Failure, student: Student) -> Facts | None:
    """Recognize the right values without the graph that the expected tensor has. What a scenario
    measured has no graph in any case, so only the result of a call counts.
    """
    actual, expected = failure.actual, failure.expected
    if not isinstance(actual, Tensor) or not isinstance(expected, Tensor) or failure.error:
        return None
    cut = expected.requires_grad and not actual.requires_grad
    if not cut or failure.call is None or actual.dtype != expected.dtype:
        return None
    rtol, atol = RIGHT.get(expected.dtype, (0.0, 0.0))
    return {} if same(actual, expected, rtol=rtol, atol=atol) else None


@mistake(
    "common_wrong_sign",
    about=(),
    title="The sign is wrong",
    explanation="Each value that came back is the negative of the expected one.",
)
def wrong_sign(failure: Failure, student: Student) -> Facts | None:
    """Recognize -1 times the expected values."""
    return {} if factor_of(failure) == -1 else None


@mistake(
    "common_constant_factor",
    about=(),
    title="Every value is wrong by the same factor",
    explanation="Each value that came back is {factor} times the expected one.",
)
def constant_factor(failure: Failure, student: Student) -> Facts | None:
    """Recognize a multiple of the expected values."""
    factor = factor_of(failure)
    return None if factor is None else {"factor": f"{factor:.6g}"}


def factor_of(failure: Failure) -> float | None:
    """Return the factor between result and expected values; None if there is no common one."""
    actual, expected = failure.actual, failure.expected
    if isinstance(actual, float) and isinstance(expected, float):
        actual, expected = torch.tensor([actual]).double(), torch.tensor([expected]).double()
    if failure.error is not None or not (
        isinstance(actual, Tensor) and isinstance(expected, Tensor)
    ):
        return None
    kinds = (torch.float32, torch.float64)
    if actual.shape != expected.shape or {actual.dtype, expected.dtype} - set(kinds):
        return None
    mine, truth = actual.detach().double().flatten(), expected.detach().double().flatten()
    if not truth.numel() or not (mine.isfinite() & truth.isfinite()).all():
        return None
    largest = int(truth.abs().argmax())
    if not truth[largest] or not mine[largest]:
        return None
    factor = float(mine[largest] / truth[largest])
    exact = 1e-4 if torch.float32 in (actual.dtype, expected.dtype) else 1e-7
    if abs(factor - 1) <= 1e-3 or not torch.allclose(mine, factor * truth, rtol=exact, atol=1e-12):
        return None
    nice = next((f for f in FACTORS if math.isclose(factor, f, rel_tol=exact)), None)
    different = len({f"{value:.4g}" for value in truth.abs().tolist() if value})
    return nice if different < 3 or nice is not None else factor


VALUES: tuple[Mistake, ...] = (
    wrong_dtype,
    wrong_type,
    numpy_array,
    swapped_dimensions,
    wrong_shape,
    wrong_sign,
    constant_factor,
    result_without_graph,
)
