"""second_derivative: compute gradients that can be differentiated again.

Run `grade second_derivative` to check your work, `grade hint
second_derivative` for a hint. What holds in every lesson is in ../README.md.

In each function, f takes one tensor and computes its result from it with
differentiable operations of torch. f(x) has the dtype of x. If x requires
grad, the graph of f(x) contains x. x is a float32 or float64 tensor, with or
without requires_grad, a leaf or not. Results are right to 9 digits in float64,
3 in float32. Leave the values of x, its graph and every .grad as they were,
None included, also in tensors inside f. You may set x.requires_grad to True.
Do not use torch.func, torch.autograd.functional or finite differences.
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
    """Return d²f/dx² at x, with the shape and dtype of x.

    f works elementwise: each element of f(x) depends only on the same element
    of x. f takes tensors of any shape, not only that of x. x has any shape,
    including 0-d and empty. If f is linear, the result is zeros, even if the
    slope of f is a tensor that requires grad.
    """
    # solution
    x = x.detach().requires_grad_()
    return differentiable_gradient(differentiable_gradient(f(x), x), x)
    # end solution


def nth_derivative(f, x: Tensor, n: int) -> Tensor:
    """Return the n-th derivative of f at x, with the shape and dtype of x.

    f and x are like those of second_derivative. For n = 0 the result is f(x).
    If a derivative is constant, all higher ones are zeros. Raise ValueError
    for n < 0, whatever x is.
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

    x has shape (n,) with n > 0, and f(x) is a 0-d tensor. The result has shape
    (n, n) and the dtype of x. If f is linear, the result is zeros, even if the
    weights of f require grad.
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

    The result is a 0-d tensor with the dtype of x. x has shape (batch,
    features) with batch > 0. f takes a batch of any size and returns one
    number for each row, which depends on that row alone. f(x) has shape
    (batch,) or (batch, 1). The penalty can be differentiated once with respect
    to the tensors inside f that require grad, if there are any. The gradient
    of each row has a norm of at least 0.01. Under the square root, you may add
    up to 1e-6 to each square, or to their sum.
    """
    # solution
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()
    # end solution
