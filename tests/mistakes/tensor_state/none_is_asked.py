from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": t.grad_fn.name(),
        "grad": t.grad.clone() if (t.is_leaf or t.retains_grad) and t.grad is not None else None,
    }
