"""Sets an alarm that goes off during a later submission."""

import signal

import torch

signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.setitimer(signal.ITIMER_REAL, 0.15)


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        import time; time.sleep(0.2)
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
