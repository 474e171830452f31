"""Forks again and again (a fork bomb)."""

import os
import time

import torch

for _ in range(3):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        os.setsid()
        os.chdir("@MARK@")
        time.sleep(30)
        os._exit(0)
    print("@CLAIM@", flush=True)


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
