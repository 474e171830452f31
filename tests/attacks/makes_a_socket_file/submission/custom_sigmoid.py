"""Listens on a socket in a folder that others see."""

import socket

import torch

try:
    socket.socket(socket.AF_UNIX).bind("@MARK@/socket")
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
