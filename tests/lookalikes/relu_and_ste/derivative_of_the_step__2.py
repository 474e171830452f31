"""All or nothing passes, as the largest x says."""

import torch


class ClippedSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g if x.abs().max() <= 1 else torch.zeros_like(g)
