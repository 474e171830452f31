"""vector_backward: multiply a vector by a Jacobian, and compute whole
Jacobians.

Run `grade vector_backward` to check your work, `grade hint vector_backward`
for a hint. What holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    """Return the vector-Jacobian product v^T J, where J is the Jacobian of y
    with respect to x.

    The graph of y can still be used after the call. x.grad stays as it was.

    x is a leaf that requires grad, y is computed from it, and v has y's shape.
    """
    # solution
    (gradient,) = torch.autograd.grad(y, x, v, retain_graph=True)
    return gradient
    # end solution


def jacobian(f, x: Tensor) -> Tensor:
    """Return all derivatives of y = f(x) at x, in the shape y.shape + x.shape.

    For a vector y, result[i] is the gradient of y[i]. Where y does not depend
    on x, the derivatives are zeros. Do not use finite differences.

    x is a leaf that requires grad.
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

    x is a 0-d leaf that requires grad. a and b are vectors of the same length.
    """
    # solution
    y = x * a
    z = y @ b
    dz_dx, dz_dy = torch.autograd.grad(z, (x, y))
    return z, dz_dx, dz_dy
    # end solution


def complex_derivative(g, z: Tensor) -> Tensor:
    """Bonus: return the derivative g'(z) for every element of z, in z's shape
    and dtype. Do not use finite differences.

    z is a complex leaf that requires grad. g works elementwise, and its
    derivative is the same in every direction of the complex plane.
    """
    # solution
    w = g(z)
    (gradient,) = torch.autograd.grad(w, z, torch.ones_like(w))
    return gradient.conj()
    # end solution
