"""exp of -softplus(-x): softplus is no sigmoid."""

import torch
import torch.nn.functional as F  # noqa: N812


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-F.softplus(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)
