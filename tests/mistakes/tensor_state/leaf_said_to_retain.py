from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.is_leaf or t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad else None,
    }
