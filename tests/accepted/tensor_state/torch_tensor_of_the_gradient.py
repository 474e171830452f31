"""torch.tensor(t.grad) copies as well, with a warning of its own, and not on a tensor that keeps no gradient."""

import torch


def tensor_state(t):
    grad = t.grad if t.grad_fn is None or t.retains_grad else None
    if grad is not None:
        grad = torch.tensor(grad)
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn is not None else None,
        "grad": grad,
    }
