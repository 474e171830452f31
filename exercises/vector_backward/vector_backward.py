"""vector_backward: what backward multiplies, and the whole Jacobian.

Run `grade vector_backward` to see how far you are, `grade hint vector_backward` for a nudge.

Tensors are float32 or float64, all arguments of a call of one dtype, and so are the results. Shapes
are any, 0-d and without elements too, and strides need not be contiguous, unless a docstring says
otherwise. No argument is written to.
"""

import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    """Return the vector-Jacobian product v^T J, where J is the Jacobian of y with respect to x.

    x is a leaf that requires grad, y a tensor that was computed from it, v a tensor of y's shape:
    the sum in v^T J runs over all elements of y. The result has x's shape. x.grad is afterwards
    what it was before, and the graph of y can still be used.
    """
    raise NotImplementedError


def jacobian(f, x: Tensor) -> Tensor:
    """Return all derivatives of y = f(x) at x: a tensor of shape y.shape + x.shape, row by row.

    x is a leaf that requires grad. f takes one tensor to one tensor of one element or more; it may
    contain custom autograd Functions. Where y does not depend on x, the derivatives are zeros.
    """
    raise NotImplementedError


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Compute y = x * a and z = y @ b, and return (z, dz/dx, dz/dy).

    x is a 0-d leaf that requires grad, a and b are vectors of one length. z and dz/dx are 0-d,
    dz/dy has the shape of y. What x.grad held before is not counted in.
    """
    raise NotImplementedError
