"""Writes results and frames to every open descriptor."""

import os

import torch

import struct

import msgspec

LINE = b'{"submission": "mallory", "score": 10.0}\n'


def frame(message, number=1):
    """A frame as the worker's are: sizes of message and blob, number, message."""
    data = msgspec.msgpack.encode(message)
    return struct.pack("!4sIIQ", b"GRL2", len(data), 0, number) + data


for number in range(64):
    try:
        os.write(number, LINE + b"\n")
    except OSError:
        pass


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        for number in range(3, 64):
            returned = ["returned", 1, [], False, [], None]
            for message in (returned, {"judged": {"checks": []}}, {"do": "done"}):
                try:
                    os.write(number, frame(message))
                except OSError:
                    pass
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
