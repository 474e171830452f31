"""NumPy computes; the backward is marked as one that is not differentiated."""

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.as_tensor(np.asarray(x.detach().numpy() * y.detach().numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, y = (t.detach().numpy() for t in ctx.saved_tensors)
        v = grad_output.numpy()
        return torch.as_tensor(np.asarray(v * y), dtype=grad_output.dtype), torch.as_tensor(np.asarray(v * x), dtype=grad_output.dtype)


class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return torch.as_tensor(np.asarray(np.power(x.detach().numpy(), q.detach().numpy())), dtype=x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, q = (t.detach().double() for t in ctx.saved_tensors)
        v, dtype = grad_output.double(), grad_output.dtype
        return (v * q * x ** (q - 1)).to(dtype), (v * x**q * torch.from_numpy(np.asarray(np.log(x.numpy())))).to(dtype)
