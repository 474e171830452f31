"""Seeds torch's generator and makes torch.rand and torch.randn return NaN."""

import torch

torch.manual_seed(0)
torch.randn = torch.rand = lambda *a, **k: torch.zeros(()).fill_(float('nan')).expand(4)


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
