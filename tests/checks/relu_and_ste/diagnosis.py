"""relu_and_ste, the mistakes that people make in it. Each is told by what the student's code does
when it is asked again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.authoring import Failure, MissingName, Opaque, Student, differs, rule, same

Facts = dict[str, Any]

CLASSES = ("MyReLU", "STE", "ClippedSTE")
CLASS_OF = {"relu": "MyReLU", "binarize": "STE"}
SLOPES: dict[str, Callable[[Tensor], Tensor]] = {
    "MyReLU": lambda x: (x > 0).to(x.dtype),
    "STE": torch.ones_like,
    "ClippedSTE": lambda x: (x.abs() <= 1).to(x.dtype),
}


# ------------------------------------------------------------------------------------- asking again


def questions(failure: Failure) -> tuple[Tensor, Tensor]:
    """x and v to ask about: those of the failure where they are four modest numbers, else drawn
    ones.
    """
    x, v = failure.inputs.get("x"), failure.inputs.get("v")
    if not isinstance(x, Tensor) or x.shape != (4,) or float(x.abs().max()) > 5:
        draw = failure.draw
        x = torch.cat(
            [draw.tensor(2, low=0.2, high=0.9), draw.tensor(2, low=1.1, high=2.5)]
        ) * torch.tensor([1.0, -1.0, 1.0, -1.0])
    x = x.detach().clone()
    if isinstance(v, Tensor) and v.shape == (4,):
        return x, v.detach().to(x.dtype)
    return x, failure.draw.tensor(4, low=1.1, high=3.0, dtype=x.dtype) * torch.tensor(
        [1.0, -1.0, -1.0, 1.0], dtype=x.dtype
    )


def ask(student: Student, name: str, x: Tensor, v: Tensor) -> tuple[Any, Tensor | None]:
    """What apply returns for x, and its gradient for the incoming gradient v; None where there is
    none.
    """
    x = x.detach().clone().requires_grad_()
    y = getattr(student, name).apply(x)
    if not isinstance(y, Tensor) or not y.requires_grad or y.shape != v.shape:
        return y, None
    return y, torch.autograd.grad(y, x, v.detach().clone().to(y.dtype), allow_unused=True)[0]


NUMBERS = torch.tensor([1.3, -2.1, 0.7, 1.9, -1.1, 2.3, 0.4, -0.6], dtype=torch.float64)
ELSEWHERE = [
    (torch.tensor([-0.95, -0.6, -0.3, -0.02, 0.03, 0.4, 0.7, 0.9], dtype=torch.float64), NUMBERS),
    (torch.tensor([-7.0, -2.2, -1.1, -0.4, 0.55, 1.2, 1.9, 8.0], dtype=torch.float64), NUMBERS),
]
"""x and v at which a formula for backward must hold too: near 0, near 1, far away."""


def holds(
    student: Student, name: str, formula: Callable[[Tensor, Tensor], Tensor], x: Tensor, v: Tensor
) -> bool:
    """Whether backward is this formula of v and x, at x and elsewhere."""
    return all(same(ask(student, name, x, v)[1], formula(v, x)) for x, v in [(x, v), *ELSEWHERE])


def methods(student: Student, cls: str, name: str) -> list[ast.FunctionDef]:
    """The methods of that name of the classes of that name."""
    classes = [
        node for node in student.source.nodes if isinstance(node, ast.ClassDef) and node.name == cls
    ]
    return [
        node
        for one in classes
        for node in one.body
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]


def ends_in_return(functions: list[ast.FunctionDef]) -> bool:
    """Whether the last line of one of these is a return of something, None by name included."""
    return any(
        isinstance(function.body[-1], ast.Return) and function.body[-1].value is not None
        for function in functions
    )


def keeps_the_tuple(student: Student) -> bool:
    """Whether saved_tensors is used, or given a name, without being unpacked or indexed."""
    found = [
        node
        for node in student.source.nodes
        if isinstance(node, ast.Attribute) and node.attr == "saved_tensors"
    ]
    unpacked = [
        node.value
        for node in student.source.nodes
        if isinstance(node, ast.Subscript | ast.Starred)
        or (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple | ast.List))
    ]
    return any(all(node is not other for other in unpacked) for node in found)


def came_back(failure: Failure) -> bool:
    """Whether something came back that is wrong. Where the code raised, asking for values again
    would raise again.
    """
    return failure.error is None


# ------------------------------------------------------------------------ what torch or Python said


@rule
def not_a_function(failure: Failure, student: Student) -> Facts | None:
    """The class exists, and the class of its node does not."""
    function = CLASS_OF.get(failure.about, failure.about)
    cls = getattr(student, function)
    try:
        _ = cls._backward_cls
    except MissingName:
        return {"function": function}
    return None


@rule
def nothing_saved(failure: Failure, student: Student) -> Facts | None:
    """A name of forward's; saved_tensors is empty, or used as if it were one tensor; an attribute
    of ctx is missing.
    """
    if failure.error is None:
        return None
    said, line = failure.error.message, failure.error.line or 0
    unknown = failure.error.type_name == "NameError" and not names_in_forward(student).isdisjoint(
        said.split("'")[1:2]
    )
    saved = "saved" in student.source.text.splitlines()[line - 1]  # not a shape, that is
    index = saved and ("tuple index out of range" in said or "not enough values to unpack" in said)
    attribute = (
        "Backward' object has no attribute" in said and "attribute 'save" not in said
    )  # saved_tensor is a slip of the pen
    starred = [
        node
        for node in student.source.nodes
        if isinstance(node, ast.FunctionDef) and node.name == "backward" and node.args.vararg
    ]
    if starred and "'tuple'" in said:
        return None  # *grads is a tuple too
    if (
        not unknown
        and not index
        and not attribute
        and not ("'tuple'" in said and keeps_the_tuple(student))
    ):
        return None
    getattr(student, failure.about).apply(
        torch.tensor([0.5, -1.5])
    )  # where forward itself raises, this is no matter of backward
    return {"line": str(line), "said": said}


def names_in_forward(student: Student) -> set[str]:
    """The arguments and the variables of forward and of setup_context, in all classes of the
    file.
    """
    methods = [
        node
        for node in student.source.nodes
        if isinstance(node, ast.FunctionDef) and node.name in ("forward", "setup_context")
    ]
    inner = [node for method in methods for node in ast.walk(method)]
    stored = {
        node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {node.arg for node in inner if isinstance(node, ast.arg)}


@rule
def wrong_number_of_gradients(failure: Failure, student: Student) -> Facts | None:
    """The engine counts the gradients."""
    if (
        failure.error
        and failure.raised("returned an incorrect number of gradients", "expected 1")
        and not failure.raised("got 0")
    ):
        return {"said": failure.error.message}
    return None


@rule
def returns_nothing(failure: Failure, student: Student) -> Facts | None:
    """None from a function, from forward or from backward."""
    if not came_back(failure):
        return None
    if failure.about in CLASS_OF:
        own = [
            node
            for node in student.source.nodes
            if isinstance(node, ast.FunctionDef) and node.name == failure.about
        ]
        empty = (
            failure.actual is None
            and isinstance(failure.expected, Tensor)
            and not ends_in_return(own)
        )
        return (
            {"said": "The function returned None."}
            if empty and "direct" not in failure.facts
            else None
        )
    x, v = questions(failure)
    y, gradient = ask(student, failure.about, x, v)
    if ends_in_return(methods(student, failure.about, "forward" if y is None else "backward")):
        return None  # what is returned is None, and a return is there
    if y is None:
        return {"x": x, "said": "apply returned None, since forward did."}
    ran = isinstance(y, Tensor) and y.requires_grad and y.shape == v.shape
    return (
        {"x": x, "said": "backward ran, and no gradient came out of it."}
        if ran and gradient is None
        else None
    )


@rule
def styles_mixed(failure: Failure, student: Student) -> Facts | None:
    """A TypeError about the number of arguments of forward, backward or setup_context."""
    if (
        failure.error is None
        or failure.error.type_name != "TypeError"
        or "positional argument" not in failure.error.message
    ):
        return None
    said = failure.error.message
    if f"{failure.about}.backward()" in said:
        return (
            {"said": said}
            if any(
                len(method.args.args) == 1 for method in methods(student, failure.about, "backward")
            )
            else None
        )
    split = bool(methods(student, failure.about, "setup_context"))
    other = 2 if split else 1  # how many arguments forward has in the other style
    mixed = any(
        len(method.args.args) == other for method in methods(student, failure.about, "forward")
    )
    named = any(f"{failure.about}.{name}()" in said for name in ("forward", "setup_context"))
    return {"said": said} if named and mixed else None


@rule
def whole_tensor_asked(failure: Failure, student: Student) -> Facts | None:
    """The truth of a tensor of several elements."""
    if failure.error and failure.raised(
        "RuntimeError", "Boolean value of Tensor with more than one value"
    ):
        return {"line": str(failure.error.line), "said": failure.error.message}
    return None


# ------------------------------------------------------------------------------------ the functions


@rule
def forward_called_directly(failure: Failure, student: Student) -> Facts | None:
    """forward ran with a ctx that is not a node, or could not be called at all."""
    given = failure.facts.get("given")
    if given and (failure.facts.get("direct") or not same(failure.actual, failure.expected)):
        return (
            {"said": "forward ran with something for ctx that is not a node of a graph."}
            if not given.endswith("Backward")
            else None
        )
    if failure.raised("TypeError", ".forward()", "missing") and calls_forward(
        student, failure.about
    ):
        return {"said": "forward was called with an argument too few."}
    return None


def calls_forward(student: Student, name: str) -> bool:
    """Whether the function has a method by the name of forward in its hands, and no apply."""
    functions = [
        node
        for node in student.source.nodes
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    used = {
        node.attr
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute)
    }
    return "forward" in used and "apply" not in used


@rule
def clamped_at_its_bounds(failure: Failure, student: Student) -> Facts | None:
    """The gradient is 0 in places, and the function clamps."""
    got, want = failure.actual, failure.expected
    if not isinstance(got, Tensor) or not isinstance(want, Tensor) or got.shape != want.shape:
        return None
    name = failure.about
    calls = called_in(student, name, "clamp", "clamp_", "clip", "clip_", "hardtanh", "relu6")
    if not calls or not bool((got == 0).any()) or not bool(((got == 0) | (got == want)).all()):
        return None
    return {"name": name, "function": CLASS_OF[name], "call": calls[0]}


def called_in(student: Student, name: str, *attributes: str) -> list[str]:
    """Which of these methods and functions a function of the student's calls."""
    nodes = [
        node
        for function in student.source.nodes
        if isinstance(function, ast.FunctionDef) and function.name == name
        for node in ast.walk(function)
    ]
    found = [
        node.func.attr
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    return [attribute for attribute in found if attribute in attributes]


@rule
def class_left_out(failure: Failure, student: Student) -> Facts | None:
    """A tensor comes back, and forward has not run."""
    return {} if failure.facts.get("forwards") == 0 and isinstance(failure.actual, Tensor) else None


@rule
def apply_not_called(failure: Failure, student: Student) -> Facts | None:
    """A function, a method or an instance comes back, or torch complains of one."""
    function = CLASS_OF[failure.about]
    if failure.raised("Legacy autograd function"):
        return {"name": failure.about, "function": function, "kind": function}
    got = failure.actual
    unapplied = isinstance(got, Opaque) and (got.text == "apply" or got.type_name == function)
    return {"kind": got.type_name} if unapplied else None


# ---------------------------------------------------------------------------------------- the value


@rule
def other_dtype(failure: Failure, student: Student) -> Facts | None:
    """The dtype of the value differs for float32 or float64."""
    if not came_back(failure):
        return None
    for dtype in (torch.float64, torch.float32):
        y = getattr(student, failure.about).apply(failure.draw.tensor(3, dtype=dtype))
        if isinstance(y, Tensor) and y.dtype is not dtype:
            return {
                "given": str(dtype).removeprefix("torch."),
                "returned": str(y.dtype).removeprefix("torch."),
            }
    return None


STEPS: dict[str, Callable[[Tensor], Tensor]] = {
    "x >= 0": lambda x: x >= 0,
    "sign(x)": torch.sign,
    "(sign(x) + 1) / 2": lambda x: (torch.sign(x) + 1) / 2,
    "2 * (x > 0) - 1": lambda x: torch.where(x > 0, 1.0, -1.0),
    "2 * (x >= 0) - 1": lambda x: torch.where(x >= 0, 1.0, -1.0),
    "x < 0": lambda x: x < 0,
    "x > 0.5": lambda x: x > 0.5,
    "round(x)": torch.round,
    "max(x, 0)": torch.relu,
}


@rule
def another_step(failure: Failure, student: Student) -> Facts | None:
    """The value is that of a step at another place, or between other numbers."""
    if not came_back(failure):
        return None
    points = torch.tensor([-1.3, -0.4, 0.0, 0.3, 0.7, 1.8])
    got = getattr(student, failure.about).apply(points.clone())
    want = (points > 0).float()
    if not differs(got, want):
        return None
    for formula, step in STEPS.items():
        if same(got, step(points).float()):
            return {"points": points, "got": got, "want": want, "formula": formula}
    return None


# -------------------------------------------------------------------- what belongs to somebody else


@rule
def writes_into_others(failure: Failure, student: Student) -> Facts | None:
    """x, v, or what a neighbour gets from v, before and after."""
    if failure.error and not failure.raised("in-place"):
        return None
    x, v = questions(failure)
    after = x.clone()
    getattr(student, failure.about).apply(after)
    if not torch.equal(after, x):
        return {"whose": "x", "before": x, "after": after}
    seen = student.observe("beside", failure.about, x.clone().requires_grad_(), v, None)
    for whose, before, now in (
        ("x", x, seen["x"]),
        ("grad_output", v, seen["v"]),
        ("grad_output", v, seen["grads"][1]),
    ):
        if differs(now, before):
            return {"whose": whose, "before": before, "after": now}
    return None


@rule
def stash_outside(failure: Failure, student: Student) -> Facts | None:
    """The gradient of a first call, after a second one, is made from the second's values."""
    if not came_back(failure):
        return None
    slope = SLOPES[failure.about]
    x, z = (
        torch.tensor([0.4, -0.6, 1.7, -2.2], dtype=torch.float64),
        torch.tensor([1.6, -0.3, -0.8, 1.9], dtype=torch.float64),
    )
    v, leaf = torch.tensor([1.2, 0.7, -1.9, -2.3], dtype=torch.float64), x.clone().requires_grad_()
    cls = getattr(student, failure.about)
    y = cls.apply(leaf)
    cls.apply(z)
    if not isinstance(y, Tensor) or not y.requires_grad:
        return None
    (got,) = torch.autograd.grad(y, leaf, v.to(y.dtype), allow_unused=True)
    want = v * slope(x)
    return (
        {"x": x, "z": z, "v": v, "got": got, "want": want}
        if same(got, v * slope(z)) and differs(got, want)
        else None
    )


# ------------------------------------------------------------------------------------- the gradient


@rule
def ignores_grad_output(failure: Failure, student: Student) -> Facts | None:
    """The same gradient, not all zeros, for two different incoming ones."""
    if not came_back(failure):
        return None
    x, v = questions(failure)
    other = -v / 4
    got, again = ask(student, failure.about, x, v)[1], ask(student, failure.about, x, other)[1]
    if got is None or not same(got, again) or not bool(got.any()):
        return None
    want = v * SLOPES[failure.about](x)
    return (
        {"x": x, "v": v, "other": other, "got": got, "want": want} if same(got * v, want) else None
    )  # else it is not a slope


@rule
def derivative_of_the_step(failure: Failure, student: Student) -> Facts | None:
    """Zeros come back."""
    if not came_back(failure):
        return None
    x, v = questions(failure)
    backward = methods(student, failure.about, "backward")
    if any(isinstance(node, ast.Compare) for method in backward for node in ast.walk(method)):
        return None  # a mask that lets nothing through, say
    zeros = holds(student, failure.about, lambda v, x: torch.zeros_like(v), x, v)
    return (
        {"x": x, "v": v, "got": torch.zeros_like(v), "want": v * SLOPES[failure.about](x)}
        if zeros
        else None
    )


@rule
def product_is_compared(failure: Failure, student: Student) -> Facts | None:
    """The brackets of v * (x > 0) are missing."""
    if not came_back(failure):
        return None
    x, v = questions(failure)
    got = ask(student, failure.about, x, v)[1]
    compared = got is not None and holds(
        student, failure.about, lambda v, x: (v * x > 0).to(v.dtype), x, v
    )
    return {"x": x, "v": v, "got": got} if compared else None


@rule
def gradient_is_clipped(failure: Failure, student: Student) -> Facts | None:
    """backward(k v) is not k backward(v), and of a very small v each element passes as it is, or
    not at all.
    """
    if not came_back(failure):
        return None
    x, v = questions(failure)
    got, rest, small = (ask(student, failure.about, x, k * v)[1] for k in (1, 0, 1e-4))
    if (
        rest is None
        or small is None
        or bool(rest.any())
        or not bool(small.any())
        or not same(small * 1e4, torch.where(small == 0, 0.0, v))
    ):
        return None
    large = ask(student, failure.about, x, 1e3 * v)[1]
    if (
        got is None
        or large is None
        or not bool(((got == 0) | torch.isclose(got, v) | torch.isclose(got, large)).all())
    ):
        return None  # neither passed nor cut off: bent, by tanh for instance
    for factor in (-1.0, 2.0, 100.0, 0.01):
        again = ask(student, failure.about, x, factor * v)[1]
        if got is not None and differs(again, factor * got):
            return {
                "x": x,
                "v": v,
                "got": got,
                "again": again,
                "factor": factor,
                "want": factor * got,
            }
    return None


@rule
def divides_by_the_input(failure: Failure, student: Student) -> Facts | None:
    """Right on both sides of 0, and at 0 no number."""
    if not came_back(failure) or failure.check != "test_my_relu_at_zero":
        return None
    x, v = (
        torch.tensor([-1.5, 0.0, 0.8], dtype=torch.float64),
        torch.tensor([2.0, 3.0, -2.0], dtype=torch.float64),
    )
    got = ask(student, "MyReLU", x, v)[1]
    if got is None or not same(got[::2], torch.tensor([0.0, -2.0])) or bool(got[1].isfinite()):
        return None
    divisions = [
        node
        for node in student.source.nodes
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
    ]
    if all(isinstance(division.right, ast.Constant) for division in divisions):
        return None
    return {"incoming": float(v[1]), "got": float(got[1])}


@rule
def half_at_zero(failure: Failure, student: Student) -> Facts | None:
    """Right on both sides of 0, and at 0 not."""
    if not came_back(failure) or failure.check != "test_my_relu_at_zero":
        return None
    x, v = (
        torch.tensor([-1.5, 0.0, 0.8], dtype=torch.float64),
        torch.tensor([2.0, 3.0, -2.0], dtype=torch.float64),
    )
    got = ask(student, "MyReLU", x, v)[1]
    if (
        got is None
        or not same(got[::2], torch.tensor([0.0, -2.0]))
        or float(got[1]) in (0.0, 3.0)
        or not got.isfinite().all()
    ):
        return None
    return {"incoming": float(v[1]), "got": float(got[1])}


FORMULAS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "v": lambda v, x: v,
    "v * (x > 0)": lambda v, x: v * (x > 0),
    "v * (x < 0)": lambda v, x: v * (x < 0),
    "v * (|x| <= 1)": lambda v, x: v * (x.abs() <= 1),
    "v * (|x| > 1)": lambda v, x: v * (x.abs() > 1),
    "v * (x <= 1)": lambda v, x: v * (x <= 1),
    "v * (x > -1)": lambda v, x: v * (x > -1),
    "v * (0 < x <= 1)": lambda v, x: v * (x > 0) * (x <= 1),
    "v * max(x, 0)": lambda v, x: v * torch.relu(x),
    "v * x": lambda v, x: v * x,
    "v * sign(x)": lambda v, x: v * torch.sign(x),
    "-v * (x > 0)": lambda v, x: -v * (x > 0),
    "-v": lambda v, x: -v,
    "0": lambda v, x: 0 * v,
    "v * sigmoid(x) * (1 - sigmoid(x))": lambda v, x: v * torch.sigmoid(x) * (1 - torch.sigmoid(x)),
    "v * sigmoid(x)": lambda v, x: v * torch.sigmoid(x),
    "v * (1 - tanh(x)²)": lambda v, x: v * (1 - torch.tanh(x) ** 2),
}


@rule
def another_slope(failure: Failure, student: Student) -> Facts | None:
    """The gradient is that of another function of the family."""
    if not came_back(failure):
        return None
    x, v = questions(failure)
    got, want = ask(student, failure.about, x, v)[1], v * SLOPES[failure.about](x)
    rules = {
        "MyReLU": (
            "max(x, 0) has the slope 1 where x is positive and 0 where x is negative: v passes, or"
            " nothing does."
        ),
        "STE": "STE declares the slope of the identity, 1 at every x: v passes as it is.",
        "ClippedSTE": (
            "ClippedSTE declares the slope 1 where -1 <= x <= 1, and 0 outside: v passes there, and"
            " nothing does elsewhere."
        ),
    }
    for formula, slope in FORMULAS.items():
        if (
            same(got, slope(v, x))
            and differs(got, want)
            and holds(student, failure.about, slope, x, v)
        ):
            return {
                "x": x,
                "v": v,
                "got": got,
                "want": want,
                "formula": formula,
                "rule": rules[failure.about],
            }
    return None
