"""Writes more files than the limit allows."""

import time

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        for number in range(400):
            open(f"file{number}", "wb").close()
        time.sleep(0.4)
        print("@CLAIM@")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
