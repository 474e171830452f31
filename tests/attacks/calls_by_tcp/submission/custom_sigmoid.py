"""Connects to a TCP port."""

import socket

import torch

try:
    socket.create_connection(("127.0.0.1", @PORT@), timeout=1).close()
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
