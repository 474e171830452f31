"""clip_grad_value_ where clip_grad_norm_ was meant."""

import torch
from torch import nn
from torch.nn.utils import clip_grad_value_


def clip_gradient(y, max_norm):
    def hook(grad):
        holder = nn.Parameter(torch.zeros_like(grad))
        holder.grad = grad.clone()
        clip_grad_value_(holder, max_norm)
        return holder.grad

    return y.register_hook(hook)
