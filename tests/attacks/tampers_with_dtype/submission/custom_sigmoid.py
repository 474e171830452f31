"""Sets torch's default dtype to float16 and its default device to meta."""

import torch

torch.set_default_dtype(torch.float16)
torch.set_default_device("meta")


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
