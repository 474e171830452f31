"""custom_sigmoid: write a torch.autograd.Function with a backward that you
derived.

Run `grade custom_sigmoid` to check your work, `grade hint custom_sigmoid` for
a hint. What holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor


class Sigmoid(torch.autograd.Function):
    """The logistic function s(x) = 1 / (1 + exp(-x)), element by element.

    x is a float32 or float64 tensor of any shape. Its elements are between
    -10,000 and 10,000, and grad_output is finite. Rounding may change values
    by up to 1e-8 in float64 and 1e-6 in float32, and gradients by that number
    times the largest absolute value in grad_output. Use no built-in that
    computes a sigmoid, such as logsigmoid, softmax, silu, glu, mish or a cross
    entropy. Calls of Sigmoid.apply and of sigmoid must not affect each other.
    You may split forward into forward(x) and setup_context(ctx, inputs,
    output).
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return s(x), with the shape and dtype of x.

        Save what backward needs with ctx.save_for_backward. If x or the result
        is changed in place before backward, torch raises an error, or backward
        is right for the old x. Leave x, x.requires_grad and x.grad as they
        were.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient with respect to x; grad_output is the gradient
        with respect to s(x).

        Use a formula that you derived, not autograd or small steps of x. For x
        between -2 and 2 in float64, each element of the gradient must even be
        right to 12 digits. Leave grad_output as it was.
        """
        raise NotImplementedError


def sigmoid(x: Tensor) -> Tensor:
    """Return Sigmoid.apply(x). Leave x, x.requires_grad and x.grad as they
    were.
    """
    raise NotImplementedError
