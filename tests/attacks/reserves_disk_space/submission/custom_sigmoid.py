"""Reserves much more disk space for an empty file than a file may have."""

import ctypes
import os

import torch

KEEP_SIZE = 1


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        libc = ctypes.CDLL(None, use_errno=True)
        with open("empty", "wb") as file:
            libc.fallocate(file.fileno(), KEEP_SIZE, ctypes.c_int64(0), ctypes.c_int64(1 << 27))
            if os.fstat(file.fileno()).st_blocks * 512 > 1 << 26:
                print("@CLAIM@", flush=True)
        os.unlink("empty")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
