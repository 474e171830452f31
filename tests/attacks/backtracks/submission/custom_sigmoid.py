"""Runs a regular expression that takes practically for ever."""

import re

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        re.match(r"(a+)+$", "a" * 64 + "b")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
