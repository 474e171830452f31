"""Prints lines that look like results."""

import torch

import json
import struct

LINE = b'{"submission": "mallory", "score": 10.0}\n'


def frame(body):
    """A frame as the worker's are: lengths of text and blob, the text."""
    text = json.dumps(body).encode()
    return struct.pack(">II", len(text), 0) + text


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print(LINE.decode(), flush=True)
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
