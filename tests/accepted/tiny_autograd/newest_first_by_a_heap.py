"""Values numbered as they are made; backward takes the newest from a heap."""

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
        return Value(self.data / other.data, edges=[(self, 1 / other.data), (other, -self.data / (other.data * other.data))])

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
        return Value(self.data, edges=[(self, 1.0)]) if self.data >= 0 else Value(0.0, edges=[(self, 0.0)])

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
