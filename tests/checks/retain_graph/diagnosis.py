"""retain_graph, rules that recognize mistakes by what comes back. Others are keys in
diagnosis.toml.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from grader.authoring import (
    Failure,
    Opaque,
    Student,
    differs,
    fetch,
    has_facts,
    phrase,
    program,
    rule,
    same,
)

Facts = dict[str, Any]
SECOND_TIME = "Trying to backward through the graph a second time"
CUBE = program(lambda x: x**3)
TWO_LOSSES = program(lambda x: (x**2, x**3))
KEYS = ("x + 1", "x * 2", "x ** 2", "x.exp()", "x.sum()", "-x")
SAVING = {"x * 2", "x ** 2", "x.exp()"}


def agrees(left: Any, *right: Any) -> bool:
    """Return whether a value is one of others, with a tolerance that float32 stays within."""
    return any(same(left, value, rtol=1e-4, atol=1e-6) for value in right)


def not_zero(value: Any) -> bool:
    return differs(value, 0 * value)


# ---------------------------------------------------------------------------- second_backward_error


def counts(student: Student) -> Facts:
    """Return what the function saved and read for backward at x = 5, and what it returned."""
    return student.observe("error_text", torch.tensor(5.0, requires_grad=True), None)


@rule
def message_is_typed_in(failure: Failure, student: Student) -> Facts | None:
    """A text about a second backward that is not torch's, or without a backward."""
    seen = counts(student)
    typed = isinstance(seen["result"], str) and "second time" in seen["result"].lower()
    unlike = isinstance(failure.actual, str) or not seen["passes"]
    return {} if typed and unlike and not seen["raised"] else None


@rule
def message_is_cut(failure: Failure, student: Student) -> Facts | None:
    """A part of torch's message."""
    whole, part = failure.expected, failure.actual
    cut = isinstance(whole, str) and isinstance(part, str) and part and part in whole
    made = cut and counts(student)["raised"]
    return {"part": len(part), "whole": len(whole)} if made else None


@rule
def returns_the_exception(failure: Failure, student: Student) -> Facts | None:
    """The exception, its repr, its type or its traceback."""
    shown = failure.actual
    if isinstance(shown, str):
        lines = [line.strip() for line in shown.splitlines() if "RuntimeError" in line]
        return {"shown": lines[-1][:48] + " …"} if lines else None
    named = isinstance(shown, Opaque) and shown.type_name in ("RuntimeError", "type")
    return {"shown": shown} if named else None


def reached_twice(student: Student) -> Facts | None:
    """Return the counts if backward reached x twice and torch's message did not come back."""
    seen = counts(student)
    # torch 2.6 does not run a leaf's hook in a pass of autograd.grad that records its own graph.
    reached = max(seen["reached"], seen["passes"] - seen["raised"])
    told = isinstance(seen["result"], str) and SECOND_TIME in seen["result"]
    return None if told or reached < 2 else {**seen, "reached": reached}


@rule
def builds_a_fresh_graph(failure: Failure, student: Student) -> Facts | None:
    """Each backward runs on a graph of its own and reads what that saved."""
    seen = reached_twice(student)
    return seen if seen and seen["saved"] == seen["read"] >= 2 * seen["reached"] else None


@rule
def keeps_the_graph_it_should_lose(failure: Failure, student: Student) -> Facts | None:
    """The first backward retained the graph."""
    seen = reached_twice(student)
    # Several graphs save a multiple of what a pass reads, one saves that; create_graph saves more.
    each = seen["read"] // seen["reached"] if seen else 0
    return seen if each and (seen["saved"] == each or seen["saved"] % each) else None


@rule
def stops_after_one_backward(failure: Failure, student: Student) -> Facts | None:
    """One pass, and no message."""
    seen = counts(student)
    return {"shown": repr(failure.actual)} if not seen["result"] and seen["reached"] == 1 else None


# --------------------------------------------------------------------- what all three can get wrong


@rule
def one_loss_raises(failure: Failure, student: Student) -> Facts | None:
    """An error where one loss is given; the check needs that several work."""
    error = failure.error if failure.check == "test_one_loss_is_enough" else None
    return {"raised": str(error), "line": str(error.line)} if error else None


@rule
def grad_is_none_at_first(failure: Failure, student: Student) -> Facts | None:
    """An error about None that does not occur with a gradient from before."""
    if not failure.raised("NoneType"):
        return None
    f = TWO_LOSSES if failure.about == "sum_of_gradients" else CUBE
    x, held = torch.tensor(2.0, requires_grad=True), torch.tensor(1.0)
    student.observe("passes", failure.about, f, x, held)
    return {"raised": str(failure.error), "line": str(failure.error.line)}


@rule
def gradient_is_not_returned(failure: Failure, student: Student) -> Facts | None:
    """None, or a pair of None, though the passes ran."""
    returned, stored = failure.facts.get("result", ()), failure.facts.get("grad")
    items = returned if isinstance(returned, tuple) else (returned,)
    nothing = items and all(item is None for item in items)
    return {"stored": stored, "returned": returned} if nothing and stored is not None else None


def finds(recognize: Callable[[Any], Any]) -> Any:
    """Return a rule for a failure with a result.

    ``recognize`` gets the facts of the check's ``run``, the results (first, second), what alone
    should come back, x.grad before (held, 0 for None). It returns facts, or whether the mistake is
    made.
    """

    @rule
    def found(failure: Failure, student: Student) -> Facts | None:
        facts = failure.facts
        if "each" not in facts or not facts["one"].numel():  # then all results are alike
            return None
        result = facts["result"]
        is_pair = isinstance(result, tuple) and len(result) == 2
        shown = dict(zip(("first", "second"), result if is_pair else (result, None), strict=True))
        shown["alone"] = sum(facts["each"])
        held = torch.zeros_like(facts["one"]) if facts["held"] is None else facts["held"]
        known = {**facts, **shown, "held": held, "before": facts["held"], "student": student}
        made = recognize(SimpleNamespace(**known))
        return {**shown, **(made if isinstance(made, dict) else {})} if made else None

    return found


def is_single(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], torch.Tensor)


@rule
def tuple_of_gradients(failure: Failure, student: Student) -> Facts | None:
    """A tuple of one gradient stands for a gradient."""
    result = failure.facts.get("result")
    if failure.about != "two_fresh_gradients":
        return (
            {"what": phrase("Your result is a tuple of one gradient")}
            if is_single(result)
            else None
        )
    items = result if isinstance(result, tuple) and len(result) == 2 else ()
    which = [name for name, one in zip(("first", "second"), items, strict=False) if is_single(one)]
    said = {
        "first": "Your first result is a tuple of one gradient",
        "second": "Your second result is a tuple of one gradient",
    }
    return {"what": phrase(said[which[0]])} if which else None


# ----------------------------------------------------------------------------------- backward_twice


def not_stored(case: Any) -> bool:
    """x.grad is what it was before, and no pass wrote there."""
    if case.stored or not case.passes or not isinstance(case.first, torch.Tensor):
        return False
    kept = agrees(case.grad, case.before) and not_zero(case.one)
    return kept or (case.grad is None and case.before is None)


def cleared_between(case: Any) -> bool:
    """Both passes wrote to x.grad, which holds one gradient, whatever was there before."""
    if not case.passes == case.stored == 2 or not agrees(case.first, case.one):
        return False
    if agrees(case.grad, case.held + 2 * case.one):
        return False
    x = case.student.put(torch.tensor(2.0, requires_grad=True))
    x.grad = torch.tensor(100.0)
    return agrees(fetch(case.student.backward_twice(CUBE(x), x)), torch.tensor(12.0))


grad_is_not_stored = finds(not_stored)
doubles_one_pass = finds(
    lambda c: c.passes == 1 and agrees(c.first, *(k * c.held + 2 * c.one for k in (0, 1, 2)))
)
only_one_pass = finds(lambda c: c.passes == 1 and agrees(c.first, c.one, c.held + c.one))
clears_between_the_passes = finds(cleared_between)
clears_what_came_before = finds(lambda c: not_zero(c.held) and agrees(c.first, 2 * c.one))


# --------------------------------------------------------- two_fresh_gradients and sum_of_gradients


def with_held(case: Any) -> bool:
    """The result has what x.grad held before in it, once or several times."""
    sums = (case.alone + (k + 1) * case.held for k in range(case.count))
    return not_zero(case.held) and agrees(case.first, *sums)


def cleared_later(case: Any) -> bool:
    """A result that is x.grad itself was cleared with it."""
    results = zip((case.first, case.second), case.shared, strict=False)
    cleared = any(agrees(result, 0 * case.one) and shared for result, shared in results)
    return cleared and not_zero(case.one)


counts_grad_from_before = finds(with_held)
no_clearing_between = finds(lambda c: agrees(c.second, 2 * c.one) and differs(c.second, c.one))
results_cleared_away = finds(cleared_later)
copies_one_pass = finds(
    lambda c: c.passes == 1 and agrees(c.first, c.one) and agrees(c.second, c.one)
)
# A write to one result changes the other, and they are not one copy returned twice.
results_are_one_tensor = has_facts(written="the first result", changed=2)
result_is_grad_itself = has_facts(other="x.grad")  # with which a result shares its memory


# --------------------------------------------------------------------------------- sum_of_gradients


def of_one_loss(case: Any) -> Facts | None:
    """The result is the gradient of one of several losses, all of which got a pass."""
    numbers = [k + 1 for k, grad in enumerate(case.each) if agrees(case.first, grad)]
    several = len(case.each) > 1 and case.passes == case.count
    return {"number": numbers[-1]} if numbers and several else None


def several(recognize: Callable[[Any], Any]) -> Any:
    return finds(lambda case: len(case.each) > 1 and recognize(case))


only_the_last_loss = finds(of_one_loss)
adds_running_totals = several(
    lambda c: agrees(c.first, sum((c.count - k) * grad for k, grad in enumerate(c.each)))
)
averages_the_losses = several(lambda c: agrees(c.first, c.alone / c.count))
one_backward_for_all = several(lambda c: c.passes == 1 and agrees(c.first, c.alone))
zero_loss_skipped = finds(
    lambda c: any(agrees(c.first, c.alone - part) for part in vars(c).get("of_zeros", ()))
)
one_pass_too_many = finds(lambda c: c.passes > c.count)


# ------------------------------------------------------------------------- SURVIVES_SECOND_BACKWARD


def predicts(recognize: Callable[[set[str], str], bool]) -> Any:
    """Return a rule for a wrong prediction; ``recognize`` gets what is predicted to survive, and
    the first expression that is predicted wrongly.
    """

    @rule
    def found(failure: Failure, student: Student) -> Facts | None:
        made = student.SURVIVES_SECOND_BACKWARD
        if "key" not in failure.facts or any(type(made.get(key)) is not bool for key in KEYS):
            return None
        return {} if recognize({key for key in KEYS if made[key]}, failure.facts["key"]) else None

    return found


nothing_survives = predicts(lambda kept, key: not kept)
everything_survives = predicts(lambda kept, key: kept == set(KEYS))
survival_inverted = predicts(lambda kept, key: kept == SAVING)
a_multiple_survives = predicts(lambda kept, key: key == "x * 2")
a_total_does_not_survive = predicts(lambda kept, key: key == "x.sum()")
nothing_to_save = predicts(lambda kept, key: key not in SAVING)
saved_value_forgotten = predicts(lambda kept, key: key in SAVING - {"x * 2"})
