"""h as a tensor, h under no_grad and inference_mode, an x that is made a leaf for nothing; a result that shares its memory."""

import torch
from torch import Tensor


@torch.no_grad()
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    h = torch.as_tensor(h, dtype=x.dtype)
    return f(x + h).sub(f(x)).div(h)


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    with torch.inference_mode():
        return (f(x + h) - f(x - h)).mul(0.5).div(h)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    x = x.detach().clone().requires_grad_()
    columns = []
    for k in range(x.numel()):
        step = torch.nn.functional.one_hot(torch.tensor(k), x.numel()).to(x.dtype).mul(h).view(x.shape)
        columns.append((f(torch.add(x, step)) - f(torch.sub(x, step))) / (2 * h))
    return torch.stack(columns).view(x.shape) if columns else x
