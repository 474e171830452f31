"""custom_functions, the mistakes that people make in it. Each is told by what the student's code
does when it is asked again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.authoring import Failure, MissingName, Opaque, Student, differs, rule, same

Facts = dict[str, Any]
Pair = tuple[Any, Any]

FUNCTIONS = ("Add", "Mul", "Pow", "BroadcastMul")
PRODUCTS = ("Mul", "Pow", "BroadcastMul")
TRUTH = {"Add": torch.add, "Mul": torch.mul, "Pow": torch.pow, "BroadcastMul": torch.mul}


# ------------------------------------------------------------------------------------- asking again


def second(name: str) -> str:
    """What the second argument is called."""
    return "q" if name == "Pow" else "y"


def questions(failure: Failure) -> tuple[Tensor, Tensor, Tensor]:
    """x, y and v to ask about: those of the failure where they are a few modest numbers, else drawn
    ones.
    """
    given = [failure.inputs.get(name) for name in ("x", second(failure.about), "v")]
    x = failure.draw.tensor(3, low=0.2 if failure.about == "Pow" else -2.0)
    drawn = [x, failure.draw.tensor(3), failure.draw.tensor(3)]
    modest = [isinstance(t, Tensor) and t.shape == (3,) and t.dtype is torch.float64 for t in given]
    if all(modest[:2]):
        drawn[:2] = [t.detach().clone() for t in given[:2] if isinstance(t, Tensor)]
    if all(modest) and isinstance(given[2], Tensor):
        drawn[2] = given[2].detach().clone()
    return drawn[0], drawn[1], drawn[2]


def ask(student: Student, name: str, x: Tensor, y: Tensor, v: Tensor) -> Pair:
    """Both gradients for the incoming gradient v; None where there is none."""
    x, y = x.detach().clone().requires_grad_(), y.detach().clone().requires_grad_()
    z = getattr(student, name).apply(x, y)
    if not isinstance(z, Tensor) or not z.requires_grad or z.shape != v.shape:
        return None, None
    first, then = torch.autograd.grad(z, (x, y), v.detach().clone().to(z.dtype), allow_unused=True)
    return first, then


def truth(name: str, x: Tensor, y: Tensor, v: Tensor) -> Pair:
    """Both gradients as torch has them."""
    x, y = x.detach().clone().requires_grad_(), y.detach().clone().requires_grad_()
    first, then = torch.autograd.grad(TRUTH[name](x, y), (x, y), v)
    return first, then


def right_value(student: Student, name: str, x: Tensor, y: Tensor) -> bool:
    """Whether the Function computes what it should."""
    return same(getattr(student, name).apply(x.clone(), y.clone()), TRUTH[name](x, y))


def came_back(failure: Failure) -> bool:
    """Whether something came back that is wrong. Where the code raised, asking for values again
    would raise again.
    """
    return failure.error is None


# ------------------------------------------------------------------------ what torch or Python said


@rule
def not_a_function(failure: Failure, student: Student) -> Facts | None:
    """The class exists, and the class of its node does not."""
    try:
        _ = getattr(student, failure.about)._backward_cls
    except MissingName as missing:
        return {"function": failure.about} if failure.about in missing.present else None
    return None


@rule
def name_that_is_no_argument(failure: Failure, student: Student) -> Facts | None:
    """A NameError."""
    if failure.error is None or failure.error.type_name != "NameError":
        return None
    modules = ("np", "numpy", "math", "nn", "F", "functional", "torch")  # not imported, that is
    if any(failure.raised(f"'{module}'") for module in modules):
        return None
    return {"line": str(failure.error.line), "said": failure.error.message}


@rule
def styles_mixed(failure: Failure, student: Student) -> Facts | None:
    """A TypeError about the arguments of forward, backward or setup_context."""
    if failure.error is None or failure.error.type_name != "TypeError":
        return None
    said = failure.error.message
    methods = any(name in said for name in ("forward()", "backward()", "setup_context()"))
    return (
        {"said": said}
        if "missing a required argument" in said or (methods and "positional argument" in said)
        else None
    )


@rule
def nothing_saved(failure: Failure, student: Student) -> Facts | None:
    """saved_tensors holds another number of tensors, or an attribute of ctx is missing."""
    if failure.error is None:
        return None
    said, line = failure.error.message, failure.error.line or 0
    saved = "saved" in student.source.text.splitlines()[line - 1]  # not a shape, that is
    index = saved and ("tuple index out of range" in said or "values to unpack" in said)
    attribute = (
        "Backward' object has no attribute" in said and "attribute 'save" not in said
    )  # saved_tensor is a slip of the pen
    return {"said": said} if index or attribute else None


@rule
def wrong_number_of_gradients(failure: Failure, student: Student) -> Facts | None:
    """The engine counts the gradients."""
    if failure.error and failure.raised("returned an incorrect number of gradients"):
        return {"said": failure.error.message}
    return None


@rule
def gradient_of_another_shape(failure: Failure, student: Student) -> Facts | None:
    """The engine compares the shape with the input's."""
    if failure.error and failure.raised("returned an invalid gradient", "expected shape"):
        return {"said": failure.error.message}
    return None


# -------------------------------------------------------------------- what belongs to somebody else


@rule
def writes_into_others(failure: Failure, student: Student) -> Facts | None:
    """x, y and v before and after."""
    if not came_back(failure) and not any(
        failure.raised(text) for text in ("single memory location", "inplace", "in-place")
    ):
        return None
    x, y, v = questions(failure)
    label = second(failure.about)
    a, b = x.clone(), y.clone()
    getattr(student, failure.about).apply(a, b)
    for which, before, after in (("x", x, a), (label, y, b)):
        if differs(after, before):
            return {"which": which, "before": before, "after": after}
    seen = student.observe(
        "beside", failure.about, x.clone().requires_grad_(), y.clone().requires_grad_(), v, None
    )
    for which, before, after in (
        ("x", x, seen["x"]),
        (label, y, seen["y"]),
        ("grad_output", v, seen["v"]),
    ):
        if differs(after, before):
            return {"which": which, "before": before, "after": after}
    return None


@rule
def stash_on_ctx(failure: Failure, student: Student) -> Facts | None:
    """The check has seen attributes that hold tensors."""
    return {} if "names" in failure.facts and "saved" in failure.facts else None


@rule
def stash_outside(failure: Failure, student: Student) -> Facts | None:
    """The gradient of a first call, after a second one, is made from the second's values."""
    if not came_back(failure):
        return None
    name = failure.about
    x, y, v = questions(failure)
    s, t = failure.draw.tensor(3, low=0.3, high=1.9), failure.draw.tensor(3)
    x.requires_grad_(), y.requires_grad_()
    z = getattr(student, name).apply(x, y)
    getattr(student, name).apply(s, t)
    if not isinstance(z, Tensor) or not z.requires_grad or z.shape != v.shape:
        return None
    found = torch.autograd.grad(z, (x, y), v, allow_unused=True)
    for got, want, wrong in zip(found, truth(name, x, y, v), truth(name, s, t, v), strict=True):
        if same(got, wrong) and differs(got, want):
            return {"function": name, "x": x, "got": got, "want": want}
    return None


# ------------------------------------------------------------------------------------- the gradient


@rule
def gradient_left_out(failure: Failure, student: Student) -> Facts | None:
    """The value is right, and a gradient is missing."""
    if not came_back(failure):
        return None
    x, y, v = questions(failure)
    if not right_value(student, failure.about, x, y):
        return None
    for which, got in zip(
        ("x", second(failure.about)), ask(student, failure.about, x, y, v), strict=True
    ):
        if got is None:
            return {"x": x, "v": v, "which": which}
    return None


@rule
def ignores_grad_output(failure: Failure, student: Student) -> Facts | None:
    """The same gradient for two different incoming ones."""
    if not came_back(failure):
        return None
    name, (x, y, v) = failure.about, questions(failure)
    other = torch.where(v > 0, v + 1, v - 1)
    got, again, want = (
        ask(student, name, x, y, v),
        ask(student, name, x, y, other),
        truth(name, x, y, v),
    )
    small = ask(
        student, name, x, y, -0.01 * v
    )  # what is clipped is the same for two large ones, a sign for two of one sign
    for k, which in enumerate(("x", second(name))):
        alike = isinstance(got[k], Tensor) and same(got[k], again[k]) and same(got[k], small[k])
        if (
            alike
            and bool(got[k].any())
            and not bool(got[k].isnan().any())
            and same(got[k] * v, want[k])
        ):
            return {
                "function": name,
                "which": which,
                "v": v,
                "other": other,
                "got": got[k],
                "want": want[k],
            }
    return None


@rule
def gradient_passed_through(failure: Failure, student: Student) -> Facts | None:
    """Both gradients are v."""
    if not came_back(failure):
        return None
    name, (x, y, v) = failure.about, questions(failure)
    first, then = truth(name, x, y, v)
    if not all(same(got, v) for got in ask(student, name, x, y, v)):
        return None
    return {"function": name, "v": v, "other": second(name), "first": first, "then": then}


@rule
def divides_by_a_factor(failure: Failure, student: Student) -> Facts | None:
    """NaN where a factor is zero, right elsewhere."""
    if not came_back(failure):
        return None
    name, (x, y, v) = failure.about, questions(failure)
    right = all(
        same(got, want)
        for got, want in zip(ask(student, name, x, y, v), truth(name, x, y, v), strict=True)
    )
    x[0] = y[1] = 0.0
    first, then = ask(student, name, x, y, v)
    broken = any(isinstance(got, Tensor) and bool(got.isnan().any()) for got in (first, then))
    return {"x": x, "y": y, "v": v, "first": first, "then": then} if right and broken else None


@rule
def gradients_swapped(failure: Failure, student: Student) -> Facts | None:
    """Each gradient is the other's."""
    if not came_back(failure):
        return None
    name, (x, y, v) = failure.about, questions(failure)
    got, want = ask(student, name, x, y, v), truth(name, x, y, v)
    if not same(got[0], want[1]) or not same(got[1], want[0]) or not differs(*want):
        return None
    return {"x": x, "label": second(name), "y": y, "v": v, "first": got[0]}


POWER_RULES: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "v * x ** (q - 1)": lambda x, q, v: v * x ** (q - 1),
    "v * q * x ** q": lambda x, q, v: v * q * x**q,
    "v * q * x": lambda x, q, v: v * q * x,
    "v * (q - 1) * x ** (q - 1)": lambda x, q, v: v * (q - 1) * x ** (q - 1),
    "v * (q - 1) * x ** q": lambda x, q, v: v * (q - 1) * x**q,
    "v * x ** q * log(x)": lambda x, q, v: v * x**q * torch.log(x),
}
EXPONENT_RULES: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "v * x ** q": lambda x, q, v: v * x**q,
    "v * log(x)": lambda x, q, v: v * torch.log(x),
    "v * x ** q * log(q)": lambda x, q, v: v * x**q * torch.log(q),
    "v * x ** (q - 1) * log(x)": lambda x, q, v: v * x ** (q - 1) * torch.log(x),
    "v * x ** q * log10(x)": lambda x, q, v: v * x**q * torch.log10(x),
    "v * q * x ** (q - 1)": lambda x, q, v: v * q * x ** (q - 1),
    "v * q * x ** q * log(x)": lambda x, q, v: v * q * x**q * torch.log(x),
}


@rule
def wrong_power_rule(failure: Failure, student: Student) -> Facts | None:
    """One of the gradients is a well-known wrong formula."""
    if not came_back(failure):
        return None
    x, q, v = questions(failure)
    q[0] = q[0].abs()  # of a negative exponent every wrong logarithm or root is the same nan
    got, want = ask(student, "Pow", x, q, v), truth("Pow", x, q, v)
    for k, which, formulas in ((0, "x", POWER_RULES), (1, "q", EXPONENT_RULES)):
        for text, formula in formulas.items():
            if same(got[k], formula(x, q, v)) and differs(got[k], want[k]):
                return {
                    "x": x,
                    "q": q,
                    "v": v,
                    "which": which,
                    "got": got[k],
                    "want": want[k],
                    "formula": text,
                }
    return None


def uses_a_global(student: Student, name: str) -> bool:
    """Whether the class reads a variable that the file sets outside of it."""
    inner = [
        node
        for node in student.source.nodes
        if isinstance(node, ast.ClassDef) and node.name == name
    ]
    read = {
        node.id
        for cls in inner
        for node in ast.walk(cls)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    lines = [
        node
        for line in student.source.tree.body
        if not isinstance(line, ast.ClassDef | ast.FunctionDef)
        for node in ast.walk(line)
    ]
    return not read.isdisjoint(
        node.id for node in lines if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


@rule
def global_in_place_of_argument(failure: Failure, student: Student) -> Facts | None:
    """A gradient that does not depend on the other argument, and is neither v nor made of its own
    argument.
    """
    if not came_back(failure):
        return None
    name, (x, y, v) = failure.about, questions(failure)
    if not uses_a_global(student, name):
        return None
    got, want = ask(student, name, x, y, v), truth(name, x, y, v)
    p, r = x + 0.5, y + 0.75
    labels = ("x", second(name))
    for k, again, value, other in (
        (0, ask(student, name, x, r, v), y, r),
        (1, ask(student, name, p, y, v), x, p),
    ):
        own = (x, y)[k]
        plain = [v, v * own, torch.ones_like(v), own, -v, 0 * v, 2 * v * own]
        told = differs(got[k], want[k]) and bool(got[k].isfinite().all()) and same(got[k], again[k])
        if told and not any(same(got[k], wrong) for wrong in plain):
            return {
                "x": x,
                "v": v,
                "got": got[k],
                "which": labels[k],
                "other": labels[1 - k],
                "one": value,
                "two": other,
            }
    return None


@rule
def term_outside_the_product(failure: Failure, student: Student) -> Facts | None:
    """backward(v) is a product with v, and something beside it."""
    if not came_back(failure):
        return None
    name, (x, y, v) = failure.about, questions(failure)
    rests, once, twice = (ask(student, name, x, y, k * v) for k in (0, 1, 2))
    for which, rest, one, two in zip(("x", second(name)), rests, once, twice, strict=True):
        told = (
            isinstance(rest, Tensor)
            and bool(rest.any())
            and bool(rest.isfinite().all())
            and isinstance(one, Tensor)
            and isinstance(two, Tensor)
        )
        if told and differs(one, rest) and same(two - one, one - rest):
            return {"which": which, "rest": rest}
    return None


@rule
def nonlinear_in_grad_output(failure: Failure, student: Student) -> Facts | None:
    """backward(k v) is not k backward(v)."""
    if not came_back(failure):
        return None
    name, (x, y, v) = failure.about, questions(failure)
    got, small = ask(student, name, x, y, v), ask(student, name, x, y, -0.01 * v)
    for factor in (-1.0, 2.0, 100.0):
        for which, once, again, less in zip(
            ("x", second(name)), got, ask(student, name, x, y, factor * v), small, strict=True
        ):
            if (
                isinstance(once, Tensor) and differs(again, factor * once) and not same(once, less)
            ):  # else v has no part in it
                return {
                    "v": v,
                    "which": which,
                    "got": once,
                    "again": again,
                    "factor": factor,
                    "want": factor * once,
                }
    return None


# -------------------------------------------------------------------------------------- as_callable


@rule
def returns_the_class(failure: Failure, student: Student) -> Facts | None:
    """An instance comes back, or torch complains of one."""
    if failure.error and failure.raised("Legacy autograd function"):
        return {"came": failure.error.message.split(". ")[0]}
    if isinstance(failure.actual, Opaque) and failure.actual.type_name == "Pair":
        return {"came": "an object of the class"}
    return None


@rule
def forward_called_directly(failure: Failure, student: Student) -> Facts | None:
    """forward ran with a ctx that is not a node, or could not be called."""
    contexts = [name for name in failure.facts.get("contexts", ()) if name]
    if any(not name.endswith("Backward") for name in contexts):
        return {"given": contexts[0]}
    if not calls_forward(student):
        return None
    if failure.raised("TypeError", "forward() missing 1 required positional argument"):
        return {"given": "x, the first argument"}
    return (
        {"given": "None"}
        if failure.raised("AttributeError", "'NoneType' object has no attribute")
        else None
    )


def calls_forward(student: Student) -> bool:
    """Whether the file has a method by the name of forward in its hands, and it isn't one of its
    own Functions that has it.
    """
    inner = {
        inside
        for node in student.source.nodes
        if isinstance(node, ast.ClassDef) and node.name in FUNCTIONS
        for inside in ast.walk(node)
    }
    return any(
        isinstance(node, ast.Attribute) and node.attr == "forward" and node not in inner
        for node in student.source.nodes
    )


@rule
def two_arguments_only(failure: Failure, student: Student) -> Facts | None:
    """Two arguments work, others raise a TypeError about their number."""
    if (
        not failure.error
        or failure.error.type_name != "TypeError"
        or failure.check != "test_any_number_of_arguments"
    ):
        return None
    if failure.raised("forward() missing"):
        return None  # whatever is called takes them all, and drops some on the way
    return (
        {"said": failure.error.message} if "positional argument" in failure.error.message else None
    )


@rule
def other_function_runs(failure: Failure, student: Student) -> Facts | None:
    """The Function that was given has not run, or the one that was given later."""
    if not came_back(failure) or not any(
        getattr(node, "attr", "") == "apply" for node in student.source.nodes
    ):
        return None
    (x, y), (a, b) = (
        (failure.draw.tensor(3), failure.draw.tensor(3)),
        failure.draw.coefficients(2, low=2.0, high=5.0),
    )
    x.requires_grad_(), y.requires_grad_()
    alone, got = (
        student.observe("called", x, y, failure.draw.tensor(3), a, b),
        student.observe("apart", x, y, a, b)[0],
    )
    want = (x * a + y).detach()
    if not differs(got, want) or (alone.get("contexts") and not same(got, y * b - x)):
        return None
    return {"a": a, "x": x, "y": y, "got": got, "want": want}
