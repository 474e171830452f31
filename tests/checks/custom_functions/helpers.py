"""custom_functions, what its visible and hidden checks share."""

from functools import partial

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_gradient,
    assert_tensor,
    assert_that,
    plot_figure,
)

TRUTH = {"Add": torch.add, "Mul": torch.mul, "Pow": torch.pow, "BroadcastMul": torch.mul}
"""The same operations as torch has them."""


def second(name: str) -> str:
    """What the second argument is called."""
    return "q" if name == "Pow" else "y"


def applied(student: Student, name: str, x: Tensor, y: Tensor) -> Tensor:
    """The Function applied, whose value must be right and which must be differentiable before a
    gradient is asked for.
    """
    details = {"inputs": {"x": x, second(name): y}, "facts": {"function": name}}
    want = TRUTH[name](x.detach(), y.detach())
    z = getattr(student, name).apply(x, y)
    figures = [lambda: plotted(student, name, x, y, "x")]
    assert_tensor(z, want, "the value of {function}.apply is wrong", figures=figures, **details)
    if x.requires_grad or y.requires_grad:
        assert_that(
            z.requires_grad,
            "the result of {function}.apply does not require grad, although an input does",
            actual=z,
            **details,
        )
    return z


def assert_gradients(
    student: Student,
    name: str,
    x: Tensor,
    y: Tensor,
    v: Tensor,
    message: str = "the gradient with respect to {which} is wrong for grad_output v",
) -> None:
    """Value and gradients of those that require grad must be torch's, for the incoming gradient
    v.
    """
    pairs = [(which, t) for which, t in (("x", x), (second(name), y)) if t.requires_grad]
    leaves = [t for _, t in pairs]
    wants = torch.autograd.grad(TRUTH[name](x, y), leaves, v)
    found = torch.autograd.grad(applied(student, name, x, y), leaves, v.clone(), allow_unused=True)
    for (which, _), got, want in zip(pairs, found, wants, strict=True):
        assert_gradient(
            got,
            want,
            message,
            inputs={"x": x, second(name): y, "v": v},
            facts={"function": name, "which": which},
            figures=[partial(plotted, student, name, x, y, which, v)],
        )


def plotted(
    student: Student, name: str, x: Tensor, y: Tensor, which: str, v: Tensor | None = None
) -> dict | None:
    """A figure of Pow: its value and its gradient with respect to one of the inputs."""
    if name != "Pow" or x.shape != y.shape:
        return None
    vary, over = (0, (0.1, 3)) if which == "x" else (1, (-2, 3))
    function = student.Pow.apply
    return plot_figure(function, torch.pow, (x, y), over=over, vary=vary, name=which, incoming=v)


def drawn(
    draw: RandomInputs,
    name: str,
    *shape: int,
    dtype: torch.dtype = torch.float64,
    requires_grad: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """x, y and v of one shape; for Pow x is positive."""
    x = draw.tensor(
        *shape, dtype=dtype, low=0.2 if name == "Pow" else -2.0, requires_grad=requires_grad
    )
    return (
        x,
        draw.tensor(*shape, dtype=dtype, requires_grad=requires_grad),
        draw.tensor(*shape, dtype=dtype),
    )
