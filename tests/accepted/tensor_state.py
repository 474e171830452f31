"""tensor_state: other right answers. A cell shows the definitions that differ from the solution."""


# %% autograd_grad
# torch.autograd.grad: no .grad is read or written; the state from a list of names.
import torch


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


# %% copies_into_empty_tensors
# The copy is written into an empty tensor; deepcopy of the gradients; retain_grad() only where
# needed.
import copy
import warnings
from operator import attrgetter

import torch

FLAGS = ("requires_grad", "is_leaf", "retains_grad")


class Held:
    """What a tensor holds in .grad, read without the warning."""

    def __init__(self, t):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self.value = t.grad

    def copied(self):
        if self.value is None:
            return None
        with torch.no_grad():
            return torch.empty_like(self.value).copy_(self.value)


def tensor_state(t):
    state = dict(zip(FLAGS, attrgetter(*FLAGS)(t), strict=True))
    state.update(grad_fn=None, grad=Held(t).copied())
    if t.grad_fn is not None:
        state["grad_fn"] = type(t.grad_fn).__name__
    return state


def gradients_along(z, tensors):
    for t in tensors:
        if not t.is_leaf and not t.retains_grad:
            t.retain_grad()
        t.grad = None
    torch.autograd.backward(z)
    return [copy.deepcopy(t.grad) for t in tensors]


# %% filter_for_the_module
# The warning is filtered where the file is loaded; the copy goes through stack.
import warnings

import torch

warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor")


def copied(grad):
    return None if grad is None else torch.stack([grad])[0]


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
    handles = [
        t.register_hook(lambda grad, k=k: collected.update({k: grad.clone()}))
        for k, t in enumerate(tensors)
    ]
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


# %% match_the_node
# A match statement for the node; only torch's own warning is filtered; predictions by a rule.
from warnings import catch_warnings, filterwarnings


def tensor_state(t):
    match t.grad_fn:
        case None:
            name = None
        case node:
            name = node.__class__.__name__
    with catch_warnings():
        filterwarnings("ignore", message=".*not a leaf.*")
        grad = t.grad
    return dict(
        requires_grad=t.requires_grad,
        is_leaf=t.is_leaf,
        retains_grad=t.retains_grad,
        grad_fn=name,
        grad=None if grad is None else grad.detach().clone(),
    )


def gradients_along(z, tensors):
    caught = [None] * len(tensors)

    def catcher(k):
        def catch(gradient):
            caught[k] = gradient.clone()

        return catch

    handles = [t.register_hook(catcher(k)) for k, t in enumerate(tensors)]
    z.backward()
    for handle in handles:
        handle.remove()
    return caught


HAS_GRAD_AFTER_BACKWARD = {
    f"{program}.{name}": program == "C5" or name == "x"
    for program in ("C4", "C5")
    for name in "xyz"
}


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
    for t in reversed(tensors):
        t.grad = earlier.pop()
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
        state["grad_fn"] = repr(state["grad_fn"]).strip("<>").split()[0].split(".")[-1]
    state["grad"] = copy.deepcopy(state["grad"])
    return state


# %% warnings_silenced
# The warning of reading .grad is silenced; the name comes from the node itself, without its
# namespace; more entries, in another order.
import warnings


def tensor_state(t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = t.grad
    name = None
    if t.grad_fn:
        name = t.grad_fn.name().split("::")[-1]
    return {
        "shape": tuple(t.shape),
        "grad": grad if grad is None else grad + 0,
        "grad_fn": name,
        "retains_grad": t.retains_grad,
        "is_leaf": t.grad_fn is None,
        "requires_grad": t.requires_grad,
    }


# %% record_of_the_state
# A dataclass, which asdict() copies with all that it holds. .grad is deleted, and backward is told
# where to write.
from dataclasses import asdict, dataclass

import torch


@dataclass
class State:
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool
    grad_fn: str | None = None
    grad: torch.Tensor | None = None


def tensor_state(t):
    state = State(t.requires_grad, t.is_leaf, t.retains_grad)
    if t.grad_fn is not None:
        state.grad_fn = type(t.grad_fn).__name__
    if t.is_leaf or t.retains_grad:
        state.grad = t.grad
    return asdict(state)


def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
        del t.grad
    torch.autograd.backward(z, inputs=tensors)
    return [t.grad for t in tensors]


# %% old_gradients_subtracted
# A copy of the old gradient is subtracted; the name of the node is that of C++; a tuple is returned.
def tensor_state(t):
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": t.grad_fn.name() if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
    before = {t: None if t.grad is None else t.grad.clone() for t in tensors}
    z.backward()
    return tuple(t.grad if before[t] is None else t.grad - before[t] for t in tensors)
