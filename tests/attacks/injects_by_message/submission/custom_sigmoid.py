"""Raises an exception whose text is markup."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("<img id=\"forged\" src=x onerror=alert(1)></pre></td><script id=\"forged\">alert(1)</script>")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
