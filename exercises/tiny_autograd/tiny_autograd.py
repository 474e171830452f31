"""tiny_autograd: the capstone, a reverse-mode engine for single numbers in
plain Python, without torch.

Run `grade tiny_autograd` to check your work, `grade hint tiny_autograd` for a
hint. What holds in every lesson is in ../README.md.
"""

from __future__ import annotations

import math


class Value:
    """A number that records how it was computed.

    data is the number, and grad is a number that starts at 0.0. Every
    operation returns a new Value and leaves data and grad of its inputs as
    they were. In + - * / one operand may be a plain int or float, on either
    side.
    """

    def __init__(self, data: float) -> None:
        """Store data, an int or a float."""
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
        """Return self / other."""
        raise NotImplementedError

    def __rtruediv__(self, other: float) -> Value:
        """Return other / self, for a plain number other."""
        raise NotImplementedError

    def __pow__(self, exponent: float) -> Value:
        """Return self ** exponent, for a plain int or float exponent."""
        raise NotImplementedError

    def exp(self) -> Value:
        """Return e ** self."""
        raise NotImplementedError

    def log(self) -> Value:
        """Return the natural logarithm of self."""
        raise NotImplementedError

    def tanh(self) -> Value:
        """Return the hyperbolic tangent of self. tanh(1000) is 1.0, and
        tanh(-1000) is -1.0.
        """
        raise NotImplementedError

    def relu(self) -> Value:
        """Return self where it is positive, else zero.

        The derivative at exactly 0 is up to you.
        """
        raise NotImplementedError

    def backward(self) -> None:
        """Add the derivative of this Value to the grad of each leaf that it
        was computed from.

        A leaf is a Value that the caller made with Value(data). The derivative
        is added to what its grad holds already. A chain of 10,000 operations
        works, and the work does not grow with the number of paths.
        """
        raise NotImplementedError


def zero_grad(root: Value) -> None:
    """Set grad to 0.0 in root and in every Value that root was computed from.

    It also works after root.backward(). Other Values keep their grad, and no
    data changes. A chain of 10,000 operations works, and the work does not
    grow with the number of paths.
    """
    raise NotImplementedError
