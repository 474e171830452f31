"""Writes more than the limit into deleted files that it keeps open."""

import os
import time

import torch

HELD = []


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        for number in range(8):
            HELD.append(open(f"file{number}", "wb"))
            os.unlink(f"file{number}")
            HELD[-1].write(bytes(4 << 20))
            HELD[-1].flush()
        time.sleep(0.4)
        print("@CLAIM@")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
