"""The classes come out of a function; vjp is the other name of backward."""

import torch
from torch.autograd import Function


def made(value, slopes):
    class Made(Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return value(*inputs)

        @staticmethod
        def vjp(ctx, grad_output):
            inputs = ctx.saved_tensors
            return tuple(slope(*inputs).mul(grad_output).sum_to_size(t.shape) for slope, t in zip(slopes, inputs, strict=True))

    return Made


Add = made(torch.add, (lambda x, y: torch.ones_like(x), lambda x, y: torch.ones_like(y)))
Mul = BroadcastMul = made(torch.mul, (lambda x, y: y, lambda x, y: x))
Pow = made(torch.pow, (lambda x, q: q * torch.exp((q - 1) * torch.log(x)), lambda x, q: torch.log(x).mul(torch.pow(x, q))))
