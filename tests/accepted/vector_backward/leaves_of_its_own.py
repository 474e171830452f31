"""Fresh leaves, so that the caller's .grad is nobody's concern; y made a leaf too, and the chain rule in two steps."""

import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    leaf = x.detach().clone().requires_grad_()
    y = f(leaf)
    matrix = torch.zeros(y.numel(), x.numel(), dtype=x.dtype)
    for k in range(y.numel()):
        leaf.grad = None
        if y.requires_grad:
            y.reshape(-1)[k].backward(retain_graph=True)
        if leaf.grad is not None:
            matrix[k] = leaf.grad.reshape(-1)
    return matrix.reshape(y.shape + x.shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    leaf = x.detach().clone().requires_grad_(True)
    y = leaf * a
    w = y.detach().requires_grad_(True)
    z = w @ b
    z.backward()
    y.backward(w.grad)
    return z, leaf.grad, w.grad
