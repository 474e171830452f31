"""The mistakes that people make when they leave the graph, each recognised by what still hangs
together afterwards.
"""

import torch

from grader.authoring import StudentCodeError, differs, program, rule, same

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
    """No exception reached the caller."""
    facts = failure.facts
    return {"returned": facts["result"]} if "kind" in facts and facts["raised"] is None else None


@rule
def error_replaced(failure, student):
    """Another exception than the one that f raised."""
    facts = failure.facts
    return {} if "kind" in facts and facts["raised"] and not facts["itself"] else None


@rule
def mode_stays_off_after_an_error(failure, student):
    """Off after an exception only. If it is on, a line that switches it on was reached."""
    facts = failure.facts
    if "kind" not in facts or facts["mode_after"] or not facts["enabled"]:
        return None
    plain = student.observe("prediction", PLAIN, leaf(0.5), None, True)
    return {} if plain["mode_after"] else None


@rule
def mode_is_set_not_restored(failure, student):
    """After a plain call the mode is another one."""
    facts = failure.facts
    if "nested" in facts or "left" in facts:
        return None
    return {} if "enabled" in facts and facts["mode_after"] is not facts["enabled"] else None


@rule
def only_x_is_cut(failure, student):
    """No graph for f without parameters, one for f with them, although x requires grad."""
    plain, layered = probes(student)
    built = layered["nodes_inside"][0]
    if plain["nodes_inside"] != [None] or built is None:
        return None
    return {"built": built_here(failure, built)}


@rule
def graph_dropped_afterwards(failure, student):
    """f gave a graph, the result has none."""
    return recorded(failure, student, kept=False)


@rule
def recording_was_on(failure, student):
    """f gave a graph, and the result still has one."""
    return recorded(failure, student, kept=True)


def recorded(failure, student, *, kept):
    """The node that f made, if the result has a graph as asked."""
    plain, _ = probes(student)
    built, state = plain["nodes_inside"][0], plain["state"]
    if built is None or state is None or (state["node"] is not None) is not kept:
        return None
    return {"built": built_here(failure, built)}


@rule
def recording_depends_on_x(failure, student):
    """A graph only where x does not require grad."""
    x, facts = failure.inputs.get("x"), failure.facts
    if not isinstance(x, torch.Tensor) or x.requires_grad or not facts.get("built"):
        return None
    if any(seen["nodes_inside"] != [None] for seen in probes(student)):
        return None
    asked = student.source.names_used("predict").get(".requires_grad")
    return {"line": asked} if asked else {}


def built_here(failure, otherwise):
    """The node that f made in the failed check, which its message names too."""
    nodes = failure.facts.get("nodes_inside", ())
    return next((node for node in nodes if node is not None), otherwise)


def probes(student):
    """What predict does with functions without and with a parameter that requires grad."""
    layer = program(lambda x, w: x * w, parameters=[leaf(2.0)])
    return tuple(student.observe("prediction", f, leaf(0.5), None, True) for f in (PLAIN, layer))


# ---------------------------------------------------------------------------------------------- cut


@rule
def detached_in_place(failure, student):
    """A tensor that was given, or y, lost its place."""
    facts = failure.facts
    if failure.about == "split_backward":
        before, after = facts.get("x_before"), facts.get("x_after")
        if before and before["requires_grad"] and not after["requires_grad"]:
            return {"name": "x", "node_before": "None"}
        seen = student.observe("begun", SUM, SQUARES, leaf(0.3, 0.7))
        lost = seen["y"] == {
            "before": True,
            "after": False,
        } and "element 0 of tensors does not require grad" in (seen["raised"] or "")
        return {"name": "y", "node_before": "AddBackward0"} if lost else None
    kinds = {"cut": ("y", "y_before", "y_after"), "predict": ("x", "x_before", "x_after")}
    if failure.about in kinds:
        name, before, after = kinds[failure.about]
        states = [(name, facts.get(before), facts.get(after))]
    else:
        pairs = facts.get("states_before", ()), facts.get("states_after", ())
        states = zip(("online", "target"), *pairs, strict=False)
    for name, before, after in states:
        if before and after and before["requires_grad"] and not after["requires_grad"]:
            return {"name": name, "node_before": str(before["node"])}
    return None


@rule
def y_itself_comes_back(failure, student):
    """The very y, which requires grad."""
    state = failure.facts.get("state")
    if not failure.facts.get("itself") or not state["requires_grad"]:
        return None
    return {"node": str(state["node"])}


@rule
def copy_stays_connected(failure, student):
    """A new tensor with a node."""
    state = failure.facts.get("state")
    connected = state and state["node"] is not None and not failure.facts.get("itself")
    return {"node": state["node"]} if connected else None


@rule
def cut_and_made_a_leaf(failure, student):
    """No node, and yet it requires grad."""
    facts = failure.facts
    state, before = facts.get("state"), facts.get("y_before")
    if not state or not before or facts.get("itself") or state["node"] is not None:
        return None
    return {} if state["requires_grad"] and before["requires_grad"] else None


@rule
def compares_with_nan(failure, student):
    """cut raises for NaN, and not for another number."""
    if failure.error is None:
        return None
    student.observe("taken_out", PLAIN, leaf(0.5), None)
    try:
        student.observe("taken_out", PLAIN, leaf(float("nan")), None)
    except StudentCodeError:
        return {"raised": str(failure.error)}
    return None


# ----------------------------------------------------------------------------------- split_backward


@rule
def not_cut_in_two(failure, student):
    """second was given a tensor with a node."""
    given = failure.facts.get("given") or begun(student)["given"]
    nodes = [w["node"] for w in given if w["node"] is not None]
    return {"w_node": nodes[0]} if nodes else None


@rule
def w_does_not_require_grad(failure, student):
    """second was given a tensor that does not require grad, and the first stage raised."""
    seen = begun(student)
    raised = seen["raised"] or ""
    required = not seen["given"] or seen["given"][0]["requires_grad"]
    return {"raised": raised} if not required and "require grad" in raised else None


@rule
def grad_is_none_at_first(failure, student):
    """None was to be zeroed, and with something in x.grad beforehand there is none."""
    if not failure.raised("AttributeError", "NoneType", "zero_"):
        return None
    held = torch.ones(2, dtype=torch.float64)
    try:
        student.observe("stages", PLAIN, SQUARES, leaf(0.3, 0.7), held)
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
    return None if begun(student)["at_y"] else {"at_first": at_x}


@rule
def results_turned_round(failure, student):
    """Each gradient came where the other belongs."""
    wanted = [failure.facts.get(name) for name in ("at_w", "at_x")]
    came = all(agrees(result_at(failure, place), want) for place, want in enumerate(wanted))
    return {} if came and differs(*wanted) else None


def begun(student):
    """What happens inside split_backward with two plain stages."""
    return student.observe("begun", PLAIN, SQUARES, leaf(0.3, 0.7))


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
        "the sum of the squares divided by len(online)": (d**2).sum() / (len(d) if d.dim() else 1),
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
def overwritten(failure, student):
    """online or target holds other values after the call."""
    seen = losses(student)
    for k, name in enumerate(("online", "target")):
        before, after = seen["states_before"][k]["values"], seen["states_after"][k]["values"]
        if differs(after, before):
            return {"name": name, "before": before, "after": after}
    return None


@rule
def loss_made_a_leaf(failure, student):
    """A loss that requires grad, and no gradient on either side."""
    state = losses(student)["state"]
    made = state and state["requires_grad"] and state["leaf"]
    return {} if made and sides(student) == (None, None) else None


@rule
def nothing_learns(failure, student):
    """No gradient on either side, and no way back to one: a gradient of zeros is another matter."""
    state = losses(student)["state"]
    return {} if state and not state["requires_grad"] and sides(student) == (None, None) else None


@rule
def online_was_cut(failure, student):
    """target has the gradient that online should have."""
    at = sides(student)
    if not at or at[0] is not None or at[1] is None:
        return None
    return {"at_online": at[0], "at_target": at[1]}


@rule
def target_not_cut(failure, student):
    """Both sides have a gradient, and online that of the mean square."""
    at = sides(student)
    if at and at[1] is None:
        at = sides(student, None)  # a target that is a leaf
    if not at or None in at or abs(at[0] - 4.0) > 1e-6 or at[1] > 0:
        return None
    return {"at_online": at[0], "at_target": at[1]}


SAME_AGAIN = program(lambda x: x * 1)


def losses(student, g=SAME_AGAIN):
    """What bootstrap_loss does with online = 3 and target = 1, which is a leaf without g."""
    with student.writing_allowed():
        return student.observe("losses", SAME_AGAIN, g, leaf(3.0), leaf(1.0))


def sides(student, g=SAME_AGAIN):
    """The gradients of that loss, each None where it is missing or 0; None without a loss."""
    seen = losses(student, g)
    found = seen["gradients"]
    if not isinstance(seen["loss"], torch.Tensor):
        return None
    if not isinstance(found, list):
        return None, None
    return tuple(grad.item() if grad is not None and bool(grad) else None for grad in found)
