"""second_derivative, rules that recognize mistakes by what the student's code does, asked again.

Several causes raise the same message, or give the same zeros. So a rule watches the student's code
differentiate a cube, and sees which gradient has no graph.
"""

from __future__ import annotations

import ast
from math import comb
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Again,
    Failure,
    Phrase,
    Student,
    StudentCodeError,
    differs,
    formula,
    formula_value,
    methods,
    phrase,
    rule,
    same,
    short_repr,
    value_rule,
)

Facts = dict[str, Any]

CURVES = {"hessian": "x.sum() ** 3 + (x ** 3).sum()", "gradient_penalty": "(x ** 3).sum(1)"}
TILTS = {"hessian": "x.sum() * 1e8", "gradient_penalty": "1e8"}
"""Large terms: differences feel them, derivatives do not. For the others x ** 3 and x * 1e8."""
LINES = ("linear", "line_is_zero", "constant", "to_learn")
"""What is in the name of a check of functions with a constant derivative."""


# ------------------------------------------------------------------------------------- asking again


def point(name: str, *, requires_grad: bool = True) -> Tensor:
    """Return an x for a function: two numbers, or two rows of two."""
    values = [[1.0, 2.0], [0.5, 1.5]] if name == "gradient_penalty" else [1.0, 2.0]
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def asked(student: Student, name: str, f: Any, x: Tensor, *n: int) -> Any:
    """Return what the student's function answers; the exception, if it raises."""
    try:
        return getattr(student, name)(f, x, *n)
    except StudentCodeError as error:
        return error


def curve(name: str, tilt: str = "") -> Any:
    return formula(CURVES.get(name, "x ** 3") + tilt)


def on_a_curve(failure: Failure, student: Student, n: int = 2, tilt: str = "") -> Any:
    """Return the answer for a curve at an x that requires grad, and the right one."""
    name = failure.about
    more = (n,) if name == "nth_derivative" else ()
    f, x = curve(name, tilt), point(name)
    return asked(student, name, f, x, *more), getattr(failure.reference, name)(f, x, *more)


def right_on_a_curve(failure: Failure, student: Student) -> bool:
    return same(*on_a_curve(failure, student))


def watched(failure: Failure, student: Student, n: int = 2, *, requires_grad: bool = True) -> Any:
    """Return what is differentiated on the way to the answer for the curve; see the scenario."""
    name = failure.about
    more = (n,) if name == "nth_derivative" else ()
    orders, x = ["f", "f'", "f''"][:n], point(name, requires_grad=requires_grad)
    return student.observe("watched", name, curve(name), orders, {}, x, *more)


def asked_again(failure: Failure, student: Student) -> Again:
    """Ask about the failure's own f and x, for the formulas of diagnosis.toml."""
    name, n = failure.about, max(failure.inputs.get("n", 2), 0)
    f, x = failure.inputs["f"].program, failure.inputs["x"].detach()
    more = (n,) if name == "nth_derivative" else ()
    right = getattr(failure.reference, name)(f, x, *more).detach()
    g = torch.autograd.functional.vjp(lambda x: f(x).sum(), x)[1]
    names: Facts = {"right": right, "count": x.numel(), "g": telling(g)}
    facts: Facts = {"n": n}
    if name == "hessian":
        names["diagonal"], facts["mixed"] = telling(right.diagonal()), float(right[0, -1])
    elif name == "gradient_penalty":
        facts["norms"] = g.norm(dim=1)
    else:
        orders = [telling(derivative(failure, k)) for k in range(n + 2)]
        names |= {"lower": orders[max(n - 1, 0)], "higher": orders[n + 1]}
        constants = [one for one in orders[1:n] if one.isfinite().all() and not right.any()]
        names["constant"] = constants[-1] if constants else torch.nan * right
    return Again(
        names=names,
        right={"value": "right"},
        ask={"value": lambda _: asked(student, name, f, failure.inputs["x"], *more)},
        facts=facts,
    )


def derivative(failure: Failure, n: int) -> Tensor:
    """Return the n-th derivative at the failure's own f and x."""
    f, x = failure.inputs["f"].program, failure.inputs["x"].detach()
    return failure.reference.nth_derivative(f, x, n).detach()


def telling(found: Tensor) -> Tensor:
    """Return NaN, which no answer is, for zeros: they have many causes."""
    return found if found.any() else found * torch.nan


def gave_up(answer: Any) -> bool:
    """Return whether an answer is what a missing graph leads to: an exception, None or zeros."""
    if isinstance(answer, StudentCodeError):
        texts = ("require grad", "appears to not have been used", "NoneType")
        return any(text in str(answer) for text in texts)
    return answer is None or (isinstance(answer, Tensor) and not answer.any())


def outcome(answer: Any) -> Phrase:
    """Return what an answer is, as a part of a sentence."""
    if isinstance(answer, StudentCodeError):
        return phrase("your code raised {error}", error=str(answer).split(".")[0])
    if isinstance(answer, Tensor):
        return phrase("your function returned {value}", value=short_repr(answer))
    return phrase("your function returned None")


# ---------------------------------------------------------------------------- the student's text


def differentiations(student: Student, name: str) -> list[ast.Call]:
    """Return the calls of ``grad`` and ``backward`` that a function reaches, its own first."""
    definitions, found = student.source.definitions, []
    for at in (name, *student.source.names_used(name)):
        inside = ast.walk(definitions[at]) if at in definitions else ()
        calls = [one for one in inside if isinstance(one, ast.Call)]
        for call in sorted(calls, key=lambda call: call.lineno):
            called = ast.unparse(call.func)
            if called.split(".")[-1] in ("grad", "backward") and called not in definitions:
                found.append(call)
    return found


def backwards(student: Student, name: str) -> list[int]:
    """Return the lines on which a function calls backward()."""
    found = differentiations(student, name)
    return [one.lineno for one in found if ast.unparse(one.func).endswith("backward")]


def line_of(student: Student, name: str, *, recorded: bool) -> Facts:
    """Return the line of the first differentiation with create_graph=True, or without."""
    for call in differentiations(student, name):
        flags = [ast.unparse(one.value) for one in call.keywords if one.arg == "create_graph"]
        if (flags == ["True"]) == recorded:
            return {"line": call.lineno}
    return {}


# ------------------------------------ one message or zeros, several causes: told apart by watching


@rule
def tuple_of_gradients(failure: Failure, student: Student) -> Facts | None:
    """Python or torch complains of a tuple, or the tuple of one gradient comes back; not one that
    the student made.
    """
    texts = ("'tuple' object", "not tuple", "got tuple")
    if failure.error and any(map(failure.raised, texts)):
        collects = failure.raised("'append'") or failure.raised("item assignment")
        return None if collects else {"shown": failure.error.message}
    (function,) = methods(student, failure.about)
    inside = [one for one in ast.walk(function) if isinstance(one, ast.Return)]
    if any(isinstance(one.value, ast.Tuple) for one in inside):
        return None
    single = isinstance(failure.actual, tuple) and len(failure.actual) == 1
    return {"shown": failure.actual} if single else None


@rule
def x_must_require_grad(failure: Failure, student: Student) -> Facts | None:
    """f was called with an x that does not require grad, and nothing came of it."""
    answer = failure.error or failure.actual
    if not gave_up(answer):
        return None
    plain = failure.check.endswith(("plain_tensor", "keeps_grad"))
    for requires_grad in (True, False) if plain else (True,):
        given = watched(failure, student, requires_grad=requires_grad)["given"]
        if given and not any(given):
            return {"requires_grad": requires_grad, "outcome": outcome(answer)}
    return None


@rule
def flag_switched_back_too_early(failure: Failure, student: Student) -> Facts | None:
    """torch raised over an x that required grad when f was called with it."""
    if not failure.raised("One of the differentiated Tensors does not require grad"):
        return None
    seen = watched(failure, student, requires_grad=False)
    return {} if all(seen["given"]) and seen["afterwards"] == [False] else None


def lost(failure: Failure, student: Student) -> tuple[int | None, bool, Facts]:
    """Return which gradient of the curve has no path to x, counted from 0, and whether it was
    computed without a graph; None if that is not what the check failed over.
    """
    nothing: tuple[None, bool, Facts] = (None, False, {})
    answer, n = failure.error or failure.actual, 3 if failure.about == "nth_derivative" else 2
    if failure.about == "gradient_penalty" or not gave_up(answer):
        return nothing
    if not gave_up(on_a_curve(failure, student, n)[0]):
        return nothing
    seen, shown = watched(failure, student, n), {"outcome": outcome(answer)}
    graphs = [graph and graph["nodes"] for graph in seen["differentiated"]]
    to_x = [any(node["name"] == "x" for node in nodes or ()) for nodes in graphs]
    for k in range(n - 1):
        if not all(to_x[k : k + 1]) or len(seen["recorded"]) <= k:
            return nothing  # the value of f has lost its path, or it is x that is another
        if not seen["recorded"][k] or not any(to_x[k + 1 : k + 2]):
            return k, not seen["recorded"][k], shown
    return nothing


@rule
def create_graph_once(failure: Failure, student: Student) -> Facts | None:
    k, unrecorded, shown = lost(failure, student)
    return shown if k and unrecorded and right_on_a_curve(failure, student) else None


@rule
def past_cut_off(failure: Failure, student: Student) -> Facts | None:
    k, unrecorded, shown = lost(failure, student)
    line = {} if failure.error else line_of(student, failure.about, recorded=True)
    return {**shown, **line} if k is not None and not unrecorded else None


@rule
def create_graph_missing(failure: Failure, student: Student) -> Facts | None:
    k, unrecorded, shown = lost(failure, student)
    line = {} if failure.error else line_of(student, failure.about, recorded=False)
    return {**shown, **line} if k == 0 and unrecorded else None


@rule
def constant_derivative_raises(failure: Failure, student: Student) -> Facts | None:
    raised = failure.raised("element 0 of tensors does not require grad")
    on_a_line = any(text in failure.check for text in LINES)
    return {} if on_a_line and raised and right_on_a_curve(failure, student) else None


@rule
def graph_that_misses_x(failure: Failure, student: Student) -> Facts | None:
    """torch raised over an unused x, or None came back."""
    answer = failure.error or failure.actual
    on_a_line = any(text in failure.check for text in LINES)
    raised = failure.raised("appears to not have been used")
    if not on_a_line or isinstance(answer, Tensor) or not (raised or failure.expected is not None):
        return None
    return {"outcome": outcome(answer)} if right_on_a_curve(failure, student) else None


# --------------------------------------------------------------------------- told by what came back


@rule
def writes_to_grad(failure: Failure, student: Student) -> Facts | None:
    found = backwards(student, failure.about)
    return {"line": found[0]} if "held" in failure.facts and found else None


@rule
def grad_is_cleared(failure: Failure, student: Student) -> Facts | None:
    held, after = failure.facts.get("held"), failure.facts.get("after")
    cleared = after is None or (isinstance(after, Tensor) and not after.any())
    return {} if isinstance(held, Tensor) and cleared else None


@rule
def negative_order_accepted(failure: Failure, student: Student) -> Facts | None:
    n = failure.inputs.get("n")
    return {} if isinstance(n, int) and n < 0 and isinstance(failure.actual, Tensor) else None


@rule
def order_zero(failure: Failure, student: Student) -> Facts | None:
    wrong = failure.inputs.get("n") == 0 and differs(failure.actual, failure.expected)
    return {} if wrong and right_on_a_curve(failure, student) else None


@rule
def zeros_unlike_x(failure: Failure, student: Student) -> Facts | None:
    """Zeros of another shape or dtype; what is not zero has the right ones."""
    got, want = failure.actual, failure.expected
    if not isinstance(got, Tensor) or not isinstance(want, Tensor) or not want.numel():
        return None
    if want.any() or got.any() or (got.shape == want.shape and got.dtype == want.dtype):
        return None
    curved = on_a_curve(failure, student)
    if not same(*curved) or curved[0].dtype is not curved[1].dtype:
        return None
    kinds = [f"{tuple(one.shape)}, {str(one.dtype).removeprefix('torch.')}" for one in (got, want)]
    return {"kind": kinds[0], "wanted": kinds[1]}


@value_rule
def accumulated_in_grad(failure: Failure, student: Student) -> Facts | None:
    """Of each order, the lower ones are added in, as often as backward() adds them."""
    n = failure.inputs.get("n", 2)
    if n < 2 or not backwards(student, failure.about):
        return None
    orders = [derivative(failure, k + 1) for k in range(n)]
    piled = sum(comb(n - 1, k) * one for k, one in enumerate(orders))
    wrong = same(failure.actual, piled) and differs(piled, failure.expected)
    return {"first": orders[0], "second": orders[1]} if wrong else None


@value_rule
def zeros_one_order_early(failure: Failure, student: Student) -> Facts | None:
    """Zeros for a constant, and the right derivatives where none is constant."""
    got, want, x = failure.actual, failure.expected, failure.inputs.get("x")
    if not isinstance(got, Tensor) or not isinstance(want, Tensor) or got.any() or not want.any():
        return None
    leaf = point(failure.about)
    curved = asked(student, failure.about, formula("x.exp()"), leaf, 3)
    constant = x.any() and same(want, want.flatten()[:1].expand_as(want))
    return {} if constant and same(curved, leaf.exp()) else None


@value_rule
def rows_not_stacked(failure: Failure, student: Student) -> Facts | None:
    """The rows, in a list or a tuple."""
    rows = failure.actual
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Tensor) for row in rows):
        return None
    matrix = failure.expected
    if (
        not isinstance(matrix, Tensor)
        or len(matrix) != len(rows)
        or not all(map(same, rows, matrix))
    ):
        return None
    return {"type": type(rows).__name__, "count": len(rows)}


@value_rule
def rows_pile_up(failure: Failure, student: Student) -> Facts | None:
    """Rows, and perhaps the gradient, are added up by backward()."""
    found = backwards(student, failure.about)
    again = asked_again(failure, student)
    forms = ("right.cumsum(0)", "right.sum(0).expand_as(right)")
    values = [formula_value(form + more, **again.names) for form in forms for more in ("", " + g")]
    wrong = differs(failure.actual, again.names["right"]) and found
    piled = wrong and any(same(failure.actual, value) for value in values)
    return {"line": found[-1]} if piled else None


@rule
def penalty_cut_off(failure: Failure, student: Student) -> Facts | None:
    """The penalty is right and has no graph, or does not lead to a tensor inside f."""
    got = failure.actual
    without = failure.message.startswith("the penalty does not require grad")
    if failure.error or not (without or ("trains" in failure.check and got is None)):
        return None
    f, x = failure.inputs["f"], failure.inputs["x"]
    got = asked(student, failure.about, f.program, x) if got is None else got
    line = line_of(student, failure.about, recorded=False)
    right = isinstance(got, Tensor) and right_on_a_curve(failure, student)
    return {"penalty": got, **line} if right else None


@value_rule
def finite_differences(failure: Failure, student: Student) -> Facts | None:
    """Close on a curve, and less close on the same curve with a large term."""
    answer, truth = on_a_curve(failure, student)
    if not isinstance(answer, Tensor) or answer.shape != truth.shape:
        return None
    tilted, _ = on_a_curve(failure, student, tilt=f" + {TILTS.get(failure.about, 'x * 1e8')}")
    if answer.dtype != truth.dtype or same(tilted, answer, rtol=0.0, atol=0.0):
        return None  # something small is added, to the norm, say, or under its root
    error = float((answer - truth).abs().max())
    shown = {"f_asked": CURVES.get(failure.about, "x ** 3"), "error": f"{error:.2g}"}
    return shown if 1e-12 < error < 0.05 else None
