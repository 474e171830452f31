"""torch.tensor of a tensor, which warns and works; one leaf in a list; results that still hang in a graph."""

import torch
from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    with torch.no_grad():
        y = f(x)
        return y.detach()


def cut(y: Tensor) -> Tensor:
    return torch.tensor(y)


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = torch.tensor(y, requires_grad=True)
    (at_w,) = torch.autograd.grad([second(w)], [w], create_graph=True)
    (at_x,) = torch.autograd.grad([y], [x], [at_w], create_graph=True)
    return at_x, at_w


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return torch.mean(torch.square(online - torch.tensor(target)))
