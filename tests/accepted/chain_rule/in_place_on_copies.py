"""Out-variants and in-place methods, on copies; a tensor of five leaves in one."""

import torch
from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    with torch.inference_mode():
        return x.clone().reciprocal_().mul_(3).add_(1)


@torch.no_grad()
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    to_q = x.clone().log_()
    to_x = q.clone()
    to_x /= x
    return to_x, to_q


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    leaf = torch.tensor([apple, tangerine, n_apple, n_tangerine, tax], dtype=torch.double).requires_grad_(True)
    lines = leaf[:2] * leaf[2:4]
    lines.retain_grad()
    price = lines.sum()
    price.retain_grad()
    result = price * leaf[4]
    result.retain_grad()
    torch.autograd.backward(result)
    names = "apple tangerine num_apple num_tangerine ctax apple_price tangerine_price price result".split()
    values = torch.cat([leaf.grad, lines.grad, price.grad.reshape(1), result.grad.reshape(1)]).tolist()
    return dict(zip(names, values, strict=True))
