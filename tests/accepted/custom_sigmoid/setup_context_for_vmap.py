"""The same with the input saved, a vmap rule and a forward-mode derivative."""

import torch


class Sigmoid(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return 0.5 + 0.5 * torch.tanh(x / 2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x, output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, grad_output):
        _, y = ctx.saved_tensors
        return grad_output * (y - y * y)

    @staticmethod
    def jvp(ctx, tangent):
        (y,) = ctx.saved_tensors
        return tangent * (y - y * y)


def sigmoid(x):
    return Sigmoid.apply(x)
