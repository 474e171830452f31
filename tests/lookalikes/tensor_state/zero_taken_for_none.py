"""Zeros come back as they are; what is left out is a gradient without elements."""

from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None and t.grad.numel() > 0
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }
