"""Kills its process group."""

import os
import signal

import torch

try:
    os.killpg(0, signal.SIGKILL)
except OSError:
    pass


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
