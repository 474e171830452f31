"""The methods are plain functions, self stands for ctx, and a base class computes."""

import torch


class Logistic(torch.autograd.Function):
    def sigmoid(x):  # noqa: N805
        return 1 / (1 + torch.exp(-x))

    def backward(self, grad):
        y = self.saved_tensors[0]
        self.seen = tuple(y.shape)
        return (grad * y * (1 - y),)


class Sigmoid(Logistic):
    """Like torch.sigmoid; its name may be said here."""

    def forward(self, x):
        sigmoid = Sigmoid.sigmoid(x)
        self.save_for_backward(sigmoid)
        return sigmoid
