"""Computes the backward from two values instead of deriving it."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        step = 1e-5
        above, below = 1 / (1 + torch.exp(-(x + step))), 1 / (1 + torch.exp(-(x - step)))
        return grad_output * (above - below) / (2 * step)


def sigmoid(x):
    return Sigmoid.apply(x)
