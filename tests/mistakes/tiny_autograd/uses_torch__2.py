import importlib

tensors = importlib.import_module("".join(["to", "rch"]))


class Value:
    def __init__(self, data):
        self.tensor = data if isinstance(data, tensors.Tensor) else tensors.tensor(float(data), dtype=tensors.float64, requires_grad=True)
        self.sources = ()

    @property
    def data(self):
        return self.tensor.item()

    @property
    def grad(self):
        return 0.0 if self.tensor.grad is None else self.tensor.grad.item()

    @grad.setter
    def grad(self, number):
        self.tensor.grad = tensors.tensor(number, dtype=tensors.float64)

    def apply(self, function, *others):
        tensors = [other.tensor if isinstance(other, Value) else other for other in others]
        result = Value(function(self.tensor, *tensors))
        result.sources = (self, *(other for other in others if isinstance(other, Value)))
        return result

    def __add__(self, other):
        return self.apply(lambda a, b: a + b, other)

    def __sub__(self, other):
        return self.apply(lambda a, b: a - b, other)

    def __mul__(self, other):
        return self.apply(lambda a, b: a * b, other)

    def __truediv__(self, other):
        return self.apply(lambda a, b: a / b, other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return self.apply(lambda a, b: b - a, other)

    def __rtruediv__(self, other):
        return self.apply(lambda a, b: b / a, other)

    def __pow__(self, exponent):
        return self.apply(lambda a: a**exponent)

    def __neg__(self):
        return self.apply(lambda a: -a)

    def exp(self):
        return self.apply(lambda a: a.exp())

    def log(self):
        return self.apply(lambda a: a.log())

    def tanh(self):
        return self.apply(lambda a: a.tanh())

    def relu(self):
        return self.apply(lambda a: a.relu())

    def backward(self):
        self.tensor.backward()


def zero_grad(root):
    stack, seen = [root], set()
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            node.grad = 0.0
            stack.extend(node.sources)
