"""x as a global variable."""

import torch

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
