"""custom_functions: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% forward_called_directly
# Leaves out arguments that are no tensors.
def as_callable(function):
    def call(*args):
        return function.apply(*[a for a in args if torch.is_tensor(a)])

    return call


# %% forward_called_directly
# apply is called, of what a function without return has made of the Function.
def checked(function):
    assert issubclass(function, Function)


def as_callable(function):
    function = checked(function)
    return lambda *args: function.apply(*args)


# %% global_in_place_of_argument
# Each factor's own value, twice.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return 2 * g * x, 2 * g * y


# %% global_in_place_of_argument
# The gradients of a difference.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g, -g


# %% global_in_place_of_argument
# grad_output is shared out between the two.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output / 2, grad_output / 2


# %% global_in_place_of_argument
# Sums in the place of products.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output + x, grad_output + y


# %% ignores_grad_output
# Without grad_output, and the two factors exchanged as well.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.saved_tensors


# %% name_that_is_no_argument
# What is used is saved, and unpacked one line too late.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        grads = grad_output * y, grad_output * x
        x, y = ctx.saved_tensors
        return grads


# %% name_that_is_no_argument
# A module was not imported.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * np.log(x)


# %% not_summed_by_backward
# The value of BroadcastMul is half the product.
class BroadcastMul(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y / 2


# %% not_summed_by_backward
# BroadcastMul sums the factors alone.
class BroadcastMul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        ones = torch.ones_like(grad_output)
        return (ones * y).sum_to_size(x.shape), (ones * x).sum_to_size(y.shape)


# %% not_summed_by_backward
# BroadcastMul keeps its factors as attributes.
class BroadcastMul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.factors = x, y
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.factors
        return (grad_output * y).sum_to_size(x.shape), (grad_output * x).sum_to_size(y.shape)


# %% nothing_saved
# Counts the dimensions of the result in a shape that has fewer.
class BroadcastMul(Function):
    ...

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx, gy = g * y, g * x
        for i in range(g.dim()):
            if x.shape[i] == 1:
                gx = gx.sum(i, keepdim=True)
            if y.shape[i] == 1:
                gy = gy.sum(i, keepdim=True)
        return gx, gy


# %% nothing_saved
# A shape is unpacked into too many names.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        rows, columns = grad_output.shape
        return grad_output * y, grad_output * x


# %% nothing_saved
# saved_tensors is mistyped.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensor
        return grad_output * y, grad_output * x


# %% other_function_runs
# No Function runs at all: the arguments are multiplied.
def as_callable(function):
    return lambda x, y: x * y


# %% other_function_runs
# The Function runs once on ones, to see whether it works.
def as_callable(function):
    count = function.forward.__code__.co_argcount - 1
    function.apply(*[torch.ones(()) for _ in range(count)])
    return lambda *args: function.apply(*args)


# %% returns_the_class
# apply is there, and not called.
def as_callable(function):
    return lambda *args: function.apply


# %% term_outside_the_product
# The power rule for the exponent too, which is nan.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, g):
        x, q = ctx.saved_tensors
        return g * q * x ** (q - 1), g * x * q ** (x - 1)


# %% two_arguments_only
# Any number of arguments, as long as they are tensors.
def as_callable(function):
    return lambda *args: function.apply(*(torch.clone(arg) for arg in args))


# %% wrong_power_rule
# Base and exponent change places in the second gradient, which is nan.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, g):
        x, q = ctx.saved_tensors
        return g * q * x ** (q - 1), g * q**x * torch.log(q)
