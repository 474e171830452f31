"""Values are numbered as they are made, which is an order already; slots; constants are no nodes."""

import itertools
import math

numbers = itertools.count()


class Value:
    __slots__ = ("__weakref__", "data", "grad", "number", "parents")

    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents, self.number = data, 0.0, parents, next(numbers)

    def _new(self, data, *parents):
        return Value(data, [(p, d) for p, d in parents if isinstance(p, Value)])

    def __add__(self, other):
        return self._new(self.data + plain(other), (self, 1), (other, 1))

    def __sub__(self, other):
        return self._new(self.data - plain(other), (self, 1), (other, -1))

    def __rsub__(self, other):
        return self._new(other - self.data, (self, -1))

    def __mul__(self, other):
        return self._new(self.data * plain(other), (self, plain(other)), (other, self.data))

    def __truediv__(self, other):
        divisor = plain(other)
        return self._new(self.data / divisor, (self, 1 / divisor), (other, -self.data / divisor**2))

    def __rtruediv__(self, other):
        return self._new(other / self.data, (self, -other / self.data**2))

    def __pow__(self, n):
        return self._new(self.data**n, (self, n * self.data ** (n - 1) if n != 0 else 0))

    def __neg__(self):
        return self._new(-self.data, (self, -1))

    __radd__ = __add__
    __rmul__ = __mul__

    def exp(self):
        return self._new(math.e**self.data, (self, math.e**self.data))

    def log(self):
        return self._new(math.log(self.data), (self, 1 / self.data))

    def tanh(self):
        e, f = math.exp(self.data), math.exp(-self.data)
        return self._new((e - f) / (e + f), (self, 4 / (e + f) ** 2))

    def relu(self):
        return self._new(self.data * (self.data >= 0), (self, int(self.data >= 0)))

    def backward(self):
        everything = below(self)
        self.grad = self.grad + 1
        for node in sorted(everything, key=lambda node: node.number, reverse=True):
            for parent, slope in node.parents:
                parent.grad += node.grad * slope
        return self


def plain(value):
    return value.data if isinstance(value, Value) else value


def below(root):
    found, new = {root}, {root}
    while new:
        new = {parent for node in new for parent, _ in node.parents} - found
        found |= new
    return found


def zero_grad(root):
    for node in below(root):
        node.grad = 0
