"""vector_backward: multiply a vector by a Jacobian, and compute whole
Jacobians.

Run `grade vector_backward` to check your work, `grade hint vector_backward`
for a hint. What holds in every lesson is in ../README.md.

Results are right to 9 digits in float64, 3 in float32. What x.grad held before
is no part of them.
"""

import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    """Return the vector-Jacobian product v^T J, where J is the Jacobian of y
    with respect to x.

    x is a leaf that requires grad, the graph of y contains x, and v has y's
    shape and does not require grad. The sum in v^T J runs over all elements of
    y. Any tensor may be 0-d, empty or non-contiguous; all are float32, or all
    are float64. The result has x's shape and dtype. After the call, x.grad
    holds the same values as before, or is still None. The graph of y can still
    be used afterwards. The arguments keep their values, and x still requires
    grad.
    """
    # solution
    (gradient,) = torch.autograd.grad(y, x, v, retain_graph=True)
    return gradient
    # end solution


def jacobian(f, x: Tensor) -> Tensor:
    """Return all derivatives of y = f(x) at x, as a tensor of shape y.shape +
    x.shape.

    For a vector y, result[i] is the gradient of y[i]. x is a leaf that
    requires grad, float32 or float64; it may be 0-d, empty or non-contiguous.
    f takes one tensor and returns one tensor of x's dtype, with at least one
    element. It may return x itself or a view of it. It may use custom autograd
    Functions, which your code may differentiate twice. Where y does not depend
    on x, the derivatives are zeros. The result has x's dtype. Do not use
    finite differences. x keeps its values and still requires grad.
    """
    # solution
    y = f(x)
    result = y.new_zeros(y.shape + x.shape)
    if not y.requires_grad:
        return result
    rows = result.view(y.numel(), *x.shape)
    for k, unit in enumerate(torch.eye(y.numel(), dtype=y.dtype)):
        (row,) = torch.autograd.grad(
            y, x, unit.view(y.shape), retain_graph=True, allow_unused=True
        )
        if row is not None:
            rows[k] = row
    return result
    # end solution


def broadcast_dot(
    x: Tensor, a: Tensor, b: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute y = x * a and z = y @ b, and return the tuple (z, dz/dx, dz/dy).

    x is a 0-d leaf that requires grad. a and b are vectors of the same length
    that do not require grad. They may be empty or non-contiguous; all
    arguments are float32, or all are float64. z and dz/dx are 0-d, and dz/dy
    has the shape of y. The results have x's dtype. The arguments keep their
    values, and x still requires grad.
    """
    # solution
    y = x * a
    z = y @ b
    dz_dx, dz_dy = torch.autograd.grad(z, (x, y))
    return z, dz_dx, dz_dy
    # end solution
