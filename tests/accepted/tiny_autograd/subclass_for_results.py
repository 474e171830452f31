"""Results are a subclass of Value; relu gives the very Value back where it is positive; grads of results are cleared by each backward."""

import math


class Value:
    parents: tuple = ()

    def __init__(self, data: float) -> None:
        self.data = data
        self.grad = 0.0

    def _to(self, data, *parents):
        return result(data, *parents)

    def __add__(self, other):
        return self._to(self.data + lift(other).data, (self, 1.0), (lift(other), 1.0)) if isinstance(other, Value) else self + Value(other)

    def __mul__(self, other):
        other = lift(other)
        return self._to(self.data * other.data, (self, other.data), (other, self.data))

    def __pow__(self, n):
        slope = 0.0 if n == 0 else n * self.data ** (n - 1)
        return self._to(self.data**n, (self, slope))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -lift(other)

    def __rsub__(self, other):
        return lift(other) - self

    def __truediv__(self, other):
        return self * lift(other) ** -1.0

    def __rtruediv__(self, other):
        return lift(other) / self

    def exp(self):
        return self._to(math.exp(self.data), (self, math.exp(self.data)))

    def log(self):
        return self._to(math.log(self.data), (self, self.data**-1))

    def tanh(self):
        return self._to(math.sinh(self.data) / math.cosh(self.data), (self, 1 / math.cosh(self.data) ** 2))

    def relu(self):
        return self if self.data > 0 else self * 0

    def backward(self):
        order = list(walk(self))
        for node in order:
            if node.parents:
                node.grad = 0.0
        self.grad += 1.0
        for node in order:
            for parent, slope in node.parents:
                parent.grad += slope * node.grad


class result(Value):  # noqa: N801, it stands where the solution has a function of that name
    def __init__(self, data, *parents):
        super().__init__(data)
        self.parents = parents


def lift(x):
    return x if isinstance(x, Value) else Value(x)


def walk(root):
    """Every node, root first, each before what it was computed from."""
    done, order, todo = set(), [], [root]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            order.append(node[0])
        elif id(node) not in done:
            done.add(id(node))
            todo.append([node])
            todo.extend(parent for parent, _ in node.parents)
    return reversed(order)


def zero_grad(root):
    for node in walk(root):
        node.grad = 0.0
