"""tiny_autograd: the capstone, a reverse-mode engine for single numbers in plain Python, without
torch.

Run `grade tiny_autograd` to see how far you are, `grade hint tiny_autograd` for a nudge.
"""

from __future__ import annotations

import math


class Value:
    """A number that can be computed with, and that knows afterwards how it came about.

    data is the number. grad is a number too, 0.0 at first; backward, called on a result, adds to
    the grad of each Value(data) that the result was computed from. What the grad of the results on
    the way holds afterwards is up to you.

    Wherever two Values can be combined with + - * /, one of the two may be a plain int or float
    instead, on either side. Every operation returns a new Value and leaves its inputs as they were.
    """

    def __init__(self, data: float) -> None:
        """Hold data, an int or a float; grad starts at 0.0."""
        raise NotImplementedError

    def __add__(self, other: Value | float) -> Value:
        """Return self + other."""
        raise NotImplementedError

    def __radd__(self, other: float) -> Value:
        """Return other + self, for a plain number other."""
        raise NotImplementedError

    def __neg__(self) -> Value:
        """Return -self."""
        raise NotImplementedError

    def __sub__(self, other: Value | float) -> Value:
        """Return self - other."""
        raise NotImplementedError

    def __rsub__(self, other: float) -> Value:
        """Return other - self, for a plain number other."""
        raise NotImplementedError

    def __mul__(self, other: Value | float) -> Value:
        """Return self * other."""
        raise NotImplementedError

    def __rmul__(self, other: float) -> Value:
        """Return other * self, for a plain number other."""
        raise NotImplementedError

    def __truediv__(self, other: Value | float) -> Value:
        """Return self / other; other is not zero."""
        raise NotImplementedError

    def __rtruediv__(self, other: float) -> Value:
        """Return other / self, for a plain number other; self is not zero."""
        raise NotImplementedError

    def __pow__(self, exponent: float) -> Value:
        """Return self ** exponent, for a plain int or float exponent; not for 0 ** 0, nor where the
        power is not a real number.
        """
        raise NotImplementedError

    def exp(self) -> Value:
        """Return e ** self."""
        raise NotImplementedError

    def log(self) -> Value:
        """Return the natural logarithm of self, which is positive."""
        raise NotImplementedError

    def tanh(self) -> Value:
        """Return the hyperbolic tangent of self."""
        raise NotImplementedError

    def relu(self) -> Value:
        """Return self where it is positive, else zero; what the derivative is at exactly 0 is up to
        you.
        """
        raise NotImplementedError

    def backward(self) -> None:
        """Add to the grad of each Value(data) that this one was computed from the derivative of
        this one with respect to it.

        What a grad holds already stays in the sum. It may be called for one result after another,
        as long as each is computed again: the two have then nothing in common but Values made by
        Value(data). The work grows with the number of operations, not with the number of paths
        through them, and 10,000 operations in a row are no obstacle.
        """
        raise NotImplementedError


def zero_grad(root: Value) -> None:
    """Set grad to 0.0 in root and in every Value that root was computed from, directly or not; in
    no other.

    10,000 operations in a row are no obstacle here either.
    """
    raise NotImplementedError


