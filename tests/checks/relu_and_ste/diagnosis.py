"""relu_and_ste, rules that recognize mistakes by what the student's code does, asked again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Again,
    Failure,
    Opaque,
    Student,
    StudentCodeError,
    differs,
    ends_in_return,
    formula_value,
    function_rule,
    methods,
    phrase,
    rule,
    same,
    value_and_gradients,
    value_rule,
)

Facts = dict[str, Any]
CLASS_OF = {"relu": "MyReLU", "binarize": "STE"}
SLOPES = {"MyReLU": "x > 0", "STE": "ones_like(x)", "ClippedSTE": "abs(x) <= 1"}
RIGHT = "v * slope"


# ------------------------------------------------------------------------------------- asking again


def double(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def questions(failure: Failure) -> tuple[Tensor, Tensor]:
    """Return x and v to ask about: the failure's if they are four modest numbers, or new ones."""
    x, v = failure.inputs.get("x"), failure.inputs.get("v")
    if not isinstance(x, Tensor) or x.shape != (4,) or float(x.abs().max()) > 5:
        x, v = double(0.41, -0.73, 1.62, -2.05), None
    if not isinstance(v, Tensor) or v.shape != (4,):
        v = double(1.31, -2.12, -1.94, 2.55)
    return x.detach().clone(), v.detach().to(x.dtype)


def gradient_of(student: Student, name: str, x: Tensor, v: Tensor) -> Tensor | None:
    """Return the gradient of apply at x for v, or None where there is none."""
    return value_and_gradients(getattr(student, name).apply, [x], v)[1][0]


def formula_at(formula: str, name: str, x: Tensor, v: Tensor) -> Tensor:
    """Return the value of a formula of v, x and the slope of a class."""
    value: Tensor = formula_value(formula, v=v, x=x, slope=formula_value(SLOPES[name], x=x))
    return value


NUMBERS = double(1.3, -2.1, 0.7, 1.9, -1.1, 2.3, 0.4, -0.6)
ELSEWHERE = [
    (double(-0.95, -0.6, -0.3, -0.02, 0.03, 0.4, 0.7, 0.9), NUMBERS),
    (double(-7.0, -2.2, -1.1, -0.4, 0.55, 1.2, 1.9, 8.0), NUMBERS),
]
"""x and v at which a formula for backward must hold too: near 0, near 1, far away."""


def holds(student: Student, name: str, formula: str, *places: tuple[Tensor, Tensor]) -> bool:
    """Return whether backward is this formula for each of these x and v."""
    return all(
        same(gradient_of(student, name, x, v), formula_at(formula, name, x, v)) for x, v in places
    )


def asked_again(failure: Failure, student: Student) -> Again:
    """Ask at x and v for the formulas of diagnosis.toml, and elsewhere."""
    name, (x, v) = failure.about, questions(failure)

    def at(x: Tensor, v: Tensor) -> Facts:
        return {"x": x, "v": v, "slope": formula_value(SLOPES[name], x=x)}

    return Again(
        names=at(x, v),
        right={"gradient": RIGHT},
        ask={"gradient": lambda at: gradient_of(student, name, at["x"], at["v"])},
        elsewhere=[at(*place) for place in ELSEWHERE],
        facts={"rule": RULES[name]},
    )


RULES = {
    "MyReLU": "The slope of max(x, 0) is 1 where x is positive and 0 where x is negative.",
    "STE": "The slope that STE declares is 1 at every x.",
    "ClippedSTE": "The slope that ClippedSTE declares is 1 where -1 <= x <= 1 and 0 elsewhere.",
}


def attributes(student: Student, name: str) -> list[str]:
    """Return the attributes that the functions of a name use."""
    defined = [one for one in student.source.nodes if isinstance(one, ast.FunctionDef)]
    inside = [node for one in defined if one.name == name for node in ast.walk(one)]
    return [node.attr for node in inside if isinstance(node, ast.Attribute)]


# ------------------------------------------------------------------------ what torch or Python said


@rule
def used_up(failure: Failure, student: Student) -> Facts | None:
    """The first backward of a graph works, and the second raises."""
    x, v = questions(failure)
    if failure.error is None or gradient_of(student, failure.about, x, v) is None:
        return None
    y = getattr(student, failure.about).apply(x.requires_grad_())
    try:
        for keep in (True, False):
            torch.autograd.grad(y, x, v.to(y.dtype), retain_graph=keep)
    except StudentCodeError as error:
        return {"said": str(error).splitlines()[0]}
    return None


@rule
def nothing_saved(failure: Failure, student: Student) -> Facts | None:
    """A name of forward's; saved_tensors is empty; an attribute of ctx is missing."""
    names = ("nothing_saved", "variable_of_forward")
    facts = function_rule(*names)(failure, student)
    if facts is not None:
        # where forward itself raises, backward isn't to blame
        getattr(student, failure.about).apply(torch.tensor([0.5, -1.5]))
    return facts


@value_rule
def returns_nothing(failure: Failure, student: Student) -> Facts | None:
    """None from forward or backward, which does not end in a return."""
    x, v = questions(failure)
    y, (gradient,) = value_and_gradients(getattr(student, failure.about).apply, [x], v)
    method = "forward" if y is None else "backward"
    missing = y is None or (isinstance(y, Tensor) and y.requires_grad and y.shape == v.shape)
    returned = ends_in_return(methods(student, method, of=[failure.about]))
    return {"x": x, "method": method} if missing and gradient is None and not returned else None


# ------------------------------------------------------------------------------------ the functions


@rule
def forward_called_directly(failure: Failure, student: Student) -> Facts | None:
    """forward ran with a ctx that is not a node, or could not be called at all."""
    given = failure.facts.get("given")
    if given and (failure.facts.get("direct") or not same(failure.actual, failure.expected)):
        said = phrase("forward ran with a {given} for ctx, which is not a node.", given=given)
        return None if given.endswith("Backward") else {"said": said}
    used = attributes(student, failure.about)
    called = "forward" in used and "apply" not in used
    if not called or not failure.raised("TypeError", ".forward()", "missing"):
        return None
    return {"said": "forward was called without one of its arguments."}


@rule
def clamped_at_its_bounds(failure: Failure, student: Student) -> Facts | None:
    """The gradient is 0 in places, and the function clamps."""
    got, want = failure.actual, failure.expected
    clamps = ("clamp", "clamp_", "clip", "clip_", "hardtanh", "relu6")
    calls = [name for name in attributes(student, failure.about) if name in clamps]
    if not calls or failure.facts.get("forwards") == 0 or not differs(got, want):
        return None
    if not bool(((got == 0) | (got == want)).all()):
        return None
    return {"name": failure.about, "function": CLASS_OF[failure.about], "call": calls[0]}


@rule
def class_left_out(failure: Failure, student: Student) -> Facts | None:
    """A tensor comes back, and forward has not run."""
    return {} if failure.facts.get("forwards") == 0 and isinstance(failure.actual, Tensor) else None


@rule
def apply_not_called(failure: Failure, student: Student) -> Facts | None:
    """A function, a method or an instance comes back, or torch complains of one."""
    name, got = CLASS_OF[failure.about], failure.actual
    if failure.raised("Legacy autograd function"):
        said = phrase("{function}()(x) calls an instance.", function=name)
        return {"said": said, "function": name}
    unapplied = isinstance(got, Opaque) and (got.text == "apply" or got.type_name == name)
    if not unapplied:
        return None
    said = phrase("{name}(x) is of type {kind}.", name=failure.about, kind=got.type_name)
    return {"said": said, "function": name}


@rule
def past_the_class(failure: Failure, student: Student) -> Facts | None:
    """x gets grad_output itself, and not what the class's backward makes of it."""
    ours = "is not what {function}.backward returns" in failure.message
    return {} if ours and same(failure.actual, failure.inputs["v"]) else None


@value_rule
def cuts_the_graph(failure: Failure, student: Student) -> Facts | None:
    """No gradient reaches x through the function, and one does through apply."""
    name, x, v = CLASS_OF[failure.about], double(0.6, 1.4), double(1.0, 1.0)
    y, (gradient,) = value_and_gradients(getattr(student, failure.about), [x], v)
    if not isinstance(y, Tensor) or y.shape != x.shape or gradient is not None:
        return None
    through = gradient_of(student, name, x, v)
    return None if through is None else {"name": failure.about, "function": name}


# ---------------------------------------------------------------------------------------- the value


STEPS: dict[str, Callable[[Tensor], Tensor]] = {
    "x >= 0": lambda x: x >= 0,
    "sign(x)": torch.sign,
    "(sign(x) + 1) / 2": lambda x: (torch.sign(x) + 1) / 2,
    "2 * (x > 0) - 1": lambda x: torch.where(x > 0, 1.0, -1.0),
    "2 * (x >= 0) - 1": lambda x: torch.where(x >= 0, 1.0, -1.0),
    "x < 0": lambda x: x < 0,
    "round(x)": torch.round,
    "max(x, 0)": torch.relu,
    "x > c with a small c > 0, as in round(sigmoid(x))": lambda x: x > 1e-8,
}


@value_rule
def another_step(failure: Failure, student: Student) -> Facts | None:
    """The value is that of a step at another place, or between other numbers."""
    if failure.points_to("backward"):
        return None
    points = torch.tensor([-1.3, -0.4, 0.0, 1e-10, 0.3, 0.7, 1.8])
    got, want = getattr(student, failure.about).apply(points.clone()), (points > 0).float()
    for formula, step in STEPS.items():
        if differs(got, want) and same(got, step(points).float()):
            return {"points": points, "got": got, "want": want, "formula": formula}
    return None


@value_rule
def too_large_in_between(failure: Failure, student: Student) -> Facts | None:
    """forward is right in float64 and for a small x; for a large one it overflows in float32."""
    if failure.points_to("backward"):
        return None
    apply, x = getattr(student, failure.about).apply, torch.tensor([1e30])
    got, small = apply(x.clone()), x / 1e26
    if not isinstance(got, Tensor) or got.isfinite().all():
        return None
    right = same(apply(x.double()), x.double()) and same(apply(small.clone()), small)
    return {"x": x, "got": got, "want": x} if right else None


@rule
def writes_into_others(failure: Failure, student: Student) -> Facts | None:
    """x, v, or what a neighbour gets from v, before and after."""
    x, v = questions(failure)
    with student.writing_allowed() as copies:
        getattr(student, failure.about).apply(x)
    if not torch.equal(copies.of(x), x):
        return {"whose": "x", "before": x, "after": copies.of(x)}
    leaf = x.clone().requires_grad_()
    seen = student.observe("beside", f"{failure.about}.apply", [leaf], v, None)
    neighbour = seen["grads"][1]
    held = [("x", x, seen["inputs"][0]), ("grad_output", v, seen["v"])]
    held.append(("grad_output", v, neighbour))
    for whose, before, now in held:
        if differs(now, before):
            return {"whose": whose, "before": before, "after": now}
    return None


@value_rule
def stash_outside(failure: Failure, student: Student) -> Facts | None:
    """The gradient of a first call, after a second one, is made from the second's values."""
    name, v = failure.about, double(1.2, 0.7, -1.9, -2.3)
    x, z = double(0.4, -0.6, 1.7, -2.2).requires_grad_(), double(1.6, -0.3, -0.8, 1.9)
    apply = getattr(student, name).apply
    y, _ = apply(x), apply(z)
    if not isinstance(y, Tensor) or not y.requires_grad:
        return None
    (got,) = torch.autograd.grad(y, x, v.to(y.dtype), allow_unused=True)
    want = formula_at(RIGHT, name, x.detach(), v)
    told = same(got, formula_at(RIGHT, name, z, v)) and differs(got, want)
    return {"x": x.detach(), "z": z, "v": v, "got": got, "want": want} if told else None


# ------------------------------------------------------------------------------------- the gradient


@value_rule
def gradient_is_clipped(failure: Failure, student: Student) -> Facts | None:
    """backward(k v) is not k backward(v), and of a very small v each element passes as it is, or
    not at all.
    """
    if failure.points_to("forward"):
        return None
    x, v = questions(failure)
    got, small, large = (gradient_of(student, failure.about, x, k * v) for k in (1, 1e-4, 1e3))
    if got is None or small is None or large is None or not small.any():
        return None
    if not same(small * 1e4, torch.where(small == 0, 0.0, v)):
        return None
    if not bool(((got == 0) | torch.isclose(got, v) | torch.isclose(got, large)).all()):
        return None  # neither passed nor cut off: bent, by tanh for instance
    for factor in (-1.0, 2.0, 100.0, 0.01):
        again = gradient_of(student, failure.about, x, factor * v)
        if differs(again, factor * got):
            shown = {"x": x, "v": v, "got": got, "again": again}
            return {**shown, "factor": factor, "want": factor * got}
    return None


@value_rule
def half_at_zero(failure: Failure, student: Student) -> Facts | None:
    """Right on both sides of 0, and at 0 a number that is neither 0 nor v."""
    if failure.check != "test_my_relu_at_zero":
        return None
    v = double(2.0, 3.0, -2.0)
    got = gradient_of(student, "MyReLU", double(-1.5, 0.0, 0.8), v)
    if got is None or not same(got[::2], double(0.0, -2.0)) or float(got[1]) in (0.0, 3.0):
        return None
    return {"incoming": 3.0, "got": float(got[1])} if got.isfinite().all() else None


@value_rule
def none_for_zeros(failure: Failure, student: Student) -> Facts | None:
    """No gradient where no element passes one; a gradient for other x."""
    want = failure.expected
    if failure.actual is not None or not isinstance(want, Tensor) or want.any():
        return None
    return None if gradient_of(student, failure.about, *questions(failure)) is None else {}


@value_rule
def wrong_at_the_borders(failure: Failure, student: Student) -> Facts | None:
    """Right elsewhere, and wrong at -1, 1 or a little beyond."""
    if failure.points_to("forward") or not holds(student, "ClippedSTE", RIGHT, *ELSEWHERE):
        return None
    near = 1 + torch.finfo(torch.float64).eps  # the number after 1
    x, v = double(-near, -1.0, 1.0, near), double(2.0, 3.0, -2.0, 4.0)
    got, want = gradient_of(student, "ClippedSTE", x, v), double(0.0, 3.0, -2.0, 0.0)
    return {"v": v, "got": got, "want": want} if differs(got, want) else None
