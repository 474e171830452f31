"""relu_and_ste: wrong answers. A cell shows the definitions that differ from the solution."""

# %% another_slope
# The value in place of the slope.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.clamp(min=0)


# %% another_slope
# Nothing is masked.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


# %% another_slope
# The mask of ReLU, where nothing should be masked.
class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)


# %% another_slope
# The mask the wrong way round.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x > 0] = 0
        return grad_input


# %% another_slope
# STE clipped.
class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() <= 1)


# %% another_step
# 1 at 0 too.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return (x >= 0).to(x.dtype)


# %% another_step
# The sign, from -1 to 1.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return torch.sign(x)


# %% another_step
# A step with a half at 0.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return torch.heaviside(x, torch.tensor(1.0, dtype=x.dtype))


# %% apply_not_called
# The parentheses are missing.
def relu(x):
    return MyReLU.apply


# %% apply_not_called
# An instance is made and called.
def binarize(x):
    return STE()(x)


# %% clamped_at_its_bounds [torch>=2.14]
# clamp comes after the step, and passes no gradient at its bounds.
def binarize(x):
    return STE.apply(x).clamp(0, 1)


# %% clamped_at_its_bounds [torch>=2.14]
# The same, as a function.
def binarize(x):
    y = STE.apply(x)
    return torch.clip(y, min=0.0, max=1.0)


# %% class_left_out
# torch does it.
def relu(x):
    return torch.relu(x)


# %% class_left_out
# The detach trick in place of STE.
def binarize(x):
    return x + ((x > 0).to(x.dtype) - x).detach()


# %% class_left_out
# The rectifier's class in place of the step's.
def binarize(x):
    return MyReLU.apply(x)


# %% derivative_of_the_step
# The derivative as analysis has it.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return torch.zeros_like(grad_output)


# %% derivative_of_the_step
# grad_output times 0.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        slope = 0.0
        return grad_output * slope


class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


# %% common_not_finite
# The output over the input.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.clamp(min=0) / x


# %% common_not_finite
# (1 + |x| / x) / 2.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (1 + x.abs() / x) / 2


# %% forward_called_directly
# forward with None for ctx.
def binarize(x):
    return STE.forward(None, x)


# %% forward_called_directly
# forward is called with a ctx that the code makes itself.
def relu(x):
    ctx = torch.autograd.function.FunctionCtx()
    return MyReLU.forward(ctx, x)


# %% forward_called_directly
# ctx is left out.
def relu(x):
    return MyReLU.forward(x)


# %% gradient_is_clipped
# ReLU of the gradient.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clamp(min=0)


# %% gradient_is_clipped
# hardtanh of the gradient, as it is often copied.
import torch.nn.functional as F


class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return F.hardtanh(grad_output)


class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return F.hardtanh(grad_output)


# %% gradient_is_clipped
# Only positive gradients pass, and only where x is positive.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[(x < 0) | (grad_output < 0)] = 0
        return grad_input


# %% half_at_zero
# A slope made of the sign.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (torch.sign(x) + 1) / 2


# %% half_at_zero
# autograd of torch.maximum.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = torch.maximum(x, torch.zeros_like(x))
        return torch.autograd.grad(y, x, grad_output)[0]


# %% ignores_grad_output
# The slope alone.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return (x > 0).to(x.dtype)


# %% ignores_grad_output
# Ones, since .sum() gave ones.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return torch.ones_like(grad_output)


# %% ignores_grad_output
# grad_output lends its shape.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = torch.zeros_like(grad_output)
        grad_input[x > 0] = 1
        return grad_input


class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x.abs() <= 1, 1.0, 0.0)


# %% not_a_function
# An ordinary class.
class MyReLU:
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)


# %% not_a_function
# A module.
class STE(torch.nn.Module):
    def forward(self, x):
        return (x > 0).to(x.dtype)

    def backward(self, grad_output):
        return grad_output


def binarize(x):
    return STE()(x)


# %% nothing_saved
# x is taken for a variable that both methods know.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * (x > 0)


# %% nothing_saved
# save_for_backward was forgotten.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return torch.relu(x)


# %% tuple_not_unpacked
# The tuple is compared with 0.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x = ctx.saved_tensors
        return grad_output * (x > 0)


# %% common_wrong_dtype
# .float(), whatever x is.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return (x > 0).float()


# %% common_wrong_dtype
# The comparison itself.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return x > 0


# %% common_wrong_dtype
# where with two plain numbers.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return torch.where(x > 0, 1.0, 0.0)


# %% common_wrong_dtype
# Computed in single precision.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        x = x.float()
        ctx.save_for_backward(x)
        return x.clamp(min=0)


# %% product_is_compared
# The product is compared, not x.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x > 0


# %% product_is_compared
# The other way round, as a mask of floats.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return (0 < x * grad_output).to(x.dtype)


# %% returns_nothing
# Computed, and not returned.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x < 0] = 0


# %% returns_nothing
# Nothing to do, so nothing is done.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        pass


# %% common_no_return
# The function computes and does not return.
def relu(x):
    y = MyReLU.apply(x)


# %% returns_nothing
# forward does not return.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = (x > 0).to(x.dtype)


# %% stash_outside
# The mask as an attribute of the class.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        MyReLU.mask = x > 0
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * MyReLU.mask


# %% stash_outside
# x as a global variable.
saved = None


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        global saved
        saved = x.detach().clone()
        return torch.relu(x)

    @staticmethod
    def backward(ctx, grad_output):
        return torch.where(saved > 0, grad_output, 0)


# %% styles_mixed
# The two styles of Function are mixed.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clamp(min=0)

    @staticmethod
    def backward(grad_output):
        return grad_output


# %% styles_mixed
# backward without its ctx.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(grad_output):
        return grad_output


# %% common_truth_of_tensor
# One question is asked of a whole tensor.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return max(x, 0)


# %% common_truth_of_tensor
# One question is asked of a whole tensor.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output if x > 0 else torch.zeros_like(grad_output)


# %% writes_into_others
# The mask is applied to grad_output itself.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_output[x < 0] = 0
        return grad_output


# %% writes_into_others
# clamp_ in place of clamp.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = x.clamp_(min=0)
        ctx.save_for_backward(y)
        return y.clone()


# %% writes_into_others
# A new name for grad_output, and no copy.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output
        grad_input[x.abs() > 1] = 0
        return grad_input


class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output
        grad_input.mul_((x > 0).to(x.dtype))
        return grad_input


# %% common_gradient_count
# One gradient for ctx, as it were.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


# %% common_gradient_count
# What was saved is returned as well.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0), x


# %% common_wrong_dtype
# An x that requires no grad takes a short way, in the default dtype.
def binarize(x):
    return STE.apply(x) if x.requires_grad else (x > 0).to(torch.float32)


# %% common_view_of_noncontiguous
# view needs contiguous memory.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.view(-1).clamp(min=0).view(x.shape)


# %% common_view_of_noncontiguous
# The same for the step.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return (x.view(-1) > 0).to(x.dtype).view(x.shape)


# %% common_empty_input
# max of nothing.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.zeros_like(x) if x.max() <= 0 else x.clamp(min=0)


# %% too_large_in_between
# The square overflows in float32.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x + (x * x).sqrt()) / 2


# %% cuts_the_graph
# x is detached on the way.
def relu(x):
    return MyReLU.apply(x.detach().requires_grad_())


# %% cuts_the_graph
# The result is detached.
def binarize(x):
    return STE.apply(x).detach()


# %% wrong_at_the_borders
# Strict comparisons leave the borders out.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() < 1)


# %% wrong_at_the_borders
# The comparison has a tolerance, so numbers a little outside pass.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        size = x.abs()
        return grad_output * ((size < 1) | torch.isclose(size, torch.ones_like(size)))


# %% stash_outside
# The masks lie on a stack that all calls share.
masks = []


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        masks.append(x > 0)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        mask = masks.pop() if len(masks) > 1 else masks[0]
        return grad_output * mask


# %% stash_outside
# A class attribute of ClippedSTE.
class ClippedSTE(torch.autograd.Function):
    inside = None

    @staticmethod
    def forward(ctx, x):
        ClippedSTE.inside = x.abs() <= 1
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ClippedSTE.inside


# %% used_up
# backward drops the mask that a second backward needs.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mask = (x > 0).to(x.dtype)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        mask, ctx.mask = ctx.mask, None
        return mask.mul(grad_output)


# %% used_up
# The attribute is deleted once it was read.
class ClippedSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.inside = x.abs() <= 1
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        inside = ctx.inside
        del ctx.inside
        return torch.where(inside, grad_output, 0.0)


# %% changes_requires_grad
# x requires grad afterwards.
def relu(x):
    return MyReLU.apply(x.requires_grad_())


# %% changes_requires_grad
# The same for the step.
def binarize(x):
    return STE.apply(x.requires_grad_())


# %% another_slope
# Only one of the two borders is asked for.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x > 1, 0.0, grad_output)


# %% another_step
# A sigmoid is rounded: at tiny positive numbers it is one half.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return x.sigmoid().round()


# %% another_step
# The step is not at 0.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0.1).to(x.dtype)


# %% result_memory_used_again
# One tensor for the results of each shape.
class STE(torch.autograd.Function):
    ...

    memory = {}

    @staticmethod
    def forward(ctx, x):
        memory = STE.memory.setdefault((x.shape, x.dtype), torch.empty_like(x))
        return memory.detach().copy_(x > 0)


# %% heaviside_of_two_dtypes
# The value at 0 has the default dtype.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return torch.heaviside(x, torch.tensor(0.0))


# %% clears_the_gradient
# A fresh start for every call.
def relu(x):
    x.grad = None
    return MyReLU.apply(x)


# %% clears_the_gradient
# The same for the step.
def binarize(x):
    x.grad = None
    return STE.apply(x)


# %% leaves_grad_mode_off
# Records only for an x that requires grad, from then on.
def relu(x):
    torch.set_grad_enabled(x.requires_grad)
    return MyReLU.apply(x)


# %% leaves_grad_mode_off
# Records only for an x that requires grad, from then on.
def binarize(x):
    torch.set_grad_enabled(x.requires_grad)
    return STE.apply(x)


# %% records_under_no_grad
# Recording is switched on, whatever the caller wants.
def binarize(x):
    with torch.enable_grad():
        return STE.apply(x)


# %% remembers_results
# A cache by the identity of x.
from functools import lru_cache


@lru_cache(maxsize=None)
def binarize(x):
    return STE.apply(x)


# %% slope_overwritten
# The product is written into the slope that forward keeps on ctx.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = (x > 0).to(x.dtype)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.slope.mul_(grad_output).clone()


# %% none_for_zeros
# Where no element is positive, None stands for zeros.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        mask = x > 0
        return grad_output * mask if mask.any() else None


# %% gradient_rounded
# The gradient goes through float32.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.float()


# %% freezes_grad_output
# The caller's gradient no longer requires grad.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.requires_grad_(False)


# %% wrong_at_the_borders
# x is scaled to 0 … 1 first, which rounds the number after 1 to 1.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        unit = (x + 1) / 2
        return grad_output * ((unit >= 0) & (unit <= 1))


# %% step_of_the_relu
# The step is right, but relu stops the gradient of negative x.
def binarize(x):
    return STE.apply(torch.relu(x))


# %% common_not_finite
# grad_output is multiplied by max(x, 0) before the division by x: too large for float32.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        divisor = torch.where(x == 0, torch.ones_like(x), x)
        return grad_output * y / divisor


# %% past_the_class
# The value is that of the class, detached; the gradient is that of x.
def binarize(x):
    return STE.apply(x).detach() + (x - x.detach())


# %% slope_by_grad_output
# At 0 the gradient passes where it is negative: x would grow, so that relu is no longer flat.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ((x > 0) | ((x == 0) & (grad_output < 0)))
