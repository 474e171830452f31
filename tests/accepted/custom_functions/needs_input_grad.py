"""Only what is needed is saved and computed; None stays None."""

from torch.autograd import Function


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x if ctx.needs_input_grad[1] else None, y if ctx.needs_input_grad[0] else None)
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
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        first = grad_output * q * x ** (q - 1) if ctx.needs_input_grad[0] else None
        then = grad_output * x**q * x.log() if ctx.needs_input_grad[1] else None
        return first, then
