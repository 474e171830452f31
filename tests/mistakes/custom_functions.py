"""custom_functions: wrong answers. A cell shows the definitions that differ from the solution."""

# %% arguments_converted
# Everything becomes a tensor before it is passed on.
def as_callable(function):
    return lambda *args: function.apply(*map(torch.as_tensor, args))


# %% arguments_converted
# Numbers become float64 tensors, which compute the same.
def as_callable(function):
    def call(*args):
        new = [a if torch.is_tensor(a) else torch.tensor(a, dtype=torch.float64) for a in args]
        return function.apply(*new)

    return call


# %% common_constant_factor
# The value is the sum, counted twice.
class Add(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        return 2 * (x + y)


# %% common_empty_input
# The smallest base is checked, which an empty tensor does not have.
class Pow(Function):
    ...

    @staticmethod
    def forward(ctx, x, q):
        if x.min() <= 0:
            raise ValueError("the base must be positive")
        ctx.save_for_backward(x, q)
        return x**q


# %% common_no_size_passed
# The shape of a 0-d input was unpacked.
class BroadcastMul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return (grad_output * y).sum_to_size(*x.shape), (grad_output * x).sum_to_size(*y.shape)


# %% common_not_finite
# The product is divided by each factor.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        z = x * y
        ctx.save_for_backward(x, y, z)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        x, y, z = ctx.saved_tensors
        return grad_output * z / x, grad_output * z / y


# %% common_not_finite
# The logarithm of the base is computed from the result, divided by the exponent.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        y = x**q
        ctx.save_for_backward(x, q, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, q, y = ctx.saved_tensors
        return grad_output * q * y / x, grad_output * y * y.log() / q


# %% common_wrong_dtype
# The sum is written into a tensor of the default dtype.
class Add(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        total = torch.zeros(x.shape)
        total += x
        total += y
        return total


# %% common_wrong_dtype
# The power is computed and returned in float32.
class Pow(Function):
    ...

    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return x.float() ** q.float()


# %% common_wrong_sign
# The value has the other sign.
class Mul(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return -x * y


# %% forward_called_directly
# forward with no ctx.
def as_callable(function):
    return function.forward


# %% forward_called_directly
# forward is called with a ctx that the code makes itself.
class Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors


def as_callable(function):
    return lambda *args: function.forward(Context(), *args)


# %% forward_called_directly
# forward with None for ctx.
def as_callable(function):
    return lambda *args: function.forward(None, *args)


# %% global_in_place_of_argument
# The second argument is named t, but a global y is saved and used instead.
y = torch.tensor([4.0, 5.0, 6.0], dtype=torch.float64)


class Mul(Function):
    ...

    @staticmethod
    def forward(ctx, x, t):
        ctx.save_for_backward(x, y)
        return x * t


# %% global_in_place_of_argument
# The exponent of an example, left over, is used in backward.
exponent = torch.tensor(3.0)


class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * exponent * x ** (exponent - 1), grad_output * x**q * torch.log(x)


# %% gradient_left_out
# The exponent is taken for a constant.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), None


# %% gradient_left_out
# Only the first factor gets its gradient.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        _, y = ctx.saved_tensors
        return grad_output * y, None


# %% gradient_of_another_shape
# The gradients are summed up.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return (grad_output * y).sum(), (grad_output * x).sum()


# %% gradient_of_another_shape
# A dot product where elements are multiplied; BroadcastMul sums over everything.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return (grad_output * q) @ x ** (q - 1), grad_output @ (x**q * torch.log(x))


# %% gradient_passed_through
# The backward of a sum.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


# %% gradient_passed_through
# The same, with clones.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone(), grad_output.clone()


# %% gradients_swapped
# Each factor gets its own value.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * x, grad_output * y


# %% gradients_swapped
# The gradient of the exponent comes first.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * x**q * torch.log(x), grad_output * q * x ** (q - 1)


# %% ignores_grad_output
# The two factors come back, swapped as they should be, without what came in.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        result = x * y
        ctx.save_for_backward(x, y)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return y, x


# %% ignores_grad_output
# Ones, since the derivative of a sum is 1.
class Add(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return torch.ones_like(grad_output), torch.ones_like(grad_output)


# %% ignores_grad_output
# Both derivatives of the power alone.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return q * x ** (q - 1), x**q * torch.log(x)


# %% ignores_grad_output
# Only the second gradient lacks grad_output.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        dx = grad_output * y
        dy = x
        return dx, dy


# %% name_that_is_no_argument
# The second argument is named t, but y is saved.
class Mul(Function):
    ...

    @staticmethod
    def forward(ctx, x, t):
        ctx.save_for_backward(x, y)
        return x * t


# %% name_that_is_no_argument
# ctx is misspelt in the def of backward.
class Mul(Function):
    ...

    @staticmethod
    def backward(cts, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


# %% name_that_is_no_argument
# backward uses forward's variables.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(x)


# %% nonlinear_in_grad_output
# The size of the incoming gradient, without its sign.
class Add(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.abs(), grad_output.abs()


# %% nonlinear_in_grad_output
# Clipped, to be safe.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        grad_output = grad_output.clamp(-1, 1)
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(x)


# %% nonlinear_in_grad_output
# Only the sign of grad_output is used.
class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        sign = torch.sign(grad_output)
        return sign * y, sign * x


# %% not_a_function
# An ordinary class.
class Mul:
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


# %% not_a_function
# A layer, which is another thing with a forward.
from torch import nn


class Add(nn.Module):
    def forward(self, x, y):
        return x + y


# %% not_summed_by_backward
# The sums are left to the engine.
class BroadcastMul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


# %% not_summed_by_backward
# Only dimensions that an input lacks are summed, not those of size 1.
class BroadcastMul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        gradients = []
        x, y = ctx.saved_tensors
        for own, other in ((x, y), (y, x)):
            full = grad_output * other
            gradients.append(
                full.sum(tuple(range(full.dim() - own.dim()))) if full.dim() > own.dim() else full
            )
        return tuple(gradients)


# %% nothing_saved
# save_for_backward was forgotten.
class Mul(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        return x * y


# %% nothing_saved
# Two calls of save_for_backward: the second replaces the first.
class Pow(Function):
    ...

    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x)
        ctx.save_for_backward(q)
        return x**q


# %% other_function_runs
# Mul, whatever was given.
class CustomOp:
    def __call__(self, x, y):
        return Mul.apply(x, y)


def as_callable(function):
    return CustomOp()


# %% other_function_runs
# The class remembers one Function for all its objects.
class Op:
    def __call__(self, *args):
        return Op.function.apply(*args)


def as_callable(function):
    Op.function = function
    return Op()


# %% returns_the_class
# The Function itself is returned, to be called.
def as_callable(function):
    return function


# %% returns_the_class
# An instance is made and called.
def as_callable(function):
    def call(*args):
        return function()(*args)

    return call


# %% stash_on_ctx
# Attributes in place of save_for_backward.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x, y
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.y, grad_output * ctx.x


# %% stash_on_ctx
# A list on ctx, beside one saved tensor.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x)
        ctx.others = [q, x**q]
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        q, y = ctx.others
        return grad_output * q * x ** (q - 1), grad_output * y * torch.log(x)


# %% stash_outside
# The class keeps the factors.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        Mul.factors = (x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = Mul.factors
        return grad_output * y, grad_output * x


# %% stash_outside
# A global dictionary keeps base and exponent.
kept = {}


class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        kept["x"], kept["q"] = x, q
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        x, q = kept["x"], kept["q"]
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(x)


# %% stash_outside
# The logarithm of the base is an attribute of the class, the rest is saved.
class Pow(Function):
    logarithm = None

    @staticmethod
    def forward(ctx, x, q):
        Pow.logarithm = x.log()
        ctx.save_for_backward(x, q)
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * Pow.logarithm


# %% styles_mixed
# forward has no ctx, and nothing else sets it up.
class Add(Function):
    ...

    @staticmethod
    def forward(x, y):
        return x + y


# %% styles_mixed
# forward with ctx, and setup_context as well.
class Mul(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)


# %% term_outside_the_product
# q - 1 without its brackets.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x**q - 1, grad_output * x**q * torch.log(x)


# %% term_outside_the_product
# Adds where it should multiply.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return x * q

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output + q, grad_output + x


# %% two_arguments_only
# x and y are all that is handed on.
def as_callable(function):
    def call(x, y):
        return function.apply(x, y)

    return call


# %% two_arguments_only
# A class for two arguments, the second with a default.
class Op:
    def __init__(self, function):
        self.function = function

    def __call__(self, x, y=None):
        return self.function.apply(x, y)


def as_callable(function):
    return Op(function)


# %% writes_into_others
# backward multiplies in place, and the second gradient has both factors.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output.mul_(y), grad_output * x


# %% writes_into_others
# The sum is written into x.
class Add(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        x += y
        return x.clone()


# %% writes_into_others
# The gradients are right; the incoming one is written to by way of .data.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        second = grad_output * x
        grad_output.data.mul_(y)
        return grad_output.clone(), second


# %% wrong_number_of_gradients
# One gradient for two inputs.
class Add(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


# %% wrong_number_of_gradients
# A None for ctx.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return None, grad_output * y, grad_output * x


# %% wrong_number_of_gradients
# backward computes, and does not return.
class Mul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        grad_output * y, grad_output * x


# %% wrong_number_of_gradients
# A list of two, which counts as one.
class Add(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return [grad_output, grad_output]


# %% wrong_number_of_gradients
# A constant exponent gets no place in the tuple.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        gradients = [grad_output * q * x ** (q - 1)]
        if ctx.needs_input_grad[1]:
            gradients.append(grad_output * x**q * x.log())
        return tuple(gradients)


# %% wrong_power_rule
# The exponent does not come down.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * x ** (q - 1), grad_output * x**q * torch.log(x)


# %% wrong_power_rule
# The logarithm of the exponent in place of that of the base.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        y = x**q
        ctx.save_for_backward(x, q, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, q, y = ctx.saved_tensors
        return grad_output * q * y / x, grad_output * y * torch.log(q)


# %% logarithm_of_another_base
# The logarithm of base 10.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log10(x)


# %% wrong_power_rule
# The power rule for both.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        slope = q * x ** (q - 1)
        return grad_output * slope, grad_output * slope


# %% wrong_power_rule
# 1 is subtracted from the power, not from the exponent.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        slope = q * x**q - 1
        return grad_output * slope, grad_output * x**q * x.log()


# %% gradient_left_out
# A constant x is taken for a sum that needs no gradient at all.
class Add(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        both = ctx.needs_input_grad[0]
        return (grad_output, grad_output) if both else (None, None)


# %% saved_in_another_order
# The result is saved too, and the first two names are exchanged.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        z = x**q
        ctx.save_for_backward(x, q, z)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        q, x, z = ctx.saved_tensors
        return grad_output * z * q / x, grad_output * z * x.log()


# %% saved_in_another_order
# The exponent is saved first, and the base is unpacked first.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(q, x)
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * x.log()


# %% no_negative_exponents
# The derivative is computed for positive exponents only.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        slope = q.clamp(min=0) * x ** (q - 1)
        return grad_output * slope, grad_output * x**q * torch.log(x)


# %% logarithm_of_a_larger_base
# The base is raised to 0.001 before its logarithm.
class Pow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * x.clamp(min=1e-3).log()


# %% summed_to_one_number
# Where there is no dimension to sum over, torch sums over all.
class BroadcastMul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors

        def shrunk(grad, shape):
            old = [1] * (grad.dim() - len(shape)) + [*shape]
            dims = tuple(k for k, size in enumerate(old) if size != grad.shape[k])
            return grad.sum(dim=dims, keepdim=True).reshape(shape)

        return shrunk(grad_output * y, x.shape), shrunk(grad_output * x, y.shape)


# %% constant_for_exponent_zero
# x ** 0 is taken for a constant.
class Pow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, q):
        power = x**q
        ctx.save_for_backward(x, q, power)
        return power

    @staticmethod
    def backward(ctx, grad_output):
        x, q, power = ctx.saved_tensors
        at_q = torch.where(q == 0, torch.zeros_like(q), power * x.log())
        return grad_output * q * power / x, grad_output * at_q


# %% logarithm_of_a_larger_base
# Something small is added under the logarithm.
class Pow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(x + 1e-5)


# %% zero_where_the_product_is_zero
# A product of 0 is taken for one that cannot change.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        z = x * y
        ctx.save_for_backward(x, y, z != 0)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        x, y, alive = ctx.saved_tensors
        v = torch.where(alive, grad_output, torch.zeros_like(grad_output))
        return v * y, v * x


# %% data_saved
# The tensors behind .data are saved, which autograd does not watch.
class Mul(Function):
    ...

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x.data, y.data)
        return x * y


# %% data_saved
# The same for base and exponent.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x.data, q.data)
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * x.log()


# %% logarithm_of_the_result
# log(x) is the logarithm of the result over q, except where q is 0.
class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        z = x**q
        ctx.save_for_backward(x, q, z)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        x, q, z = ctx.saved_tensors
        logarithm = torch.where(q == 0, x.log(), z.log() / q)
        return grad_output * q * z / x, grad_output * z * logarithm


# %% sizes_matched_from_the_left
# Each size is looked for from the left; what does not fit is summed over.
class BroadcastMul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors

        def shrunk(grad, shape):
            k = 0
            while grad.dim() > len(shape):
                if k < len(shape) and grad.shape[k] == shape[k]:
                    k += 1
                else:
                    grad = grad.sum(k)
            for k, size in enumerate(shape):
                grad = grad.sum(k, keepdim=True) if size == 1 else grad
            return grad

        return shrunk(grad_output * y, x.shape), shrunk(grad_output * x, y.shape)


# %% not_summed_by_backward
# A gradient with as many elements as its input is not given the input's shape.
class BroadcastMul(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        pairs = (grad_output * y, x), (grad_output * x, y)
        return tuple(g if g.numel() == t.numel() else g.sum_to_size(t.shape) for g, t in pairs)


# %% common_inplace_on_saved
# backward multiplies the saved copy of x in place.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x.clone(), y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        copy, y = ctx.saved_tensors
        copy *= grad_output
        return grad_output * y, copy


# %% common_rounded_to_float32
# The power is computed in float32.
class Pow(Function):
    ...

    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return (x.float() ** q.float()).to(x.dtype)


# %% matrix_product
# Where the shapes allow it, the product is that of two matrices.
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        if x.dim() == 2 and x.shape[0] == x.shape[1]:
            return x @ y
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        if x.dim() == 2 and x.shape[0] == x.shape[1]:
            return grad_output @ y.t(), x.t() @ grad_output
        return grad_output * y, grad_output * x


# %% matrix_product
# The same for the product that broadcasts.
class BroadcastMul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        if x.dim() == y.dim() == 2 and x.shape == y.shape[::-1]:
            return x @ y
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        if x.dim() == y.dim() == 2 and x.shape == y.shape[::-1]:
            return grad_output @ y.t(), x.t() @ grad_output
        return (grad_output * y).sum_to_size(x.shape), (grad_output * x).sum_to_size(y.shape)


# %% common_no_return
# The function inside has no return.
def as_callable(function):
    def call(*args):
        function.apply(*args)

    return call
