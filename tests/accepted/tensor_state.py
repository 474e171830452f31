"""tensor_state: other right answers. A cell shows the definitions that differ from the solution."""


# %% autograd_grad
# torch.autograd.grad: no .grad is read or written; the state from a list of names.
import torch
from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    state = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    node = t.grad_fn
    state["grad_fn"] = node.__class__.__name__ if node is not None else None
    readable = t.is_leaf or t.retains_grad
    state["grad"] = t.grad.detach().clone() if readable and t.grad is not None else None
    return state


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    return list(torch.autograd.grad(z, tensors))


# %% backward_for_each_cleared
# backward for each tensor, cleared before every one; zero_() where there is something to zero.
def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
    gradients = []
    for k, t in enumerate(tensors):
        if t.grad is not None:
            t.grad.zero_()
        z.backward(retain_graph=k + 1 < len(tensors))
        gradients.append(t.grad.clone())
        t.grad = None
    return gradients


# %% difference_of_before_and_after
# Nothing is cleared: what was there before is subtracted again.
import torch


def gradients_along(z, tensors):
    [t.retain_grad() for t in tensors if not t.is_leaf]
    before = [torch.zeros_like(t) if t.grad is None else t.grad.clone() for t in tensors]
    z.backward(retain_graph=True)
    return [t.grad - before[k] for k, t in enumerate(tensors)]


# %% filter_for_the_module
# The warning is filtered where the file is loaded; the copy goes through NumPy.
import warnings

import torch

warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor")


def copied(grad):
    return None if grad is None else torch.from_numpy(grad.numpy().copy())


def tensor_state(t):
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": not t.requires_grad or t.grad_fn is None,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.is_leaf else type(t.grad_fn).__name__,
        "grad": copied(t.grad),
    }


# %% hooks_collect
# Tensor hooks collect the gradients, and are taken away again; .grad plays no part.
def gradients_along(z, tensors):
    collected = {}
    handles = [t.register_hook(lambda grad, k=k: collected.update({k: grad.clone()})) for k, t in enumerate(tensors)]
    try:
        z.backward()
    finally:
        for handle in handles:
            handle.remove()
    return [collected[k] for k in range(len(tensors))]


# %% inputs_of_backward
# backward(inputs=...) writes into those tensors only, intermediate results among them.
import torch


def gradients_along(z, tensors):
    for t in tensors:
        t.grad = None
    torch.autograd.backward(z, torch.ones_like(z), inputs=tensors)
    return [t.grad.clone() for t in tensors]


# %% one_by_one
# A differentiation of its own for each tensor, the graph retained throughout.
import torch


def gradients_along(z, tensors):
    gradients = []
    for t in tensors:
        (gradient,) = torch.autograd.grad(z, t, retain_graph=True)
        gradients.append(gradient)
    return gradients


# %% predictions_from_an_array
# The predictions as the entries of an array: bools of NumPy's.
import numpy as np

NAMES = [f"{program}.{tensor}" for program in ("C4", "C5") for tensor in "xyz"]
HAS_GRAD_AFTER_BACKWARD = dict(zip(NAMES, np.array([1, 0, 0, 1, 1, 1]) == 1, strict=True))


# %% predictions_run
# The two programs are run, and looked at.
import torch


def run(retain):
    x = torch.tensor(5.0, requires_grad=True)
    y = x**3
    z = torch.log(y)
    if retain:
        y.retain_grad()
        z.retain_grad()
    z.backward()
    return {"x": x, "y": y, "z": z}


def kept(t):
    return (t.is_leaf or t.retains_grad) and t.grad is not None


HAS_GRAD_AFTER_BACKWARD = {
    **{f"C5.{name}": kept(t) for name, t in run(True).items()},
    **{f"C4.{name}": kept(t) for name, t in run(False).items()},
}


# %% put_back_as_found
# What .grad held is put back afterwards; only the tensors that are not leaves are told to retain.
def gradients_along(z, tensors):
    for t in tensors:
        if not t.is_leaf and not t.retains_grad:
            t.retain_grad()
    earlier = []
    for t in tensors:
        earlier.append(t.grad)
        t.grad = None
    z.backward()
    found = [t.grad for t in tensors]
    while tensors and earlier:
        tensors[len(earlier) - 1].grad = earlier.pop()
    return found


# %% torch_tensor_of_the_gradient
# torch.tensor(t.grad) copies as well, with a warning of its own, and not on a tensor that keeps
# no gradient.
import torch


def tensor_state(t):
    grad = t.grad if t.grad_fn is None or t.retains_grad else None
    if grad is not None:
        grad = torch.tensor(grad)
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn is not None else None,
        "grad": grad,
    }


# %% warnings_are_errors
# Every warning is an error, from the first line on; a leaf is known before .grad is asked for, so
# none is raised.
import warnings

warnings.simplefilter("error")


# %% warnings_as_errors
# The warning is made an error and caught; the copy by copy.deepcopy; an OrderedDict.
import copy
import warnings
from collections import OrderedDict


def tensor_state(t):
    state = OrderedDict()
    for name in ["requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad"]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                state[name] = getattr(t, name)
        except UserWarning:
            state[name] = None
    if state["grad_fn"] is not None:
        state["grad_fn"] = repr(state["grad_fn"]).strip("<>").split()[0]
    state["grad"] = copy.deepcopy(state["grad"])
    return state


# %% warnings_silenced
# The warning is kept from being shown where .grad is read; the name from the node itself; more
# entries, in another order.
import warnings


def tensor_state(t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = t.grad
    name = None
    if t.grad_fn:
        name = t.grad_fn.name()
    return {
        "shape": tuple(t.shape),
        "grad": grad if grad is None else grad + 0,
        "grad_fn": name,
        "retains_grad": t.retains_grad,
        "is_leaf": t.grad_fn is None,
        "requires_grad": t.requires_grad,
    }
