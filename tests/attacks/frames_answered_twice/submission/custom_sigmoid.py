"""Sends two answers to one question, so that the next question already has an answer."""

import os
import sys

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
        for number in (3, 4):
            try:
                os.write(number, frame({"id": 3, "value": True, "kept": False, "mutated": []}))
            except OSError:
                pass
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
