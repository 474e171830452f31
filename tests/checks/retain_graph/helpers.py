"""retain_graph, what its visible and hidden checks share.

The judge builds the graph beside the student's code and fetches what the function returned and left
in x.grad. A second call, in a scenario, counts the passes.
"""

import torch
from torch import Tensor

from grader.authoring import assert_gradient, fetch

EXACT = {"rtol": 2e-9, "atol": 0.0}
"""Tolerances that float32 does not stay within."""


def one_loss(student, name, f, x, held):
    """Return what a function of (loss, x) returns and leaves in x.grad, and what the scenario
    counts.
    """
    seen = student.observe("one_loss", name, f, x, held)
    leaf = leaf_with(student, x, held)
    return seen | results(getattr(student, name)(f(leaf), leaf), leaf)


def several_losses(student, f, x, held):
    """Return the same for sum_of_gradients; the last output of f is the trunk of the losses."""
    seen = student.observe("several_losses", f, x, held)
    leaf = leaf_with(student, x, held)
    *losses, _ = f(leaf)
    return seen | results(student.sum_of_gradients(losses, leaf), leaf)


def leaf_with(student, x, held):
    """Return x, put beside the student's code, with a copy of ``held`` as its `.grad`."""
    leaf = student.put(x)
    if held is not None:
        leaf.grad = held.clone()
    return leaf


def results(returned, leaf):
    """Return copies of what the function returned and of the leaf's gradient."""
    result, grad = fetch(returned, leaf.grad)
    return {"result": plain(result), "grad": plain(grad)}


def plain(value):
    """Return tensors without their graph, anything else as it is."""
    if isinstance(value, Tensor):
        return value.detach()
    return tuple(plain(item) for item in value) if isinstance(value, tuple) else value


def beyond_numbers():
    """Return a `.grad` that arithmetic does not clear: infinity, NaN, and a number so large that a
    gradient added to it is lost.
    """
    return torch.tensor([float("inf"), float("nan"), 1e300], dtype=torch.float64)


def assert_close(actual, expected, message, **details):
    """Like ``assert_gradient``, with four digits and any dtype: both have checks of their own."""
    other = isinstance(actual, Tensor) and actual.dtype != expected.dtype
    if other and actual.is_floating_point():
        actual = actual.to(expected.dtype)
    assert_gradient(actual, expected, message, rtol=1e-4, atol=1e-6, **details)
