"""The text is that of the node's type, not that of the node."""

from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": str(type(t.grad_fn)) if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }
