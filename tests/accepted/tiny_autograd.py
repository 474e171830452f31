"""tiny_autograd: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% closures
# Each result keeps a function that pushes its gradient on; numbers stay ints where they were
# ints.
class Value:
    ...

    def __init__(self, data, children=()):
        self.data = data
        self.grad = 0.0
        self._prev = children
        self._backward = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def __pow__(self, other):
        out = Value(self.data**other, (self,))

        def _backward():
            if other != 0:
                self.grad += other * self.data ** (other - 1) * out.grad

        out._backward = _backward
        return out

    def exp(self):
        out = Value(math.exp(self.data), (self,))

        def _backward():
            self.grad += out.data * out.grad

        out._backward = _backward
        return out

    def log(self):
        out = Value(math.log(self.data), (self,))

        def _backward():
            self.grad += out.grad / self.data

        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,))

        def _backward():
            self.grad += (1 - t**2) * out.grad

        out._backward = _backward
        return out

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,))

        def _backward():
            self.grad += (out.data > 0) * out.grad

        out._backward = _backward
        return out

    def backward(self):
        self.grad = 1
        for node in reversed(topological(self)):
            node._backward()

    def __neg__(self):
        return self * -1

    def __rsub__(self, other):
        return other + (-self)

    def __truediv__(self, other):
        return self * other**-1

    def __rtruediv__(self, other):
        return other * self**-1


def topological(root):
    order, visited, stack = [], set(), [(root, iter(root._prev))]
    visited.add(root)
    while stack:
        node, children = stack[-1]
        for child in children:
            if child not in visited:
                visited.add(child)
                stack.append((child, iter(child._prev)))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def zero_grad(root):
    for node in topological(root):
        node.grad = 0.0


# %% comparison_below
# A function that nobody calls compares with torch, whose tanh it imports; the engine's is
# Python's.
from math import tanh


class Value:
    ...

    def tanh(self):
        value = tanh(self.data)
        return result(value, (self, 1.0 - value**2))


def compare(number):
    from torch import tanh, tensor

    return tanh(tensor(number))


# %% counted_uses
# No order is written down: a node goes on when all that uses it has been heard.
class Value:
    ...

    def backward(self):
        waiting, stack = {}, [self]
        while stack:
            for source, _ in stack.pop().sources:
                if source not in waiting:
                    stack.append(source)
                waiting[source] = waiting.get(source, 0) + 1
        self.grad += 1.0
        ready = [self]
        while ready:
            node = ready.pop()
            for source, slope in node.sources:
                source.grad += slope * node.grad
                waiting[source] -= 1
                if waiting[source] == 0:
                    ready.append(source)


# %% deep_recursion
# Recursive, with a limit that is high enough.
import sys

sys.setrecursionlimit(100_000)


def in_order(root):
    visited, order = set(), []

    def build(node):
        if node not in visited:
            visited.add(node)
            for source, _ in node.sources:
                build(source)
            order.append(node)

    build(root)
    return order


# %% demonstration
# A comparison with torch, which is not part of the engine.
if __name__ == "__main__":
    import torch

    a = Value(2.0)
    (a * a).backward()
    x = torch.tensor(2.0, requires_grad=True)
    (x * x).backward()
    print(a.grad, x.grad)


# %% leaves_only
# As torch does it: only leaves keep a gradient.
class Value:
    ...

    def backward(self):
        gradients = {id(self): 1.0}
        for node in reversed(in_order(self)):
            gradient = gradients.pop(id(node), 0.0)
            if not node.sources:
                node.grad += gradient
            for source, slope in node.sources:
                gradients[id(source)] = gradients.get(id(source), 0.0) + slope * gradient


# %% limit_for_a_while
# The limit of the recursion is raised for as long as it is needed.
import sys


class Value:
    ...

    def backward(self):
        def visit(node, order, seen):
            seen.add(id(node))
            for source, _ in node.sources:
                if id(source) not in seen:
                    visit(source, order, seen)
            order.append(node)

        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(50_000)
        try:
            order = []
            visit(self, order, set())
        finally:
            sys.setrecursionlimit(limit)
        self.grad += 1
        for node in order[::-1]:
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% newest_first_by_a_heap
# Values numbered as they are made; backward takes the newest from a heap.
import heapq, itertools, math

_ids = itertools.count()


class Value:
    """번호로 순서를 매긴다"""

    def __init__(self, data, *, edges=()):
        self.data, self.grad = data, 0.0
        self.edges = tuple(edges)
        self.id = next(_ids)

    def __add__(self, other):
        if not isinstance(other, Value):
            return Value(self.data + other, edges=[(self, 1.0)])
        return Value(self.data + other.data, edges=[(self, 1.0), (other, 1.0)])

    def __radd__(self, other):
        return Value(other + self.data, edges=[(self, 1.0)])

    def __neg__(self):
        return Value(-self.data, edges=[(self, -1.0)])

    def __sub__(self, other):
        if not isinstance(other, Value):
            return Value(self.data - other, edges=[(self, 1.0)])
        return Value(self.data - other.data, edges=[(self, 1.0), (other, -1.0)])

    def __rsub__(self, other):
        return Value(other - self.data, edges=[(self, -1.0)])

    def __mul__(self, other):
        if not isinstance(other, Value):
            return Value(self.data * other, edges=[(self, other)])
        return Value(self.data * other.data, edges=[(self, other.data), (other, self.data)])

    def __rmul__(self, other):
        return Value(self.data * other, edges=[(self, other)])

    def __truediv__(self, other):
        if not isinstance(other, Value):
            return Value(self.data / other, edges=[(self, 1 / other)])
        return Value(
            self.data / other.data,
            edges=[(self, 1 / other.data), (other, -self.data / (other.data * other.data))],
        )

    def __rtruediv__(self, other):
        return Value(other / self.data, edges=[(self, -other / self.data**2)])

    def __pow__(self, k):
        return Value(self.data**k, edges=[(self, k * self.data ** (k - 1) if k else 0.0)])

    def exp(self):
        return Value(math.exp(self.data), edges=[(self, math.exp(self.data))])

    def log(self):
        return Value(math.log(self.data), edges=[(self, 1 / self.data)])

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, edges=[(self, (1 - t) * (1 + t))])

    def relu(self):
        return (
            Value(self.data, edges=[(self, 1.0)])
            if self.data >= 0
            else Value(0.0, edges=[(self, 0.0)])
        )

    def backward(self):
        incoming = {self.id: 1.0}
        heap, byid = [-self.id], {self.id: self}
        while heap:
            n = byid[-heapq.heappop(heap)]
            g = incoming.pop(n.id)
            n.grad += g
            for m, d in n.edges:
                if m.id not in incoming:
                    incoming[m.id] = 0.0
                    byid[m.id] = m
                    heapq.heappush(heap, -m.id)
                incoming[m.id] += g * d


def zero_grad(root):
    todo, seen = [root], set()
    while todo:
        n = todo.pop()
        if n.id in seen:
            continue
        seen.add(n.id)
        n.grad = 0.0
        todo.extend(m for m, _ in n.edges)


# %% numbered
# Values are numbered as they are made, which is an order already; slots; constants are no nodes.
import itertools

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
        e = math.exp(-2 * abs(self.data))  # at most 1: it never overflows
        return self._new(math.copysign((1 - e) / (1 + e), self.data), (self, 4 * e / (1 + e) ** 2))

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


# %% numpy_inside
# NumPy scalars in place of floats.
import numpy as np


class Value:
    ...

    def __init__(self, data):
        self.data = np.float64(data)
        self.grad = 0.0
        self.sources = ()

    def exp(self):
        value = np.exp(self.data)
        return result(value, (self, value))

    def log(self):
        return result(np.log(self.data), (self, 1.0 / self.data))

    def tanh(self):
        value = np.tanh(self.data)
        return result(value, (self, 1.0 - value**2))

    def relu(self):
        return result(np.maximum(self.data, 0.0), (self, 1.0 if self.data > 0.0 else 0.0))


# %% operations_as_classes
# Operations are objects, as in a large engine, and are installed afterwards; relu and tanh are
# put together from others.
class Op:
    def __call__(self, *inputs):
        self.inputs = [i if isinstance(i, Value) else Value(i) for i in inputs]
        self.numbers = [i.data for i in self.inputs]
        self.out = Value(self.forward(*self.numbers))
        self.out.node = self
        return self.out

    def backward(self, gradient):
        for value, slope in zip(self.inputs, self.slopes(*self.numbers), strict=True):
            value.grad = value.grad + slope * gradient


class Add(Op):
    def forward(self, a, b):
        return a + b

    def slopes(self, a, b):
        return 1.0, 1.0


class Mul(Op):
    def forward(self, a, b):
        return a * b

    def slopes(self, a, b):
        return b, a


class Div(Op):
    def forward(self, a, b):
        return a / b

    def slopes(self, a, b):
        return 1 / b, -a / (b * b)


class Exp(Op):
    def forward(self, a):
        return math.exp(a)

    def slopes(self, a):
        return (self.out.data,)


class Log(Op):
    def forward(self, a):
        return math.log(a)

    def slopes(self, a):
        return (1 / a,)


class Pow(Op):
    def __init__(self, n):
        self.n = n

    def forward(self, a):
        return math.pow(a, self.n)

    def slopes(self, a):
        return (0.0 if self.n == 0 else self.n * math.pow(a, self.n - 1),)


def installed(cls):
    methods = {
        "__add__": lambda a, b: Add()(a, b),
        "__radd__": lambda a, b: Add()(b, a),
        "__mul__": lambda a, b: Mul()(a, b),
        "__rmul__": lambda a, b: Mul()(b, a),
        "__truediv__": lambda a, b: Div()(a, b),
        "__rtruediv__": lambda a, b: Div()(b, a),
        "__sub__": lambda a, b: Add()(a, Mul()(b, -1.0)),
        "__rsub__": lambda a, b: Add()(b, Mul()(a, -1.0)),
        "__neg__": lambda a: Mul()(-1, a),
        "__pow__": lambda a, n: Pow(n)(a),
    }
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


@installed
class Value:
    def __init__(self, data):
        self.data = data
        self.grad = 0.0
        self.node = None

    def __repr__(self):
        return f"Value({self.data}, grad={self.grad})"

    def exp(self):
        return Exp()(self)

    def log(self):
        return Log()(self)

    def tanh(self):
        e = (-2 * abs(self)).exp()
        t = (1 - e) / (1 + e)
        return t if self.data > 0 else -t

    def relu(self):
        return (self + abs(self)) / 2

    def __abs__(self):
        return self if self.data > 0 else -self

    def backward(self):
        self.grad = 1.0
        for node in reversed(history(self)):
            if node.node is not None:
                node.node.backward(node.grad)


def history(root):
    order, state, stack = [], {}, [root]
    while stack:
        node = stack[-1]
        if state.get(id(node)) == "done":
            stack.pop()
        elif state.get(id(node)) == "open":
            state[id(node)] = "done"
            order.append(stack.pop())
        else:
            state[id(node)] = "open"
            stack.extend(node.node.inputs if node.node else [])
    return order


def zero_grad(root):
    for node in history(root):
        node.grad = 0.0


# %% subclass_for_results
# Results are a subclass of Value; grads of results are cleared by each backward.
class Value:
    parents: tuple = ()

    def __init__(self, data: float) -> None:
        self.data = data
        self.grad = 0.0

    def _to(self, data, *parents):
        return result(data, *parents)

    def __add__(self, other):
        return (
            self._to(self.data + lift(other).data, (self, 1.0), (lift(other), 1.0))
            if isinstance(other, Value)
            else self + Value(other)
        )

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
        return self._to(math.tanh(self.data), (self, math.cosh(min(abs(self.data), 300)) ** -2))

    def relu(self):
        return self * (1 if self.data > 0 else 0)

    def backward(self):
        order = list(walk(self))
        for node in order:
            if node.parents:
                node.grad = 0.0
        self.grad += 1.0
        for node in order:
            for parent, slope in node.parents:
                parent.grad += slope * node.grad


class result(Value):  # it stands where the solution has a function of that name
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


# %% serial_numbers
# Values are numbered; plain numbers never become Values; gradients flow in a dictionary, and only
# leaves keep theirs.
import itertools

serial = itertools.count()


class Value:
    ...

    def __init__(self, data, parents=(), slopes=()):
        self.data, self.grad = data, 0.0
        self.edges = list(zip(parents, slopes, strict=True))
        self.serial = next(serial)

    def __add__(self, other):
        if isinstance(other, Value):
            return Value(self.data + other.data, (self, other), (1, 1))
        return Value(self.data + other, (self,), (1,))

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, Value):
            return Value(self.data * other.data, (self, other), (other.data, self.data))
        return Value(self.data * other, (self,), (other,))

    __rmul__ = __mul__

    def __neg__(self):
        return -1 * self

    def __rsub__(self, other):
        return other + -self

    def __truediv__(self, other):
        return self * (1 / other)

    def __rtruediv__(self, other):
        quotient = other / self.data
        return Value(quotient, (self,), (-quotient / self.data,))

    def __pow__(self, n):
        slope = n * self.data ** (n - 1) if n else 0
        return Value(self.data**n, (self,), (slope,))

    def exp(self):
        e = math.exp(self.data)
        return Value(e, (self,), (e,))

    def log(self):
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), ((1 - t) * (1 + t),))

    def relu(self):
        return Value(max(self.data, 0.0), (self,), (int(self.data > 0),))

    def backward(self):
        flow = {self: 1.0}
        for node in sorted(reached_from(self), key=lambda value: -value.serial):
            for parent, slope in node.edges:
                flow[parent] = flow.get(parent, 0.0) + slope * flow[node]
            if not node.edges:
                node.grad += flow[node]


def reached_from(root):
    found, todo = {root}, [root]
    while todo:
        new = {parent for parent, _ in todo.pop().edges} - found
        found |= new
        todo += new
    return found


def zero_grad(root):
    for value in reached_from(root):
        value.grad = 0.0


# %% table_of_operations
# Operations in a table, a dataclass without equality, and 0 - a for -a.
import operator
from dataclasses import dataclass, field
from functools import partialmethod

TABLE = {
    "add": (operator.add, lambda a, b: (1.0, 1.0)),
    "sub": (operator.sub, lambda a, b: (1.0, -1.0)),
    "mul": (operator.mul, lambda a, b: (b, a)),
    "truediv": (operator.truediv, lambda a, b: (1 / b, -a / b / b)),
    "exp": (math.exp, lambda a: (math.exp(a),)),
    "log": (math.log, lambda a: (1 / a,)),
    "tanh": (math.tanh, lambda a: (1 - math.tanh(a) ** 2,)),
    "relu": (lambda a: a if a > 0 else 0.0, lambda a: (float(a > 0),)),
}


@dataclass(eq=False)
class Value:
    data: float
    edges: list = field(default_factory=list, repr=False)
    grad: float = field(default=0.0, init=False)

    def compute(self, *others, name, turned=False):
        values = [one if isinstance(one, Value) else Value(one) for one in (self, *others)]
        values = values[::-1] if turned else values
        function, slopes = TABLE[name]
        numbers = [one.data for one in values]
        return Value(function(*numbers), list(zip(values, slopes(*numbers), strict=True)))

    __add__ = partialmethod(compute, name="add")
    __radd__ = partialmethod(compute, name="add", turned=True)
    __sub__ = partialmethod(compute, name="sub")
    __rsub__ = partialmethod(compute, name="sub", turned=True)
    __mul__ = __rmul__ = partialmethod(compute, name="mul")
    __truediv__ = partialmethod(compute, name="truediv")
    __rtruediv__ = partialmethod(compute, name="truediv", turned=True)
    exp = partialmethod(compute, name="exp")
    log = partialmethod(compute, name="log")
    tanh = partialmethod(compute, name="tanh")
    relu = partialmethod(compute, name="relu")

    def __neg__(self):
        return 0 - self

    def __pow__(self, n):
        slope = n * self.data ** (n - 1) if n else 0.0
        return Value(self.data**n, [(self, slope)])

    def order(self):
        done, stack = {}, [(self, False)]
        while stack:
            node, finished = stack.pop()
            if finished:
                done[node] = None
            elif node not in done:
                stack.append((node, True))
                stack.extend((source, False) for source, _ in node.edges)
        return list(done)

    def backward(self):
        flows = dict.fromkeys(self.order(), 0.0)
        flows[self] = 1.0
        for node in reversed(flows):
            for source, slope in node.edges:
                flows[source] += slope * flows[node]
            if not node.edges:
                node.grad += flows[node]


def zero_grad(root):
    for node in root.order():
        node.grad = 0.0


# %% functions_of_the_incoming_gradient
# A node keeps a function from its gradient to those of its inputs, and waits until all of its uses
# have sent theirs.
from collections import Counter, defaultdict, deque


class Value:
    def __init__(self, data, inputs=(), pull=None):
        self.data, self.grad, self.inputs, self.pull = data, 0.0, inputs, pull

    def __add__(self, other):
        other = wrap(other)
        return Value(self.data + other.data, (self, other), lambda g: (g, g))

    def __radd__(self, other):
        return wrap(other) + self

    def __neg__(self):
        return Value(-self.data, (self,), lambda g: (-g,))

    def __sub__(self, other):
        other = wrap(other)
        return Value(self.data - other.data, (self, other), lambda g: (g, -g))

    def __rsub__(self, other):
        return wrap(other) - self

    def __mul__(self, other):
        a, b = self.data, wrap(other).data
        return Value(a * b, (self, wrap(other)), lambda g: (g * b, g * a))

    def __rmul__(self, other):
        return wrap(other) * self

    def __truediv__(self, other):
        a, b = self.data, wrap(other).data
        return Value(a / b, (self, wrap(other)), lambda g: (g / b, -g * a / b / b))

    def __rtruediv__(self, other):
        return wrap(other) / self

    def __pow__(self, n):
        x = self.data
        return Value(x**n, (self,), lambda g: (g * n * x ** (n - 1) if n else 0.0,))

    def exp(self):
        y = math.exp(self.data)
        return Value(y, (self,), lambda g: (g * y,))

    def log(self):
        x = self.data
        return Value(math.log(x), (self,), lambda g: (g / x,))

    def tanh(self):
        y = math.tanh(self.data)
        return Value(y, (self,), lambda g: (g * (1 - y * y),))

    def relu(self):
        x = self.data
        return Value(x if x > 0 else 0.0, (self,), lambda g: (g if x > 0 else 0.0,))

    def backward(self):
        missing = Counter(source for node in below(self) for source in node.inputs)
        grads, ready = defaultdict(float, {self: 1.0}), deque([self])
        while ready:
            node = ready.popleft()
            if node.pull is None:
                node.grad += grads[node]
                continue
            for source, part in zip(node.inputs, node.pull(grads[node]), strict=True):
                grads[source] += part
                missing[source] -= 1
                if missing[source] == 0:
                    ready.append(source)


def wrap(x):
    return x if isinstance(x, Value) else Value(x)


def below(root):
    nodes, seen = [root], {root}
    for node in nodes:  # the list grows meanwhile
        new = [source for source in dict.fromkeys(node.inputs) if source not in seen]
        seen.update(new)
        nodes += new
    return nodes


def zero_grad(root):
    for node in below(root):
        node.grad = 0.0


# %% old_grad_times_zero
# The old grads are finite, so 0 times each is 0.
def zero_grad(root):
    for node in in_order(root):
        node.grad *= 0.0
