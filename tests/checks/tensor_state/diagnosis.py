"""tensor_state, rules that recognize mistakes with leaves, intermediate results and .grad."""

import ast

import torch

from grader.authoring import Graph, Opaque, differs, fetch, methods, rule, same

LINES = "y = x ** 3\nz = torch.log(y)"
LOG_OF_CUBE = Graph(LINES, {"x": torch.tensor(5.0, requires_grad=True)})
OF_TWO = Graph(LINES, {"x": torch.tensor([2.0, 3.0], requires_grad=True)})


def agrees(left, right):
    """Return whether values agree, with a tolerance that float32 stays within."""
    return same(left, right, rtol=1e-4, atol=1e-6)


def entry(failure, key):
    """Return the entry ``key`` that came back and the expected state, or a pair of None if the
    failure is about something else.
    """
    if failure.facts.get("key") != key or key not in failure.facts["state"]:
        return None, None
    return failure.facts["state"][key], failure.facts["want"]


@rule
def retains_on_the_way(failure, student):
    """An intermediate result keeps its gradient after tensor_state was called."""
    key = failure.facts.get("key", "retains_grad")
    if key not in ("retains_grad", "grad") or "text" in failure.facts:
        return None
    tensors = LOG_OF_CUBE.tensors(student)
    before = fetch([t.retains_grad for t in tensors.values()])
    fetch([student.tensor_state(t) for t in tensors.values()])
    after = fetch([t.retains_grad for t in tensors.values()])
    for name, was, retains in zip(tensors, before, after, strict=True):
        if retains and not was:
            return {"which": {"y": "y = x ** 3", "z": "z = log(y)"}.get(name, name)}
    return None


@rule
def leaf_means_requires_grad(failure, student):
    """False for a leaf that does not require grad."""
    got, want = entry(failure, "is_leaf")
    return {} if got is False and want["is_leaf"] and not want["requires_grad"] else None


@rule
def node_is_no_name(failure, student):
    """The node, a text with more in it than the name, or the name of None's type."""
    got, want = entry(failure, "grad_fn")
    if want is None:
        return None
    name = want["grad_fn"]
    if isinstance(got, Opaque) and got.type_name == name:
        return {"shown": f"<{name}>", "wanted": repr(name)}
    if isinstance(got, str) and got != name and (name or "None") in got:
        return {"shown": repr(got), "wanted": repr(name)}
    return None


@rule
def leaf_said_to_retain(failure, student):
    """True for a leaf, and right for intermediate results."""
    got, want = entry(failure, "retains_grad")
    if got is not True or not want["is_leaf"]:
        return None
    pairs = zip(failure.facts["states"], failure.facts["wanted"], strict=True)
    results = [(state, wanted) for state, wanted in pairs if not wanted["is_leaf"]]
    right = all(state["retains_grad"] is wanted["retains_grad"] for state, wanted in results)
    return {} if results and right else None


@rule
def zero_taken_for_none(failure, student):
    """None for a gradient of zeros, or torch's error about the truth of a gradient."""
    if failure.raised("RuntimeError", "Boolean value of Tensor"):
        # raises here too, and ends the rule, if it is the tensor itself that is asked
        fetch([student.tensor_state(t) for t in OF_TWO.tensors(student).values()])
        return {}
    zeros = left_out(failure)
    return {} if zeros is not None and zeros["grad"].numel() and not zeros["grad"].any() else None


def left_out(failure):
    """Return the expected state of a tensor that holds a gradient, if None came back for it."""
    got, want = entry(failure, "grad")
    return want if want and got is None and isinstance(want["grad"], torch.Tensor) else None


@rule
def retained_is_left_out(failure, student):
    """None for a result that retains its gradient."""
    want = left_out(failure)
    return {} if want and want["retains_grad"] else None


@rule
def frozen_is_left_out(failure, student):
    """None for a leaf that holds a gradient and no longer requires grad."""
    want = left_out(failure)
    return {} if want and not want["requires_grad"] else None


@rule
def warns_on_intermediates(failure, student):
    """Torch's warning about the .grad of a non-leaf."""
    found = "not a leaf Tensor" in failure.facts.get("text", "")
    return line_of_reading(student, first=True) if found else None


@rule
def grad_is_an_alias(failure, student):
    """A write into one of both tensors shows in the other."""
    return line_of_reading(student, first=False) if "shares" in failure.facts else None


def line_of_reading(student, *, first):
    """Return the first or the last line of tensor_state that reads .grad, if there is one."""
    nodes = (node for one in methods(student, "tensor_state") for node in ast.walk(one))
    lines = sorted(node.lineno for node in nodes if getattr(node, "attr", "") == "grad")
    return {"line": lines[0 if first else -1]} if lines else {}


@rule
def never_retained(failure, student):
    """No gradient where retain_grad() was not called, and .grad was read."""
    return missing(failure, student, keeps=False)


@rule
def retained_too_late(failure, student):
    """No gradient although retain_grad() was called, but after backward began."""
    return missing(failure, student, keeps=True)


def missing(failure, student, *, keeps):
    """Return the tensor whose gradient is None, or led to an error about None after a backward, if
    it did not keep its gradient in time. ``keeps``: whether it does in the end.
    """
    graph, asked, which = LOG_OF_CUBE, "yzx", "y"
    if "asked" in failure.facts and failure.actual is None:
        graph, asked, which = (failure.facts[key] for key in ("drawn", "asked", "tensor"))
    elif not failure.raised("NoneType"):
        return None
    seen, place = attempt(student, graph, asked), [*asked].index(which)
    if failure.error and seen["raised"] != failure.error.type_name:
        return None
    if not seen["passes"] or seen["keeps"][place] is not keeps:
        return None
    return {"which": which} if (not seen["in_time"][place] if keeps else seen["read"]) else None


def attempt(student, graph, asked):
    """Return what happens in a call of gradients_along for these tensors of a graph."""
    places = [graph.names.index(name) for name in asked]
    return student.observe("attempt", graph.program, [*graph.inputs.values()], places)


@rule
def hooks_share_a_place(failure, student):
    """Only the last place is filled, with the gradient that arrives last."""
    if "pairs" not in failure.facts or failure.actual is not None:
        return None
    x, y, z = LOG_OF_CUBE.tensors(student).values()
    got = fetch(student.gradients_along(z, [x, y]))
    right = isinstance(got, list) and agrees(got[-1], torch.tensor(0.6))
    return {} if right and got[:-1] == [None] else None


@rule
def counts_grad_from_before(failure, student):
    """The earlier gradient and the new one, added."""
    held, want, got = failure.facts.get("held"), failure.expected, failure.actual
    if not isinstance(held, torch.Tensor) or not isinstance(want, torch.Tensor):
        return None
    return {} if agrees(got, want + held) and differs(got, want) else None


@rule
def one_backward_for_each(failure, student):
    """A whole multiple of the gradient after several backwards."""
    want = failure.expected
    if not isinstance(want, torch.Tensor) or not differs(failure.actual, want):
        return None
    if "asked" not in failure.facts:
        return None
    passes = attempt(student, failure.facts["drawn"], failure.facts["asked"])["passes"]
    for times in range(2, passes + 1):
        if agrees(failure.actual, times * want):
            return {"times": times, "passes": passes}
    return None


@rule
def other_order(failure, student):
    """The right gradients in another order."""
    left = [want for _, want in failure.facts.get("pairs", []) if isinstance(want, torch.Tensor)]
    for got, _ in failure.facts.get("pairs", []):
        place = next((k for k, want in enumerate(left) if agrees(got, want)), None)
        if place is None:
            return None
        left.pop(place)
    moved = isinstance(failure.expected, torch.Tensor) and not agrees(
        failure.actual, failure.expected
    )
    return {} if moved and failure.facts["pairs"] else None


@rule
def every_result_keeps_one(failure, student):
    """A gradient in an intermediate result that retains none."""
    found, key = failure.facts.get("found", {}), failure.facts.get("key")
    return {} if key in ("C4.y", "C4.z") and found.get("C4.x", True) else None


@rule
def only_leaves_ever_keep_one(failure, student):
    """No gradient in an intermediate result that retains one."""
    found, key = failure.facts.get("found", {}), failure.facts.get("key")
    return {} if key in ("C5.y", "C5.z") and found.get("C5.x", True) else None
