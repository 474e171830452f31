"""Make the figure of a failed gradcheck: the analytic Jacobian beside the numeric one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.judge.describe import json_number
from grader.judge.figures import Figure

MAX_SIDE = 12
"""The most rows and columns to show. A row costs a backward pass, a column two forward passes."""


def jacobian_figure(
    function: Callable[..., Any],
    inputs: Sequence[Tensor],
    names: Sequence[str],
    *,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    eps: float = 1e-6,
) -> Figure | None:
    """Return the Jacobians by backward and by central differences for the first input in which they
    disagree, or None.
    """
    for place, name in enumerate(names):
        if not isinstance(inputs[place], Tensor) or not inputs[place].requires_grad:
            continue
        copies = [copy_of(one) for one in inputs]
        analytic, numeric, cut = both_jacobians(function, copies, place, eps)
        if not torch.allclose(analytic, numeric, atol=atol, rtol=rtol, equal_nan=True):
            return {
                "kind": "jacobian", "analytic": rows_of(analytic), "numeric": rows_of(numeric),
                "atol": atol, "rtol": rtol, "input": name, "output": "y", "cut": cut,
            }  # fmt: skip
    return None


def copy_of(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def rows_of(matrix: Tensor) -> list[list[float | str]]:
    """Return a matrix as rows of numbers, NaN and infinities as strings."""
    return [[json_number(value) for value in row] for row in matrix.tolist()]


def both_jacobians(
    function: Callable[..., Any], inputs: list[Tensor], place: int, eps: float
) -> tuple[Tensor, Tensor, list[int]]:
    """Return ∂y/∂x by backward and by central differences, and how many rows and columns are cut.
    Rows are outputs, columns elements of the input.
    """

    def value(x: Tensor) -> Tensor:
        result = function(*inputs[:place], x, *inputs[place + 1 :])
        results = result if isinstance(result, tuple) else (result,)
        return next(one for one in results if isinstance(one, Tensor))

    base = inputs[place].detach()
    x = base.clone().requires_grad_()
    y = value(x).flatten()
    rows, columns = min(y.numel(), MAX_SIDE), min(x.numel(), MAX_SIDE)
    analytic, numeric = torch.zeros(2, rows, columns, dtype=torch.float64)
    for row in range(rows) if y.requires_grad else ():
        (gradient,) = torch.autograd.grad(y[row], x, retain_graph=True, allow_unused=True)
        if gradient is not None:
            analytic[row] = gradient.detach().flatten()[:columns]
    for column in range(columns):
        step = torch.zeros_like(base).flatten()
        step[column] = eps
        step = step.reshape(base.shape)
        above, below = (
            value((base + sign * step).requires_grad_()).detach().flatten()[:rows]
            for sign in (1, -1)
        )
        numeric[:, column] = (above - below) / (2 * eps)
    return analytic, numeric, [y.numel() - rows, x.numel() - columns]


def gradient_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that gradgradcheck differentiates: from inputs and v to the gradient."""

    def gradient(*values: Tensor) -> Tensor:
        *xs, v = values
        wanted = [x for x in xs if x.requires_grad]
        first, *_ = torch.autograd.grad(function(*xs), wanted, v, create_graph=True)
        return first

    return gradient
