"""finite_difference: compute derivatives from values of a function alone.

Run `grade finite_difference` to check your work, `grade hint
finite_difference` for a hint. What holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    """Return the slope of the line through the points of f at x and x + h.

    f takes a 0-d tensor and returns one; x is 0-d, and h is positive. Compute
    in x's dtype: rounding errors of f don't count.
    """
    # solution
    return (f(x + h) - f(x)) / h
    # end solution


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    """Return the slope of the line through the points of f at x - h and x + h.

    f, x, h and rounding errors are as in forward_difference.
    """
    # solution
    return (f(x + h) - f(x - h)) / (2 * h)
    # end solution


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    """Return the gradient of f at x by central differences, not by autograd.

    Each entry is the slope of f as this element of x goes from h below its
    value to h above it. Meanwhile the other elements stay as they are. f takes
    a tensor of x's shape and returns a 0-d one.
    """
    # solution
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    with torch.no_grad():
        for k in range(x.numel()):
            step = torch.zeros_like(slopes)
            step[k] = h
            step = step.reshape(x.shape)
            slopes[k] = (f(x + step) - f(x - step)) / (2 * h)
    return slopes.reshape(x.shape)
    # end solution
