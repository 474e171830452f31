"""tensor_state: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% grad_is_an_alias
# The copy of the gradient stands in a list, and is a tensor in there.
def tensor_state(t: Tensor) -> dict:
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": [t.grad.clone()] if holds else None,
    }


# %% leaf_said_to_retain
# The entry is the wrong way round everywhere, for results that retain as well.
def tensor_state(t: Tensor) -> dict:
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": not t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


# %% leaf_said_to_retain
# The entry has another name.
def tensor_state(t):
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retain_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


# %% never_retained
# The gradients are read from detached copies.
def gradients_along(z, tensors):
    ts = [t.detach().requires_grad_() for t in tensors]
    z.backward()
    return [t.grad for t in ts]


# %% node_is_no_name
# The name is cut too short.
def tensor_state(t):
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__[:-1] if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


# %% one_backward_for_each
# One backward begins at z; those after it begin at the intermediate results, in a graph that is
# freed.
import torch


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    for t in tensors:
        if t is not z and not t.is_leaf:
            t.backward(torch.ones_like(t))
    return [t.grad for t in tensors]


# %% one_backward_for_each
# One backward, which begins with a gradient of 2.
import torch


def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward(torch.full_like(z, 2))
    return [t.grad for t in tensors]


# %% other_order
# Every entry is the gradient of the first tensor.
def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    return [tensors[0].grad for _ in tensors]


# %% retained_is_left_out
# Whether there is a gradient comes back: True, and no number of it.
def tensor_state(t: Tensor) -> dict:
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": holds,
    }


# %% retained_is_left_out
# No tensor is asked for its gradient.
def tensor_state(t):
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": None,
    }


# %% retained_too_late
# All are retained in time; what they got is cleared before it is read.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    for t in tensors:
        t.grad = None
    return [t.grad for t in tensors]


# %% retained_too_late
# Leaves are left out of the answer: their retains_grad is False.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    return [t.grad if t.retains_grad else None for t in tensors]


# %% retained_too_late
# All are retained in time; the gradients are expected in what backward returns, which is None.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad = None
    return list(z.backward())


# %% retains_on_the_way
# The gradient is taken away: .grad is None afterwards.
def tensor_state(t):
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    grad = t.grad.clone() if holds else None
    if holds:
        t.grad = None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": grad,
    }


# %% hooks_share_a_place
# Only leaves have a place; hooks fill it.
def gradients_along(z, tensors):
    found = [None] * len(tensors)
    for i, t in enumerate(tensors):
        if t.is_leaf:
            t.register_hook(lambda grad, i=i: found.__setitem__(i, grad.clone()))
    z.backward()
    return found


# %% counts_grad_from_before
# What is subtracted are the values of the tensors.
def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    return [t.grad - t.detach() for t in tensors]


# %% zero_taken_for_none
# Zeros come back as they are; what is left out is a gradient without elements.
def tensor_state(t: Tensor) -> dict:
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None and t.grad.numel() > 0
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


# %% zero_taken_for_none
# It is the tensor itself that is asked whether it is true, long before it has a gradient.
def tensor_state(t: Tensor) -> dict:
    holds = t and (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


# %% retains_on_the_way
# Every leaf is made to require grad, so that it can hold a gradient.
def tensor_state(t):
    state = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    grad = t.grad if t.is_leaf or t.retains_grad else None
    if t.is_leaf:
        t.requires_grad_()
    state["grad_fn"] = type(t.grad_fn).__name__ if t.grad_fn else None
    state["grad"] = None if grad is None else grad.clone()
    return state
