from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    if t.requires_grad:
        t.retain_grad()  # or reading .grad warns
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": None if t.grad is None else t.grad.clone(),
    }
