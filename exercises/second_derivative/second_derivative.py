"""second_derivative: gradients that can be differentiated again.

Run `grade second_derivative` to see how far you are, `grade hint second_derivative` for a nudge.

Everywhere in this file f is a function of one tensor that is made of differentiable operations of
torch, and x is any floating tensor, float32 or float64: it may require grad or not, be a leaf or
the result of other operations. No function here changes x.grad. Neither torch.func nor
torch.autograd.functional is needed, and neither may be used: they have the answers ready-made.
"""

import torch
from torch import Tensor



def second_derivative(f, x: Tensor) -> Tensor:
    """Return d²f/dx² at x, of x's shape (any: 0-d and empty too) and dtype.

    f works elementwise: each element of f(x) depends on the same element of x alone. Where f is
    linear the answer is zeros, also where its slope is a parameter that requires grad.
    """
    raise NotImplementedError


def nth_derivative(f, x: Tensor, n: int) -> Tensor:
    """Return the n-th derivative of the elementwise f at x, of x's shape and dtype; for n = 0 that
    is f(x).

    Zeros where a lower derivative is constant. Raises ValueError for n < 0.
    """
    raise NotImplementedError


def hessian(f, x: Tensor) -> Tensor:
    """Return the matrix of all second derivatives of f at x: shape (n, n), of x's dtype, element
    (i, j) is d²f/dx_i dx_j.

    f takes a vector of shape (n,), n > 0, to a scalar (a 0-d tensor). Where f is linear the answer
    is zeros.
    """
    raise NotImplementedError


def gradient_penalty(f, x: Tensor) -> Tensor:
    """Return the mean over the rows of x of (||df/dx_row||_2 - 1) ** 2, a 0-d tensor of x's dtype.

    x has shape (batch, features). f returns one number for each row, which depends on that row
    alone, as shape (batch,) or (batch, 1). The penalty can be differentiated with respect to the
    parameters inside f.
    """
    raise NotImplementedError
