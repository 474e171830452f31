"""tensor_state: wrong answers. A cell shows the definitions that differ from the solution."""


# %% counts_grad_from_before
# What .grad held before is in the result.
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
    z.backward()
    return [t.grad for t in tensors]


# %% counts_grad_from_before
# What .grad held before is in the result.
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        if t.is_leaf:
            t.grad = None
        else:
            t.retain_grad()
    z.backward()
    return [t.grad.clone() for t in tensors]


# %% every_result_keeps_one
# Computed is not kept.
HAS_GRAD_AFTER_BACKWARD = {
    "C4.x": True,
    "C4.y": True,
    "C4.z": True,
    "C5.x": True,
    "C5.y": True,
    "C5.z": True,
}


# %% every_result_keeps_one
# Computed is not kept.
HAS_GRAD_AFTER_BACKWARD = {
    "C4.x": True,
    "C4.y": False,
    "C4.z": True,
    "C5.x": True,
    "C5.y": True,
    "C5.z": True,
}


# %% grad_is_a_number
# Grad came back as a plain number or a list.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.item() if holds_grad else None,
    }


# %% grad_is_a_number
# Grad came back as a plain number or a list.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.tolist() if holds_grad else None,
    }


# %% grad_is_an_alias
# Grad is the tensor's own .grad, not a copy.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad if t.is_leaf or t.retains_grad else None,
    }


# %% grad_is_an_alias
# Grad is the tensor's own .grad, not a copy.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.detach() if holds_grad else None,
    }


# %% grad_is_none_at_first
# .grad is None before the first backward.
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad.zero_()
    z.backward()
    return [t.grad for t in tensors]


# %% leaf_means_requires_grad
# A tensor without requires_grad is a leaf too.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.requires_grad and t.grad_fn is None,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% leaf_means_requires_grad
# A tensor without requires_grad is a leaf too.
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


# %% leaf_said_to_retain
# A leaf keeps its gradient, and its retains_grad is False.
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


# %% leaf_said_to_retain
# A leaf keeps its gradient, and its retains_grad is False.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad if t.grad_fn is not None else t.requires_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% never_retained
# An intermediate result was not told to keep its gradient.
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.grad = None
    z.backward()
    return [t.grad for t in tensors]


# %% never_retained
# An intermediate result was not told to keep its gradient.
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.requires_grad_()
        if t.is_leaf:
            t.grad = None
    z.backward()
    return [t.grad.clone() for t in tensors]


# %% node_is_no_name
# grad_fn should be a name or None.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": t.grad_fn,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% node_is_no_name
# grad_fn should be a name or None.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% node_is_no_name
# grad_fn should be a name or None.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": str(t.grad_fn) if t.grad_fn else None,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% none_is_asked
# grad_fn and grad can be None.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": t.grad_fn.name(),
        "grad": t.grad.clone() if (t.is_leaf or t.retains_grad) and t.grad is not None else None,
    }


# %% none_is_asked
# grad_fn and grad can be None.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    state = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    state["grad_fn"] = type(t.grad_fn).__name__ if t.grad_fn else None
    state["grad"] = t.grad.clone() if t.is_leaf or t.retains_grad else None
    return state


# %% one_backward_for_each
# One backward is enough for all of them.
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad = None
    gradients = []
    for t in tensors:
        z.backward(retain_graph=True)
        gradients.append(t.grad)
    return gradients


# %% one_backward_for_each
# One backward is enough for all of them.
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    gradients = []
    for t in tensors:
        t.retain_grad()
        t.grad = None
        z.backward()
        gradients.append(t.grad.clone())
    return gradients


# %% only_leaves_ever_keep_one
# retain_grad() makes an intermediate result keep its gradient.
HAS_GRAD_AFTER_BACKWARD = {
    "C4.x": True,
    "C4.y": False,
    "C4.z": False,
    "C5.x": True,
    "C5.y": False,
    "C5.z": False,
}


# %% only_leaves_ever_keep_one
# retain_grad() makes an intermediate result keep its gradient.
HAS_GRAD_AFTER_BACKWARD = {
    "C4.x": True,
    "C4.y": False,
    "C4.z": False,
    "C5.x": True,
    "C5.y": True,
    "C5.z": False,
}


# %% retained_too_late
# retain_grad() came after backward.
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.grad = None
    z.backward()
    for t in tensors:
        t.retain_grad()
    return [t.grad for t in tensors]


# %% retained_too_late
# retain_grad() came after backward.
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    z.grad = None
    for t in tensors:
        t.grad = None
    z.backward()
    gradients = []
    for t in tensors:
        if not t.is_leaf:
            t.retain_grad()
        gradients.append(t.grad.clone())
    return gradients


# %% retains_on_the_way
# tensor_state calls retain_grad() itself.
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


# %% retains_on_the_way
# tensor_state calls retain_grad() itself.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    info = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    info["grad_fn"] = None if t.grad_fn is None else type(t.grad_fn).__name__
    if not t.is_leaf:
        t.retain_grad()
    info["grad"] = None if t.grad is None else t.grad.clone()
    return info


# %% warns_on_intermediates
# .grad was read on a tensor that keeps none.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": None if t.grad is None else t.grad.clone(),
    }


# %% warns_on_intermediates
# .grad was read on a tensor that keeps none.
import copy

from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    info = {name: getattr(t, name, None) for name in ("requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad")}
    if info["grad_fn"] is not None:
        info["grad_fn"] = type(info["grad_fn"]).__name__
    info["grad"] = copy.deepcopy(info["grad"])
    return info


# %% zero_taken_for_none
# A gradient is asked whether it is true.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if (t.is_leaf or t.retains_grad) and t.grad else None,
    }


# %% zero_taken_for_none
# A gradient is asked whether it is true.
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad and t.grad.any() else None,
    }
