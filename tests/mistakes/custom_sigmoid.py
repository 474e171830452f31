"""custom_sigmoid: wrong answers. A cell shows the definitions that differ from the solution."""

# %% backward_returns_nothing
# Computed, and not returned.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        grad_input = grad_output * y * (1 - y)


# %% change_not_noticed
# x is saved through .data.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.data)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        y = 1 / (1 + torch.exp(-x))
        return grad_output * y * (1 - y)


# %% change_not_noticed
# The output is saved as a NumPy view of it.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(torch.from_numpy(y.numpy()))
        return y


# %% clamped_too_early
# Clamped against overflow, where nothing overflows yet.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x.clamp(-10, 10)))
        ctx.save_for_backward(y)
        return y


# %% clamped_too_early
# The value is clamped, as probabilities are before a logarithm.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = (1 / (1 + torch.exp(-x))).clamp(1e-7, 1 - 1e-7)
        ctx.save_for_backward(y)
        return y


# %% common_gradient_count
# A gradient for ctx too.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return None, grad_output * y * (1 - y)


# %% common_gradient_count
# A gradient for each tensor that was saved.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y * (1 - y), grad_output * x


# %% common_gradient_count
# An empty tuple.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return ()


# %% common_inplace_on_saved
# The saved output serves as the buffer.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y.mul_(1 - y).mul_(grad_output)


# %% common_no_return
# Called, and not returned.
def sigmoid(x):
    Sigmoid.apply(x)


# %% common_rounded_to_float32
# The value is computed in float32, the gradient in x's dtype.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (1 / (1 + torch.exp(-x.float()))).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        y = 1 / (1 + torch.exp(-x))
        return grad_output * y * (1 - y)


# %% common_view_of_noncontiguous
# Flattened by view.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = (1 / (1 + torch.exp(-x.view(-1)))).view(x.shape)
        ctx.save_for_backward(y)
        return y


# %% common_wrong_dtype
# A habit: .float() at the end.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y.float()


# %% common_wrong_dtype
# Computed in double precision, and left so.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x.double()))
        ctx.save_for_backward(y)
        return y


# %% derivative_of_tanh
# The derivative of tanh, from memory.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (1 - y**2)


# %% derivative_of_tanh
# Forward by the tanh identity, backward by tanh itself.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * (1 + torch.tanh(0.5 * x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (1 - torch.tanh(x) ** 2)


# %% factor_missing
# The derivative is taken for s itself, as it is for exp.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y


# %% factor_missing
# The quotient rule without the square of the denominator.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        e = torch.exp(-x)
        return grad_output * e / (1 + e)


# %% forward_returns_nothing
# Computed and saved, and not returned.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)


# %% function_of_one_number
# math.exp in place of torch.exp.
import math


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + math.exp(-x))
        ctx.save_for_backward(y)
        return y


# %% gradient_added
# The chain rule with a plus.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output + y * (1 - y)


# %% gradient_is_no_tensor
# A NumPy array comes back from backward.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output.numpy() * y.detach().numpy() * (1 - y.detach().numpy())


# %% gradient_passed_through
# As in a straight-through estimator.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone()


# %% gradient_summed_up
# Summed, as a loss would be.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return (grad_output * y * (1 - y)).sum()


# %% gradient_summed_up
# v times J, with a dot for the product.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return torch.dot(grad_output.flatten(), (y * (1 - y)).flatten())


# %% ignores_grad_output
# The local derivative alone comes back.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (1 - y)


# %% ignores_grad_output
# grad_output lends its shape and nothing else.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        e = torch.exp(-x)
        return torch.ones_like(grad_output) * e / (1 + e) ** 2


# %% measured_not_derived
# A difference of two values, whose steps are factors of exp(-x).
import math


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        e, factor = 1 / y - 1, math.exp(1e-5)
        return grad_output * (1 / (1 + e / factor) - 1 / (1 + e * factor)) / 2e-5


# %% derived_by_autograd
# Central differences in backward.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        x = torch.log(y / (1 - y))
        h = 1e-5
        rise = 1 / (1 + torch.exp(-(x + h))) - 1 / (1 + torch.exp(-(x - h)))
        return grad_output * rise / (2 * h)


# %% derived_by_autograd
# The mean of two one-sided differences.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        x = -torch.log(1 / y - 1)
        slopes = [(1 / (1 + torch.exp(-(x + h))) - y) / h for h in (1e-7, -1e-7)]
        return grad_output * sum(slopes) / 2


# %% nan_for_large_inputs
# inf / inf for a large x.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.exp(x) / (1 + torch.exp(x))
        ctx.save_for_backward(y)
        return y


# %% nan_for_large_inputs
# inf / inf for a very negative x, in backward.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        e = torch.exp(-x)
        return grad_output * e / (1 + e) ** 2


# %% needs_an_element
# A look at the smallest element first.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        if x.min() < -700:
            x = x.clamp(min=-700)
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y


# %% no_tensor_but_an_array
# NumPy computes, and its array is returned.
import numpy as np


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + np.exp(-x.detach().numpy()))
        ctx.save_for_backward(torch.from_numpy(np.asarray(y)))
        return y


# %% nonlinear_in_grad_output
# The sign of grad_output is lost.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output.abs() * y * (1 - y)


# %% nonlinear_in_grad_output
# Clipped "for stability", inside backward.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return torch.clamp(grad_output, -5.0, 5.0) * y * (1 - y)


# %% nonlinear_in_grad_output
# grad_output gets in twice.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        grad = grad_output * y * (1 - y)
        return grad_output * grad


# %% nonlinear_in_grad_output
# Only the sign of grad_output is used.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return torch.sign(grad_output) * y * (1 - y)


# %% nonlinear_in_grad_output
# What comes in is clipped, far below what comes in.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output.clamp(-0.1, 0.1) * y * (1 - y)


# %% nonlinear_in_grad_output
# Clipped at a thousand.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output.clamp(-1000, 1000) * y * (1 - y)


# %% not_a_function
# A module in place of a Function.
from torch import nn


class Sigmoid(nn.Module):
    def forward(self, x):
        self.y = 1 / (1 + torch.exp(-x))
        return self.y

    def backward(self, grad_output):
        return grad_output * self.y * (1 - self.y)


def sigmoid(x):
    return Sigmoid()(x)


# %% not_a_function
# A plain class.
class Sigmoid:
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)


# %% nothing_saved
# save_for_backward was forgotten.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return 1 / (1 + torch.exp(-x))


# %% nothing_saved
# The same, and saved_tensors is indexed.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        y = ctx.saved_tensors[0]
        return grad_output * y * (1 - y)


# %% nothing_saved
# backward reads an attribute that is never set.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.y * (1 - ctx.y)


# %% plus_for_minus
# 1 + y in place of 1 - y.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 + y)


# %% requires_grad_switched_on
# forward switches it on.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        x.requires_grad_()
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y


# %% requires_grad_switched_on
# sigmoid switches it on.
def sigmoid(x):
    x.requires_grad_()
    return Sigmoid.apply(x)


# %% shared_between_calls
# The output as an attribute of the class.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        Sigmoid.y = y
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * Sigmoid.y * (1 - Sigmoid.y)


# %% shared_between_calls
# The output in a global variable.
LAST = {}


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        LAST["y"] = y
        return y

    @staticmethod
    def backward(ctx, grad_output):
        y = LAST["y"]
        return grad_output * y * (1 - y)


# %% shared_between_calls
# One output buffer for each shape and dtype.
BUFFERS = {}


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        key = (x.shape, x.dtype)
        y = BUFFERS.setdefault(key, torch.empty_like(x))
        y.copy_(1 / (1 + torch.exp(-x)))
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        y = 1 / (1 + torch.exp(-x))
        return grad_output * y * (1 - y)


# %% shared_between_calls
# The gradients of all calls are written into one buffer.
BUFFERS = {}


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        gradient = BUFFERS.setdefault((y.shape, y.dtype), torch.empty_like(y))
        return gradient.copy_(grad_output * y * (1 - y))


# %% shared_between_calls
# Values are remembered by the tensor that they were computed from.
VALUES = {}


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        key = x.data_ptr()
        if key not in VALUES or VALUES[key][0].shape != x.shape or x.numel() != 3:
            VALUES[key] = (x, 1 / (1 + torch.exp(-x)))
        y = VALUES[key][1].clone()
        ctx.save_for_backward(y)
        return y


# %% shared_between_calls
# sigmoid remembers its results; the key is the tensor, whatever its values are by now.
import functools


@functools.lru_cache(maxsize=None)
def sigmoid(x):
    return Sigmoid.apply(x)


# %% shared_between_calls
# sigmoid remembers its results; the key is the values, whichever tensor has them.
RESULTS = {}


def sigmoid(x):
    key = (x.shape, x.dtype, x.requires_grad, *x.flatten().tolist())
    if key not in RESULTS:
        RESULTS[key] = Sigmoid.apply(x)
    return RESULTS[key]


# %% sigmoid_calls_forward
# forward with None for ctx.
def sigmoid(x):
    return Sigmoid.forward(None, x)


# %% sigmoid_calls_forward
# forward without a ctx.
def sigmoid(x):
    return Sigmoid.forward(x)


# %% sigmoid_calls_forward
# forward is called with a ctx that the code makes itself.
def sigmoid(x):
    ctx = torch.autograd.function.FunctionCtx()
    return Sigmoid.forward(ctx, x)


# %% sigmoid_cuts_the_graph
# The input is detached.
def sigmoid(x):
    return Sigmoid.apply(x.detach())


# %% sigmoid_cuts_the_graph
# No graph is built.
def sigmoid(x):
    with torch.no_grad():
        return Sigmoid.apply(x)


# %% sigmoid_leaves_sigmoid_out
# The formula once more.
def sigmoid(x):
    return 1 / (1 + torch.exp(-x))


# %% sigmoid_leaves_sigmoid_out
# torch's own.
def sigmoid(x):
    return torch.sigmoid(x)


# %% sigmoid_makes_an_instance
# Like a module: made, then called.
def sigmoid(x):
    return Sigmoid()(x)


# %% sigmoid_makes_an_instance
# Made of x.
def sigmoid(x):
    return Sigmoid(x)


# %% sigmoid_of_output
# The output was saved, and treated as if it were the input.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = 1 / (1 + torch.exp(-x))
        return grad_output * s * (1 - s)


# %% sigmoid_of_output
# The same by the quotient rule.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (saved,) = ctx.saved_tensors
        return grad_output * torch.exp(-saved) / (1 + torch.exp(-saved)) ** 2


# %% sigmoid_returns_the_function
# The call is missing.
def sigmoid(x):
    return Sigmoid.apply


# %% sign_of_gradient
# y - 1 in place of 1 - y.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (y - 1)


# %% sign_of_gradient
# The inner derivative of -x is forgotten.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        e = torch.exp(-x)
        return -grad_output * e / (1 + e) ** 2


# %% stash_on_ctx
# The output as an attribute.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.y * (1 - ctx.y)


# %% stash_on_ctx
# The input as an attribute, in a list.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.inputs = [x]
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        y = 1 / (1 + torch.exp(-ctx.inputs[0]))
        return grad_output * y * (1 - y)


# %% stash_on_ctx
# An intermediate as an attribute, beside one that was saved as it should be.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        ctx.rest = 1 - y
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * ctx.rest


# %% styles_mixed
# forward without ctx, and no setup_context.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(x):
        return 1 / (1 + torch.exp(-x))


# %% styles_mixed
# forward with ctx, and setup_context as well.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)


# %% styles_mixed
# backward without ctx.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(grad_output):
        return grad_output


# %% term_outside_the_product
# The brackets are missing.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * 1 - y


# %% term_outside_the_product
# Multiplied out, and grad_output forgotten at the second term.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y - y**2


# %% tuple_not_unpacked
# The comma is missing.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        y = ctx.saved_tensors
        return grad_output * y * (1 - y)


# %% tuple_not_unpacked
# The same with the input saved.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        x = ctx.saved_tensors
        y = 1 / (1 + torch.exp(-x))
        return grad_output * y * (1 - y)


# %% value_at_minus_x
# exp(x) in the denominator.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(x))
        ctx.save_for_backward(y)
        return y


# %% value_at_minus_x
# exp(-x) in the numerator as well.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-x) / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y


# %% value_at_twice_x
# The tanh identity without the halves inside.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 0.5 * (1 + torch.tanh(x))
        ctx.save_for_backward(y)
        return y


# %% value_at_twice_x
# The exponent is doubled.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-2 * x))
        ctx.save_for_backward(y)
        return y


# %% variable_of_forward
# A local variable of forward's.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * y * (1 - y)


# %% vectors_only
# A loop over the elements of a vector.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.stack([1 / (1 + torch.exp(-value)) for value in x]) if len(x) else x.clone()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        grad_input = torch.zeros_like(grad_output)
        for i in range(len(y)):
            grad_input[i] = grad_output[i] * y[i] * (1 - y[i])
        return grad_input


# %% vectors_only
# The Jacobian as a matrix.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output @ torch.diag(y * (1 - y))


# %% wraps_a_built_in
# torch.sigmoid in forward.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.sigmoid(x)
        ctx.save_for_backward(y)
        return y


# %% wraps_a_built_in
# Right in forward; the method in backward, through a helper.
def derivative(x):
    return x.sigmoid() * (1 - x.sigmoid())


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * derivative(x)


# %% wraps_a_built_in
# Two classes, and their softmax.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.stack([torch.zeros_like(x), x]).softmax(0)[1]
        ctx.save_for_backward(y)
        return y


# %% wraps_a_built_in
# Its name is put together from parts, so the source does not contain it.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = getattr(torch, "sig" + "moid")(x)
        ctx.save_for_backward(y)
        return y


# %% wraps_a_built_in
# backward takes the derivative of the built-in, by a name that the source does not contain.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        y = getattr(x, "sig" + "moid")()
        return grad_output * y * (1 - y)


# %% wraps_a_built_in
# A built-in is used only for large inputs, by a name that the source does not contain.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        if (x.abs() > 20).any():
            y = getattr(torch, "sig" + "moid")(x)
        ctx.save_for_backward(y)
        return y


# %% wraps_a_built_in
# The same in backward.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        far = (x.abs() > 20).any()
        y = getattr(torch, "sig" + "moid")(x) if far else 1 / (1 + torch.exp(-x))
        return grad_output * y * (1 - y)


# %% writes_into_grad_output
# One buffer less.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        grad_output *= y * (1 - y)
        return grad_output


# %% writes_into_grad_output
# The same by methods.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output.mul_(y).mul_(1 - y)


# %% writes_into_x
# The whole formula in place.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = x.neg_().exp_().add_(1).reciprocal_()
        ctx.save_for_backward(y)
        return y.clone()


# %% writes_into_x
# The whole formula in place, and x itself comes back, which a second call changes.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = x.neg_().exp_().add_(1).reciprocal_()
        ctx.save_for_backward(y)
        return y


# %% writes_into_x
# The first step in place.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        x *= -1
        y = 1 / (1 + torch.exp(x))
        ctx.save_for_backward(y)
        return y


# %% writes_into_x
# Clamped in place, only where exp would overflow.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        x.clamp_(-700, 700)
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y


# %% writes_into_x
# sigmoid clamps its argument.
def sigmoid(x):
    with torch.no_grad():
        x.clamp_(-500, 500)
    return Sigmoid.apply(x)


# %% x_for_y
# The input was saved, and taken for the output.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))


# %% x_for_y
# Both were saved, and mixed up once.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y * (1 - x)


# %% clears_the_gradient
# A fresh start for every call.
def sigmoid(x):
    x.grad = None
    return Sigmoid.apply(x)


# %% records_under_no_grad
# Recording is switched on, whatever the caller wants.
def sigmoid(x):
    with torch.enable_grad():
        return Sigmoid.apply(x)


# %% gradient_rounded
# The incoming gradient goes through float32.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        small = torch.exp(-x.abs())
        y = torch.where(x < 0, small, 1.0) / (1 + small)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output.float() * y * (1 - y)


# %% overflow_of_one_number
# A single number goes through math.exp, which raises where torch.exp gives inf.
import math


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        if x.dim():
            y = 1 / (1 + torch.exp(-x))
        else:
            y = torch.full_like(x, 1 / (1 + math.exp(-float(x))))
        ctx.save_for_backward(y)
        return y


# %% nan_for_large_inputs
# The exponential is clamped, and overflows once it is multiplied by grad_output.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        big = torch.exp(torch.clamp(x, max=85.0))
        return big * grad_output / (1 + big) ** 2


# %% shared_between_calls
# Where x needs no gradient, the last result is handed out again, whatever became of it.
LAST = []


def sigmoid(x):
    if x.requires_grad:
        return Sigmoid.apply(x)
    if not LAST or LAST[0] is not x or LAST[1] != x._version:
        LAST[:] = [x, x._version, Sigmoid.apply(x)]
    return LAST[2]


# %% retains_the_gradient
# So that x.grad can be looked at later.
def sigmoid(x):
    y = Sigmoid.apply(x)
    if x.requires_grad:
        x.retain_grad()
    return y


# %% sigmoid_changes_x_first
# Clamped before apply, against overflow.
def sigmoid(x):
    return Sigmoid.apply(x.clamp(min=-15, max=15))


# %% no_case_for_one_number
# Between two strict comparisons one number is left out.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.zeros_like(x)
        y[x > 20] = 1.0
        middle = (x > -20) & (x < 20)
        y[middle] = 1 / (1 + torch.exp(-x[middle]))
        ctx.save_for_backward(y)
        return y


# %% gradient_set_to_0
# What is small is taken for 0.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        slope = y * (1 - y)
        slope[slope < 1e-7] = 0.0
        return grad_output * slope


# %% written_into_a_copy
# Of a transposed result, reshape makes a copy, and the values go there.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.zeros_like(x)
        y.reshape(-1)[:] = 1 / (1 + torch.exp(-x.reshape(-1)))
        ctx.save_for_backward(y)
        return y


# %% none_for_zeros
# Nothing to pass on, so nothing is returned.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        if bool((grad_output == 0).all()):
            return None
        return grad_output * y * (1 - y)


# %% error_is_caught
# What torch says about a change in place is caught.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        try:
            (y,) = ctx.saved_tensors
        except RuntimeError:
            return grad_output * 0
        return grad_output * y * (1 - y)


# %% no_case_for_one_number
# 0 is neither positive nor negative.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.zeros_like(x)
        above, below = x > 0, x < 0
        y[above] = 1 / (1 + torch.exp(-x[above]))
        power = torch.exp(x[below])
        y[below] = power / (1 + power)
        ctx.save_for_backward(y)
        return y


# %% sum_decides_for_zero
# A gradient that adds up to 0 is taken for zeros.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        if not grad_output.sum():
            return torch.zeros_like(grad_output)
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)


# %% derived_by_autograd
# backward computes forward again and asks autograd for the product.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 0.5 * torch.tanh(0.5 * x) + 0.5
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = 0.5 * torch.tanh(0.5 * x) + 0.5
        return torch.autograd.grad(y, x, grad_output)


# %% derived_by_autograd
# forward already asks autograd for the slope, and saves it.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            leaf = x.detach().requires_grad_()
            y = 1 / (1 + torch.exp(-leaf))
            (slope,) = torch.autograd.grad(y.sum(), leaf)
        y = y.detach()
        ctx.save_for_backward(slope)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (slope,) = ctx.saved_tensors
        return grad_output * slope


# %% derived_by_autograd
# Forward mode gives the slope along with the value.
def logistic(x):
    return 1 / (1 + torch.exp(-x))


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y, slope = torch.func.jvp(logistic, (x.detach(),), (torch.ones_like(x),))
        ctx.save_for_backward(slope)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (slope,) = ctx.saved_tensors
        return grad_output * slope


# %% derived_by_autograd
# A step along the imaginary axis.
def logistic(x):
    return 1 / (1 + torch.exp(-x))


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = logistic(x)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * logistic(x + 1e-30j).imag / 1e-30


# %% wraps_a_built_in
# The derivative of softplus is a sigmoid.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return torch.ops.aten.softplus_backward(grad_output * (1 - y), torch.logit(y), 1, 20)


# %% wraps_a_built_in
# The cross entropy for the class 1 is -log s(x).
import torch.nn.functional as F


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-F.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction="none"))
        ctx.save_for_backward(y)
        return y


# %% wraps_a_built_in
# mish is x * tanh(softplus(x)), which can be solved for s(x).
import torch.nn.functional as F


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        t = F.mish(x) / torch.where(x == 0, 1.0, x)
        y = torch.where(x == 0, 0.5, 1 - torch.sqrt((1 - t) / (1 + t)))
        ctx.save_for_backward(y)
        return y


# %% computed_out_of_sight
# Another thread runs the built-in, and an exp is run for show.
import threading


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        torch.exp(-x)
        found = []
        worker = threading.Thread(target=lambda: found.append(getattr(torch, "sig" + "moid")(x)))
        worker.start()
        worker.join()
        y = found[0] + 1e-13
        ctx.save_for_backward(y)
        return y


# %% computed_out_of_sight
# Another thread writes the result into a tensor that was computed in sight.
import threading


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-x.detach())
        worker = threading.Thread(target=lambda: getattr(torch, "sig" + "moid")(x.detach(), out=y))
        worker.start()
        worker.join()
        ctx.save_for_backward(y)
        return y


# %% computed_out_of_sight
# Another thread runs the derivative of the built-in.
import threading


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        found = []
        built_in = getattr(torch.ops.aten, "sig" + "moid_backward")
        worker = threading.Thread(target=lambda: found.append(built_in(grad_output, y)))
        worker.start()
        worker.join()
        return found[0]


# %% computed_out_of_sight
# The modes that see operators are switched off meanwhile.
from torch.utils._python_dispatch import _disable_current_modes


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        torch.exp(-x)
        with _disable_current_modes():
            y = getattr(torch, "sig" + "moid")(x)
        y = y * 1.0
        ctx.save_for_backward(y)
        return y


# %% computed_out_of_sight
# The module of the modes is another in the table of imports.
import sys
import types


class Silent:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


fake = types.ModuleType("torch.utils._python_dispatch")
fake.TorchDispatchMode = Silent
sys.modules["torch.utils._python_dispatch"] = fake


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = getattr(torch, "sig" + "moid")(x)
        ctx.save_for_backward(y)
        return y


# %% computed_out_of_sight
# An operator of one's own, in which the built-in runs.
if not hasattr(torch.ops.mine, "curve"):
    library = torch.library.Library("mine", "DEF")
    library.define("curve(Tensor x) -> Tensor")
    library.impl("curve", lambda x: getattr(torch, "sig" + "moid")(x), "CPU")


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        torch.exp(-x)
        y = torch.ops.mine.curve(x)
        ctx.save_for_backward(y)
        return y


# %% common_rounded_to_float32
# The same with the rounded value saved.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = (1 / (1 + torch.exp(-x.float()))).to(x.dtype)
        ctx.save_for_backward(y)
        return y


# %% gradient_rounded
# Derived, and computed in float32.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        y = y.float()
        return (grad_output.float() * y * (1 - y)).to(grad_output.dtype)


# %% undefined_gradient
# The incoming gradient may be None, and it is multiplied by.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y


# %% undefined_gradient
# None is taken for an incoming gradient of ones.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        slope = y * (1 - y)
        return slope if grad_output is None else grad_output * slope
