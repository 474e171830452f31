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
        return result(
            self.data * other.data, (self, other.data), (other, self.data)
        )
        # end solution

    def __rmul__(self, other: float) -> Value:
        """Return other * self, for a plain number other."""
        # solution
        return self * other
        # end solution

    def __truediv__(self, other: Value | float) -> Value:
        """Return self / other."""
        # solution
        return self * as_value(other) ** -1
        # end solution

    def __rtruediv__(self, other: float) -> Value:
        """Return other / self, for a plain number other."""
        # solution
        return self**-1 * other
        # end solution

    def __pow__(self, exponent: float) -> Value:
        """Return self ** exponent, for a plain int or float exponent."""
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
        """Return the natural logarithm of self."""
        # solution
        return result(math.log(self.data), (self, 1.0 / self.data))
        # end solution

    def tanh(self) -> Value:
        """Return the hyperbolic tangent of self. tanh(1000) is 1.0, and
        tanh(-1000) is -1.0.
        """
        # solution
        value = math.tanh(self.data)
        return result(value, (self, 1.0 - value**2))
        # end solution

    def relu(self) -> Value:
        """Return self where it is positive, else zero.

        The derivative at exactly 0 is up to you.
        """
        # solution
        return result(
            max(self.data, 0.0), (self, 1.0 if self.data > 0.0 else 0.0)
        )
        # end solution

    def backward(self) -> None:
        """Add the derivative of this Value to the grad of each leaf that it
        was computed from.

        A leaf is a Value that the caller made with Value(data). The derivative
        is added to what its grad holds already. A chain of 10,000 operations
        works, and the work does not grow with the number of paths.
        """
        # solution
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad
        # end solution


def zero_grad(root: Value) -> None:
    """Set grad to 0.0 in root and in every Value that root was computed from.

    It also works after root.backward(). Other Values keep their grad, and no
    data changes. A chain of 10,000 operations works, and the work does not
    grow with the number of paths.
    """
    # solution
    for node in in_order(root):
        node.grad = 0.0
    # end solution


# solution
def as_value(number: Value | float) -> Value:
    """Return a Value as it is, and a plain number as a new Value."""
    return number if isinstance(number, Value) else Value(number)


def result(data: float, *sources: tuple[Value, float]) -> Value:
    """Return a Value that was computed from these sources, each with its
    derivative.
    """
    value = Value(data)
    value.sources = sources
    return value


def in_order(root: Value) -> list[Value]:
    """Return root and all Values that it was computed from, each once and
    after its sources.
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
