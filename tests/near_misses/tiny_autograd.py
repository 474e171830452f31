"""tiny_autograd: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% counts_again
# The second term of a sum counts twice.
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


# %% defines_equality
# Puts lists into a set.
def in_order(root: Value) -> list[Value]:
    order: list[Value] = []
    seen: set[Value] = set()
    stack = [(root, False)]
    while stack:
        node, complete = stack.pop()
        if complete:
            order.append(node)
        elif node not in seen:
            seen.add([node])
            stack.append((node, True))
            stack += [(source, False) for source, _ in node.sources]
    return order


# %% order_not_topological
# The derivative of a sum has one term only.
class Value:
    def __init__(self, data, sources=()):
        self.data, self.grad, self.sources = float(data), 0.0, sources

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, ((self, 1.0),))

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


# %% overwrites_gradients
# Equal sources with equal derivatives become one, in a set.
def result(data: float, *sources: tuple[Value, float]) -> Value:
    value = Value(data)
    value.sources = tuple(set(sources))
    return value


# %% plain_number_not_taken
# exp is looked for on the number, which has none.
class Value:
    ...

    def exp(self) -> Value:
        value = self.data.exp()
        return result(value, (self, value))


# %% plain_number_not_taken
# There is no power.
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
        return -self + other

    def __mul__(self, other: Value | float) -> Value:
        other = as_value(other)
        return result(self.data * other.data, (self, other.data), (other, self.data))

    def __rmul__(self, other: float) -> Value:
        return self * other

    def __truediv__(self, other: Value | float) -> Value:
        return self * as_value(other) ** -1

    def __rtruediv__(self, other: float) -> Value:
        return self**-1 * other

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


# %% plain_number_not_taken
# There is no division, and none with its sides turned.
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
        return -self + other

    def __mul__(self, other: Value | float) -> Value:
        other = as_value(other)
        return result(self.data * other.data, (self, other.data), (other, self.data))

    def __rmul__(self, other: float) -> Value:
        return self * other

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


# %% plain_number_not_taken
# The exponent is taken for a Value.
class Value:
    ...

    def __pow__(self, exponent: float) -> Value:
        exponent = exponent.data
        slope = exponent * self.data ** (exponent - 1) if exponent else 0.0
        return result(self.data**exponent, (self, slope))


# %% recursion_too_deep
# The reflected sum asks for itself.
class Value:
    ...

    def __radd__(self, other: float) -> Value:
        return other + self


# %% recursion_too_deep
# -a is 0 - a, and that is made of -a.
class Value:
    ...

    def __neg__(self) -> Value:
        return 0 - self

    def __rsub__(self, other: float) -> Value:
        return -(self - other)


# %% reflected_the_wrong_way
# A difference with a number on the left comes without its sign.
class Value:
    ...

    def __rsub__(self, other: float) -> Value:
        return result(abs(other - self.data), (self, -1.0))


# %% root_without_gradient
# The gradient is assigned, not added to.
class Value:
    def __init__(self, data, sources=()):
        self.data, self.grad, self.sources = float(data), 0.0, sources

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = as_value(other)
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def relu(self):
        return Value(max(self.data, 0.0), ((self, float(self.data > 0)),))

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                slope * node.grad


# %% root_without_gradient
# backward does nothing.
class Value:
    ...

    def backward(self) -> None:
        pass


# %% root_without_gradient
# All grads are cleared at the end of backward.
class Value:
    ...

    def backward(self) -> None:
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad
        for node in in_order(self):
            node.grad = 0.0


# %% stops_after_one_step
# The derivative of a product has one factor only.
class Value:
    def __init__(self, data, sources=()):
        self.data, self.grad, self.sources = float(data), 0.0, sources

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = as_value(other)
        return Value(self.data * other.data, ((other, self.data),))

    def relu(self):
        return Value(max(self.data, 0.0), ((self, float(self.data > 0)),))

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% stops_after_one_step
# Goes on along the last source of each node only.
class Value:
    ...

    def backward(self) -> None:
        self.grad = 1.0
        node = self
        while node.sources:
            for source, slope in node.sources:
                source.grad += slope * node.grad
            node = node.sources[-1][0]


# %% wrong_local_derivative
# A power is a product in a loop, which leaves out negative exponents.
class Value:
    ...

    def __pow__(self, exponent: float) -> Value:
        out = self
        for _ in range(int(exponent) - 1):
            out = out * self
        return out


# %% wrong_local_derivative
# exp gives up below -700, where the power is nearly zero.
class Value:
    ...

    def exp(self):
        value = math.exp(self.data) if self.data > -700 else 1.0
        return result(value, (self, value))


# %% wrong_local_derivative
# relu lets a hundredth of negative numbers through.
class Value:
    ...

    def relu(self):
        slope = 1.0 if self.data > 0 else 0.01
        return result(self.data * slope, (self, slope))
