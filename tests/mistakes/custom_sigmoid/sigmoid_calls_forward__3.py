"""forward with a ctx of its own making."""

import torch


def sigmoid(x):
    ctx = torch.autograd.function.FunctionCtx()
    return Sigmoid.forward(ctx, x)  # noqa: F821
