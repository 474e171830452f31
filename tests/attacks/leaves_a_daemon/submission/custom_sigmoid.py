"""Forks twice into a session of its own and stays alive."""

import os
import time

import torch

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.chdir("@MARK@")
            time.sleep(30)
        os._exit(0)
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
