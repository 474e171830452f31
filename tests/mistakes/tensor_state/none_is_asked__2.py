from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    state = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    state["grad_fn"] = type(t.grad_fn).__name__ if t.grad_fn else None
    state["grad"] = t.grad.clone() if t.is_leaf or t.retains_grad else None
    return state
