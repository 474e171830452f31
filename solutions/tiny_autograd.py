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
        # solution
        self.data = float(data)
        self.grad = 0.0
        self.sources: tuple[
            tuple[Value, float], ...
        ] = ()  # what it was computed from, each with the derivative for that
        # end solution

    def __add__(self, other: Value | float) -> Value:
        """Return self + other."""
        # solution
        other = as_value(other)
        return result(self.data + other.data, (self, 1.0), (other, 1.0))
        # end solution

    def __radd__(self, other: float) -> Value:
        """Return other + self, for a plain number other."""
        # solution
        return self + other
        # end solution

    def __neg__(self) -> Value:
        """Return -self."""
        # solution
        return result(-self.data, (self, -1.0))
        # end solution

    def __sub__(self, other: Value | float) -> Value:
        """Return self - other."""
        # solution
        return self + -other
        # end solution

    def __rsub__(self, other: float) -> Value:
        """Return other - self, for a plain number other."""
        # solution
        return -self + other
        # end solution

    def __mul__(self, other: Value | float) -> Value:
        """Return self * other."""
        # solution
        other = as_value(other)
        return result(self.data * other.data, (self, other.data), (other, self.data))
        # end solution

    def __rmul__(self, other: float) -> Value:
        """Return other * self, for a plain number other."""
        # solution
        return self * other
        # end solution

    def __truediv__(self, other: Value | float) -> Value:
        """Return self / other; other is not zero."""
        # solution
        return self * as_value(other) ** -1
        # end solution

    def __rtruediv__(self, other: float) -> Value:
        """Return other / self, for a plain number other; self is not zero."""
        # solution
        return self**-1 * other
        # end solution

    def __pow__(self, exponent: float) -> Value:
        """Return self ** exponent, for a plain int or float exponent; not for 0 ** 0, nor where the
        power is not a real number.
        """
        # solution
        slope = exponent * self.data ** (exponent - 1) if exponent else 0.0
        return result(self.data**exponent, (self, slope))
        # end solution

    def exp(self) -> Value:
        """Return e ** self."""
        # solution
        value = math.exp(self.data)
        return result(value, (self, value))
        # end solution

    def log(self) -> Value:
        """Return the natural logarithm of self, which is positive."""
        # solution
        return result(math.log(self.data), (self, 1.0 / self.data))
        # end solution

    def tanh(self) -> Value:
        """Return the hyperbolic tangent of self."""
        # solution
        value = math.tanh(self.data)
        return result(value, (self, 1.0 - value**2))
        # end solution

    def relu(self) -> Value:
        """Return self where it is positive, else zero; what the derivative is at exactly 0 is up to
        you.
        """
        # solution
        return result(max(self.data, 0.0), (self, 1.0 if self.data > 0.0 else 0.0))
        # end solution

    def backward(self) -> None:
        """Add to the grad of each Value(data) that this one was computed from the derivative of
        this one with respect to it.

        What a grad holds already stays in the sum. It may be called for one result after another,
        as long as each is computed again: the two have then nothing in common but Values made by
        Value(data). The work grows with the number of operations, not with the number of paths
        through them, and 10,000 operations in a row are no obstacle.
        """
        # solution
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad
        # end solution


def zero_grad(root: Value) -> None:
    """Set grad to 0.0 in root and in every Value that root was computed from, directly or not; in
    no other.

    10,000 operations in a row are no obstacle here either.
    """
    # solution
    for node in in_order(root):
        node.grad = 0.0
    # end solution


# solution
def as_value(number: Value | float) -> Value:
    """A Value as it is, a plain number as a new Value."""
    return number if isinstance(number, Value) else Value(number)


def result(data: float, *sources: tuple[Value, float]) -> Value:
    """A Value that was computed, from each source with that derivative."""
    value = Value(data)
    value.sources = sources
    return value


def in_order(root: Value) -> list[Value]:
    """Root and all that it was computed from, each once and after everything it was computed from
    itself.
    """
    order: list[Value] = []
    seen: set[Value] = set()
    stack = [(root, False)]
    while stack:
        node, complete = stack.pop()
        if complete:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(source, False) for source, _ in node.sources]
    return order


# end solution
