from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    leaf = True
    if not t.requires_grad or t.grad_fn is not None:
        leaf = False
    grad = None
    if (t.is_leaf or t.retains_grad) and t.grad is not None:
        grad = t.grad.clone()
    name = type(t.grad_fn).__name__ if t.grad_fn is not None else None
    keys = ("requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad")
    return dict(zip(keys, (t.requires_grad, leaf, t.retains_grad, name, grad), strict=True))
