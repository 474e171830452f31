"""retain_graph, what its visible and hidden checks share.

The judge builds the graph beside the student's code and asks what the function left behind; how
often a pass went through it is measured in another call.
"""

import torch
from torch import Tensor

from grader.authoring import fetch


def one_loss(student, name, f, x, held, retained=False):
    """What a function of (loss, x) returns and what x.grad holds then, with what the scenario of
    this name counts.
    """
    seen = student.observe("one_loss", name, f, x, held, retained)
    leaf = leaf_with(student, x, held)
    loss = f(leaf)
    if retained:
        loss.retain_grad()
    return seen | results(getattr(student, name)(loss, leaf), leaf)


def several_losses(student, f, x, held, retained=False):
    """The same for sum_of_gradients and a list of losses; the last output of f is their trunk."""
    seen = student.observe("several_losses", f, x, held, retained)
    leaf = leaf_with(student, x, held)
    *losses, _ = f(leaf)
    for loss in losses if retained else ():
        loss.retain_grad()
    return seen | results(student.sum_of_gradients(losses, leaf), leaf)


def leaf_with(student, x, held):
    """x beside the student's code, with a copy of ``held`` as its `.grad`."""
    leaf = student.put(x)
    if held is not None:
        leaf.grad = held.clone()
    return leaf


def results(returned, leaf):
    """Copies of what came back and of the leaf's gradient."""
    result, grad = fetch(returned, leaf.grad)
    return {"result": plain(result), "grad": plain(grad)}


def plain(value):
    """Tensors without their graph."""
    if isinstance(value, Tensor):
        return value.detach()
    return tuple(plain(item) for item in value) if isinstance(value, tuple) else value


def beyond_numbers():
    """An `.grad` from which nothing can be subtracted again: infinity, NaN, and so large a number
    that a gradient added to it is lost.
    """
    return torch.tensor([float("inf"), float("nan"), 1e300], dtype=torch.float64)
