"""torch.autograd.grad: no .grad is read or written; the state from a list of names."""

import torch
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    state = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    node = t.grad_fn
    state["grad_fn"] = node.__class__.__name__ if node is not None else None
    readable = t.is_leaf or t.retains_grad
    state["grad"] = t.grad.detach().clone() if readable and t.grad is not None else None
    return state


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    return list(torch.autograd.grad(z, tensors))
