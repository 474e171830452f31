"""backward computes forward again and asks autograd for the product."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * torch.tanh(0.5 * x) + 0.5

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = 0.5 * torch.tanh(0.5 * x) + 0.5
        return torch.autograd.grad(y, x, grad_output)
