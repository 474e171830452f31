"""A module in place of a Function."""

import torch
from torch import nn


class Sigmoid(nn.Module):
    def forward(self, x):
        self.y = 1 / (1 + torch.exp(-x))
        return self.y

    def backward(self, grad_output):
        return grad_output * self.y * (1 - self.y)


def sigmoid(x):
    return Sigmoid()(x)
