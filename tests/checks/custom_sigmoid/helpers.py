"""custom_sigmoid, what its visible and hidden checks share."""

import torch
from torch import Tensor

from grader.authoring import Student, assert_tensor, assert_that


def applied(student: Student, x: Tensor, *, atol: float | None = None) -> Tensor:
    """Sigmoid.apply(x), whose value must be right and which must be differentiable before a
    gradient is asked for.
    """
    want = torch.sigmoid(x.detach())
    y = student.Sigmoid.apply(x)
    assert_tensor(y, want, "Sigmoid.apply(x) is wrong", inputs={"x": x}, atol=atol)
    assert_that(
        y.requires_grad,
        "Sigmoid.apply(x) does not require grad, although x does",
        actual=y,
        inputs={"x": x},
    )
    return y


def local_derivative(x: Tensor) -> Tensor:
    """The derivative of the logistic function, as torch has it."""
    x = x.detach().requires_grad_()
    return torch.autograd.grad(torch.sigmoid(x).sum(), x)[0]
