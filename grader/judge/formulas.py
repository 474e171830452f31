"""Functions that a check writes once, as text; and finite differences, for truths and plots."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.core.pictures import PlotPanel
from grader.judge.figures import ask_all, curve, panel
from grader.worker.wire.program import Program, program

STEPS = tuple(10.0 ** (-k / 2) for k in range(2, 25))
"""The steps for which a plot shows the error of finite differences: from 0.1 to 1e-12."""


def formula(text: str, inputs: str = "x", **parameters: Tensor) -> Program:
    """Return the function of the inputs that a text says, as a program. ``parameters`` are the
    tensors of other names in it.

    >>> f = formula("x * y + 1", "x y")
    >>> f(torch.tensor(2.0), torch.tensor(3.0))
    tensor(7.)
    """
    names = inputs.split()
    function = eval(f"lambda {', '.join([*names, *parameters])}: {text}")
    return program(function, inputs=len(names), parameters=[*parameters.values()])


def differences(f: Callable[[Tensor], Tensor], x: Tensor, behind: float, ahead: float) -> Tensor:
    """Return the slopes of f as each element of x goes from ``behind`` below its value to ``ahead``
    above it: a row for each element of f(x), a column for each of x.

    >>> differences(lambda x: x**2, torch.tensor([1.0, 2.0]), 0.0, 0.5)
    tensor([[2.5000, 0.0000],
            [0.0000, 4.5000]])
    """
    units = torch.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape)
    columns = [
        (f(x + ahead * unit) - f(x - behind * unit)).flatten() / (behind + ahead) for unit in units
    ]
    return torch.stack(columns, 1) if columns else torch.zeros(f(x).numel(), 0, dtype=x.dtype)


def error_panel(
    caption: str,
    asked: Callable[..., object],
    call: Callable[[float], tuple[object, ...]],
    right: Callable[[float], Tensor],
    exact: Tensor,
    *,
    x: str,
) -> PlotPanel:
    """Return a drawing of how far differences are from the exact slopes, for steps of many sizes:
    those of the student's function, whose arguments ``call`` gives, and the right ones.
    """

    def off(found: object) -> float | None:
        if not isinstance(found, Tensor) or found.shape != exact.shape:
            return None
        return float((found.detach() - exact).abs().max())

    found = ask_all(asked, [call(step) for step in STEPS])
    return panel(
        caption,
        curve("truth", STEPS, [off(right(step)) for step in STEPS]),
        curve("yours", STEPS, [off(one) for one in found], form="dots"),
        x=x,
        log=True,
    )
