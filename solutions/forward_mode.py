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
        # solution
        self.value = value
        self.tangent = tangent
        # end solution

    def __add__(self, other: Dual | float) -> Dual:
        """Return self + other."""
        # solution
        other = as_dual(other)
        return Dual(self.value + other.value, self.tangent + other.tangent)
        # end solution

    def __radd__(self, other: float) -> Dual:
        """Return other + self, for a plain number other."""
        # solution
        return self + other
        # end solution

    def __neg__(self) -> Dual:
        """Return -self."""
        # solution
        return Dual(-self.value, -self.tangent)
        # end solution

    def __sub__(self, other: Dual | float) -> Dual:
        """Return self - other."""
        # solution
        return self + -other
        # end solution

    def __rsub__(self, other: float) -> Dual:
        """Return other - self, for a plain number other."""
        # solution
        return -self + other
        # end solution

    def __mul__(self, other: Dual | float) -> Dual:
        """Return self * other."""
        # solution
        other = as_dual(other)
        tangent = self.tangent * other.value + self.value * other.tangent
        return Dual(self.value * other.value, tangent)
        # end solution

    def __rmul__(self, other: float) -> Dual:
        """Return other * self, for a plain number other."""
        # solution
        return self * other
        # end solution

    def __truediv__(self, other: Dual | float) -> Dual:
        """Return self / other."""
        # solution
        other = as_dual(other)
        value = self.value / other.value
        tangent = (self.tangent - value * other.tangent) / other.value
        return Dual(value, tangent)
        # end solution

    def __rtruediv__(self, other: float) -> Dual:
        """Return other / self, for a plain number other."""
        # solution
        return as_dual(other) / self
        # end solution

    def __pow__(self, exponent: float) -> Dual:
        """Return self ** exponent, for a plain int or float exponent."""
        # solution
        slope = exponent * self.value ** (exponent - 1) if exponent else 0.0
        return Dual(self.value**exponent, slope * self.tangent)
        # end solution

    def __lt__(self, other: Dual | float) -> bool:
        """Return whether self is less than other, by their values alone."""
        # solution
        return self.value < as_dual(other).value
        # end solution

    def __le__(self, other: Dual | float) -> bool:
        """Return whether self is at most other, by their values alone."""
        # solution
        return self.value <= as_dual(other).value
        # end solution

    def __gt__(self, other: Dual | float) -> bool:
        """Return whether self is greater than other, by their values alone."""
        # solution
        return self.value > as_dual(other).value
        # end solution

    def __ge__(self, other: Dual | float) -> bool:
        """Return whether self is at least other, by their values alone."""
        # solution
        return self.value >= as_dual(other).value
        # end solution

    def exp(self) -> Dual:
        """Return e ** self."""
        # solution
        value = math.exp(self.value)
        return Dual(value, value * self.tangent)
        # end solution

    def log(self) -> Dual:
        """Return the natural logarithm of self."""
        # solution
        return Dual(math.log(self.value), self.tangent / self.value)
        # end solution

    def sin(self) -> Dual:
        """Return the sine of self."""
        # solution
        slope = math.cos(self.value)
        return Dual(math.sin(self.value), slope * self.tangent)
        # end solution


# solution
def as_dual(number: Dual | float) -> Dual:
    """Return a Dual as it is, and a plain number as a constant."""
    return number if isinstance(number, Dual) else Dual(number)


# end solution


def jvp(f, x: Tensor, v: Tensor) -> Tensor:
    """Return J v, the derivative of f at x in the direction v.

    Use torch.autograd.forward_ad, and call f once. If f(x) does not depend on
    x, the result is zeros of f(x)'s shape.
    """
    # solution
    with forward_ad.dual_level():
        y = f(forward_ad.make_dual(x, v))
        value, tangent = forward_ad.unpack_dual(y)
    return torch.zeros_like(value) if tangent is None else tangent
    # end solution


class Cube(torch.autograd.Function):
    """x³ elementwise, for reverse mode, forward mode and torch.func.

    Write the derivative as a formula, in backward and in jvp.
    """

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        """Return x³."""
        # solution
        return x**3
        # end solution

    @staticmethod
    def setup_context(ctx, inputs: tuple, output: Tensor) -> None:
        """Save what backward and jvp need; inputs is the tuple (x,).

        Save x with ctx.save_for_backward and ctx.save_for_forward.
        """
        # solution
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient with respect to x; grad_output is the gradient
        with respect to x³.
        """
        # solution
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2
        # end solution

    @staticmethod
    def jvp(ctx, x_tangent: Tensor) -> Tensor:
        """Return the tangent of x³; x_tangent is the tangent of x."""
        # solution
        (x,) = ctx.saved_tensors
        return x_tangent * 3 * x**2
        # end solution

    @staticmethod
    def vmap(info, in_dims: tuple, x: Tensor) -> tuple[Tensor, int]:
        """Bonus: return Cube of a whole batch, and its batch dimension.

        x holds info.batch_size samples along the dimension in_dims[0]. Write
        this method instead of setting generate_vmap_rule.
        """
        # solution
        return Cube.apply(x), in_dims[0]
        # end solution


def jvp_by_two_backwards(f, x: Tensor, v: Tensor) -> Tensor:
    """Return J v by reverse mode alone: differentiate twice, and call f once.

    The gradient of f at x for an incoming gradient u is linear in u. If f(x)
    does not depend on x, the result is zeros of f(x)'s shape.
    """
    # solution
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(y)
    u = torch.zeros_like(y, requires_grad=True)
    (gradient,) = torch.autograd.grad(
        y, x, u, create_graph=True, materialize_grads=True
    )
    if not gradient.requires_grad:
        return torch.zeros_like(y)
    return torch.autograd.grad(gradient, u, v, materialize_grads=True)[0]
    # end solution


def hessian_vector(f, x: Tensor, v: Tensor) -> Tensor:
    """Return H v, where H is the Hessian of f at x and f(x) is 0-d.

    Use forward mode as well as reverse mode, without H itself: H v is the
    tangent of the gradient. If f is linear, the result is zeros.
    """
    # solution
    x = x.detach().requires_grad_()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        (gradient,) = torch.autograd.grad(f(dual), dual)
        value, tangent = forward_ad.unpack_dual(gradient)
    return torch.zeros_like(value) if tangent is None else tangent
    # end solution


def per_sample_gradients(
    loss, parameters: list[Tensor], xs: Tensor, ys: Tensor
) -> tuple[Tensor, ...]:
    """Return for each parameter the gradients of all samples, stacked in
    dimension 0.

    loss(*parameters, x, y) is the loss of one sample, a 0-d tensor. Sample i
    is xs[i] and ys[i]. Use torch.func, and call loss once for all samples.
    """
    # solution
    places = tuple(range(len(parameters)))
    gradients = torch.func.grad(loss, argnums=places)
    in_dims = (None,) * len(parameters) + (0, 0)
    return torch.func.vmap(gradients, in_dims)(*parameters, xs, ys)
    # end solution
