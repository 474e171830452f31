"""relu_and_ste: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% another_slope
# A window of half the width.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 0.5)


# %% apply_not_called
# apply is called; a method of the result is not.
def relu(x):
    return MyReLU.apply(x).clone


# %% derivative_of_the_step
# A window of half the width.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 0.5)


# %% derivative_of_the_step
# All or nothing passes, as the largest x says.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g if x.abs().max() <= 1 else torch.zeros_like(g)


# %% forward_called_directly
# apply is called, and x left out; another class uses a forward.
class ClippedSTE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return STE.forward(ctx, x)


def relu(x):
    return MyReLU.apply()


# %% gradient_is_clipped
# The incoming gradient is squared.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * g * (x > 0)


# %% gradient_is_clipped
# Only the sign of the incoming gradient goes on.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, g):
        return g.sign()


# %% gradient_is_clipped
# The gradient is rounded.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.round()


# %% gradient_is_clipped
# The gradient goes through a tanh.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return torch.tanh(grad_output)


# %% ignores_grad_output
# backward returns the saved tensor, which is not a slope.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * 2


# %% nothing_saved
# A module that was never imported.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return F.relu(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0)


# %% nothing_saved
# forward leaves its result unassigned.
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if x.sum() > 1e9:
            y = x
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)


# %% nothing_saved
# Two tensors are saved, and one is unpacked: forward handed over more, not less.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(x, y)
        return y


# %% nothing_saved
# It is a shape that is unpacked into too many names.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        rows, columns = grad_output.shape
        return (grad_output * (x > 0)).reshape(rows, columns)


# %% tuple_not_unpacked
# The mask is a tuple by a comma at the end of its line; what was saved is unpacked.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        mask = ((x > 0).to(x.dtype),)
        return mask.mul(grad_output)


# %% nothing_saved
# x is saved and unpacked, one line after it is used.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        grad = grad_output * (x > 0)
        (x,) = ctx.saved_tensors
        return grad


# %% nothing_saved
# x is saved, and saved_tensors mistyped.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensor
        return grad_output * (x > 0)


# %% returns_nothing
# There is a return, and it says None.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return None


# %% styles_mixed
# forward wants a threshold, which nobody hands it.
class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, threshold):
        return (x > threshold).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


# %% styles_mixed
# It is the forward of another class that is called with an argument too few.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.nn.ReLU.forward(x)


# %% half_at_zero
# The derivative of a square root has no value at 0.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            z = x.detach().requires_grad_()
            y = 0.5 * (z + (z * z).sqrt())
        return torch.autograd.grad(y, z, grad_output)[0]


# %% another_slope
# The sum of the gradient goes to every element.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.sum().expand_as(grad_output)


# %% gradient_is_clipped
# Very large gradients are cut.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clamp(-1e6, 1e6)


# %% product_is_compared
# Large values are cut off.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(0, 0.1)


# %% writes_into_others
# An x that requires no grad is switched on.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x.clamp(min=0)
        x.requires_grad_()
        return y


# %% writes_into_others
# The same in the step.
class STE(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = (x > 0).to(x.dtype)
        x.requires_grad_()
        return y


# %% too_large_in_between
# Half precision overflows in float64 too.
class MyReLU(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x.half().isinf(), x.half().to(x.dtype), x).clamp(min=0)


# %% another_slope
# min for max: the value is wrong, and so is the slope, but the value is told first.
class MyReLU:
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(max=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x < 0)
