"""finite_difference: compute derivatives from values of a function alone.

Run `grade finite_difference` to check your work, `grade hint
finite_difference` for a hint. What holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    """Return the slope of the line through the points of f at x and at x + h.

    x is a 0-d tensor, float32 or float64, and h is a positive number. f takes
    a 0-d tensor and returns a 0-d tensor of the same dtype. What f returns may
    be its argument or a view of it. The result is a 0-d tensor of x's dtype;
    computing in that dtype is precise enough. x is never written to, not even
    for a moment.
    """
    # solution
    return (f(x + h) - f(x)) / h
    # end solution


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    """Return the slope of the line through the points of f at x - h and at x +
    h.

    f, x, h and the result are as for forward_difference. x is never written
    to, not even for a moment.
    """
    # solution
    return (f(x + h) - f(x - h)) / (2 * h)
    # end solution


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    """Return the gradient of f at x by central differences.

    Each entry is the slope of f as that element of x goes from h below its
    value to h above it, while the other elements stay as they are. f takes a
    tensor of x's shape and returns a 0-d tensor of the same dtype. What f
    returns may be its argument or a view of it. h and precision are as in
    central_difference. x has any shape (0-d and empty included), may be sliced
    or expanded, and is float32 or float64. The result has x's shape and dtype.
    No autograd is used. x is never written to, not even for a moment.
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
