"""The mistakes that people make when they leave the graph, each recognised by what still hangs
together afterwards.
"""

import torch

from grader.authoring import Opaque, StudentCodeError, differs, program, rule, same

PLAIN = program(lambda x: x.exp())
SUM = program(lambda x: x.exp() + x)
SQUARES = program(lambda w: (w**2).sum())
NOT_REQUIRED = "does not require grad"


def agrees(left, right):
    """``same`` with a tolerance that float32 stays within."""
    return same(left, right, rtol=1e-4, atol=1e-6)


def leaf(*values):
    """A tensor that requires grad."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def result_at(failure, index):
    """One of the two results of split_backward, or the Ellipsis where there is no such pair."""
    result = failure.facts.get("result")
    return result[index] if isinstance(result, tuple) and len(result) == 2 else ...


# ------------------------------------------------------------------------------------------ predict


@rule
def error_swallowed(failure, student):
    """The exception of f never came out."""
    return (
        {"returned": failure.facts["result"]}
        if "text" in failure.facts and failure.facts["raised"] is None
        else None
    )


@rule
def mode_stays_off_after_an_error(failure, student):
    """The mode comes back after a return, and is off after an exception. Where it is on, a line
    that switches it on was reached.
    """
    if "text" not in failure.facts or failure.facts["mode_after"] is failure.facts["enabled"]:
        return None
    enabled = failure.facts["enabled"]
    if failure.facts["mode_after"]:
        return None
    return (
        {}
        if student.observe("prediction", PLAIN, leaf(0.5), None, enabled)["mode_after"] is enabled
        else None
    )


@rule
def mode_is_set_not_restored(failure, student):
    """After a plain call the mode is another one."""
    facts = failure.facts
    return {} if "enabled" in facts and facts["mode_after"] is not facts["enabled"] else None


@rule
def only_x_is_cut(failure, student):
    """No graph for f without parameters, one for f with them."""
    plain, layered = probes(student)
    built = layered["nodes_inside"][0]
    return (
        {"built": built_here(failure, built)}
        if plain["nodes_inside"] == [None] and built is not None
        else None
    )


@rule
def graph_dropped_afterwards(failure, student):
    """f gave a graph, the result has none."""
    plain, _ = probes(student)
    built = plain["nodes_inside"][0]
    if built is None or plain["state"] is None or plain["state"]["node"] is not None:
        return None
    return {"built": built_here(failure, built)}


@rule
def recording_was_on(failure, student):
    """f gave a graph, and the result still has one."""
    plain, _ = probes(student)
    built = plain["nodes_inside"][0]
    if built is None or plain["state"] is None or plain["state"]["node"] is None:
        return None
    return {"built": built_here(failure, built)}


def built_here(failure, otherwise):
    """The node that f made in the failed check, so that message and explanation name the same
    one.
    """
    return next(
        (node for node in failure.facts.get("nodes_inside", ()) if node is not None), otherwise
    )


def probes(student):
    """What predict does with a function without parameters, and with one that has a parameter which
    requires grad.
    """
    layer = program(lambda x, w: x * w, parameters=[leaf(2.0)])
    return tuple(student.observe("prediction", f, leaf(0.5), None, True) for f in (PLAIN, layer))


@rule
def flag_of_a_result(failure, student):
    """torch's own error."""
    return (
        {"line": str(failure.error.line)}
        if failure.raised("can only change requires_grad flags of leaf")
        else None
    )


@rule
def numpy_does_not_cut(failure, student):
    """torch's own error."""
    return (
        {"line": str(failure.error.line)}
        if failure.raised("Can't call numpy() on Tensor that requires grad")
        else None
    )


# ---------------------------------------------------------------------------------------------- cut


@rule
def detached_in_place(failure, student):
    """A tensor that was given, or y, lost its place."""
    facts = failure.facts
    if failure.about == "split_backward":
        seen = student.observe("begun", SUM, SQUARES, leaf(0.3, 0.7))
        lost = seen["y"] == {
            "before": True,
            "after": False,
        } and "element 0 of tensors does not require grad" in (seen["raised"] or "")
        return {"name": "y", "node_before": "AddBackward0"} if lost else None
    if failure.about == "cut":
        states = [("y", facts.get("y_before"), facts.get("y_after"))]
    else:
        states = list(
            zip(
                ("online", "target"),
                facts.get("states_before", ()),
                facts.get("states_after", ()),
                strict=False,
            )
        )
    for name, before, after in states:
        if before and after and before["requires_grad"] and not after["requires_grad"]:
            return {"name": name, "node_before": str(before["node"])}
    return None


@rule
def y_itself_comes_back(failure, student):
    """The very y, still in its graph."""
    state = failure.facts.get("state")
    return (
        {"node": state["node"]}
        if failure.facts.get("itself") and state["node"] is not None
        else None
    )


@rule
def copy_stays_connected(failure, student):
    """A new tensor with a node."""
    state = failure.facts.get("state")
    return (
        {"node": state["node"]}
        if state and state["node"] is not None and not failure.facts.get("itself")
        else None
    )


@rule
def cut_and_made_a_leaf(failure, student):
    """No node, and yet it requires grad."""
    state = failure.facts.get("state")
    if not state or failure.facts.get("itself") or "y_before" not in failure.facts:
        return None
    return (
        {}
        if state["node"] is None
        and state["requires_grad"]
        and failure.facts["y_before"]["requires_grad"]
        else None
    )


@rule
def left_torch(failure, student):
    """A number, a list or an array."""
    actual = failure.actual
    kind = actual.type_name if isinstance(actual, Opaque) else type(actual).__name__
    return (
        {"kind": kind}
        if kind in ("float", "int", "list", "ndarray", "float64", "float32")
        else None
    )


# ----------------------------------------------------------------------------------- split_backward


@rule
def not_cut_in_two(failure, student):
    """second was given a tensor with a node."""
    given = (
        failure.facts.get("given")
        or student.observe("begun", PLAIN, SQUARES, leaf(0.3, 0.7))["given"]
    )
    nodes = [w["node"] for w in given if w["node"] is not None]
    return {"w_node": nodes[0]} if nodes else None


@rule
def w_does_not_require_grad(failure, student):
    """second was given a tensor that does not require grad, and the first stage raised."""
    seen = student.observe("begun", PLAIN, SQUARES, leaf(0.3, 0.7))
    raised = seen["raised"] or ""
    return (
        {"raised": raised}
        if seen["given"] and not seen["given"][0]["requires_grad"] and "require grad" in raised
        else None
    )


@rule
def vector_without_v(failure, student):
    """torch's own error, in a function that did cut, once a backward has begun at z."""
    if not failure.raised("grad can be implicitly created only for scalar outputs"):
        return None
    return (
        {"line": str(failure.error.line)}
        if student.observe("begun", PLAIN, SQUARES, leaf(0.3, 0.7))["at_z"]
        else None
    )


@rule
def grad_is_none_at_first(failure, student):
    """None was to be zeroed, and with something in x.grad beforehand there is none."""
    if not failure.raised("AttributeError", "NoneType", "zero_"):
        return None
    try:
        student.observe(
            "stages", PLAIN, SQUARES, leaf(0.3, 0.7), torch.ones(2, dtype=torch.float64)
        )
    except StudentCodeError:
        return None  # the .grad of another tensor
    return {"line": str(failure.error.line), "raised": str(failure.error)}


@rule
def stops_at_the_cut(failure, student):
    """Nothing arrived at x."""
    if failure.error is not None:
        return None
    at_x, held = result_at(failure, 0), failure.facts.get("held")
    nothing = at_x is None or (
        held is not None and agrees(at_x, held) and differs(at_x, failure.facts["at_x"])
    )
    if not nothing or not agrees(result_at(failure, 1), failure.facts.get("at_w")):
        return None
    # Where a backward did begin at y, its gradient was found and not handed back.
    return (
        None
        if student.observe("begun", PLAIN, SQUARES, leaf(0.3, 0.7))["at_y"]
        else {"at_first": at_x}
    )


@rule
def results_turned_round(failure, student):
    """w's gradient first."""
    at_x, at_w = failure.facts.get("at_x"), failure.facts.get("at_w")
    first, second = result_at(failure, 0), result_at(failure, 1)
    return {"first_result": first} if agrees(first, at_w) and agrees(second, at_x) else None


@rule
def ones_for_the_gradient(failure, student):
    """The gradient of y.sum()."""
    x, at_x = failure.inputs.get("x"), result_at(failure, 0)
    if not isinstance(x, torch.Tensor) or agrees(at_x, failure.facts.get("at_x")):
        return None
    # What arrives at y has both signs and both sizes here, so that a gradient which was clipped is
    # none of ones.
    seen = student.split_backward(leaf(-0.1, 0.2), program(lambda x: x * 3), SQUARES)
    return (
        {"at_first": at_x}
        if isinstance(seen, tuple) and agrees(seen[0], torch.full((2,), 3.0, dtype=torch.float64))
        else None
    )


@rule
def counts_grad_from_before(failure, student):
    """The gradient plus what was there."""
    held, at_x = failure.facts.get("held"), failure.facts.get("at_x")
    if held is None or not isinstance(at_x, torch.Tensor):
        return None
    return (
        {"at_first": result_at(failure, 0)} if agrees(result_at(failure, 0), held + at_x) else None
    )


# ----------------------------------------------------------------------------------- bootstrap_loss


@rule
def another_distance(failure, student):
    """One of a few wrong formulas gives just that."""
    online, target = failure.inputs.get("online"), failure.inputs.get("target")
    if not isinstance(online, torch.Tensor) or not isinstance(failure.expected, torch.Tensor):
        return None
    d = (online - target).detach()
    formulas = {
        "the sum of the squares": (d**2).sum(),
        "half the mean of the squares": (d**2).mean() / 2,
        "the mean of the absolute differences": d.abs().mean(),
        "the square root of the mean": (d**2).mean().sqrt(),
        "the mean of the differences, without the square": d.mean(),
        "the square of the mean": d.mean() ** 2,
    }
    for formula, value in formulas.items():
        if agrees(failure.actual, value) and differs(value, failure.expected):
            return {"formula": formula}
    return None


@rule
def loss_made_a_leaf(failure, student):
    """A loss that requires grad, and no gradient on either side."""
    same_again = program(lambda x: x * 1)
    state = student.observe("losses", same_again, same_again, leaf(3.0), leaf(1.0))["state"]
    return (
        {}
        if state and state["requires_grad"] and state["leaf"] and sides(student) == (None, None)
        else None
    )


@rule
def nothing_learns(failure, student):
    """No gradient on either side, and no way back to one: a gradient of zeros is another matter."""
    same_again = program(lambda x: x * 1)
    state = student.observe("losses", same_again, same_again, leaf(3.0), leaf(1.0))["state"]
    return {} if state and not state["requires_grad"] and sides(student) == (None, None) else None


@rule
def online_was_cut(failure, student):
    """target has the gradient that online should have."""
    at = sides(student)
    return (
        {"at_online": at[0], "at_target": at[1]}
        if at and at[0] is None and at[1] is not None
        else None
    )


@rule
def target_not_cut(failure, student):
    """Both sides have a gradient, and online that of the mean square."""
    at = sides(student)
    return (
        {"at_online": at[0], "at_target": at[1]}
        if at and None not in at and abs(at[0] - 4.0) < 1e-6 and at[1] < 0
        else None
    )


def sides(student):
    """The gradients of the loss at online = 3 and at target = 1, each None where there is none or
    only zeros; None without a loss.
    """
    same_again = program(lambda x: x * 1)
    seen = student.observe("losses", same_again, same_again, leaf(3.0), leaf(1.0))
    found = seen["gradients"]
    if not isinstance(seen["loss"], torch.Tensor):
        return None
    if not isinstance(found, list):
        return None, None
    return tuple(
        grad.item() if grad is not None and bool((grad != 0).any()) else None for grad in found
    )
