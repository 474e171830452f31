"""Closes the style sheet and opens its own."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("</style><style id=forged>* { display: none }</style><base id=forged href=x>")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
