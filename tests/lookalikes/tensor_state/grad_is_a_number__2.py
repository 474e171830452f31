"""item() is called on the tensor itself; its gradient comes back as it should."""

from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "value": t.item(),
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }
