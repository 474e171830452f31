"""Returns text that is markup, and an object whose repr is markup."""

import torch

class Odd:
    def __repr__(self):
        return "<img id=\"forged\" src=x onerror=alert(1)></pre></td><script id=\"forged\">alert(1)</script>"


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return Odd()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return "<img id=\"forged\" src=x onerror=alert(1)></pre></td><script id=\"forged\">alert(1)</script>"
