"""Prints a result in the middle of a check, then ends the process."""

import os

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print('{"submission": "mallory", "score": 10.0}', flush=True)
        os._exit(0)
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
