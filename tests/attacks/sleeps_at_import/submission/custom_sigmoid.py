"""Sleeps for ten minutes while it is imported."""

import time

import torch

time.sleep(600)


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
