"""hooks, what its visible and hidden checks share."""

import math

import torch

from grader.checks import assert_gradient, assert_that, fail, type_name

CAPPED = 1e-3
"""Relative tolerance for a capped gradient: people add a small number to the norm that they divide by."""

WRONG_GRADIENT = "the gradient at {leaf} is wrong"


def said(value):
    """A value's type in a message."""
    return "None" if value is None else type_name(value)


def then(y, after):
    """The two results of a graph: y, and what is made of it."""
    return y, after(y)


def same_leaves(got, want, message=WRONG_GRADIENT, names="pqr", **details):
    """Each leaf's gradient must be the expected one; a message may speak of {leaf}."""
    for leaf, actual, expected in zip(names, got, want, strict=True):
        facts = {**details.get("facts", {}), "leaf": leaf}
        if expected is None:
            assert_that(actual is None, message, expected=None, actual=actual, **{**details, "facts": facts})
        else:
            assert_gradient(actual, expected, message, **{**details, "facts": facts})


def is_pair(got, inputs):
    """What record_gradients returned must be a pair."""
    facts = {"type": got["type"]}
    assert_that(got["pair"], "what record_gradients returned ({type}) is not the pair (records, handles)", inputs=inputs, facts=facts)


def linear(draw, rows, columns, *, bias=True, dtype=torch.float64):
    """The plain data of a Linear with drawn weights."""
    weight = draw.tensor(rows, columns, dtype=dtype, low=-1.0, high=1.0)
    return ["linear", weight, draw.tensor(rows, dtype=dtype, low=-1.0, high=1.0) if bias else None]


def norms_of(got, inputs):
    """The returned dictionary, once it is one; a value that is a 0-d tensor counts as its number here."""
    norms = got["norms"]
    facts = {"type": said(norms)}
    assert_that(
        isinstance(norms, dict), "what gradient_norms returned ({type}) is not a dictionary", actual=norms, inputs=inputs, facts=facts
    )
    return {key: value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value for key, value in norms.items()}


def same_norms(got, want, inputs, rtol=1e-6, atol=1e-9):
    """Each norm must be the expected one."""
    for name, expected in want.items():
        actual = got.get(name)
        details = {"expected": want, "actual": got, "inputs": inputs, "facts": {"name": name, "type": said(actual)}}
        if not isinstance(actual, int | float):
            fail("the norm for {name} is not a number ({type})", **details)
        assert_that(math.isclose(actual, expected, rel_tol=rtol, abs_tol=atol), "the norm for {name} is wrong", **details)
