"""forward_mode: carry derivatives along with the values, by numbers of your
own, by torch.autograd.forward_ad and by torch.func.

Run `grade forward_mode` to check your work, `grade hint forward_mode` for a
hint. What holds in every lesson is in ../README.md.

A function f takes one tensor x and is made of differentiable operations of
torch. J is the Jacobian of f at x, and v has the shape and the dtype of x.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.autograd import forward_ad


class Dual:
    """A number with a tangent: value + tangent * ε, where ε * ε = 0.

    Each operation returns a new Dual. In + - * / and comparisons one operand
    may be a plain int or float, on either side: a constant has the tangent 0.
    Write it in plain Python with math, without torch.
    """

    def __init__(self, value: float, tangent: float = 0.0) -> None:
        """Store value and tangent, each an int or a float."""
        raise NotImplementedError

    def __add__(self, other: Dual | float) -> Dual:
        """Return self + other."""
        raise NotImplementedError

    def __radd__(self, other: float) -> Dual:
        """Return other + self, for a plain number other."""
        raise NotImplementedError

    def __neg__(self) -> Dual:
        """Return -self."""
        raise NotImplementedError

    def __sub__(self, other: Dual | float) -> Dual:
        """Return self - other."""
        raise NotImplementedError

    def __rsub__(self, other: float) -> Dual:
        """Return other - self, for a plain number other."""
        raise NotImplementedError

    def __mul__(self, other: Dual | float) -> Dual:
        """Return self * other."""
        raise NotImplementedError

    def __rmul__(self, other: float) -> Dual:
        """Return other * self, for a plain number other."""
        raise NotImplementedError

    def __truediv__(self, other: Dual | float) -> Dual:
        """Return self / other."""
        raise NotImplementedError

    def __rtruediv__(self, other: float) -> Dual:
        """Return other / self, for a plain number other."""
        raise NotImplementedError

    def __pow__(self, exponent: float) -> Dual:
        """Return self ** exponent, for a plain int or float exponent."""
        raise NotImplementedError

    def __lt__(self, other: Dual | float) -> bool:
        """Return whether self is less than other, by their values alone."""
        raise NotImplementedError

    def __le__(self, other: Dual | float) -> bool:
        """Return whether self is at most other, by their values alone."""
        raise NotImplementedError

    def __gt__(self, other: Dual | float) -> bool:
        """Return whether self is greater than other, by their values alone."""
        raise NotImplementedError

    def __ge__(self, other: Dual | float) -> bool:
        """Return whether self is at least other, by their values alone."""
        raise NotImplementedError

    def exp(self) -> Dual:
        """Return e ** self."""
        raise NotImplementedError

    def log(self) -> Dual:
        """Return the natural logarithm of self."""
        raise NotImplementedError

    def sin(self) -> Dual:
        """Return the sine of self."""
        raise NotImplementedError


def jvp(f, x: Tensor, v: Tensor) -> Tensor:
    """Return J v, the derivative of f at x in the direction v.

    Use torch.autograd.forward_ad, and call f once. If f(x) does not depend on
    x, the result is zeros of f(x)'s shape.
    """
    raise NotImplementedError


class Cube(torch.autograd.Function):
    """x³ elementwise, for reverse mode, forward mode and torch.func.

    Write the derivative as a formula, in backward and in jvp.
    """

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        """Return x³."""
        raise NotImplementedError

    @staticmethod
    def setup_context(ctx, inputs: tuple, output: Tensor) -> None:
        """Save what backward and jvp need; inputs is the tuple (x,).

        Save x with ctx.save_for_backward and ctx.save_for_forward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient with respect to x; grad_output is the gradient
        with respect to x³.
        """
        raise NotImplementedError

    @staticmethod
    def jvp(ctx, x_tangent: Tensor) -> Tensor:
        """Return the tangent of x³; x_tangent is the tangent of x."""
        raise NotImplementedError

    @staticmethod
    def vmap(info, in_dims: tuple, x: Tensor) -> tuple[Tensor, int]:
        """Bonus: return Cube of a whole batch, and its batch dimension.

        x holds info.batch_size samples along the dimension in_dims[0]. Write
        this method instead of setting generate_vmap_rule.
        """
        raise NotImplementedError


def jvp_by_two_backwards(f, x: Tensor, v: Tensor) -> Tensor:
    """Return J v by reverse mode alone: differentiate twice, and call f once.

    The gradient of f at x for an incoming gradient u is linear in u. If f(x)
    does not depend on x, the result is zeros of f(x)'s shape.
    """
    raise NotImplementedError


def hessian_vector(f, x: Tensor, v: Tensor) -> Tensor:
    """Return H v, where H is the Hessian of f at x and f(x) is 0-d.

    Use forward mode as well as reverse mode, without H itself: H v is the
    tangent of the gradient. If f is linear, the result is zeros.
    """
    raise NotImplementedError


def per_sample_gradients(
    loss, parameters: list[Tensor], xs: Tensor, ys: Tensor
) -> tuple[Tensor, ...]:
    """Return for each parameter the gradients of all samples, stacked in
    dimension 0.

    loss(*parameters, x, y) is the loss of one sample, a 0-d tensor. Sample i
    is xs[i] and ys[i]. Use torch.func, and call loss once for all samples.
    """
    raise NotImplementedError
