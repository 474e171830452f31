import torch
from torch import Tensor


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(y.sum(), x)
    return at_x, at_w
