"""Drive graphs beside the student's code, for the visible and the hidden checks."""

from functools import partial

from torch import Tensor

from grader.authoring import assert_equal, assert_gradient, fail, fetch, graph_figure, type_name

FLAGS = ("requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad")
EXACT = {"rtol": 2e-9, "atol": 0.0}
"""Tolerances that float32 does not stay within."""


def assert_close(actual, expected, message, **details):
    """Like ``assert_gradient``, with four digits and any dtype: both have checks of their own."""
    other = isinstance(actual, Tensor) and actual.dtype != expected.dtype
    if other and actual.is_floating_point():
        actual = actual.to(expected.dtype)
    assert_gradient(actual, expected, message, rtol=1e-4, atol=1e-6, **details)


# ------------------------------------------------------ a graph beside the student's code, driven


def graph(student, f, inputs, retained=(), held=None):
    """Return the tensors of a graph beside the student's code: the inputs, then the outputs of f.

    Those at the places ``retained`` keep their gradient, those in ``held`` hold one already.
    """
    leaves = [student.put(x) for x in inputs]
    tensors = [*leaves, *f(*leaves)]
    for place in retained:
        tensors[place].retain_grad()
    for place, grad in (held or {}).items():
        tensors[place].grad = grad.clone()  # backward adds to it
    return tensors


def kept(value):
    """Return a copy that later writes do not change."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: kept(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(kept, value))
    return value


def now(*values):
    """Return what remote objects hold now."""
    return [kept(value) for value in fetch(*values, None)[:-1]]


def states(student, f, inputs, retained=(), held=None, *, backward=False):
    """Return what tensor_state returned for each tensor of a graph, before a backward from the last
    one and, if asked for, after it.
    """
    tensors = graph(student, f, inputs, retained, held)
    before = now(*(student.tensor_state(t) for t in tensors))
    if not backward:
        return {"before": before}
    tensors[-1].backward()
    return {"before": before, "after": now(*(student.tensor_state(t) for t in tensors))}


def gradients(student, f, inputs, chosen, retained=(), held=None):
    """Return what gradients_along returned for the chosen tensors of a graph, and what is observed
    of such a call.
    """
    tensors = graph(student, f, inputs, retained, held)
    (result,) = now(student.gradients_along(tensors[-1], [tensors[k] for k in chosen]))
    observed = student.observe("gradients", f, inputs, chosen, list(retained), held or {})
    return {**observed, "result": result}


# ------------------------------------------------------------------------------------- assertions


def drawn(f, leaves, names, retained=(), *, at):
    """Return the figure of f's graph, with its tensors by name and the tensor ``at`` marked. Those
    at the places ``retained`` keep their gradient.
    """
    copies = [leaf.detach().clone().requires_grad_(leaf.requires_grad) for leaf in leaves]
    tensors = [*copies, *f(*copies)]
    for place in retained:
        tensors[place].retain_grad()
    return graph_figure(tensors[-1], dict(zip(names, tensors, strict=True)), ("tensor", at))


def assert_entries(states, wanted, names, keys, message, inputs, figure=None, compare=assert_close):
    """Require the entries ``keys`` of what came back for each tensor; ``figure`` draws the graph
    and marks one.
    """
    for name, state, want in zip(names, states, wanted, strict=True):
        facts = {
            "tensor": name,
            "state": state,
            "want": want,
            "pairs": [*zip(states, wanted, strict=True)],
        }
        if not isinstance(state, dict):
            fail(
                "tensor_state returned {type} for {tensor}, expected a dictionary",
                expected=want,
                actual=state,
                inputs=inputs,
                facts={**facts, "type": type_name(state)},
            )
        for key in keys:
            figures = [partial(figure, at=name)] if figure else []
            details = {
                "inputs": inputs,
                "facts": {**facts, "key": key, "present": ", ".join(map(str, state))},
                "figures": figures,
            }
            if key not in state:
                fail(
                    "the dictionary for {tensor} has no entry {key}, only {present}",
                    expected=want,
                    actual=state,
                    **details,
                )
            if isinstance(want[key], Tensor):
                compare(state[key], want[key], message, **details)
            else:
                assert_equal(state[key], want[key], message, **details)


def state(*flags):
    """Return a state from its entries in the order of FLAGS."""
    return dict(zip(FLAGS, flags, strict=True))


def assert_gradients(seen, wanted, names, inputs, held=None, figure=None, compare=assert_close):
    """Require one gradient for each of ``names``, in that order, in a list or a tuple."""
    result, wanted, held = seen["result"], list(wanted), held or {}
    if not isinstance(result, list | tuple):
        fail(
            "gradients_along returned {type}, expected a list of gradients",
            expected=wanted,
            actual=result,
            inputs=inputs,
            facts={"type": type_name(result)},
        )
    if len(result) != len(wanted):
        fail(
            "gradients_along returned {count} gradients for {asked} tensors",
            expected=wanted,
            actual=result,
            inputs=inputs,
            facts={"count": len(result), "asked": len(wanted)},
        )
    for place, name in enumerate(names):
        facts = {
            "tensor": name,
            "keeps": seen["keeps"][place],
            "in_time": seen["in_time"][place],
            "read": seen["read"],
            "passes": seen["passes"],
            "held": held.get(name),
            "pairs": [*zip(result, wanted, strict=True)],
        }
        details = {
            "inputs": inputs,
            "facts": facts,
            "figures": [partial(figure, at=name)] if figure else [],
        }
        if result[place] is None:
            fail(
                "the gradient of {tensor} is missing: it is None",
                expected=wanted[place],
                actual=None,
                **details,
            )
        compare(result[place], wanted[place], "the gradient of {tensor} is wrong", **details)
