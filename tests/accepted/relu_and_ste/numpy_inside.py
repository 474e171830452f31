"""NumPy computes; autograd sees a Function."""

import numpy as np
import torch


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        values = x.detach().numpy()
        ctx.slope = np.where(values >= 0, 1, 0).astype(values.dtype)
        return torch.as_tensor(np.maximum(values, 0))

    @staticmethod
    def backward(ctx, grad_output):
        return torch.as_tensor(grad_output.numpy() * ctx.slope)


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.as_tensor(np.heaviside(x.detach().numpy(), 0), dtype=x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output
