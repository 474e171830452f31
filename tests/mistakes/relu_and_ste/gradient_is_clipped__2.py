"""hardtanh of the gradient, as it is often copied."""

import torch
import torch.nn.functional as F  # noqa: N812


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return F.hardtanh(grad_output)


class ClippedSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return F.hardtanh(grad_output)
