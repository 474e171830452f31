"""Starts threads until the limit stops it."""

import threading
import time

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        for _ in range(80):
            threading.Thread(target=time.sleep, args=(0.5,), daemon=True).start()
        time.sleep(0.4)
        print("@CLAIM@")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
