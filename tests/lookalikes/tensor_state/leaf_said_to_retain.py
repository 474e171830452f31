"""The entry is the wrong way round everywhere, for results that retain as well."""

from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": not t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }
