"""tiny_autograd: wrong answers. A cell shows the definitions that differ from the solution."""


# %% clears_before_backward
# Backward throws away what was there.
class Value:
    ...

    def backward(self):
        zero_grad(self)
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% clears_before_backward
# Backward throws away what was there.
class Value:
    ...

    def backward(self):
        gradients = {self: 1.0}
        for node in reversed(in_order(self)):
            node.grad = gradients[node]
            for source, slope in node.sources:
                gradients[source] = gradients.get(source, 0.0) + slope * node.grad


# %% clears_not_everything
# zero_grad does not get to every Value.
def zero_grad(root):
    root.grad = 0.0
    for source, _ in root.sources:
        source.grad = 0.0


# %% clears_not_everything
# zero_grad does not get to every Value.
def zero_grad(root):
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        if not node.sources:
            node.grad = 0.0
        for source, _ in node.sources:
            if source not in seen:
                seen.add(source)
                stack.append(source)


# %% sources_not_kept
# relu makes a fresh zero, which comes from nothing, where its input is negative.
class Value:
    ...

    def relu(self):
        return self * 1 if self.data > 0 else Value(0.0)


# %% counts_again
# A node passes on more than once what has arrived.
def in_order(root):
    order, stack = [], [(root, False)]
    while stack:
        node, complete = stack.pop()
        if complete:
            order.append(node)
        else:
            stack.append((node, True))
            stack += [(source, False) for source, _ in node.sources]
    return order


# %% counts_again
# A node passes on more than once what has arrived.
class Value:
    ...

    def backward(self):
        self.grad = 1
        queue = [self]
        while queue:
            node = queue.pop(0)
            for source, slope in node.sources:
                source.grad += slope * node.grad
                queue.append(source)


# %% defines_equality
# Values with their own __eq__ can't be distinguished.
from dataclasses import dataclass


@dataclass
class Value:
    data: float
    grad: float = 0.0
    sources: tuple = ()

    def __add__(self, other):
        other = as_value(other)
        return result(self.data + other.data, (self, 1.0), (other, 1.0))

    def __radd__(self, other):
        return self + other

    def __neg__(self):
        return result(-self.data, (self, -1.0))

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        other = as_value(other)
        return result(self.data * other.data, (self, other.data), (other, self.data))

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return self * as_value(other) ** -1

    def __rtruediv__(self, other):
        return self**-1 * other

    def __pow__(self, exponent):
        slope = exponent * self.data ** (exponent - 1) if exponent else 0.0
        return result(self.data**exponent, (self, slope))

    def exp(self):
        value = math.exp(self.data)
        return result(value, (self, value))

    def log(self):
        return result(math.log(self.data), (self, 1.0 / self.data))

    def tanh(self):
        value = math.tanh(self.data)
        return result(value, (self, 1.0 - value**2))

    def relu(self):
        return result(max(self.data, 0.0), (self, 1.0 if self.data > 0.0 else 0.0))

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad


def in_order(root):
    order = []
    seen = set()
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


# %% equal_taken_for_same
# Two Values with the same number are taken for one.
def in_order(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, complete = stack.pop()
        if complete:
            order.append(node)
        elif node.data not in seen:
            seen.add(node.data)
            stack.append((node, True))
            stack += [(source, False) for source, _ in node.sources]
    return order


# %% equal_taken_for_same
# Two Values with the same number are taken for one.
class Value:
    ...

    def __eq__(self, other):
        return isinstance(other, Value) and self.data == other.data

    def __hash__(self):
        return hash(self.data)


# %% grad_becomes_none
# zero_grad leaves None where 0.0 is promised.
def zero_grad(root):
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        node.grad = None
        for source, _ in node.sources:
            if source not in seen:
                seen.add(source)
                stack.append(source)


# %% ignores_incoming_gradient
# The local derivative alone is passed on.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope


# %% ignores_incoming_gradient
# The local derivative alone is passed on.
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
            self.grad += 1
            other.grad += 1

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad += other.data
            other.grad += self.data

        out._backward = _backward
        return out

    def __pow__(self, other):
        out = Value(self.data**other, (self,))

        def _backward():
            if other != 0:
                self.grad += other * self.data ** (other - 1)

        out._backward = _backward
        return out

    def exp(self):
        out = Value(math.exp(self.data), (self,))

        def _backward():
            self.grad += out.data

        out._backward = _backward
        return out

    def log(self):
        out = Value(math.log(self.data), (self,))

        def _backward():
            self.grad += 1 / self.data

        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,))

        def _backward():
            self.grad += 1 - t**2

        out._backward = _backward
        return out

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,))

        def _backward():
            self.grad += out.data > 0

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


# %% order_not_topological
# A node passes its gradient on before all of it is there.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        queue, seen = [self], {self}
        for node in queue:
            for source, slope in node.sources:
                source.grad += slope * node.grad
                if source not in seen:
                    seen.add(source)
                    queue.append(source)


# %% order_not_topological
# A node passes its gradient on before all of it is there.
def in_order(root):
    order, visited, stack = [], set(), [root]
    while stack:
        node = stack.pop()
        if node not in visited:
            visited.add(node)
            order.append(node)
            stack.extend(source for source, _ in node.sources)
    return order[::-1]


# %% overwrites_gradients
# A second gradient replaces the first.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad = slope * node.grad


# %% overwrites_gradients
# A second gradient replaces the first.
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
            self.grad = out.grad
            other.grad = out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad = other.data * out.grad
            other.grad = self.data * out.grad

        out._backward = _backward
        return out

    def __pow__(self, other):
        out = Value(self.data**other, (self,))

        def _backward():
            if other != 0:
                self.grad = other * self.data ** (other - 1) * out.grad

        out._backward = _backward
        return out

    def exp(self):
        out = Value(math.exp(self.data), (self,))

        def _backward():
            self.grad = out.data * out.grad

        out._backward = _backward
        return out

    def log(self):
        out = Value(math.log(self.data), (self,))

        def _backward():
            self.grad = out.grad / self.data

        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,))

        def _backward():
            self.grad = (1 - t**2) * out.grad

        out._backward = _backward
        return out

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,))

        def _backward():
            self.grad = (out.data > 0) * out.grad

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


# %% path_by_path
# Every path is walked, not every node.
class Value:
    ...

    def backward(self):
        stack = [(self, 1.0)]
        while stack:
            node, gradient = stack.pop()
            node.grad += gradient
            stack += [(source, slope * gradient) for source, slope in node.sources]


# %% path_by_path
# Every path is walked, not every node.
def zero_grad(root):
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.grad = 0.0
        for source, _ in node.sources:
            waiting.append(source)


# %% path_by_path
# zero_grad remembers nothing of where it was; sources are kept in sets, so x + x is one way down,
# and x + x * c is two.
def result(data, *sources):
    value = Value(data)
    value.sources = sources
    value.below = {source for source, _ in sources}
    return value


def zero_grad(root):
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.grad = 0.0
        waiting.extend(getattr(node, "below", ()))


# %% plain_number_not_taken
# A plain number is not taken for a Value.
class Value:
    ...

    def __add__(self, other):
        return result(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        return result(self.data * other.data, (self, other.data), (other, self.data))

    def __truediv__(self, other):
        return self * other**-1


# %% plain_number_not_taken
# A plain number is not taken for a Value.
class Value:
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

    def __sub__(self, other):
        return self + (-other)

    def __truediv__(self, other):
        return self * other**-1


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


# %% recursion_too_deep
# One call for each node, one inside the other.
def in_order(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for source, _ in node.sources:
                visit(source)
            order.append(node)

    visit(root)
    return order


# %% recursion_too_deep
# One call for each node, one inside the other.
def in_order(root, visited=None):
    visited = set() if visited is None else visited
    visited.add(root)
    order = []
    for source, _ in root.sources:
        if source not in visited:
            order += in_order(source, visited)
    return [*order, root]


# %% recursion_too_deep
# One call for each node, one inside the other.
def zero_grad(root, seen=None):
    seen = seen or {root}
    root.grad = 0.0
    for source, _ in root.sources:
        if source not in seen:
            seen.add(source)
            zero_grad(source, seen)


# %% reflected_the_wrong_way
# The reflected form has its two numbers swapped.
class Value:
    ...

    def __rsub__(self, other):
        return self - other


# %% reflected_the_wrong_way
# The reflected form has its two numbers swapped.
class Value:
    ...

    __rtruediv__ = __truediv__


# %% result_is_no_value
# An operation gives no Value back.
class Value:
    ...

    def __neg__(self):
        return -self.data


# %% result_is_no_value
# An operation gives no Value back.
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


# %% root_without_gradient
# Backward clears all grads, root's too.
class Value:
    ...

    def backward(self):
        order = in_order(self)
        for node in order:
            if node.sources:
                node.grad = 0.0
        for node in reversed(order):
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% root_gradient_is_not_one
# Two is where one should be.
class Value:
    ...

    def backward(self):
        self.grad = 2.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% root_without_gradient
# Backward starts from nothing.
class Value:
    ...

    def backward(self):
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% stops_after_one_step
# Gradients don't get past the first step.
class Value:
    ...

    def backward(self):
        for source, slope in self.sources:
            source.grad += slope


# %% stops_after_one_step
# Gradients don't get past the first step.
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
        for node in topological(self):
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


# %% uses_torch
# Torch does the work.
import torch


class Value:
    def __init__(self, data):
        self.tensor = (
            data
            if isinstance(data, torch.Tensor)
            else torch.tensor(float(data), dtype=torch.float64, requires_grad=True)
        )
        self.sources = ()

    @property
    def data(self):
        return self.tensor.item()

    @property
    def grad(self):
        return 0.0 if self.tensor.grad is None else self.tensor.grad.item()

    @grad.setter
    def grad(self, number):
        self.tensor.grad = torch.tensor(number, dtype=torch.float64)

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


# %% uses_torch
# Torch does the work.
import importlib

tensors = importlib.import_module("".join(["to", "rch"]))


class Value:
    def __init__(self, data):
        self.tensor = (
            data
            if isinstance(data, tensors.Tensor)
            else tensors.tensor(float(data), dtype=tensors.float64, requires_grad=True)
        )
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


# %% wrong_local_derivative
# The derivative of {operation} is another one.
class Value:
    ...

    def tanh(self):
        value = math.tanh(self.data)
        return result(value, (self, 1.0 - self.data**2))


# %% wrong_local_derivative
# The derivative of {operation} is another one.
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
                self.grad += self.data ** (other - 1) * out.grad

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


# %% wrong_local_derivative
# The derivative of {operation} is another one.
class Value:
    ...

    def __truediv__(self, other):
        other = as_value(other)
        return result(
            self.data / other.data, (self, 1.0 / other.data), (other, self.data / other.data**2)
        )


# %% divides_by_a_zero
# A product's derivatives are the product divided by each factor.
class Value:
    ...

    def __mul__(self, other):
        other = as_value(other)
        out = result(self.data * other.data, (self, 0.0), (other, 0.0))
        out.factors = self, other
        return out

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                product = hasattr(node, "factors")
                source.grad += node.grad * (node.data / source.data if product else slope)


# %% divides_by_a_zero
# The lower power is the power divided by the base.
class Value:
    ...

    def __pow__(self, exponent):
        power = self.data**exponent
        return result(power, (self, exponent * power / self.data if exponent else 0.0))


# %% power_of_positive_bases_only
# A power is computed through the logarithm of its base.
class Value:
    ...

    def __pow__(self, exponent):
        power = math.exp(exponent * math.log(self.data))
        return result(power, (self, exponent * power / self.data))

    def __truediv__(self, other):
        other = as_value(other)
        a, b = self.data, other.data
        return result(a / b, (self, 1 / b), (other, -a / b**2))

    def __rtruediv__(self, other):
        return as_value(other) / self


# %% tanh_overflows
# tanh as the quotient of exponentials, which are infinite where tanh is 1.
class Value:
    ...

    def tanh(self):
        up, down = math.exp(self.data), math.exp(-self.data)
        value = (up - down) / (up + down)
        return result(value, (self, 1.0 - value**2))


# %% tanh_overflows
# tanh from exp(2 x).
class Value:
    ...

    def tanh(self):
        e = math.exp(2 * self.data)
        return result((e - 1) / (e + 1), (self, 4 * e / (e + 1) ** 2))


# %% returns_its_input
# Adding zero, which is where sum begins, is left out.
class Value:
    ...

    def __radd__(self, other):
        return self if other == 0 else self + other


# %% returns_its_input
# relu of a positive number is the Value itself.
class Value:
    ...

    def relu(self):
        return self if self.data > 0 else self * 0


# %% keeps_one_of_two_equal_inputs
# The derivatives are kept in a dictionary, with the inputs as its keys.
def result(data, *sources):
    value = Value(data)
    value.sources = tuple(dict(sources).items())
    return value


# %% keeps_one_of_two_equal_inputs
# Equal pairs of input and derivative become one, in a set.
def result(data, *sources):
    value = Value(data)
    value.sources = tuple(set(sources))
    return value


# %% operation_not_recorded
# The negative number is a new leaf.
class Value:
    ...

    def __neg__(self):
        return Value(-self.data)


# %% operation_not_recorded
# exp forgets its input.
class Value:
    ...

    def exp(self):
        power = math.exp(self.data)
        return result(power)


# %% number_added_under_log
# An epsilon "for stability".
class Value:
    ...

    def log(self):
        shifted = self.data + 1e-8
        return result(math.log(shifted), (self, 1 / shifted))


# %% overwrites_gradients
# Only the sum assigns; the product adds.
class Value:
    ...

    def __init__(self, data, inputs=()):
        self.data = float(data)
        self.grad = 0.0
        self.inputs = inputs
        self.step = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        total = Value(self.data + other.data, (self, other))

        def step():
            self.grad = total.grad
            other.grad = total.grad

        total.step = step
        return total

    def backward(self):
        self.grad = 1.0
        order, seen = [], set()
        stack = [(self, iter(self.inputs))]
        while stack:
            node, rest = stack[-1]
            source = next((one for one in rest if one not in seen), None)
            if source is None:
                stack.pop()
                order.append(node)
            else:
                seen.add(source)
                stack.append((source, iter(source.inputs)))
        for node in reversed(order):
            node.step()


def result(data, *sources):
    value = Value(data, tuple(source for source, _ in sources))

    def step():
        for source, slope in sources:
            source.grad += slope * value.grad

    value.step = step
    return value


def zero_grad(root):
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        node.grad = 0.0
        for source in node.inputs:
            if source not in seen:
                seen.add(source)
                stack.append(source)


# %% keeps_one_of_two_equal_inputs
# A dictionary of derivatives, in the product alone.
class Value:
    ...

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        product = Value(self.data * other.data)
        product.sources = tuple({self: other.data, other: self.data}.items())
        return product


# %% zero_contribution_not_counted
# A use that adds nothing is skipped before it is counted.
class Value:
    ...

    def backward(self):
        missing, stack, seen = {}, [self], {self}
        while stack:
            for source, _ in stack.pop().sources:
                missing[source] = missing.get(source, 0) + 1
                if source not in seen:
                    seen.add(source)
                    stack.append(source)
        self.grad = 1.0
        ready = [self]
        while ready:
            node = ready.pop()
            for source, slope in node.sources:
                if slope * node.grad == 0:
                    continue
                source.grad += slope * node.grad
                missing[source] -= 1
                if missing[source] == 0:
                    ready.append(source)


# %% zero_contribution_not_counted
# The same, one generation after another.
class Value:
    ...

    def backward(self):
        uses = {}
        todo, known = [self], {self}
        for node in todo:
            for source, _ in node.sources:
                uses.setdefault(source, []).append(node)
                if source not in known:
                    known.add(source)
                    todo.append(source)
        self.grad = 1.0
        front = [self]
        while front:
            following = []
            for node in front:
                for source, slope in node.sources:
                    part = slope * node.grad
                    if part:
                        source.grad += part
                        uses[source].remove(node)
                        if not uses[source]:
                            following.append(source)
            front = following


# %% grad_starts_without_a_number
# None until backward, as in torch.
class Value:
    ...

    def __init__(self, data):
        self.data = data
        self.grad = None
        self.sources = ()

    def backward(self):
        order = in_order(self)
        for node in order:
            node.grad = node.grad or 0.0
        self.grad = 1.0
        for node in reversed(order):
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% operation_not_recorded
# 3 + a is a new leaf.
class Value:
    ...

    def __radd__(self, other):
        return Value(other + self.data)


# %% wrong_local_derivative
# The value of -a, where its derivative belongs.
class Value:
    ...

    def __neg__(self):
        return result(-self.data, (self, -self.data))


# %% clears_too_much
# Every Value that exists is cleared, from a list of all.
import weakref

ALL = weakref.WeakSet()


class Value:
    ...

    def __init__(self, data):
        self.data, self.grad, self.sources = float(data), 0.0, ()
        ALL.add(self)


def zero_grad(root):
    for value in ALL:
        value.grad = 0.0


# %% clears_too_much
# Whatever uses a Value below root is cleared too.
class Value:
    ...

    def __init__(self, data):
        self.data, self.grad, self.sources, self.users = float(data), 0.0, (), []


def result(data, *sources):
    value = Value(data)
    value.sources = sources
    for source, _ in sources:
        source.users.append(value)
    return value


def zero_grad(root):
    todo, seen = [root], {root}
    while todo:
        node = todo.pop()
        node.grad = 0.0
        for other in [*(source for source, _ in node.sources), *node.users]:
            if other not in seen:
                seen.add(other)
                todo.append(other)


# %% order_not_topological
# Breadth first from the root, each Value once.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        order, seen = [self], {self}
        for node in order:
            for source, slope in node.sources:
                source.grad += slope * node.grad
                if source not in seen:
                    seen.add(source)
                    order.append(source)


# %% recursion_too_deep
# backward collects its nodes in nested calls.
class Value:
    ...

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if node not in seen:
                seen.add(node)
                for source, _ in node.sources:
                    visit(source)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% cleared_before_backward_only
# backward drops the links it has followed, so zero_grad finds only the root afterwards.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad
            node.sources = ()


# %% leaf_root_left_out
# A root that was not computed from anything is left out.
class Value:
    ...

    def backward(self):
        self.grad = 1.0 if self.sources else 0.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% walks_other_graphs
# All results are on one tape, and backward goes through all of it.
TAPE = []


class Value:
    ...

    def backward(self):
        self.grad = 1.0
        for node in reversed(TAPE):
            for source, slope in node.sources:
                source.grad += slope * node.grad


def result(data, *sources):
    value = Value(data)
    value.sources = sources
    TAPE.append(value)
    return value


# %% product_divided
# The other factor is the product divided by this one, or 0.
class Value:
    ...

    def __mul__(self, other):
        other = as_value(other)
        product = self.data * other.data
        return result(
            product, (self, other.data), (other, product / other.data if other.data else 0.0)
        )


# %% operation_clears_inputs
# A new graph begins with cleared inputs.
class Value:
    ...

    def __add__(self, other):
        other = as_value(other)
        self.grad = other.grad = 0.0
        return result(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = as_value(other)
        self.grad = other.grad = 0.0
        return result(self.data * other.data, (self, other.data), (other, self.data))


# %% returns_its_input
# exp is remembered for each Value.
import weakref

KNOWN = weakref.WeakKeyDictionary()


class Value:
    ...

    def exp(self):
        if self not in KNOWN:
            value = math.exp(self.data)
            KNOWN[self] = result(value, (self, value))
        return KNOWN[self]


# %% returns_its_input
# The negative is an attribute.
class Value:
    ...

    def __neg__(self):
        if not hasattr(self, "negative"):
            self.negative = result(-self.data, (self, -1.0))
        return self.negative


# %% path_by_path
# Parts of gradients are on a stack, and only those that still wait are added up.
class Value:
    ...

    def backward(self):
        parts = {self: 1.0}
        while parts:
            node, part = parts.popitem()
            node.grad += part
            for source, slope in node.sources:
                parts[source] = parts.get(source, 0.0) + slope * part


# %% released_too_early
# A node is ready when as many parts have come as nodes use it.
from collections import Counter


class Value:
    ...

    def backward(self):
        missing = Counter()
        for node in in_order(self):
            missing.update({source for source, _ in node.sources})
        self.grad = 1.0
        ready = [self]
        while ready:
            node = ready.pop()
            for source, slope in node.sources:
                source.grad += slope * node.grad
                missing[source] -= 1
                if missing[source] == 0:
                    ready.append(source)


# %% released_too_early
# The same with a queue.
from collections import Counter, deque


class Value:
    ...

    def backward(self):
        missing = Counter()
        for node in in_order(self):
            missing.update({source for source, _ in node.sources})
        self.grad = 1.0
        ready = deque([self])
        while ready:
            node = ready.popleft()
            for source, slope in node.sources:
                source.grad += slope * node.grad
                missing[source] -= 1
                if missing[source] == 0:
                    ready.append(source)


# %% recursion_too_deep
# The limit of nested calls is raised, but not far enough.
import sys


def zero_grad(root):
    seen = set()

    def clear(node):
        seen.add(node)
        node.grad = 0.0
        for source, _ in node.sources:
            if source not in seen:
                clear(source)

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        clear(root)
    finally:
        sys.setrecursionlimit(before)


# %% exp_cut_off
# Large arguments of exp are cut off.
class Value:
    ...

    def exp(self):
        value = math.exp(min(self.data, 700))
        return result(value, (self, value))


# %% wrong_local_derivative
# The derivative of other / self is that of 1 / self.
class Value:
    ...

    def __rtruediv__(self, other):
        return result(other / self.data, (self, -1.0 / self.data**2))


# %% wrong_local_derivative
# Every power has the derivative 0 at 0.
class Value:
    ...

    def __pow__(self, exponent):
        slope = exponent * self.data ** (exponent - 1) if exponent and self.data else 0.0
        return result(self.data**exponent, (self, slope))


# %% wrong_local_derivative
# A product that is 0 is a constant.
class Value:
    ...

    def __mul__(self, other):
        other = as_value(other)
        if not self.data * other.data:
            return Value(0.0)
        return result(self.data * other.data, (self, other.data), (other, self.data))


# %% wrong_local_derivative
# The logarithm's derivative is kept away from a division by 0.
class Value:
    ...

    def log(self):
        return result(math.log(self.data), (self, 1 / (self.data + 1e-8)))


# %% quotient_by_itself
# Derivatives are in a dictionary; a + a and a * a are cases of their own, a / a is not.
class Value:
    ...

    def __add__(self, other):
        other = as_value(other)
        if self is other:
            return result(2 * self.data, (self, 2.0))
        return result(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = as_value(other)
        if self is other:
            return self**2
        return result(self.data * other.data, (self, other.data), (other, self.data))

    def __truediv__(self, other):
        other = as_value(other)
        quotient = self.data / other.data
        return result(quotient, (self, 1 / other.data), (other, -quotient / other.data))

    def __rtruediv__(self, other):
        return as_value(other) / self


def result(data, *sources):
    value = Value(data)
    value.sources = tuple(dict(sources).items())
    return value


# %% cleared_before_backward_only
# backward and zero_grad mark the nodes they visit, and the marks stay.
def in_order(root):
    order, stack = [], [(root, False)]
    while stack:
        node, complete = stack.pop()
        if complete:
            order.append(node)
        elif not hasattr(node, "visited"):
            node.visited = True
            stack.append((node, True))
            stack += [(source, False) for source, _ in node.sources]
    return order


# %% stops_after_one_step
# The list is in topological order, and reversed() is missing.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        for node in in_order(self):
            for source, slope in node.sources:
                source.grad += slope * node.grad


# %% cleared_once_only
# zero_grad drops the links it has followed.
def zero_grad(root):
    for node in in_order(root):
        node.grad = 0.0
        node.sources = ()


# %% cleared_once_only
# A node that was visited keeps its mark, and the next zero_grad passes it over.
def zero_grad(root):
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not getattr(node, "visited", False):
            node.visited = True
            node.grad = 0.0
            waiting += [source for source, _ in node.sources]


# %% overwrites_gradients
# Gradients are in a dictionary, and each is assigned.
class Value:
    ...

    def backward(self):
        order = in_order(self)
        gradients = dict.fromkeys(order, 0.0)
        gradients[self] = 1.0
        for node in reversed(order):
            node.grad += gradients[node]
            for source, slope in node.sources:
                gradients[source] = slope * gradients[node]


# %% overwrites_gradients
# The product has a function that assigns; the other results add.
class Value:
    ...

    def __init__(self, data):
        self.data, self.grad, self.sources = float(data), 0.0, ()
        self.push = self.add_to_sources

    def add_to_sources(self):
        for source, slope in self.sources:
            source.grad += slope * self.grad

    def __mul__(self, other):
        other = as_value(other)
        out = result(self.data * other.data, (self, other.data), (other, self.data))

        def push():
            self.grad = other.data * out.grad
            other.grad = self.data * out.grad

        out.push = push
        return out

    def backward(self):
        self.grad = 1.0 if self.sources else self.grad + 1.0
        for node in reversed(in_order(self)):
            node.push()


# %% wrong_for_every_operation
# Gradients are in a dictionary, and reversed() is missing.
class Value:
    ...

    def backward(self):
        order = in_order(self)
        gradients = dict.fromkeys(order, 0.0)
        gradients[self] = 1.0
        for node in order:
            node.grad += gradients[node]
            for source, slope in node.sources:
                gradients[source] += slope * gradients[node]


# %% wrong_for_every_operation
# The 1 is in root.grad, and the gradients are read from a dictionary.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        order = in_order(self)
        gradients = dict.fromkeys(order, 0.0)
        for node in reversed(order):
            node.grad += gradients[node]
            for source, slope in node.sources:
                gradients[source] += slope * gradients[node]


# %% wrong_for_every_operation
# Each result has a function, and backward does not call root's.
class Value:
    ...

    def __init__(self, data):
        self.data, self.grad, self.sources = float(data), 0.0, ()

    def push(self):
        for source, slope in self.sources:
            source.grad += slope * self.grad

    def backward(self):
        self.grad = 1.0
        for source, _ in self.sources:
            source.push()


# %% wrong_for_every_operation
# Gradients are passed on without the derivatives.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += node.grad


# %% wrong_for_every_operation
# Gradients are subtracted.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad -= slope * node.grad


# %% wrong_for_every_operation
# The result's number is taken for its gradient.
class Value:
    ...

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.data


# %% root_without_gradient
# Gradients are in a dictionary, and root's is 0 there.
class Value:
    ...

    def backward(self):
        order = in_order(self)
        gradients = dict.fromkeys(order, 0.0)
        for node in reversed(order):
            node.grad += gradients[node]
            for source, slope in node.sources:
                gradients[source] += slope * gradients[node]


# %% ignores_incoming_gradient
# Gradients are in a dictionary, and each gets the derivative alone.
class Value:
    ...

    def backward(self):
        order = in_order(self)
        gradients = dict.fromkeys(order, 0.0)
        gradients[self] = 1.0
        for node in reversed(order):
            node.grad += gradients[node]
            for source, slope in node.sources:
                gradients[source] += slope


# %% ignores_incoming_gradient
# Only the sum passes its derivatives on; the other results multiply.
class Value:
    ...

    def __init__(self, data):
        self.data, self.grad, self.sources = float(data), 0.0, ()
        self.push = self.add_to_sources

    def add_to_sources(self):
        for source, slope in self.sources:
            source.grad += slope * self.grad

    def __add__(self, other):
        other = as_value(other)
        out = result(self.data + other.data, (self, 1.0), (other, 1.0))

        def push():
            self.grad += 1.0
            other.grad += 1.0

        out.push = push
        return out

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            node.push()


# %% ignores_incoming_gradient
# Only tanh passes its derivative on; the other results multiply.
class Value:
    ...

    def __init__(self, data):
        self.data, self.grad, self.sources = float(data), 0.0, ()
        self.push = self.add_to_sources

    def add_to_sources(self):
        for source, slope in self.sources:
            source.grad += slope * self.grad

    def tanh(self):
        out = result(math.tanh(self.data), (self, 1.0))

        def push():
            self.grad += 1 - out.data**2

        out.push = push
        return out

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            node.push()


# %% sources_not_kept
# relu has a source only where its derivative is not 0.
class Value:
    ...

    def relu(self):
        return result(self.data, (self, 1.0)) if self.data > 0 else result(0.0)


# %% sources_not_kept
# A product by 0 is a new number.
class Value:
    ...

    def __mul__(self, other):
        other = as_value(other)
        if other.data == 0.0:
            return result(0.0, (other, self.data))
        return result(self.data * other.data, (self, other.data), (other, self.data))

    def relu(self):
        return self * float(self.data > 0)


# %% nothing_recorded
# The sources do not get into the results.
def result(data, *sources):
    return Value(data)


# %% data_is_a_variable
# data stays a variable of __init__.
class Value:
    ...

    def __init__(self, data):
        data = float(data)
        self.grad = 0.0
        self.sources = ()


# %% operation_not_recorded
# The product has no function to pass its gradient on; the other results have one.
class Value:
    ...

    def __init__(self, data):
        self.data, self.grad, self.sources, self.push = float(data), 0.0, (), None

    def __mul__(self, other):
        other = as_value(other)
        out = Value(self.data * other.data)
        out.sources = (self, other.data), (other, self.data)
        return out

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            if node.push:
                node.push()


def result(data, *sources):
    value = Value(data)
    value.sources = sources

    def push():
        for source, slope in sources:
            source.grad += slope * value.grad

    value.push = push
    return value


# %% overwrites_gradients
# The parts of one node are added up, and replace those of the nodes before it.
class Value:
    ...

    def backward(self):
        gradients = {self: 1.0}
        for node in reversed(in_order(self)):
            node.grad += gradients[node]
            parts = {}
            for source, slope in node.sources:
                parts[source] = parts.get(source, 0.0) + slope * gradients[node]
            gradients.update(parts)


# %% wrong_for_every_operation
# Each operand gets the derivative for the other one.
class Value:
    ...

    def __sub__(self, other):
        other = as_value(other)
        return result(self.data - other.data, (self, 1.0), (other, -1.0))

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            slopes = [slope for _, slope in node.sources]
            for (source, _), slope in zip(node.sources, reversed(slopes)):
                source.grad += slope * node.grad
