"""The second term of a sum counts twice."""


class Value:
    def __init__(self, data, sources=()):
        self.data, self.grad, self.sources = float(data), 0.0, sources

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, ((self, 1.0), (other, 2.0)))

    def __mul__(self, other):
        other = as_value(other)
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def relu(self):
        return Value(max(self.data, 0.0), ((self, float(self.data > 0)),))

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad
