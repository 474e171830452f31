"""None stays None; the slope is kept as numbers; a further argument with a default."""

import torch


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
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x.gt(0).to(dtype=x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


def relu(x):
    return MyReLU.apply(x, 0.0)


binarize = lambda x: STE.apply(x)  # noqa: E731
