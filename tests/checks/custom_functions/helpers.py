"""custom_functions, what its visible and hidden checks share."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

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


NEAR = {torch.float64: {"rtol": 1e-5, "atol": 3e-5}, torch.float32: {"rtol": 1e-4, "atol": 1e-6}}
"""The tolerance of checks that ask for something else than digits."""


def second(name: str) -> str:
    """What the second argument is called."""
    return "q" if name == "Pow" else "y"


def applied(student: Student, name: str, x: Tensor, y: Tensor, **exact: float) -> Tensor:
    """The Function applied, whose value must be right and which must be differentiable before a
    gradient is asked for.
    """
    details = {"inputs": {"x": x, second(name): y}, "facts": {"function": name}}
    tolerance = exact or NEAR[x.dtype]
    want = TRUTH[name](x.detach(), y.detach())
    with student.writing_allowed():  # has a check of its own
        first = x.clone()
        z = getattr(student, name).apply(first, first if y is x else y.clone())
    figures = [lambda: plotted(student, name, x, y, "x")]
    message = "the value of {function}.apply is wrong"
    assert_tensor(z, want, message, figures=figures, **tolerance, **details)
    if x.requires_grad or y.requires_grad:
        assert_that(
            z.requires_grad,
            "the result of {function}.apply does not require grad, although an input does",
            actual=z,
            **details,
        )
    return z


def differentiated(
    student: Student, z: Tensor, leaves: Sequence[Tensor], v: Tensor, **options: Any
) -> tuple[Tensor | None, ...]:
    """Return the gradients of z. backward may write into its copy of v here, which has a check of
    its own.
    """
    with student.writing_allowed():
        return torch.autograd.grad(z, leaves, v, allow_unused=True, **options)


def assert_gradients(
    student: Student,
    name: str,
    x: Tensor,
    y: Tensor,
    v: Tensor,
    message: str = "the gradient with respect to {which} is wrong for grad_output v",
    **exact: float,
) -> None:
    """Value and gradients of those that require grad must be torch's, for the incoming gradient
    v; ``exact`` is a tolerance.
    """
    tolerance = exact or NEAR[x.dtype]
    pairs = [(which, t) for which, t in (("x", x), (second(name), y)) if t.requires_grad]
    leaves = [t for _, t in pairs]
    wants = torch.autograd.grad(TRUTH[name](x, y), leaves, v)
    z = applied(student, name, x, y, **exact)
    found = differentiated(student, z, leaves, v.clone())
    for (which, _), got, want in zip(pairs, found, wants, strict=True):
        assert_gradient(
            got,
            want,
            message,
            inputs={"x": x, second(name): y, "v": v},
            facts={"function": name, "which": which},
            figures=[partial(plotted, student, name, x, y, which, v)],
            **tolerance,
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


def assert_near(got: object, want: Tensor, message: str, **details: Any) -> None:
    """Require a gradient; many digits are another check's."""
    assert_gradient(got, want, message, **{**NEAR[want.dtype], **details})


def drawn(
    draw: RandomInputs,
    name: str,
    *shape: int,
    dtype: torch.dtype = torch.float64,
    requires_grad: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """x, y and v of one shape; for Pow x is positive. From three elements on, each of the three
    has numbers of both signs, and some smaller and some larger than 1.
    """
    place = torch.arange(math.prod(shape)).reshape(shape)
    bits = (place % 2, place // 2 % 2, (place + place // 2) % 2)
    x, y, v = (
        spread(draw.tensor(*shape), (bit + draw.integer(0, 1)) % 2, (place + 1) // 2 % 2).to(dtype)
        for bit in bits
    )
    x = x.abs() if name == "Pow" else x
    v = torch.where(v.abs() < 1, v.sign() * 0.2, v.sign() * 2.0)  # a bound is met in every draw
    return x.requires_grad_(requires_grad), y.requires_grad_(requires_grad), v


def spread(numbers: Tensor, negative: Tensor, large: Tensor) -> Tensor:
    """Give numbers of at most 2 these signs, and sizes near 0.3 or near 1.9."""
    sizes = torch.where(large == 1, 1.8, 0.2) + numbers.abs() / 10
    return (sizes * (1 - 2.0 * negative)).round(decimals=2)
