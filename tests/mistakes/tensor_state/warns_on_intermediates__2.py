import copy

from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    info = {name: getattr(t, name, None) for name in ("requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad")}
    if info["grad_fn"] is not None:
        info["grad_fn"] = type(info["grad_fn"]).__name__
    info["grad"] = copy.deepcopy(info["grad"])
    return info
