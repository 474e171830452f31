"""custom_sigmoid, what its visible and hidden checks share."""

import torch
from torch import Tensor

from grader.authoring import Student, assert_tensor, assert_that

FAR = [-1e4, 1e4, -800.0, 800.0, -95.0, 95.0, -25.0, 25.0, 0.0]
"""Inputs at which exp overflows in one dtype, in both, or in neither."""


def grid(dtype: torch.dtype) -> Tensor:
    """Return all halves from -1000 to 1000: where a case may begin or end."""
    return torch.arange(-2000, 2001, dtype=dtype) / 2


def worst(got: Tensor, want: Tensor, allowed: float) -> Tensor:
    """Return where the largest differences are, if one is larger than allowed, or where none is."""
    off = (got.detach() - want).abs().nan_to_num(nan=torch.inf)
    return off.argsort(descending=True)[:4] if bool((off > allowed).any()) else torch.arange(4)


def applied(student: Student, x: Tensor, *, atol: float | None = None) -> Tensor:
    """Return Sigmoid.apply(x), after its value and its requires_grad were checked.

    forward may write into a copy of x here: that has a check of its own.
    """
    want = torch.sigmoid(x.detach())
    with student.writing_allowed():
        y: Tensor = student.Sigmoid.apply(x.clone())
    assert_tensor(y, want, "Sigmoid.apply(x) is wrong", inputs={"x": x}, atol=atol)
    assert_that(
        y.requires_grad,
        "Sigmoid.apply(x) does not require grad, although x does",
        actual=y,
        inputs={"x": x},
    )
    return y


def gradient(student: Student, y: Tensor, x: Tensor, v: Tensor) -> Tensor | None:
    """Return the gradient of y with respect to x for the incoming gradient v.

    backward may write into v here, which has a check of its own: pass a copy.
    """
    with student.writing_allowed():
        return torch.autograd.grad(y, x, v, allow_unused=True)[0]


def local_derivative(x: Tensor) -> Tensor:
    """Return the derivative of the logistic function, as torch computes it."""
    x = x.detach().requires_grad_()
    return torch.autograd.grad(torch.sigmoid(x).sum(), x)[0]
