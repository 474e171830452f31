"""second_derivative: gradients that can be differentiated again.

Run `grade second_derivative` to see how far you are, `grade hint second_derivative` for a nudge.

Everywhere in this file f is a function of one tensor that is made of differentiable operations of
torch, and x is any floating tensor, float32 or float64: it may require grad or not, be a leaf or
the result of other operations. No function here changes x.grad. Neither torch.func nor
torch.autograd.functional is needed, and neither may be used: they have the answers ready-made.
"""

import torch
from torch import Tensor

# solution


def differentiable_gradient(y: Tensor, x: Tensor) -> Tensor:
    """The gradient of y.sum() with respect to x as a part of the graph; zeros where y does not
    depend on x.
    """
    if not y.requires_grad:
        return torch.zeros_like(x)
    (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)
    return gradient


# end solution


def second_derivative(f, x: Tensor) -> Tensor:
    """Return d²f/dx² at x, of x's shape (any: 0-d and empty too) and dtype.

    f works elementwise: each element of f(x) depends on the same element of x alone. Where f is
    linear the answer is zeros, also where its slope is a parameter that requires grad.
    """
    # solution
    x = x.detach().requires_grad_()
    return differentiable_gradient(differentiable_gradient(f(x), x), x)
    # end solution


def nth_derivative(f, x: Tensor, n: int) -> Tensor:
    """Return the n-th derivative of the elementwise f at x, of x's shape and dtype; for n = 0 that
    is f(x).

    Zeros where a lower derivative is constant. Raises ValueError for n < 0.
    """
    # solution
    if n < 0:
        raise ValueError(f"there is no derivative of order {n}")
    x = x.detach().requires_grad_()
    derivative = f(x)
    for _ in range(n):
        derivative = differentiable_gradient(derivative, x)
    return derivative
    # end solution


def hessian(f, x: Tensor) -> Tensor:
    """Return the matrix of all second derivatives of f at x: shape (n, n), of x's dtype, element
    (i, j) is d²f/dx_i dx_j.

    f takes a vector of shape (n,), n > 0, to a scalar (a 0-d tensor). Where f is linear the answer
    is zeros.
    """
    # solution
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return torch.stack([differentiable_gradient(element, x) for element in gradient])
    # end solution


def gradient_penalty(f, x: Tensor) -> Tensor:
    """Return the mean over the rows of x of (||df/dx_row||_2 - 1) ** 2, a 0-d tensor of x's dtype.

    x has shape (batch, features). f returns one number for each row, which depends on that row
    alone, as shape (batch,) or (batch, 1). The penalty can be differentiated with respect to the
    parameters inside f.
    """
    # solution
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()
    # end solution
