"""Allocates memory in small steps and catches the MemoryError."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        taken = []
        try:
            for _ in range(64):
                taken.append(bytearray(1 << 21))
            print("@CLAIM@")
        except MemoryError:
            pass
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
