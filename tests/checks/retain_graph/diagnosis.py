"""The mistakes that people make with a second backward, each recognised by what comes back."""

import torch

from grader.authoring import Opaque, StudentCodeError, differs, import_helpers, program, rule, same

helpers = import_helpers(__file__)

PASSES = ("backward_twice", "two_fresh_gradients", "sum_of_gradients")
SECOND_TIME = "Trying to backward through the graph a second time"
CUBE = program(lambda x: x**3)
TWO_LOSSES = program(lambda x: (x**2, x**3, x * 1))
KEYS = ("x + 1", "x * 2", "x ** 2", "x.exp()", "x.sum()", "-x")


def agrees(left, right):
    """``same`` with a tolerance that float32 stays within."""
    return same(left, right, rtol=1e-4, atol=1e-6)


def counts(student):
    """What the function saved and read for backward at x = 5, and what it returned."""
    return student.observe("error_text", torch.tensor(5.0, requires_grad=True), None)


def pair(failure):
    """The two results of two_fresh_gradients, or a pair of None."""
    result = failure.facts.get("result")
    return result if isinstance(result, tuple) and len(result) == 2 else (None, None)


# ---------------------------------------------------------------------------- second_backward_error


@rule
def does_not_catch(failure, student):
    """The function lets the error through."""
    return (
        {"line": str(failure.error.line)} if failure.raised("RuntimeError", SECOND_TIME) else None
    )


@rule
def message_is_typed_in(failure, student):
    """A string about a second backward, without any backward."""
    seen = counts(student)
    typed = isinstance(seen["result"], str) and "second time" in seen["result"].lower()
    return {"read": seen["read"]} if typed and seen["read"] == 0 else None


@rule
def returns_the_exception(failure, student):
    """The exception object, its repr, or its type's name."""
    if isinstance(failure.actual, Opaque) and failure.actual.type_name in ("RuntimeError", "type"):
        return {"shown": failure.actual}
    if isinstance(failure.actual, str) and "RuntimeError" in failure.actual:
        line = next(
            line for line in reversed(failure.actual.splitlines()) if "RuntimeError" in line
        )
        return {"shown": line.strip()[:48] + " …"}
    return None


@rule
def builds_a_fresh_graph(failure, student):
    """Each backward runs on a graph of its own, so no error arises."""
    seen = counts(student)
    alone = (
        seen["saved"] == seen["read"] >= 2 * seen["reached"]
    )  # a pass through log(x ** 3) reads two; x.backward() reads none
    return seen if not holds_message(seen) and seen["reached"] >= 2 and alone else None


@rule
def keeps_the_graph_it_should_lose(failure, student):
    """The first backward retained the graph."""
    seen = counts(student)
    # torch 2.6 does not run a leaf's hook in a pass of autograd.grad that records its own graph.
    reached = max(seen["reached"], seen["passes"] - seen["raised"])
    if holds_message(seen) or reached < 2:
        return None
    # Several graphs save a multiple of what a pass reads, one saves that; create_graph saves more.
    each = seen["read"] // reached
    retained = each and (seen["saved"] == each or seen["saved"] % each)
    return {**seen, "reached": reached} if retained else None


@rule
def stops_after_one_backward(failure, student):
    """One pass, and no message."""
    seen = counts(student)
    return {"shown": repr(failure.actual)} if not seen["result"] and seen["reached"] == 1 else None


def holds_message(seen):
    """Whether torch's message is in what came back."""
    return isinstance(seen["result"], str) and SECOND_TIME in seen["result"]


# --------------------------------------------------------------------- what all three can get wrong


@rule
def losses_compared_by_value(failure, student):
    """The graph is freed too early only where two losses are equal; that others work is what the
    check needs.
    """
    return (
        {}
        if failure.check == "test_losses_of_one_value"
        and failure.raised("RuntimeError", "a second time")
        else None
    )


@rule
def no_retain_graph(failure, student):
    """A pass after one that freed the graph."""
    return (
        {"line": str(failure.error.line)} if failure.raised("RuntimeError", SECOND_TIME) else None
    )


@rule
def grad_is_none_at_first(failure, student):
    """An error about None that a gradient from before makes go away."""
    if (
        not stumbles_over_none(failure)
        or stumbles(student, failure.about, held=None, retained=True) is None
    ):
        return None
    return (
        none_error(failure)
        if stumbles(student, failure.about, held=torch.tensor(1.0), retained=False) is None
        else None
    )


@rule
def takes_grad_of_the_loss(failure, student):
    """An error about None that goes away where the loss retains its gradient."""
    if not stumbles_over_none(failure):
        return None
    return (
        none_error(failure)
        if stumbles(student, failure.about, held=None, retained=True) is None
        else None
    )


def stumbles_over_none(failure):
    """Whether the error is about None, used like a tensor."""
    return failure.raised("AttributeError", "NoneType") or failure.raised("TypeError", "NoneType")


def none_error(failure):
    """The facts of such an error."""
    return {"raised": str(failure.error), "line": str(failure.error.line)}


def stumbles(student, about, *, held, retained):
    """What the function raises on a small graph of the rule's own, or None."""
    x = torch.tensor(2.0, requires_grad=True)
    try:
        if about == "sum_of_gradients":
            helpers.several_losses(student, TWO_LOSSES, x, held, retained)
        else:
            helpers.one_loss(student, about, CUBE, x, held, retained)
    except StudentCodeError as error:
        return error
    return None


@rule
def gradient_is_not_returned(failure, student):
    """None, or a pair of None, though the passes ran."""
    facts = failure.facts
    if "result" not in facts or facts.get("grad") is None:
        return None
    result = facts["result"]
    items = result if isinstance(result, tuple) else (result,)
    return (
        {"stored": facts["grad"], "returned": result}
        if all(item is None for item in items)
        else None
    )


@rule
def retains_every_pass(failure, student):
    """A further differentiation works."""
    return {} if "more" in failure.facts else None


# ----------------------------------------------------------------------------------- backward_twice


@rule
def grad_is_not_stored(failure, student):
    """x.grad is what it was before, and no pass wrote there."""
    grad, held, one = (failure.facts.get(name) for name in ("grad", "held", "one"))
    if failure.facts.get("stored") != 0 or not isinstance(failure.facts["result"], torch.Tensor):
        return None
    if not failure.facts["passes"]:
        return None
    untouched = (
        grad is None if held is None else agrees(grad, held) and differs(held + 2 * one, held)
    )
    return {} if untouched else None


@rule
def doubles_one_pass(failure, student):
    """One pass, with a result that holds the gradient twice."""
    result, held, one = (failure.facts.get(name) for name in ("result", "held", "one"))
    if failure.facts.get("passes") != 1:
        return None
    base = torch.zeros_like(one) if held is None else held
    return (
        {}
        if agrees(result, base + 2 * one)
        or agrees(result, 2 * base + 2 * one)
        or agrees(result, 2 * one)
        else None
    )


@rule
def only_one_pass(failure, student):
    """One pass, and its gradient."""
    result, held, one = (failure.facts.get(name) for name in ("result", "held", "one"))
    if failure.facts.get("passes") != 1:
        return None
    return {} if agrees(result, one) or (held is not None and agrees(result, held + one)) else None


@rule
def clears_between_the_passes(failure, student):
    """Two passes, and the gradient of the second; x.grad does not hold both."""
    result, held, one, grad = (
        failure.facts.get(name) for name in ("result", "held", "one", "grad")
    )
    if (
        failure.facts.get("passes") != 2
        or failure.facts.get("stored") != 2
        or not agrees(result, one)
    ):
        return None
    if agrees(grad, 2 * one if held is None else held + 2 * one):
        return None
    x, earlier = torch.tensor(2.0, requires_grad=True), torch.tensor(100.0)
    return (
        {}
        if agrees(
            helpers.one_loss(student, failure.about, CUBE, x, earlier)["result"], torch.tensor(12.0)
        )
        else None
    )


@rule
def clears_what_came_before(failure, student):
    """Two passes, without what was there."""
    result, held, one = (failure.facts.get(name) for name in ("result", "held", "one"))
    return {"twice": 2 * one} if held is not None and agrees(result, 2 * one) else None


# ------------------------------------------------------------------------------ two_fresh_gradients


@rule
def counts_grad_from_before(failure, student):
    """A result with the earlier gradient in it."""
    held, one, each = (failure.facts.get(name) for name in ("held", "one", "each"))
    if held is None:
        return None
    if failure.about == "two_fresh_gradients":
        first, _ = pair(failure)
        return {"counted": first, "alone": one} if agrees(first, held + one) else None
    total = sum(each)
    for times in range(1, len(each) + 1):
        if agrees(failure.actual, total + times * held):
            return {"counted": failure.actual, "alone": total}
    return None


@rule
def subtracts_what_was_there(failure, student):
    """Nothing but what was there spoils the result."""
    held, one, each = (failure.facts.get(name) for name in ("held", "one", "each"))
    if held is None or held.isfinite().all():
        return None
    pairs = failure.about == "two_fresh_gradients"
    returned = pair(failure)[0] if pairs else failure.actual
    if not isinstance(returned, torch.Tensor) or returned.shape != held.shape:
        return None
    spoiled = not returned.isfinite().all()
    return {"returned": returned, "alone": one if pairs else sum(each)} if spoiled else None


@rule
def no_clearing_between(failure, student):
    """The second result is the sum of both passes."""
    _, second = pair(failure)
    one = failure.facts.get("one")
    return (
        {"second": second}
        if isinstance(one, torch.Tensor) and agrees(second, 2 * one) and differs(second, one)
        else None
    )


@rule
def results_cleared_away(failure, student):
    """A result of zeros where the gradient is none."""
    first, second = pair(failure)
    one = failure.facts.get("one")
    if (
        not isinstance(first, torch.Tensor)
        or not isinstance(one, torch.Tensor)
        or agrees(one, 0 * one)
    ):
        return None
    zeros = [
        agrees(result, 0 * one) and shared
        for result, shared in zip((first, second), failure.facts["shared"], strict=True)
    ]
    return {"actual_pair": (first, second)} if any(zeros) else None


@rule
def results_are_one_tensor(failure, student):
    """Writing to one result changes the other."""
    facts = failure.facts
    if facts.get("written") != "the first result" or facts.get("other") != "the second result":
        return None
    before, after, _ = student.observe(
        "after_writing", CUBE, torch.tensor(2.0, requires_grad=True), None, 7
    )
    return None if same(before[2], after[2]) else {}


@rule
def result_is_grad_itself(failure, student):
    """A result shares its memory with x.grad only."""
    return {} if failure.facts.get("other") == "x.grad" else None


@rule
def copies_one_pass(failure, student):
    """Two right results from one pass."""
    first, second = pair(failure)
    one = failure.facts.get("one")
    return (
        {}
        if failure.facts.get("passes") == 1 and agrees(first, one) and agrees(second, one)
        else None
    )


# --------------------------------------------------------------------------------- sum_of_gradients


@rule
def only_the_last_loss(failure, student):
    """The gradient of one of several losses."""
    each = failure.facts.get("each") or []
    if failure.facts.get("passes") != len(each):
        return None
    for number in range(len(each), 0, -1):
        if len(each) > 1 and agrees(failure.actual, each[number - 1]):
            return {"number": number, "count": len(each)}
    return None


@rule
def adds_running_totals(failure, student):
    """x.grad is read after every pass, and never cleared."""
    each = failure.facts.get("each") or []
    if len(each) < 2:
        return None
    running = sum((len(each) - k) * grad for k, grad in enumerate(each))
    return {"gradients": each, "count": len(each)} if agrees(failure.actual, running) else None


@rule
def averages_the_losses(failure, student):
    """The sum over the number of losses."""
    each = failure.facts.get("each") or []
    return (
        {"count": len(each)}
        if len(each) > 1 and agrees(failure.actual, sum(each) / len(each))
        else None
    )


@rule
def one_backward_for_all(failure, student):
    """One pass through the trunk for several losses."""
    each, result = failure.facts.get("each") or [], failure.facts.get("result")
    return (
        {"count": len(each)}
        if len(each) > 1 and failure.facts.get("passes") == 1 and agrees(result, sum(each))
        else None
    )


# ------------------------------------------------------------------------- SURVIVES_SECOND_BACKWARD


def predicted(student):
    """The keys that were predicted to survive; None where not every key has a prediction."""
    found = student.SURVIVES_SECOND_BACKWARD
    if not isinstance(found, dict) or any(type(found.get(key)) is not bool for key in KEYS):
        return None
    return {key for key in KEYS if found[key]}


@rule
def nothing_survives(failure, student):
    """False everywhere."""
    return survivor(failure) if predicted(student) == set() else None


@rule
def everything_survives(failure, student):
    """True everywhere."""
    return survivor(failure) if predicted(student) == set(KEYS) else None


@rule
def survival_inverted(failure, student):
    """The complement of the truth."""
    return survivor(failure) if predicted(student) == {"x * 2", "x ** 2", "x.exp()"} else None


@rule
def a_multiple_survives(failure, student):
    """Linear is taken for keeping nothing."""
    found = predicted(student)
    if found is None or failure.facts.get("key") != "x * 2":
        return None
    return {} if "x * 2" in found and not found & {"x ** 2", "x.exp()"} else None


@rule
def a_total_does_not_survive(failure, student):
    """The sum is taken for a node that keeps its input."""
    found = predicted(student)
    return (
        {}
        if found is not None and failure.facts.get("key") == "x.sum()" and "x.sum()" not in found
        else None
    )


def survivor(failure):
    """How many predictions there are, where the failure is one of a wrong prediction."""
    return {"count": len(KEYS)} if "key" in failure.facts else None
