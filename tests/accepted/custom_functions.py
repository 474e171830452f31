"""custom_functions: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% apply_itself
# A bound method is a function already.
as_callable = lambda function: function.apply


# %% attributes_that_nobody_asks_for
# Tensors stand on ctx as well, and backward takes only what was saved.
class Mul(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x, y
        ctx.save_for_backward(x, y)
        return x * y


# %% autograd_in_backward
# backward runs the operation again, with a graph, and asks autograd.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = x**q
        return torch.autograd.grad(y, (x, q), grad_output)


class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            z = x * y
        z.backward(grad_output)
        return x.grad, y.grad


# %% callable_class
# An object with __call__.
class Op:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function.apply(*args, **kwargs)

    def __repr__(self):
        return f"Op({self.function.__name__})"


def as_callable(function):
    return Op(function)


# %% exponent_of_zero_apart
# A slope of 0 where the exponent is 0; the gradients come as a product with a pair, one is None.
class Add(Function):
    @staticmethod
    def forward(ctx, *terms):
        return sum(terms)

    @staticmethod
    def backward(ctx, grad_output):
        return (grad_output,) * 2


def slopes(x, q, y):
    return torch.where(q == 0, 0.0, q * x.pow(q - 1)), y * torch.log(x)


class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        y = x.pow(q)
        ctx.save_for_backward(x, q, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return tuple(
            grad_output * slope if needed else None
            for slope, needed in zip(slopes(*ctx.saved_tensors), ctx.needs_input_grad, strict=True)
        )


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x.mul(y)

    @staticmethod
    def backward(ctx, grad_output):
        return tuple(grad_output * other for other in reversed(ctx.saved_tensors))


# %% exponential_and_logarithm
# The power as exp(q log x); forward saves the derivatives, and backward multiplies.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        logarithm = torch.log(x)
        y = torch.exp(q * logarithm)
        ctx.save_for_backward(q * y / x, y * logarithm)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return tuple(grad_output * slope for slope in ctx.saved_tensors)


# %% flattened_by_apply
# apply flattens what it is given and shapes the result back; the callable is a module.
class Mul(Function):
    ...

    @classmethod
    def apply(cls, x, y):
        return super().apply(x.reshape(-1), y.reshape(-1)).reshape(x.shape)


class Op(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function.apply(*args)


def as_callable(function):
    return Op(function)


# %% loops_over_elements
# One element at a time.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        result = torch.empty(x.numel(), dtype=x.dtype)
        for k in range(x.numel()):
            result[k] = x.reshape(-1)[k] ** q.reshape(-1)[k]
        return result.reshape(x.shape)

    @staticmethod
    def backward(ctx, grad_output):
        x, q = (t.reshape(-1) for t in ctx.saved_tensors)
        v = grad_output.reshape(-1)
        first = [v[k] * q[k] * x[k] ** (q[k] - 1) for k in range(len(v))]
        then = [v[k] * x[k] ** q[k] * torch.log(x[k]) for k in range(len(v))]
        shape = grad_output.shape
        return tuple(
            torch.stack(g).reshape(shape) if g else torch.zeros_like(grad_output)
            for g in (first, then)
        )


# %% made_by_a_factory
# The classes come out of a function; vjp is the other name of backward.
def made(value, slopes):
    class Made(Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return value(*inputs)

        @staticmethod
        def vjp(ctx, grad_output):
            inputs = ctx.saved_tensors
            return tuple(
                slope(*inputs).mul(grad_output).sum_to_size(t.shape)
                for slope, t in zip(slopes, inputs, strict=True)
            )

    return Made


Add = made(torch.add, (lambda x, y: torch.ones_like(x), lambda x, y: torch.ones_like(y)))
Mul = BroadcastMul = made(torch.mul, (lambda x, y: y, lambda x, y: x))
Pow = made(
    torch.pow,
    (
        lambda x, q: q * torch.exp((q - 1) * torch.log(x)),
        lambda x, q: torch.log(x).mul(torch.pow(x, q)),
    ),
)


# %% named_wrapper
# A wrapper that looks like forward; the argument has another name, and is checked.
import functools


def as_callable(cls, *, name=None):
    if not issubclass(cls, Function):
        raise TypeError(f"{cls} is not a Function")

    @functools.wraps(cls.forward)
    def call(first, *rest):
        return cls.apply(first, *rest)

    call.__name__ = name or cls.__name__.lower()
    return call


# %% needs_input_grad
# Only what is needed is saved and computed; None stays None.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(
            x if ctx.needs_input_grad[1] else None, y if ctx.needs_input_grad[0] else None
        )
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None:
            return None, None
        x, y = ctx.saved_tensors
        first = then = None
        if ctx.needs_input_grad[0]:
            first = grad_output * y
        if ctx.needs_input_grad[1]:
            then = grad_output * x
        return first, then


class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        first = grad_output * q * x ** (q - 1) if ctx.needs_input_grad[0] else None
        then = grad_output * x**q * x.log() if ctx.needs_input_grad[1] else None
        return first, then


# %% numpy_inside
# NumPy computes; the backward is marked as one that is not differentiated.
import numpy as np
from torch.autograd.function import once_differentiable


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.as_tensor(np.asarray(x.detach().numpy() * y.detach().numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, y = (t.detach().numpy() for t in ctx.saved_tensors)
        v = grad_output.numpy()
        return torch.as_tensor(np.asarray(v * y), dtype=grad_output.dtype), torch.as_tensor(
            np.asarray(v * x), dtype=grad_output.dtype
        )


class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return torch.as_tensor(
            np.asarray(np.power(x.detach().numpy(), q.detach().numpy())), dtype=x.dtype
        )

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, q = (t.detach().double() for t in ctx.saved_tensors)
        v, dtype = grad_output.double(), grad_output.dtype
        return (v * q * x ** (q - 1)).to(dtype), (
            v * x**q * torch.from_numpy(np.asarray(np.log(x.numpy())))
        ).to(dtype)


# %% one_base_class
# One backward for all; the classes say only what their derivatives are.
class Elementwise(Function):
    @classmethod
    def apply(cls, *args):
        return super().apply(*args)

    @staticmethod
    def backward(ctx, grad_output):
        return tuple(grad_output * slope for slope in ctx.slopes(*ctx.saved_tensors))


class Add(Elementwise):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.slopes = lambda a, b: (a * 0 + 1, b * 0 + 1)
        return a + b


class Mul(Elementwise):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.slopes = lambda a, b: (b, a)
        return a * b


class Pow(Elementwise):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.slopes = lambda a, b: (b * a ** (b - 1), a**b * a.log())
        return a**b


# %% plain_methods
# No decorators, self for ctx, and a further argument with a default.
class Mul(Function):
    def forward(self, x, y, scale=1.0):
        self.scale = scale
        self.save_for_backward(x.detach(), y.detach())
        return scale * x * y

    def backward(self, *grads):
        saved = self.saved_tensors
        return grads[0] * saved[1] * self.scale, grads[0] * saved[0] * self.scale, None


class BroadcastMul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        def back_to(gradient, shape):
            while gradient.dim() > len(shape):
                gradient = gradient.sum(0)
            for dim, size in enumerate(shape):
                if size == 1:
                    gradient = gradient.sum(dim, keepdim=True)
            return gradient

        x, y = ctx.saved_tensors
        return back_to(grad_output * y, x.shape), back_to(grad_output * x, y.shape)


# %% registered_classes
# Each class enters itself under its sign, and a sign may be taken once; the axes to sum over are
# NumPy's, kept on ctx.
import numpy as np


class Operation(Function):
    table = {}

    def __init_subclass__(cls):
        super().__init_subclass__()
        if cls.sign in Operation.table:
            raise ValueError(f"{cls.sign} is taken")
        Operation.table[cls.sign] = cls


class Add(Operation):
    sign = "+"

    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


class Mul(Operation):
    sign = "*"

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


def repeated(small, large):
    """Axes of the large shape along which the small one was repeated."""
    whole = np.array((1,) * (len(large) - len(small)) + tuple(small), dtype=int)
    return np.flatnonzero(whole != np.array(large, dtype=int))


class BroadcastMul(Operation):
    sign = "x"

    @staticmethod
    def forward(ctx, x, y):
        z = x * y
        ctx.save_for_backward(x, y)
        ctx.axes = repeated(x.shape, z.shape), repeated(y.shape, z.shape)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        first, second = ctx.axes
        products = (grad_output * y, first, x), (grad_output * x, second, y)
        return tuple(
            (g.sum(tuple(axes.tolist())) if axes.size else g).reshape(t.shape)
            for g, axes, t in products
        )


# %% result_saved
# Add saves its result and never asks for it; Pow makes both gradients from its result.
class Add(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        result = x + y
        ctx.save_for_backward(result)
        return result


class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        y = x**q
        ctx.save_for_backward(x, q, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, q, y = ctx.saved_tensors
        common = grad_output * y
        return common * q / x, common * torch.log(x)


# %% setup_context
# forward without ctx; setup_context saves.
class Add(Function):
    @staticmethod
    def forward(x, y):
        return x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone(), grad_output.clone()


class Mul(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return y * grad_output, x * grad_output


class Pow(Function):
    @staticmethod
    def forward(x, q):
        return torch.pow(x, q)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        x, q, y = ctx.saved_tensors
        return grad_output * q * x.pow(q - 1), grad_output * y * x.log()


class BroadcastMul(Function):
    ...

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)


# %% copies_saved
# What is saved are copies of the inputs.
class Mul(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x.clone(), y.clone())
        return x * y


class Pow(Function):
    ...

    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x.detach().clone(), q.detach().clone())
        return x**q
