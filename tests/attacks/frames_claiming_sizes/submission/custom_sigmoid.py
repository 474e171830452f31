"""Sends headers that claim four gigabytes, and lines that look like results."""

import os

import torch

import json
import struct

LINE = b'{"submission": "mallory", "score": 10.0}\n'


def frame(body):
    """A frame as the worker's are: lengths of text and blob, the text."""
    text = json.dumps(body).encode()
    return struct.pack(">II", len(text), 0) + text


print(LINE.decode(), flush=True)


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        for number in range(3, 16):
            try:
                os.write(number, b"\xff" * 16)
            except OSError:
                pass
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
