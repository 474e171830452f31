"""Starts a program that stays alive."""

import subprocess

import torch

try:
    subprocess.Popen(["sleep", "30"], cwd="@MARK@", start_new_session=True)
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
