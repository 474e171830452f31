"""custom_functions: rules that recognize mistakes by what the student's code does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Backward,
    Failure,
    Opaque,
    Student,
    differs,
    formula_value,
    nonlinear_backward,
    rule,
    same,
    term_beside_v,
    value_and_gradients,
    value_rule,
)

Facts = dict[str, Any]
Pair = tuple[Any, Any]

TRUTH: Facts = {"Add": torch.add, "Mul": torch.mul, "Pow": torch.pow, "BroadcastMul": torch.mul}


def labels(name: str) -> tuple[str, str]:
    return ("x", "q" if name == "Pow" else "y")


def questions(failure: Failure) -> tuple[Tensor, Tensor, Tensor]:
    """Return x, y and v to ask about: those of the failure if they are three numbers each, else
    drawn ones.
    """
    given: list[Any] = [failure.inputs.get(name) for name in (*labels(failure.about), "v")]
    x = failure.draw.tensor(3, low=0.2 if failure.about == "Pow" else -2.0)
    drawn = [x, failure.draw.tensor(3), failure.draw.tensor(3)]
    modest = [isinstance(t, Tensor) and t.shape == (3,) and t.dtype is torch.float64 for t in given]
    usable = 3 if all(modest) else 2 if all(modest[:2]) else 0
    drawn[:usable] = [t.detach().clone() for t in given[:usable]]
    return drawn[0], drawn[1], drawn[2]


def ask(student: Student, name: str, x: Tensor, y: Tensor, v: Tensor, between: Any = ()) -> Pair:
    """Return both gradients for the incoming gradient v, None where there is none. The Function is
    applied to the tensors in between before backward runs.
    """

    def apply(x: Tensor, y: Tensor) -> Any:
        function = getattr(student, name)
        z = function.apply(x, y)
        if between:
            function.apply(*between)
        return z

    return value_and_gradients(apply, [x, y], v)[1]


def truth(name: str, x: Tensor, y: Tensor, v: Tensor) -> Pair:
    return value_and_gradients(TRUTH[name], [x, y], v)[1]


@rule
def styles_mixed(failure: Failure, student: Student) -> Facts | None:
    """A TypeError about the arguments of forward, backward or setup_context."""
    if failure.error is None or not failure.raised("TypeError", "argument"):
        return None
    said = failure.error.message
    methods = any(name in said for name in ("forward()", "backward()", "setup_context()"))
    counted = methods and "positional argument" in said
    return {"said": said} if counted or "missing a required argument" in said else None


@rule
def writes_into_others(failure: Failure, student: Student) -> Facts | None:
    """x, y and v before and after."""
    notices = ("single memory location", "inplace", "in-place")
    if failure.error is not None and not any(failure.raised(text) for text in notices):
        return None
    for which, before, after in before_and_after(failure, student):
        if differs(after, before):
            return {"which": which, "before": before, "after": after}
    return None


def before_and_after(failure: Failure, student: Student) -> Iterator[tuple[str, Tensor, Tensor]]:
    (x, y, v), (_, label) = questions(failure), labels(failure.about)
    with student.writing_allowed() as copies:
        getattr(student, failure.about).apply(x, y)
    yield from (("x", x, copies.of(x)), (label, y, copies.of(y)))
    leaves = x.clone().requires_grad_(), y.clone().requires_grad_()
    seen = student.observe("beside", f"{failure.about}.apply", leaves, v, None)
    yield from zip(
        ("x", label, "grad_output"), (x, y, v), (*seen["inputs"], seen["v"]), strict=True
    )


@value_rule
def stash_outside(failure: Failure, student: Student) -> Facts | None:
    """A call between forward and backward changes the gradient."""
    name, (x, y, v) = failure.about, questions(failure)
    other = failure.draw.tensor(3, low=0.3, high=1.9), failure.draw.tensor(3)
    runs = [ask(student, name, x, y, v, between) for between in ((), (), other)]
    for once, again, got, want in zip(*runs, truth(name, x, y, v), strict=True):
        if same(once, again) and differs(got, once) and differs(got, want):
            return {"function": name, "x": x, "got": got, "want": want}
    return None


@value_rule
def gradient_left_out(failure: Failure, student: Student) -> Facts | None:
    """The value is right, and a gradient is missing."""
    name, (x, y, v) = failure.about, questions(failure)
    leaves = [failure.inputs.get(label) for label in labels(name)]
    constant = any(isinstance(one, Tensor) and not one.requires_grad for one in leaves)
    if constant and failure.actual is None and "which" in failure.facts:
        return {"which": failure.facts["which"]}
    if not same(getattr(student, name).apply(x.clone(), y.clone()), TRUTH[name](x, y)):
        return None
    for which, got in zip(labels(name), ask(student, name, x, y, v), strict=True):
        if got is None:
            return {"x": x, "v": v, "which": which}
    return None


@value_rule
def ignores_grad_output(failure: Failure, student: Student) -> Facts | None:
    """The derivative alone, for three incoming gradients: clipping gives the same for two large
    ones, a sign for two of one sign.
    """
    name, (x, y, v) = failure.about, questions(failure)
    other = torch.where(v > 0, v + 1, v - 1)
    runs = [ask(student, name, x, y, one) for one in (v, other, -0.01 * v)]
    for which, got, again, small, want in zip(
        labels(name), *runs, truth(name, x, y, v), strict=True
    ):
        if not isinstance(got, Tensor) or not got.isfinite().all() or not got.any():
            continue
        if same(got, again) and same(got, small) and same(got * v, want):
            facts = {"function": name, "which": which, "v": v, "other": other}
            return {**facts, "got": got, "want": want}
    return None


WRONG_RULES = {
    "x": (
        "v * x ** (q - 1)",
        "v * q * x ** q",
        "v * q * x",
        "v * (q - 1) * x ** (q - 1)",
        "v * (q - 1) * x ** q",
        "v * x ** q * log(x)",
        "v * (q * x ** q - 1)",
    ),
    "q": (
        "v * x ** q",
        "v * log(x)",
        "v * x ** q * log(q)",
        "v * x ** (q - 1) * log(x)",
        "v * x ** q * log10(x)",
        "v * q * x ** (q - 1)",
        "v * x * q ** (x - 1)",
        "v * q * x ** q * log(x)",
    ),
}
"""Wrong formulas for the gradients of Pow."""


@value_rule
def saved_in_another_order(failure: Failure, student: Student) -> Facts | None:
    """x and q are exchanged in both formulas; the power is that of forward or exchanged too."""
    x, q, v = questions(failure)
    q = q.abs()
    got, again = ask(student, "Pow", x, q, v)
    told = (same(got, v * p * x / q) and same(again, v * p * q.log()) for p in (x**q, q**x))
    return {"x": x, "q": q, "v": v, "got": got, "again": again} if any(told) else None


@value_rule
def logarithm_of_another_base(failure: Failure, student: Student) -> Facts | None:
    """Only the logarithm is wrong."""
    found = wrong_power_rule.recognize(failure, student)
    return found if found and "log10" in found["formula"] else None


@value_rule
def wrong_power_rule(failure: Failure, student: Student) -> Facts | None:
    """One of the gradients is a well-known wrong formula."""
    x, q, v = questions(failure)
    q[0] = q[0].abs()  # of a negative exponent every wrong logarithm or root is the same nan
    got_both, want_both = ask(student, "Pow", x, q, v), truth("Pow", x, q, v)
    if all(map(same, got_both, reversed(want_both))):
        return None  # swapped
    for (which, formulas), got, want in zip(WRONG_RULES.items(), got_both, want_both, strict=True):
        for formula in formulas:
            if same(got, formula_value(formula, x=x, q=q, v=v)) and differs(got, want):
                facts = {"x": x, "q": q, "v": v, "which": which}
                return {**facts, "got": got, "want": want, "formula": formula}
    return None


def names_in(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    found = (one for one in ast.walk(node) if isinstance(one, ast.Name))
    return {one.id for one in found if isinstance(one.ctx, context)}


@rule
def global_in_place_of_argument(failure: Failure, student: Student) -> Facts | None:
    """A class that reads a variable of the file, and a gradient that does not depend on the other
    argument.
    """
    body, name = student.source.tree.body, failure.about
    outside = [one for one in body if not isinstance(one, ast.ClassDef | ast.FunctionDef)]
    written = {each for one in outside for each in names_in(one, ast.Store)}
    own = [one for one in body if isinstance(one, ast.ClassDef) and one.name == name]
    if failure.error is not None or not any(written & names_in(one, ast.Load) for one in own):
        return None
    x, y, v = questions(failure)
    got, want, (one, two) = ask(student, name, x, y, v), truth(name, x, y, v), labels(name)
    for k, which, other, args in ((0, one, two, (x, y + 0.75)), (1, two, one, (x + 0.5, y))):
        again = ask(student, name, *args, v)[k]
        if differs(got[k], want[k]) and same(got[k], again) and got[k].isfinite().all():
            facts = {"x": x, "v": v, "got": got[k], "which": which, "other": other}
            return {**facts, "one": (y, x)[k], "two": args[1 - k]}
    return None


def backward_at_a_point(failure: Failure, student: Student) -> Backward:
    """Return v, and backward as a function of the incoming gradient."""
    name, (x, y, v) = failure.about, questions(failure)
    return v, lambda v: dict(zip(labels(name), ask(student, name, x, y, v), strict=True))


term_outside_the_product = term_beside_v(backward_at_a_point)
nonlinear_in_grad_output = nonlinear_backward(backward_at_a_point)


@rule
def returns_the_class(failure: Failure, student: Student) -> Facts | None:
    """An instance comes back, or torch complains of one."""
    if failure.error and failure.raised("Legacy autograd function"):
        return {"came": failure.error.message.split(". ")[0]}
    if isinstance(failure.actual, Opaque) and failure.actual.type_name.startswith("Pair"):
        return {"came": "an object of the class"}
    return None


@rule
def forward_called_directly(failure: Failure, student: Student) -> Facts | None:
    """forward ran with a ctx that is not a node, or failed and is used outside of the classes."""
    contexts = [name for name in failure.facts.get("contexts", ()) if name]
    if any(not name.endswith("Backward") for name in contexts):
        return {"given": contexts[0]}
    classes = [one for one in student.source.tree.body if getattr(one, "name", "") in TRUTH]
    inner = {inside for one in classes for inside in ast.walk(one)}
    if not any(getattr(one, "attr", "") == "forward" for one in {*student.source.nodes} - inner):
        return None
    if failure.raised("TypeError", "forward() missing 1 required positional argument"):
        return {"given": "x, the first argument"}
    none = "'NoneType' object has no attribute"
    return {"given": "None"} if failure.raised("AttributeError", none) else None


@rule
def other_function_runs(failure: Failure, student: Student) -> Facts | None:
    """The Function that was given has not run, or the one that was given later."""
    applies = any(getattr(node, "attr", "") == "apply" for node in student.source.nodes)
    if failure.error is not None or not applies:
        return None
    x, y, v = (failure.draw.tensor(3, requires_grad=True) for _ in range(3))
    a, b = failure.draw.coefficients(2, low=2.0, high=5.0)
    ran = student.observe("called", x, y, v.detach(), a, b).get("contexts")
    got, want = student.observe("apart", x, y, a, b)[0], (x * a + y).detach()
    if not differs(got, want) or (ran and not same(got, y * b - x)):
        return None
    return {"a": a, "x": x, "y": y, "got": got, "want": want}
