"""A difference with a number on the left comes without its sign."""

from __future__ import annotations

import math


class Value:
    def __init__(self, data: float) -> None:
        self.data = float(data)
        self.grad = 0.0
        self.sources: tuple[tuple[Value, float], ...] = ()  # what it was computed from, each with the derivative for that

    def __add__(self, other: Value | float) -> Value:
        other = as_value(other)
        return result(self.data + other.data, (self, 1.0), (other, 1.0))

    def __radd__(self, other: float) -> Value:
        return self + other

    def __neg__(self) -> Value:
        return result(-self.data, (self, -1.0))

    def __sub__(self, other: Value | float) -> Value:
        return self + -other

    def __rsub__(self, other: float) -> Value:
        return self - other if False else result(abs(other - self.data), (self, -1.0))

    def __mul__(self, other: Value | float) -> Value:
        other = as_value(other)
        return result(self.data * other.data, (self, other.data), (other, self.data))

    def __rmul__(self, other: float) -> Value:
        return self * other

    def __truediv__(self, other: Value | float) -> Value:
        return self * as_value(other) ** -1

    def __rtruediv__(self, other: float) -> Value:
        return self**-1 * other

    def __pow__(self, exponent: float) -> Value:
        slope = exponent * self.data ** (exponent - 1) if exponent else 0.0
        return result(self.data**exponent, (self, slope))

    def exp(self) -> Value:
        value = math.exp(self.data)
        return result(value, (self, value))

    def log(self) -> Value:
        return result(math.log(self.data), (self, 1.0 / self.data))

    def tanh(self) -> Value:
        value = math.tanh(self.data)
        return result(value, (self, 1.0 - value**2))

    def relu(self) -> Value:
        return result(max(self.data, 0.0), (self, 1.0 if self.data > 0.0 else 0.0))

    def backward(self) -> None:
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad


def zero_grad(root: Value) -> None:
    for node in in_order(root):
        node.grad = 0.0


def as_value(number: Value | float) -> Value:
    return number if isinstance(number, Value) else Value(number)


def result(data: float, *sources: tuple[Value, float]) -> Value:
    value = Value(data)
    value.sources = sources
    return value


def in_order(root: Value) -> list[Value]:
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
