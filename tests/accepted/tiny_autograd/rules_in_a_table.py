"""Operators put on the class by setattr, from a table of functions and slopes; gradients kept beside the nodes."""

import math
import operator as o

RULES = {
    "add": (o.add, lambda a, b, y: (1, 1)),
    "sub": (o.sub, lambda a, b, y: (1, -1)),
    "mul": (o.mul, lambda a, b, y: (b, a)),
    "div": (o.truediv, lambda a, b, y: (1 / b, -y / b)),
    "exp": (math.exp, lambda a, y: (y,)),
    "log": (math.log, lambda a, y: (1 / a,)),
    "tanh": (math.tanh, lambda a, y: (1 - y**2,)),
    "neg": (o.neg, lambda a, y: (-1,)),
    "relu": (lambda a: a if a >= 0 else 0.0, lambda a, y: (1.0 if a >= 0 else 0.0,)),
}


def apply(name, *args):
    args = [a if isinstance(a, Value) else Value(a) for a in args]
    nums = [a.data for a in args]
    y = RULES[name][0](*nums)
    out = Value(y)
    out.args, out.slopes = args, RULES[name][1](*nums, y)
    return out


class Value:
    args, slopes = (), ()

    def __init__(self, data: float = 0.0) -> None:
        self.data = data
        self.grad = 0.0

    def __pow__(self, n):
        out = Value(self.data**n)
        out.args = [self]
        out.slopes = [0.0 if n == 0 else n * self.data ** (n - 1)]
        return out

    def backward(self) -> None:
        depth, stack = {self: 0}, [self]
        indeg = {self: 0}
        todo = [self]
        while todo:
            v = todo.pop()
            for a in v.args:
                if a not in indeg:
                    indeg[a] = 0
                    todo.append(a)
                indeg[a] += 1
        got = {v: 0.0 for v in indeg}
        got[self] = 1.0
        ready = [self]
        while ready:
            v = ready.pop()
            if not v.args:
                v.grad += got[v]
            for a, s in zip(v.args, v.slopes):
                got[a] += s * got[v]
                indeg[a] -= 1
                if not indeg[a]:
                    ready.append(a)


for _n, _d in [("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div")]:
    setattr(Value, f"__{_n}__", lambda s, t, d=_d: apply(d, s, t))
    setattr(Value, f"__r{_n}__", lambda s, t, d=_d: apply(d, t, s))
for _n in ("exp", "log", "tanh", "relu"):
    setattr(Value, _n, lambda s, d=_n: apply(d, s))
Value.__neg__ = lambda s: apply("neg", s)


def zero_grad(root):
    seen = {root}
    todo = [root]
    while todo:
        v = todo.pop()
        v.grad = 0.0
        for a in v.args:
            if a not in seen:
                seen.add(a)
                todo.append(a)
