"""custom_sigmoid, rules that recognize mistakes by what the student's code does, asked again."""

from __future__ import annotations

import ast
import math
from typing import Any, TypeGuard

import torch
from torch import Tensor

from grader.authoring import (
    Again,
    Backward,
    Failure,
    Opaque,
    Phrase,
    Student,
    differs,
    ends_in_return,
    methods,
    nonlinear_backward,
    phrase,
    rule,
    same,
    term_beside_v,
    value_and_gradients,
    value_rule,
)

Facts = dict[str, Any]


# ------------------------------------------------------------------------------------- asking again


def questions(failure: Failure) -> tuple[Tensor, Tensor]:
    """Return x and v to ask about: the failure's if they are a few modest numbers, or new ones."""
    x, v = failure.inputs.get("x"), failure.inputs.get("v")
    if not is_vector(x) or not 2 <= len(x) <= 4 or not float(x.abs().max()) < 5:
        return failure.draw.tensor(3), failure.draw.tensor(3)
    if not is_vector(v) or v.shape != x.shape:
        v = failure.draw.tensor(len(x))
    return x.detach().clone(), v.detach().clone()


def is_vector(value: Any) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.dtype is torch.float64 and value.dim() == 1


def ask(student: Student, x: Tensor, v: Tensor) -> tuple[Any, Tensor | None]:
    """Return Sigmoid.apply(x) and its gradient for v, or None where there is none."""
    y, (gradient,) = value_and_gradients(student.Sigmoid.apply, [x], v)
    return y, gradient


def trouble_with(failure: Failure, student: Student, *shape: int) -> str | Phrase | None:
    """Return what goes wrong for an x of this shape, in words."""
    x, v = failure.draw.tensor(*shape), failure.draw.tensor(*shape)
    try:
        y, gradient = ask(student, x, v)
    except Exception as error:
        return phrase("your code raised {error}", error=str(error))
    s = torch.sigmoid(x)
    if not same(y, s):
        return "the value is wrong"
    return None if same(gradient, v * s * (1 - s)) else "the gradient is wrong"


def asked_again(failure: Failure, student: Student) -> Again:
    """Ask at x and v for the formulas of diagnosis.toml; -v tells |v| from v if all of v has one
    sign.
    """
    x, v = questions(failure)
    s = torch.sigmoid(x)
    return Again(
        names={"x": x, "v": v, "s": s},
        right={"value": "s", "gradient": "v * s * (1 - s)"},
        ask={
            "value": lambda at: student.Sigmoid.apply(at["x"].clone()),
            "gradient": lambda at: ask(student, at["x"], at["v"])[1],
        },
        elsewhere=[{"x": x, "v": -v, "s": s}],
    )


# ---------------------------------------------------------------------------------------- the value


@value_rule
def measured_not_derived(failure: Failure, student: Student) -> Facts | None:
    """A formula is right to 15 digits, and no other cause of fewer digits fits."""
    digits = failure.facts.get("digits")
    if not isinstance(digits, int) or not 4 <= digits < 14:
        return None
    # three sizes, at which differences are off by three amounts
    x = torch.tensor([-1.3, 0.4, 2.1], dtype=torch.float64)
    y, slope = ask(student, x, torch.ones_like(x))
    if slope is None or not same(y.detach(), torch.sigmoid(x), rtol=1e-13, atol=0.0):
        return None  # the value is inexact as well
    if same(slope, slope.float(), rtol=0.0, atol=0.0):
        return None  # computed in float32
    off = slope - y.detach() * (1 - y.detach())  # the same everywhere if a small number is added
    return None if same(off, off[:1].expand_as(off), rtol=1e-4, atol=0.0) else {"digits": digits}


@rule
def function_of_one_number(failure: Failure, student: Student) -> Facts | None:
    """math.exp or float() was given many; torch.tensor of a list of tensors says the same."""
    texts = ("converted to Python scalars", "be converted to Scalar", "must be real number, not")
    if not failure.error or not any(failure.raised(text) for text in texts):
        return None
    line = student.source.text.splitlines()[(failure.error.line or 0) - 1]
    return None if "tensor(" in line else {"said": failure.error.message}


@rule
def no_tensor_but_an_array(failure: Failure, student: Student) -> Facts | None:
    y = failure.actual
    if failure.about != "Sigmoid" or not isinstance(failure.expected, Tensor):
        return None
    if not isinstance(y, Opaque | list | tuple | float):
        return None
    kind = y.type_name if isinstance(y, Opaque) else type(y).__name__
    return {"kind": "NumPy array" if kind == "ndarray" else kind}


@value_rule
def forward_returns_nothing(failure: Failure, student: Student) -> Facts | None:
    y = student.Sigmoid.apply(failure.draw.tensor(3))
    return {} if y is None and not ends_in_return(methods(student, "forward")) else None


@value_rule
def clamped_too_early(failure: Failure, student: Student) -> Facts | None:
    """The same small, positive value at two far points, and exact values elsewhere."""
    x = torch.tensor([-1e4, -5e3, 0.5, 1.5], dtype=torch.float64)
    y = student.Sigmoid.apply(x)
    if not isinstance(y, Tensor) or y.shape != (4,):
        return None
    if y[0] != y[1] or not 1e-9 < float(y[0]) < 0.5:
        return None
    if not same(y[2:], torch.sigmoid(x[2:]), rtol=1e-12, atol=0.0):
        return None  # a small number is added everywhere
    bound = float(torch.logit(y[0]))
    at = torch.tensor([float(math.floor(bound) - 1)], dtype=torch.float64)
    if not torch.equal(student.Sigmoid.apply(at), y[:1]):
        return None
    shown = {"at": f"{at.item():g}", "want": torch.sigmoid(at).item()}
    return {**shown, "got": float(y[0]), "bound": round(bound, 3)}


# ------------------------------------------------------------------- the caller's tensors and calls


@rule
def writes_into_x(failure: Failure, student: Student) -> Facts | None:
    """A check says so, or it fails over two calls on one x."""
    if failure.message in ("forward changed x", "{name} changed x"):
        return {"before": failure.expected, "after": failure.actual}
    x, _ = questions(failure)
    if failure.check != "test_two_results_at_once" or failure.error:
        return None
    with student.writing_allowed() as copies:
        student.Sigmoid.apply(x)
    after = copies.of(x)
    return {"before": x, "after": after} if differs(after, x) else None


@rule
def writes_into_grad_output(failure: Failure, student: Student) -> Facts | None:
    """v differs after backward; torch itself refuses where elements share memory."""
    if failure.error and not failure.raised("single memory location"):
        return None
    x, before = questions(failure)
    x.requires_grad_()
    y = student.Sigmoid.apply(x)
    if not isinstance(y, Tensor) or not y.requires_grad:
        return None
    with student.writing_allowed() as copies:
        torch.autograd.grad(y, x, before, allow_unused=True)
    after = copies.of(before)
    return {"before": before, "after": after} if differs(after, before) else None


@value_rule
def stash_on_ctx(failure: Failure, student: Student) -> Facts | None:
    """Attributes of the node hold tensors that backward uses."""
    if failure.check not in ("test_save_for_backward", "test_backward_again"):
        return None
    seen = student.observe("kept", "Sigmoid.apply", [failure.draw.tensor(3, requires_grad=True)])
    names = ", ".join(f"ctx.{name}" for name in seen["attributes"])
    return {"node": seen["node"], "names": names} if names else None


@rule
def shared_between_calls(failure: Failure, student: Student) -> Facts | None:
    """One call alone is right, and one of two calls is not."""
    z = failure.inputs.get("z")
    if failure.about == "sigmoid" and z is not None:
        return {}
    if failure.check != "test_two_results_at_once" or not isinstance(z, Tensor):
        return None
    y, gradient = ask(student, z, torch.ones_like(z))
    s = torch.sigmoid(z.detach())
    return {} if same(y, s) and same(gradient, s * (1 - s)) and not failure.error else None


@rule
def change_not_noticed(failure: Failure, student: Student) -> Facts | None:
    """The changed values are used; torch's error was not caught."""
    told = "changed in place before backward" in failure.message
    return {} if told and not any(isinstance(n, ast.Try) for n in student.source.nodes) else None


# ------------------------------------------------------------------------------------- the gradient


@value_rule
def backward_returns_nothing(failure: Failure, student: Student) -> Facts | None:
    """The result is differentiable, and its gradient is None."""
    x, v = questions(failure)
    y, gradient = ask(student, x, v)
    missing = isinstance(y, Tensor) and y.requires_grad and gradient is None
    return (
        {"x": x, "v": v} if missing and not ends_in_return(methods(student, "backward")) else None
    )


def backward_at_a_point(failure: Failure, student: Student) -> Backward:
    """Return v, and backward as a function of the incoming gradient."""
    x, v = questions(failure)
    return v, lambda v: {"x": ask(student, x, v)[1]}


term_outside_the_product = term_beside_v(backward_at_a_point)
nonlinear_in_grad_output = nonlinear_backward(backward_at_a_point)


# --------------------------------------------------------------------------------------- the shapes


@rule
def needs_an_element(failure: Failure, student: Student) -> Facts | None:
    """Empty raises; three dimensions do not."""
    if failure.check != "test_empty_tensors" or not failure.error:
        return None
    if trouble_with(failure, student, 2, 3, 2):
        return None
    return {"said": str(failure.error).split(". ")[0]}


@rule
def vectors_only(failure: Failure, student: Student) -> Facts | None:
    """Right for one dimension; wrong, or raising, for none or two."""
    if failure.check not in ("test_every_shape", "test_strided_tensors", "test_empty_tensors"):
        return None
    if trouble_with(failure, student, 3):
        return None
    found = ((shape, trouble_with(failure, student, *shape)) for shape in ((), (2, 2)))
    return next(({"shape": str(shape), "said": said} for shape, said in found if said), None)


# ----------------------------------------------------------------------------------- def sigmoid(x)


@rule
def sigmoid_returns_the_function(failure: Failure, student: Student) -> Facts | None:
    """The method apply comes back; since torch 2.14 its type is that of built-in functions."""
    got = failure.actual
    return {"kind": got.type_name} if isinstance(got, Opaque) and got.text == "apply" else None


@rule
def sigmoid_makes_an_instance(failure: Failure, student: Student) -> Facts | None:
    """An instance comes back, or torch complains of one."""
    made = isinstance(failure.actual, Opaque) and failure.actual.type_name == "Sigmoid"
    return {} if made or failure.raised("Legacy autograd function") else None


@rule
def sigmoid_calls_forward(failure: Failure, student: Student) -> Facts | None:
    """forward ran with a ctx that is not a node, or could not be called."""
    if "direct" in failure.facts:
        return {"said": phrase("forward ran with a {given} for ctx", given=failure.facts["given"])}
    if not failure.error or not failure.raised("TypeError", "Sigmoid.forward()"):
        return None
    inside = [one for function in methods(student, "sigmoid") for one in ast.walk(function)]
    used = {one.attr for one in inside if isinstance(one, ast.Attribute)}
    if "forward" not in used or "apply" in used:
        return None
    return {"said": phrase("Python said: {message}", message=failure.error.message)}


@rule
def sigmoid_leaves_sigmoid_out(failure: Failure, student: Student) -> Facts | None:
    """A tensor comes back, and forward has not run."""
    return {} if failure.facts.get("forwards") == 0 and isinstance(failure.actual, Tensor) else None


@rule
def undefined_gradient(failure: Failure, student: Student) -> Facts | None:
    """gradcheck disagrees, and a backward to which no gradient arrives raises or returns one."""
    if failure.check not in ("test_gradcheck_agrees", "test_gradgradcheck_agrees"):
        return None
    seen = student.observe("undefined", questions(failure)[0])
    if seen["said"]:
        return {"came": phrase("raised {said}", said=seen["said"])}
    got = seen["gradient"]
    return {"came": phrase("returned {got}", got=got)} if got is not None and got.any() else None
