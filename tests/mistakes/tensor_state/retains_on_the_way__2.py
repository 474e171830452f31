from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    info = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    info["grad_fn"] = None if t.grad_fn is None else type(t.grad_fn).__name__
    if not t.is_leaf:
        t.retain_grad()
    info["grad"] = None if t.grad is None else t.grad.clone()
    return info
