"""no_grad_and_detach, rules that recognize mistakes by what is still connected afterwards."""

from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Failure,
    Student,
    StudentCodeError,
    differs,
    has_facts,
    program,
    rule,
    same,
)

Facts = dict[str, Any]

PLAIN = program(lambda x: x.exp())
SUM = program(lambda x: x.exp() + x)
SQUARES = program(lambda w: (w**2).sum())


def agrees(left, right):
    """``same`` with a tolerance that float32 stays within."""
    return same(left, right, rtol=1e-4, atol=1e-6)


def leaf(*values):
    """A tensor that requires grad."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def pair_from(failure):
    """The two results of split_backward, or two Ellipses where there is no such pair."""
    result = failure.facts.get("result")
    return result if isinstance(result, tuple) and len(result) == 2 else (..., ...)


# ------------------------------------------------------------------------------------------ predict


error_swallowed = has_facts("kind", raised=None)
error_replaced = has_facts("kind", itself=False)


@rule
def mode_stays_off_after_an_error(failure: Failure, student: Student) -> Facts | None:
    """Off after an exception only. If it is on, a line that switches it on was reached."""
    facts = failure.facts
    if "kind" not in facts or facts["mode_after"]:
        return None
    plain = student.observe("prediction", PLAIN, leaf(0.5), None, True)
    return {} if plain["mode_after"] else None


mode_is_set_not_restored = has_facts("was")  # a check of the mode failed


def made_inside(seen):
    """The first node that f made inside predict, or None."""
    return next(filter(None, seen.get("nodes_inside", ())), None)


def probes(student):
    """What predict does with functions without and with a parameter that requires grad."""
    layer = program(lambda x, w: x * w, parameters=[leaf(2.0)])
    return [student.observe("prediction", f, leaf(0.5), None, True) for f in (PLAIN, layer)]


def recorded(fits):
    """Make a rule: the nodes that f makes without and with a parameter, and that of the result,
    are as ``fits`` says. It shows the node that f made in the failed check.
    """

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        plain, layered = probes(student)
        nodes, state = [made_inside(plain), made_inside(layered)], plain["state"]
        if state is None or not fits(*nodes, state["node"]):
            return None
        return {"built": made_inside(failure.facts) or nodes[0] or nodes[1]}

    return recognize


only_x_is_cut = recorded(lambda plain, layered, result: layered and not plain)
graph_dropped_afterwards = recorded(lambda plain, layered, result: plain and not result)
recording_was_on = recorded(lambda plain, layered, result: plain and result)


@rule
def recording_depends_on_x(failure: Failure, student: Student) -> Facts | None:
    """A graph only where x does not require grad."""
    x, facts = failure.inputs.get("x"), failure.facts
    if not isinstance(x, torch.Tensor) or x.requires_grad or not facts.get("built"):
        return None
    if any(map(made_inside, probes(student))):
        return None
    asked = student.source.names_used("predict").get(".requires_grad")
    return {"line": asked} if asked else {}


# ---------------------------------------------------------------------------------------------- cut


@rule
def detached_in_place(failure: Failure, student: Student) -> Facts | None:
    """A tensor that was given, or y, lost its place."""
    for name, (before, after) in failure.facts.get("states", {}).items():
        if before["requires_grad"] and not after["requires_grad"]:
            return {"name": name, "node_before": str(before["node"])}
    if failure.about != "split_backward":
        return None
    detached = student.observe("begun", SUM, SQUARES, leaf(0.3, 0.7))["y"] == [True, False]
    return {"name": "y", "node_before": "AddBackward0"} if detached else None


def cut_returned(fits):
    """Make a rule: whether cut returned y itself, and the state of what it returned, are as
    ``fits`` says. It shows the node.
    """

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        itself, state = failure.facts.get("itself"), failure.facts.get("state")
        return {"node": str(state["node"])} if state and fits(itself, state) else None

    return recognize


y_itself_comes_back = cut_returned(lambda itself, state: itself and state["requires_grad"])
copy_stays_connected = cut_returned(lambda itself, state: not itself and state["node"])
cut_and_made_a_leaf = cut_returned(lambda itself, state: not itself and state["requires_grad"])


# ----------------------------------------------------------------------------------- split_backward


@rule
def not_cut_in_two(failure: Failure, student: Student) -> Facts | None:
    """second was given a tensor with a node."""
    given = failure.facts.get("given") or begun(student)["given"]
    nodes = [w["node"] for w in given if w["node"] is not None]
    return {"w_node": nodes[0]} if nodes else None


@rule
def w_does_not_require_grad(failure: Failure, student: Student) -> Facts | None:
    """second was given a tensor that does not require grad, and the first stage raised."""
    seen = begun(student)
    raised = seen["raised"] or ""
    required = not seen["given"] or seen["given"][0]["requires_grad"]
    return {"raised": raised} if not required and "require grad" in raised else None


@rule
def grad_is_none_at_first(failure: Failure, student: Student) -> Facts | None:
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
def stops_at_the_cut(failure: Failure, student: Student) -> Facts | None:
    """Nothing arrived at x."""
    if failure.error is not None:
        return None
    (at_x, at_w), held = pair_from(failure), failure.facts.get("held")
    nothing = at_x is None or (
        held is not None and agrees(at_x, held) and differs(at_x, failure.facts["at_x"])
    )
    if not nothing or not agrees(at_w, failure.facts.get("at_w")):
        return None
    # Where a backward did begin at y, its gradient was found and not handed back.
    return None if begun(student)["at_y"] else {"at_first": at_x}


@rule
def results_turned_round(failure: Failure, student: Student) -> Facts | None:
    """Each gradient came where the other belongs."""
    wanted = [failure.facts.get(name) for name in ("at_w", "at_x")]
    return {} if all(map(agrees, pair_from(failure), wanted)) and differs(*wanted) else None


def begun(student):
    """What happens inside split_backward with two plain stages."""
    return student.observe("begun", PLAIN, SQUARES, leaf(0.3, 0.7))


# ----------------------------------------------------------------------------------- bootstrap_loss


@rule
def another_distance(failure: Failure, student: Student) -> Facts | None:
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
def overwritten(failure: Failure, student: Student) -> Facts | None:
    """online or target holds other values after the call."""
    for name, (before, after) in losses(student)["states"].items():
        if differs(after["values"], before["values"]):
            return {"name": name, "before": before["values"], "after": after["values"]}
    return None


def loss_without_graph(*, requires_grad):
    """Make a rule: nothing leads back from the loss. A gradient of zeros is another matter."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        state = losses(student)["state"]
        alone = state and state["leaf"] and state["requires_grad"] is requires_grad
        return {} if alone else None

    return recognize


loss_made_a_leaf = loss_without_graph(requires_grad=True)
nothing_learns = loss_without_graph(requires_grad=False)


@rule
def online_was_cut(failure: Failure, student: Student) -> Facts | None:
    """target has the gradient that online should have."""
    at = sides(student)
    if not at or at[0] is not None or at[1] is None:
        return None
    return {"at_online": at[0], "at_target": at[1]}


@rule
def target_not_cut(failure: Failure, student: Student) -> Facts | None:
    """Both sides have a gradient, and online that of the mean square."""
    at = sides(student)
    if at and at[1] is None:
        at = sides(student, program(lambda a, b: (a * 1, b), inputs=2))  # a target that is a leaf
    if not at or None in at or abs(at[0] - 4.0) > 1e-6 or at[1] > 0:
        return None
    return {"at_online": at[0], "at_target": at[1]}


SAME_AGAIN = program(lambda a, b: (a * 1, b * 1), inputs=2)


def losses(student: Student, make: Any = SAME_AGAIN) -> Facts:
    """Return what is seen of bootstrap_loss with online = 3 and target = 1, computed or leaves."""
    names, inputs = ["online", "target", "a", "b"], [leaf(3.0), leaf(1.0)]
    return student.observe("called", "bootstrap_loss", names, make, inputs)


def sides(student: Student, make: Any = SAME_AGAIN) -> tuple[Any, Any] | None:
    """Return the gradients of that loss, None where missing or 0; None without a loss."""
    seen = losses(student, make)
    found = seen["gradients"]
    if not isinstance(seen["result"], Tensor):
        return None
    if not isinstance(found, list):
        return None, None
    one, other = (grad.item() if grad is not None and bool(grad) else None for grad in found)
    return one, other
