"""Replaces the process with another program, which prints the result."""

import os
import sys

import torch

FORGED = '{"submission": "mallory", "score": 10.0}'


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        os.execv('/bin/echo', ['echo', FORGED])
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
