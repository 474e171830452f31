"""Reads from address zero."""

import ctypes

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctypes.string_at(0)
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
