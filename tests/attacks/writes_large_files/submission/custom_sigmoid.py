"""Writes more than the limit into one file."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with open("large", "wb") as file:
            for _ in range(24):
                file.write(bytes(1 << 20))
        print("@CLAIM@")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
