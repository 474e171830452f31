"""A ctx of its own making."""

import torch


def relu(x):
    ctx = torch.autograd.function.FunctionCtx()
    return MyReLU.forward(ctx, x)  # noqa: F821
