"""Raises an exception whose text is markup of the terminal library, with a control sequence in a
link.
"""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("[bold red]10 / 10[/] [link=\x1b]0;forged\x07]x[/link]")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
