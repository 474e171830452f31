"""What only the worker can observe in custom_functions, besides the engine's scenarios."""

import torch
from torch.autograd import Function

from grader.worker.scenarios import gradients, node_of


def plain(cls):
    """The class, its methods named as if it stood at the top of a file."""
    for name in ("forward", "backward"):
        vars(cls)[name].__func__.__qualname__ = f"{cls.__name__}.{name}"
    return cls


def linked(student, x, y):
    """as_callable of a product, for transposed tensors: whether forward got x and y themselves,
    whether the node of the result leads straight to them, and whether a result that is computed
    under no_grad requires grad.
    """
    leaves = [t.detach().t().requires_grad_() for t in (x, y)]
    same = []

    @plain
    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            same[:] = [
                got.data_ptr() == leaf.data_ptr() and got.stride() == leaf.stride()
                for got, leaf in zip((x, y), leaves, strict=True)
            ]
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    function = student.as_callable(Product)
    result = function(*leaves)  # before torch 2.13, a node is of no use without its result
    node = result.grad_fn
    straight = [
        getattr(parent, "variable", None) is leaf
        for (parent, _), leaf in zip(getattr(node, "next_functions", ()), leaves, strict=False)
    ]
    own = getattr(type(node), "_forward_cls", None) is Product
    with torch.no_grad():
        records = function(*leaves).requires_grad
    return {"same": list(same), "straight": own and straight == [True, True], "records": records}


def called(student, x, y, v, a, b):
    """as_callable of a Function of two tensors: what it returned, what ran before the call, what
    the call gave.
    """
    contexts = []

    @plain
    class Pair(Function):
        @staticmethod
        def forward(ctx, x, y):
            contexts.append(type(ctx).__name__)
            ctx.save_for_backward(x, y)
            return x * a + y

        @staticmethod
        def backward(ctx, grad):
            return grad * b, grad * (a + b)

    Pair.__name__ = f"Pair_{a}_{b}"  # no class of another call has this name
    function = student.as_callable(Pair)
    seen = {"callable": callable(function), "returned": function, "early": len(contexts)}
    if not callable(function):
        return seen
    value = function(x, y)
    return {
        **seen,
        "value": value,
        "gradients": gradients(value, (x, y), v),
        "found": node_of(value, Pair) is not None,
        "contexts": list(contexts),
    }


def counted(student, x, y, v, a, b):
    """as_callable of a Function of one tensor, of one of three tensors, of one of a tensor and a
    number, of one of two results, of one of a tuple of one; how often the first ran before it was
    called, and the type of the number in forward.
    """
    ran, types = [], []

    @plain
    class One(Function):
        @staticmethod
        def forward(ctx, x):
            ran.append(1)
            return x * a

        @staticmethod
        def backward(ctx, grad):
            return grad * b

    @plain
    class Three(Function):
        @staticmethod
        def forward(ctx, x, y, z):
            return x * a - y * b + z

        @staticmethod
        def backward(ctx, grad):
            return grad * b, grad * a, grad * (a - b)

    @plain
    class Scaled(Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            types.append(type(factor).__name__)
            return x * factor + a

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor * b, None

    @plain
    class Both(Function):
        @staticmethod
        def forward(x, y):
            return x * a, y * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, first, second):
            return first * b, second * a

    @plain
    class Single(Function):
        @staticmethod
        def forward(ctx, x):
            return (x * a,)

        @staticmethod
        def backward(ctx, grad):
            return grad * b

    one = student.as_callable(One)
    early = len(ran)
    one = one(x)
    three = student.as_callable(Three)(x, y, x * y)
    scaled = student.as_callable(Scaled)(x, b)
    both = student.as_callable(Both)(x, y)
    return {
        "early": early,
        "types": types,
        "one": [one, gradients(one, (x,), v)],
        "three": [three, gradients(three, (x, y), v)],
        "scaled": [scaled, gradients(scaled, (x,), v)],
        "single": student.as_callable(Single)(x),
        "both": [
            both,
            gradients(both[0] + both[1], (x, y), v)
            if isinstance(both, tuple) and len(both) == 2
            else None,
        ],
    }


def kinds(student, x, a, b):
    """as_callable of a Function of a tensor, a text, None and a list: what forward got of them, and
    the result.
    """
    seen = []

    @plain
    class Chosen(Function):
        @staticmethod
        def forward(ctx, x, *others):
            seen[:] = [one is two for one, two in zip(others, given, strict=False)]
            return x * a

        @staticmethod
        def backward(ctx, grad):
            return grad * b, None, None, None

    given = ["sum", None, [a, b]]
    value = student.as_callable(Chosen)(x, *given)
    return {"same": seen, "value": value}


def apart(student, x, y, a, b):
    """Two Functions of one name made callable one after the other; then the first is called, the
    second, and the first again.
    """

    def made(value):
        @plain
        class Made(Function):
            @staticmethod
            def forward(ctx, x, y):
                return value(x, y)

            @staticmethod
            def backward(ctx, grad):
                return grad, grad

        Made.__name__ = f"Made_{a}_{b}"  # no class of another call has this name
        return Made

    first = student.as_callable(made(lambda x, y: x * a + y))
    second = student.as_callable(made(lambda x, y: y * b - x))
    return [first(x, y), second(x, y), first(y, x)]


def product(student, x, y):
    """A product as a Function, called by way of as_callable: value, gradients, the class of its
    node.
    """

    @plain
    class MyCustomFunction(Function):
        @staticmethod
        def forward(ctx, x, t):
            ctx.save_for_backward(x, t)
            return x * t

        @staticmethod
        def backward(ctx, grad):
            x, t = ctx.saved_tensors
            return grad * t, grad * x

    value = student.as_callable(MyCustomFunction)(x, y)
    node = node_of(value, MyCustomFunction)
    wants = isinstance(value, torch.Tensor)
    return {
        "value": value.detach().clone() if wants else value,
        "gradients": gradients(value, (x, y), torch.ones_like(value)) if wants else None,
        "node": None if node is None else type(node).__name__,
    }
