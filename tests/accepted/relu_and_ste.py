"""relu_and_ste: other right answers. A cell shows the definitions that differ from the solution."""


# %% asserts_about_results
# The functions assert what is known of a result: no number below 0, nothing but 0 and 1.
def relu(x):
    y = MyReLU.apply(x)
    assert (y >= 0).all(), "a rectifier is never negative"
    return y


def binarize(x):
    y = STE.apply(x)
    assert set(y.flatten().tolist()) <= {0.0, 1.0}
    return y


# %% autograd_in_backward
# backward asks autograd for the product of torch's own functions.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.nn.functional.relu(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = x.clamp(min=0)
        return torch.autograd.grad(y, x, grad_output)[0]


class ClippedSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.heaviside(x, torch.zeros(1, dtype=x.dtype))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = x.clamp(-1, 1)
        return torch.autograd.grad(y, x, grad_output)


# %% careful_functions
# The functions look at their argument and flatten it; the methods are not static.
class MyReLU(torch.autograd.Function):
    def forward(self, x):
        self.save_for_backward(x)
        y = x.clone()
        y[y < 0] = 0
        return y

    def backward(self, grad):
        x = self.saved_tensors[0]
        grad_input = torch.zeros_like(grad)
        grad_input[x > 0] = grad[x > 0]
        return grad_input


def checked(x):
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"a tensor is needed, not a {type(x).__name__}")
    return x if x.is_floating_point() else x.float()


def relu(x):
    x = checked(x)
    return MyReLU.apply(x.reshape(-1)).reshape(x.shape)


def binarize(x):
    x = checked(x)
    (y,) = (STE.apply(x.contiguous()),)
    return y.to(x.dtype)


# %% gradients_not_materialized
# None stays None; the slope is kept as numbers; a further argument with a default.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, threshold=0.0):
        ctx.set_materialize_grads(False)
        slope = (x > threshold).to(x.dtype)
        ctx.save_for_backward(slope)
        return x.masked_fill(x <= threshold, threshold)

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None or not ctx.needs_input_grad[0]:
            return None, None
        return ctx.saved_tensors[0] * grad_output, None


class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x.gt(0).to(dtype=x.dtype)


def relu(x):
    return MyReLU.apply(x, 0.0)


binarize = lambda x: STE.apply(x)


# %% indexed_clone
# A clone of the gradient, zero where x is negative: the slope at 0 is 1. STE as a name.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x < 0] = 0
        return grad_input


relu = MyReLU.apply
binarize = STE.apply


# %% loop_over_elements
# One element at a time.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.values = x.flatten().tolist()
        return torch.tensor([max(value, 0.0) for value in ctx.values], dtype=x.dtype).reshape(
            x.shape
        )

    @staticmethod
    def backward(ctx, grad_output):
        slopes = [1.0 if value > 0 else 0.0 for value in ctx.values]
        return grad_output * torch.tensor(slopes, dtype=grad_output.dtype).reshape(
            grad_output.shape
        )


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.zeros(x.numel(), dtype=x.dtype)
        for place, value in enumerate(x.flatten()):
            if value > 0:
                y[place] = 1
        return y.reshape(x.shape)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.view_as(grad_output)


# %% made_from_each_other
# The step is made of the rectifier's mask, the clipped one of the other, and a demonstration
# follows.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = x.sign().relu()
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.saved_tensors[0]


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (~(x <= 0)).double().to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return 1 * grad_output


class ClippedSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return STE.forward(ctx, x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return STE.backward(ctx, grad_output) * (x.clamp(-1, 1) == x)


def relu(x):
    """Like torch.relu, by way of MyReLU."""
    y = MyReLU.apply(x)
    assert y.shape == x.shape
    return y


if __name__ == "__main__":
    print(relu(torch.randn(4)), torch.relu(torch.randn(4)))


# %% mask_on_ctx
# A mask as an attribute of ctx; where; lists and tuples come back.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mask = x > 0
        return torch.where(ctx.mask, x, torch.zeros_like(x))

    @staticmethod
    def backward(ctx, grad_output):
        return (torch.where(ctx.mask, grad_output, torch.zeros_like(grad_output)),)


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.where(x > 0, torch.ones_like(x), torch.zeros_like(x))

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone(), None


# %% numpy_inside
# NumPy computes; autograd sees a Function.
import numpy as np


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        values = x.detach().numpy()
        ctx.slope = np.where(values >= 0, 1, 0).astype(values.dtype)
        return torch.as_tensor(np.maximum(values, 0, dtype=values.dtype))

    @staticmethod
    def backward(ctx, grad_output):
        return torch.as_tensor(grad_output.numpy() * ctx.slope)


class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return torch.as_tensor(np.heaviside(x.detach().numpy(), 0), dtype=x.dtype)


# %% once_differentiable
# Marked as not to be differentiated twice; the absolute value computes.
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class MyReLU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x + x.abs()) / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.sign() > 0)


class STE(Function):
    @staticmethod
    def forward(ctx, x):
        return x.sign().clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


# %% one_base_class
# One base class, whose slope the others fill in; apply is wrapped.
from torch.autograd import Function


class Elementwise(Function):
    @classmethod
    def of(cls, x):
        return cls.apply(x)

    @staticmethod
    def slope(x):
        return torch.ones_like(x)

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.ceil(torch.sign(x).clamp(0, 1))

    @classmethod
    def backward(cls, ctx, grad_output):
        return grad_output * cls.slope(*ctx.saved_tensors)


class MyReLU(Elementwise):
    @staticmethod
    def slope(x):
        return (x >= 0).type(x.dtype)

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.threshold(x, 0, 0)


class STE(Elementwise):
    pass


class ClippedSTE(Elementwise):
    @staticmethod
    def slope(x):
        return torch.where(x.abs() > 1, 0.0, 1.0)


def relu(x):
    return MyReLU.of(x)


def binarize(x):
    return STE.of(x)


# %% rules_by_class
# A table has each class's value and slope, and one base class looks its class up.
RULES = {}


def rule(value, slope):
    def enter(cls):
        RULES[cls] = value, slope
        return cls

    return enter


class Pointwise(torch.autograd.Function):
    @classmethod
    def forward(cls, ctx, x):
        ctx.save_for_backward(x)
        value, _ = RULES[cls]
        return value(x)

    @classmethod
    def backward(cls, ctx, grad_output):
        (x,) = ctx.saved_tensors
        _, slope = RULES[cls]
        return grad_output * slope(x)


def step(x):
    return x.gt(0).to(x.dtype)


@rule(lambda x: x.clamp(min=0), step)
class MyReLU(Pointwise):
    pass


@rule(step, torch.ones_like)
class STE(Pointwise):
    pass


@rule(step, lambda x: x.abs().le(1))
class ClippedSTE(Pointwise):
    pass


# %% clamps_what_is_in_range [torch<2.14]
# binarize clamps what is in range already. clamp passes the gradient at its bounds.
def binarize(x):
    return STE.apply(x).clamp(0, 1)


# %% clamps_at_the_kink
# relu clamps what is in range already. Where clamp may stop the gradient, backward returns 0.
def relu(x):
    return MyReLU.apply(x).clamp(min=0)


# %% setup_context
# forward without ctx, and setup_context, for all three; a vmap rule.
class MyReLU(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return torch.maximum(x, torch.zeros_like(x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (y > 0)


class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(x):
        return torch.gt(x, 0).type_as(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass


class ClippedSTE(STE):
    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward((x >= -1) & (x <= 1))

    @staticmethod
    def backward(ctx, grad_output):
        (inside,) = ctx.saved_tensors
        return grad_output.masked_fill(~inside, 0)


# %% thresholds_asserted
# Thresholds that are 0 by default, and in the functions what is true of every value.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, threshold=0.0):
        ctx.save_for_backward(mask := x > threshold)
        return x * mask

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output * mask, None


def relu(x, threshold=0.0):
    y = MyReLU.apply(x, threshold)
    assert (y >= 0).all(), "never negative"
    return y


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, threshold=0.0):
        return (x > threshold).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


def binarize(x, threshold=0.0):
    y = STE.apply(x, threshold)
    assert ((y == 0) | (y == 1)).all(), "only 0 and 1"
    return y


# %% masks_of_setup_context
# All three classes in the style of setup_context; the masks are what is saved.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clamp(min=0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0] > 0)

    @staticmethod
    def backward(ctx, grad_output):
        (positive,) = ctx.saved_tensors
        return grad_output * positive


# %% where_with_a_number
# torch.where with a plain number; the slope at 0 is 1, and the value there 0.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 0, x, 0.0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x >= 0, grad_output, 0.0)


class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return torch.heaviside(x, x.new_zeros(()))


# %% output_saved
# The output is saved, its sign is the mask; the step is a clamped ceiling; backward takes *grads.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.nn.functional.relu(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.saved_tensors[0].sign()


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.ceil().clamp(0, 1)

    @staticmethod
    def backward(ctx, *grads):
        return grads[0]


# %% copies_filled
# Copies are written to: the result, and the gradient; ClippedSTE inherits from STE.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x.clone()
        y[x < 0] = 0
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.clone().masked_fill_(x <= 0, 0)


class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return torch.ones_like(x).masked_fill(x <= 0, 0)


class ClippedSTE(STE):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return STE.forward(ctx, x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.masked_fill(x.abs() > 1, 0)
