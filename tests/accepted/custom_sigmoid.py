"""custom_sigmoid: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% asserts_about_results
# sigmoid asserts that its result lies between 0 and 1.
def sigmoid(x):
    y = Sigmoid.apply(x)
    assert ((y >= 0) & (y <= 1)).all(), "a probability lies between 0 and 1"
    return y


# %% assigned_apply
# sigmoid is Sigmoid.apply, as a name.
sigmoid = Sigmoid.apply


# %% attribute_that_nobody_asks_for
# The input stands on ctx as well, and backward takes only what was saved.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y


# %% careful_function
# sigmoid checks its argument; the tensor that Sigmoid gets is a contiguous one.
def sigmoid(x):
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"sigmoid takes a tensor, not a {type(x).__name__}")
    if not x.is_floating_point():
        x = x.float()
    shape = x.shape
    return Sigmoid.apply(x.reshape(-1)).reshape(shape)


# %% clamped_late
# Clamped where the logistic function has long stopped to move.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x.clamp(-80, 80)))
        ctx.save_for_backward(y)
        return y


# %% cosh
# s(1 - s) is 1 / (4 cosh²(x / 2)).
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (1 + torch.tanh(x / 2)) / 2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / (2 + torch.exp(x) + torch.exp(-x))


# %% demonstration
# The built-in is named in docstrings, comments, a test of the student's own and a demonstration.
class Sigmoid(torch.autograd.Function):
    """What torch.sigmoid does, without torch.sigmoid."""

    @staticmethod
    def forward(ctx, x):
        """Like x.sigmoid()."""
        y = torch.e ** x.neg()  # torch.sigmoid(x) would be shorter
        y = (1 + y) ** -1
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        """Not torch.ops.aten.sigmoid_backward."""
        (y,) = ctx.saved_tensors
        return torch.mul(grad_output, y) * torch.sub(1, y)


def sigmoid(x):
    """Like torch.sigmoid and F.sigmoid."""
    return Sigmoid.apply(x)


def test_against_torch():
    x = torch.randn(8, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(sigmoid(x), torch.sigmoid(x))
    assert torch.autograd.gradcheck(sigmoid, (x,), eps=1e-6, atol=1e-5)


if __name__ == "__main__":
    print(torch.sigmoid(torch.zeros(1)))
    test_against_torch()


# %% derivative_saved
# forward saves the derivative, an intermediate: right, once.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y * (1 - y))
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (slope,) = ctx.saved_tensors
        return slope * grad_output


# %% detached_in_backward
# .detach() on what was saved: right, once.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        y = ctx.saved_tensors[0].detach()
        return (grad_output * y * (1 - y)).data


# %% double_inside
# Computed in double precision, returned in x's.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = (1 / (1 + torch.exp(-x.to(torch.float64)))).to(x.dtype)
        ctx.save_for_backward(y)
        return y


# %% field_called_sigmoid
# A record of what is kept, with a field called sigmoid; sigmoid clamps what rounding never moves.
from typing import NamedTuple


class Kept(NamedTuple):
    sigmoid: Tensor


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        e = torch.exp(-x.abs())
        kept = Kept(torch.where(x < 0, e, 1.0) / (1 + e))
        ctx.save_for_backward(*kept)
        return kept.sigmoid

    @staticmethod
    def backward(ctx, grad_output):
        kept = Kept(*ctx.saved_tensors)
        return grad_output * kept.sigmoid * (1 - kept.sigmoid)


def sigmoid(x):
    return torch.clamp(Sigmoid.apply(x), 0, 1)


# %% gradients_not_materialized
# None stays None, and x may not need a gradient.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None or not ctx.needs_input_grad[0]:
            return None
        y = ctx.saved_tensors[0]
        return grad_output * (y - y.square())


# %% half_of_tanh
# Both from tanh(x / 2); 1 - y and y are computed apart.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 + 0.5 * torch.tanh(0.5 * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        half = torch.tanh(0.5 * x)
        return 0.25 * (1 + half) * (1 - half) * grad_output


# %% lambda_and_defaults
# A further argument with a default; a lambda.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope=1.0):
        y = 1 / (1 + torch.exp(-slope * x))
        ctx.save_for_backward(y)
        ctx.slope = slope
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return ctx.slope * grad_output * y * (1 - y), None


sigmoid = lambda x: Sigmoid.apply(x, 1.0)


# %% logaddexp
# Both halves by logaddexp; the second derivative is not asked for.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-torch.logaddexp(torch.zeros_like(x), -x))
        ctx.save_for_backward(y, x)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        y, x = ctx.saved_tensors
        with torch.no_grad():
            other = torch.exp(-torch.logaddexp(torch.zeros_like(x), x))
        print(other.shape)
        return grad_output * y * other


def sigmoid(x, *, debug=False):
    if debug:
        print(x)
    return Sigmoid.apply(x)


# %% logaddexp_and_addcmul
# logaddexp in forward(x), y - y² by addcmul; sigmoid unpacks a tuple.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return torch.exp(-torch.logaddexp(x.new_zeros(()), -x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * torch.addcmul(y, y, y, value=-1)


def sigmoid(x):
    (y,) = (Sigmoid.apply(x),)
    return y


# %% logarithms
# exp of -log(1 + exp(-x)), by logaddexp.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-torch.logaddexp(torch.zeros_like(x), -x))
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        other = torch.exp(-torch.logaddexp(torch.zeros_like(x), x))
        return grad_output * y * other


# %% loop_over_elements
# One element at a time with math.exp, whatever the shape.
import math


def logistic(value):
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    e = math.exp(value)
    return e / (1 + e)


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.tensor(
            [logistic(value) for value in x.flatten().tolist()], dtype=x.dtype
        ).reshape(x.shape)
        ctx.save_for_backward(y)
        return y


# %% masks
# The same by masks and assignment, with one buffer for all.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        positive = x >= 0
        y[positive] = 1 / (1 + torch.exp(-x[positive]))
        e = torch.exp(x[~positive])
        y[~positive] = e / (1 + e)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input.mul_(y)
        grad_input.mul_(1 - y)
        return grad_input


# %% method_called_sigmoid
# The arithmetic is a mixin's, whose method is called sigmoid; a try-out below goes by the name
# that an exception had above.
class Arithmetic:
    @staticmethod
    def sigmoid(x: Tensor) -> Tensor:
        try:
            small = torch.exp(-x.abs())
        except TypeError as error:
            raise ValueError(f"no tensor: {error}") from error
        return torch.where(x < 0, small, 1.0) / (1 + small)


class Sigmoid(Arithmetic, torch.autograd.Function):
    @classmethod
    def forward(cls, ctx, x):
        y = super().sigmoid(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)


error = (Arithmetic.sigmoid(torch.ones(3)) - torch.sigmoid(torch.ones(3))).abs().max()


# %% not_static
# The methods are plain functions, self stands for ctx, and a base class computes.
class Logistic(torch.autograd.Function):
    def sigmoid(x):
        return 1 / (1 + torch.exp(-x))

    def backward(self, grad):
        y = self.saved_tensors[0]
        self.seen = tuple(y.shape)
        return (grad * y * (1 - y),)


class Sigmoid(Logistic):
    """Like torch.sigmoid; its name may be said here."""

    def forward(self, x):
        sigmoid = Sigmoid.sigmoid(x)
        self.save_for_backward(sigmoid)
        return sigmoid


# %% numpy_and_setup_context
# NumPy in both methods, in the style with setup_context; not differentiable twice.
import numpy as np
from torch.autograd.function import once_differentiable


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(x):
        values = x.detach().numpy()
        small = np.exp(-np.abs(values))
        y = np.where(values < 0, small, 1) / (1 + small)
        return torch.from_numpy(np.asarray(y, dtype=values.dtype))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        values = ctx.saved_tensors[0].numpy()
        return torch.from_numpy(np.asarray(grad_output.numpy() * values * (1 - values)))


# %% numpy_both_ways
# NumPy computes forward and backward; autograd sees a Function.
import numpy as np


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1.0 / (1.0 + np.exp(-x.detach().numpy()))
        y = torch.as_tensor(y, dtype=x.dtype)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        values = y.detach().numpy()
        return torch.as_tensor(
            grad_output.detach().numpy() * values * (1 - values), dtype=grad_output.dtype
        )


# %% once_differentiable
# The backward is marked as one that is not differentiated.
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Sigmoid(Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)


# %% recomputed_by_the_function
# backward calls sigmoid itself.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        y = sigmoid(x)
        return grad_output * y * sigmoid(-x)


# %% recomputed_from_the_input
# Only x is saved; backward computes the value again.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.reciprocal(1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        y = torch.reciprocal(1 + torch.exp(-x))
        return grad_output * y * (1 - y)


# %% result_is_a_view
# Computed on the flattened tensor; the result is a view of it, made in forward.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = (1 / (1 + torch.exp(-x.reshape(-1)))).reshape(x.shape)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (y - y * y)


# %% setup_context
# forward without ctx, and setup_context.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(x):
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)


# %% setup_context_for_vmap
# The same with the input saved, a vmap rule and a forward-mode derivative.
class Sigmoid(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return 0.5 + 0.5 * torch.tanh(x / 2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x, output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, grad_output):
        _, y = ctx.saved_tensors
        return grad_output * (y - y * y)

    @staticmethod
    def jvp(ctx, tangent):
        (y,) = ctx.saved_tensors
        return tangent * (y - y * y)


# %% shared_helper_in_place
# Both methods use one helper, which divides its own new tensor in place; sigmoid is apply.
def parts(x):
    small = torch.exp(-x.abs())
    return small, 1 + small


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        small, total = parts(x)
        return torch.where(x >= 0, torch.ones_like(x), small).div_(total)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        small, total = parts(x)
        return small / total / total * grad_output


sigmoid = Sigmoid.apply


# %% slope_asserted
# A slope that is 1 by default, and in the function what is true of every value.
from torch.autograd import Function


class Sigmoid(Function):
    @staticmethod
    def forward(ctx, x, slope=1.0):
        y = 1 / (1 + torch.exp(-slope * x))
        ctx.save_for_backward(y)
        ctx.slope = slope
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * ctx.slope * y * (1 - y), None


def sigmoid(x, slope=1.0):
    y = Sigmoid.apply(x, slope)
    assert ((y >= 0) & (y <= 1)).all(), "시그모이드는 0과 1 사이"
    return y


# %% softplus
# exp of -softplus(-x): softplus is not a sigmoid.
import torch.nn.functional as F


class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-F.softplus(-x))
        ctx.save_for_backward(y)
        return y


# %% two_branches
# For each sign the form in which exp can only become small.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        small = torch.exp(-x.abs())
        y = torch.where(x >= 0, 1 / (1 + small), small / (1 + small))
        ctx.save_for_backward(y)
        return y
