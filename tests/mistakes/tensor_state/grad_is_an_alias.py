from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad if t.is_leaf or t.retains_grad else None,
    }
