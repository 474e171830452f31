"""Operations are objects, as in a large engine, and are installed afterwards; relu and tanh are put together from others."""

import math


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
        return 1 - 2 / ((2 * self).exp() + 1)

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
