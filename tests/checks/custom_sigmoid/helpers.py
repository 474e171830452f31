"""custom_sigmoid, what its visible and hidden checks share."""

from typing import Any

import torch
from torch import Tensor

from grader.authoring import RandomInputs, Student, assert_gradient, assert_tensor, assert_that

FAR = [-1e4, 1e4, -800.0, 800.0, -95.0, 95.0, -25.0, 25.0, 0.0]
"""Inputs at which exp overflows in one dtype, in both, or in neither."""


NEAR = {"rtol": 1e-5, "atol": 1e-6}
"""The tolerance of checks that ask for something else than digits."""


def grid(dtype: torch.dtype) -> Tensor:
    """Return all halves from -1000 to 1000 at which s has digits for 1e-8 even in float32."""
    halves = torch.arange(-2000, 2001, dtype=dtype) / 2
    return halves[(halves < -6) | (halves > 18.4)]


def many(draw: RandomInputs, bound: float) -> Tensor:
    """Return float64 numbers from -bound to bound: spread evenly, and drawn."""
    drawn = draw.tensor(100, low=-bound, high=bound, digits=None)
    return torch.cat([torch.linspace(-bound, bound, 300, dtype=torch.float64), drawn])


def mixed(draw: RandomInputs) -> tuple[Tensor, Tensor]:
    """Return a leaf x and a v of four numbers: every sign of one comes with every sign of the
    other, and each has its largest and its smallest number in every draw.
    """
    small, order = draw.tensor(2, low=0.2, high=0.9), draw.sample(range(4), 4)
    x = torch.cat(
        [torch.tensor([2.0, -1.9], dtype=torch.float64), small * small.new_tensor([1, -1])]
    )
    v = torch.tensor([2.0, 0.2, -0.25, -1.9], dtype=torch.float64) * draw.choice([1.0, -1.0])
    return x[order].requires_grad_(), v[order]


def assert_all(
    got: object, want: Tensor, inputs: dict[str, Tensor], message: str, **details: Any
) -> None:
    """Require many values, and show those that are furthest off; the tolerance is absolute unless
    ``rtol`` is given.
    """
    allowed = {"rtol": details.pop("rtol", 0.0), "atol": details.pop("atol")}
    if not isinstance(got, Tensor) or got.shape != want.shape:
        assert_gradient(got, want, message, inputs=inputs, **allowed, **details)
        return
    off = (got.detach() - want).abs().nan_to_num(nan=torch.inf) - allowed["rtol"] * want.abs()
    worst = off.argsort(descending=True)[:4]
    shown = {name: value[worst] for name, value in inputs.items()}
    assert_gradient(got[worst], want[worst], message, inputs=shown, **allowed, **details)


def assert_gradient_near(
    got: object, x: Tensor, v: Tensor, message: str, *, factor: float = 1.0, **details: Any
) -> None:
    """Require the gradient of s at x for the incoming gradient factor * v; many digits are another
    check's.
    """
    rounding = NEAR["atol"] * abs(factor) * float(v.abs().max()) if v.numel() else 0.0
    details = {"inputs": {"x": x, "v": v}, **details}
    want = factor * v * local_derivative(x)
    assert_gradient(got, want, message, rtol=NEAR["rtol"], atol=rounding, **details)


def applied(student: Student, x: Tensor) -> Tensor:
    """Return Sigmoid.apply(x), after its value, roughly, and its requires_grad were checked.

    forward may write into a copy of x here: that has a check of its own.
    """
    want = torch.sigmoid(x.detach())
    with student.writing_allowed():
        y: Tensor = student.Sigmoid.apply(x.clone())
    assert_tensor(y, want, "Sigmoid.apply(x) is wrong", inputs={"x": x}, **NEAR)
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
