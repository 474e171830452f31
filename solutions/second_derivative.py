"""second_derivative: compute gradients that can be differentiated again.

Run `grade second_derivative` to check your work, `grade hint
second_derivative` for a hint. What holds in every lesson is in ../README.md.

f takes one tensor and is made of differentiable operations of torch. x may
require grad or not, and may be the result of other operations. Do not use
torch.func, torch.autograd.functional or finite differences.
"""

import torch
from torch import Tensor

# solution


def differentiable_gradient(y: Tensor, x: Tensor) -> Tensor:
    """Return the gradient of y.sum() at x, with a graph; zeros where y does
    not depend on x.
    """
    if not y.requires_grad:
        return torch.zeros_like(x)
    (gradient,) = torch.autograd.grad(
        y.sum(), x, create_graph=True, materialize_grads=True
    )
    return gradient


# end solution


def second_derivative(f, x: Tensor) -> Tensor:
    """Return d²f/dx² at x.

    f works elementwise: each element of f(x) depends only on the same element
    of x. If f is linear, the result is zeros, even if the slope of f requires
    grad.
    """
    # solution
    x = x.detach().requires_grad_()
    return differentiable_gradient(differentiable_gradient(f(x), x), x)
    # end solution


def nth_derivative(f, x: Tensor, n: int) -> Tensor:
    """Return the n-th derivative of f at x.

    f works elementwise. For n = 0 the result is f(x). All derivatives after a
    constant one are zeros. Raise ValueError for n < 0.
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
    """Return the Hessian of f at x: element (i, j) is d²f/dx_i dx_j.

    x has shape (n,) with n > 0, and f(x) is a single number (0-d). If f is
    linear, the result is zeros, even if the weights of f require grad.
    """
    # solution
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return torch.stack(
        [differentiable_gradient(element, x) for element in gradient]
    )
    # end solution


def gradient_penalty(f, x: Tensor) -> Tensor:
    """Return the mean of (||df/dx_row||_2 - 1) ** 2 over the rows of x.

    x has shape (batch, features) with at least one row. f(x) has one number
    for each row, in shape (batch,) or (batch, 1), which depends on that row
    alone. The penalty can be differentiated with respect to the tensors inside
    f that require grad.
    """
    # solution
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()
    # end solution
