"""custom_sigmoid, the mistakes that people make in it. Each is told by what the student's code does
when it is asked again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Failure,
    LessonRule,
    MissingName,
    Opaque,
    Phrase,
    Student,
    differs,
    phrase,
    rule,
    same,
)

Facts = dict[str, Any]


# ------------------------------------------------------------------------------------- asking again


def questions(failure: Failure) -> tuple[Tensor, Tensor]:
    """x and v to ask about: those of the failure where they are a few modest numbers, else drawn
    ones.
    """
    x, v = failure.inputs.get("x"), failure.inputs.get("v")
    if (
        not isinstance(x, Tensor)
        or x.dtype is not torch.float64
        or x.dim() != 1
        or not 2 <= x.numel() <= 4
        or not float(x.abs().max()) < 5
    ):
        return failure.draw.tensor(3), failure.draw.tensor(3)
    fits = isinstance(v, Tensor) and v.shape == x.shape and v.dtype is torch.float64
    return x.detach().clone(), v.detach().clone() if fits else failure.draw.tensor(len(x))


def ask(student: Student, x: Tensor, v: Tensor) -> tuple[Any, Tensor | None]:
    """Sigmoid.apply(x) and its gradient for the incoming gradient v; None where there is none."""
    x = x.detach().clone().requires_grad_()
    y = student.Sigmoid.apply(x)
    if not isinstance(y, Tensor) or not y.requires_grad or y.shape != v.shape:
        return y, None
    return y, torch.autograd.grad(y, x, v.detach().clone().to(y.dtype), allow_unused=True)[0]


def value_of(failure: Failure, student: Student) -> tuple[Tensor, Any]:
    """An x and what Sigmoid.apply makes of it."""
    x = questions(failure)[0]
    return x, student.Sigmoid.apply(x.clone())


def came_back(failure: Failure) -> bool:
    """Whether something came back that is wrong. Where the code raised, asking for values again
    would raise again.
    """
    return failure.error is None


def functions(student: Student, name: str) -> list[ast.FunctionDef]:
    """The functions and methods of that name."""
    return [
        node
        for node in student.source.nodes
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]


def ends_in_return(student: Student, name: str) -> bool:
    """Whether the last line of the function is a return of something, None by name included."""
    last = [function.body[-1] for function in functions(student, name)]
    return any(isinstance(line, ast.Return) and line.value is not None for line in last)


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


def right_forward(student: Student, x: Tensor) -> bool:
    """Whether Sigmoid.apply(x) is right for this x."""
    return same(student.Sigmoid.apply(x.clone()), torch.sigmoid(x))


# ------------------------------------------------------------------------ what torch or Python said


@rule
def not_a_function(failure: Failure, student: Student) -> Facts | None:
    """Sigmoid exists, and the class of its node does not."""
    if not came_back(failure) and not any(
        failure.raised(text) for text in ("Module.apply()", "attribute 'apply'", "forward()")
    ):
        return None
    sigmoid = student.Sigmoid
    try:
        _ = sigmoid._backward_cls
    except MissingName:
        return {}
    return None


@rule
def measured_not_derived(failure: Failure, student: Student) -> Facts | None:
    """Nearly right, which no formula for the derivative is."""
    digits = failure.facts.get("digits")
    if not came_back(failure) or not isinstance(digits, int) or not 4 <= digits < 14:
        return None
    x = torch.tensor(
        [-1.3, 0.4, 2.1], dtype=torch.float64
    )  # of three sizes, where differences are off by three amounts
    y, slope = ask(student, x, torch.ones_like(x))
    if slope is None or not same(y.detach(), torch.sigmoid(x), rtol=1e-13, atol=0.0):
        return None  # with a small number in it the value is nearly right as well
    if same(slope, slope.float(), rtol=0.0, atol=0.0):
        return None  # derived, in float32
    off = slope - y.detach() * (1 - y.detach())  # the same everywhere where a small number is added
    return None if same(off, off[:1].expand_as(off), rtol=1e-4, atol=0.0) else {"digits": digits}


@rule
def styles_mixed(failure: Failure, student: Student) -> Facts | None:
    """A TypeError about the arguments of forward, backward or setup_context."""
    if failure.error is None or failure.error.type_name != "TypeError":
        return None
    said = failure.error.message
    if any(
        text in said
        for text in ("positional argument", "missing a required argument", "too many positional")
    ):
        if "backward()" in said:
            return (
                {"said": said}
                if any(len(method.args.args) == 1 for method in functions(student, "backward"))
                else None
            )
        other = (
            2 if functions(student, "setup_context") else 1
        )  # how many arguments forward has in the other style
        mixed = any(len(method.args.args) == other for method in functions(student, "forward"))
        named = any(
            text in said for text in ("forward()", "setup_context()", "missing a required argument")
        )
        return {"said": said} if named and mixed else None
    return None


@rule
def nothing_saved(failure: Failure, student: Student) -> Facts | None:
    """saved_tensors is empty, or an attribute of ctx is missing."""
    if failure.error is None:
        return None
    line = student.source.text.splitlines()[(failure.error.line or 0) - 1]
    index = (
        failure.raised("IndexError", "tuple index out of range") and "saved" in line
    )  # not that of a shape
    empty = index or (
        failure.raised("ValueError", "not enough values to unpack", "got 0") and "saved" in line
    )
    if empty or failure.raised("AttributeError", "Backward' object has no attribute"):
        return {"said": failure.error.message}
    return None


@rule
def variable_of_forward(failure: Failure, student: Student) -> Facts | None:
    """A NameError about a name of forward's, while forward works."""
    if failure.error is None or failure.error.type_name != "NameError":
        return None
    own = not names_in(student, "forward", "setup_context").isdisjoint(
        failure.error.message.split("'")[1:2]
    )
    return (
        {"said": failure.error.message}
        if own and right_forward(student, failure.draw.tensor(3))
        else None
    )


def names_in(student: Student, *methods: str) -> set[str]:
    """The arguments and the variables of the methods of these names."""
    found = [
        node
        for node in student.source.nodes
        if isinstance(node, ast.FunctionDef) and node.name in methods
    ]
    inner = [node for method in found for node in ast.walk(method)]
    stored = {
        node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {node.arg for node in inner if isinstance(node, ast.arg)}


@rule
def tuple_not_unpacked(failure: Failure, student: Student) -> Facts | None:
    """A TypeError about a tuple, while forward works; tensor * tuple is one about an index."""
    told = failure.raised("TypeError", "tuple") or failure.raised(
        "TypeError", "can be converted to an index"
    )
    starred = [
        node
        for node in student.source.nodes
        if isinstance(node, ast.FunctionDef) and node.name == "backward" and node.args.vararg
    ]
    if (
        told
        and not starred
        and keeps_the_tuple(student)
        and right_forward(student, failure.draw.tensor(3))
    ):  # *grads is a tuple too
        return {"said": failure.error.message if failure.error else ""}
    return None


@rule
def two_gradients(failure: Failure, student: Student) -> Facts | None:
    """The engine counts the gradients."""
    if (
        failure.error
        and failure.raised("returned an incorrect number of gradients", "expected 1")
        and not failure.raised("got 0")
    ):
        return {"said": failure.error.message}
    return None


@rule
def gradient_summed_up(failure: Failure, student: Student) -> Facts | None:
    """The engine compares the shape with x's."""
    if failure.error and failure.raised("returned an invalid gradient", "expected shape"):
        return {"said": failure.error.message}
    return None


@rule
def gradient_is_no_tensor(failure: Failure, student: Student) -> Facts | None:
    """The engine names the type that it got."""
    if failure.error and failure.raised("expected Variable or None"):
        return {"said": failure.error.message}
    return None


@rule
def function_of_one_number(failure: Failure, student: Student) -> Facts | None:
    """A tensor of several elements can't become a float; torch.tensor of a list of tensors says the
    same.
    """
    texts = (
        "converted to Python scalars",
        "cannot be converted to Scalar",
        "must be real number, not Tensor",
    )
    if failure.error is None or not any(text in failure.error.message for text in texts):
        return None
    line = student.source.text.splitlines()[(failure.error.line or 0) - 1]
    return None if "tensor(" in line else {"said": failure.error.message}


@rule
def view_of_strided(failure: Failure, student: Student) -> Facts | None:
    """torch names view in its message."""
    if failure.error and failure.raised("view size is not compatible"):
        return {"said": failure.error.message.split(". ")[0]}
    return None


# ---------------------------------------------------------------------------------------- the value


@rule
def wraps_a_built_in(failure: Failure, student: Student) -> Facts | None:
    """The check has found its name, in the source or among the operators that ran."""
    return {} if "used" in failure.facts else None


@rule
def forward_returns_nothing(failure: Failure, student: Student) -> Facts | None:
    """None comes back."""
    if not came_back(failure):
        return None
    x, y = value_of(failure, student)
    return {"x": x} if y is None and not ends_in_return(student, "forward") else None


@rule
def other_dtype(failure: Failure, student: Student) -> Facts | None:
    """The dtype of the value differs for float32 or float64."""
    if not came_back(failure):
        return None
    for dtype in (torch.float64, torch.float32):
        y = student.Sigmoid.apply(failure.draw.tensor(3, dtype=dtype))
        if isinstance(y, Tensor) and y.dtype is not dtype:
            return {
                "given": str(dtype).removeprefix("torch."),
                "returned": str(y.dtype).removeprefix("torch."),
            }
    return None


def has_minus(student: Student) -> bool:
    """Whether a sign is turned anywhere in forward."""
    inner = [node for method in functions(student, "forward") for node in ast.walk(method)]
    return any(
        isinstance(node, ast.USub | ast.Sub)
        or getattr(node, "attr", "") in ("neg", "negative", "sub", "reciprocal")
        for node in inner
    )


def has_tanh(student: Student) -> bool:
    """Whether the file takes a hyperbolic tangent."""
    return any(
        getattr(node, "attr", getattr(node, "id", "")) == "tanh" for node in student.source.nodes
    )


def formula_of_value(
    *, formula: Callable[[Tensor], Tensor], made: Callable[[Student], bool]
) -> LessonRule:
    """A rule that is told by the formula that forward computes in place of the right one, and by
    what it is made of.
    """

    def recognize(failure: Failure, student: Student) -> Facts | None:
        if not came_back(failure):
            return None
        x, y = value_of(failure, student)
        wrong = formula(x)
        told = same(y, wrong) and differs(y, torch.sigmoid(x)) and made(student)
        return {"x": x, "got": y, "want": torch.sigmoid(x)} if told else None

    return rule(recognize)


exponent_without_minus = formula_of_value(
    formula=lambda x: torch.sigmoid(-x), made=lambda student: not has_minus(student)
)
tanh_without_half = formula_of_value(formula=lambda x: torch.sigmoid(2 * x), made=has_tanh)


@rule
def overflow(failure: Failure, student: Student) -> Facts | None:
    """NaN at -1e4 or 1e4, where the check looked."""
    if not came_back(failure) or failure.check not in (
        "test_value_at_extreme_inputs",
        "test_gradient_at_extreme_inputs",
    ):
        return None
    for x in (-1e4, 1e4):
        y, gradient = ask(
            student, torch.tensor([x], dtype=torch.float64), torch.ones(1, dtype=torch.float64)
        )
        if isinstance(y, Tensor) and y.isnan().any():
            return {"x": x, "what": "value"}
        if gradient is not None and gradient.isnan().any():
            return {"x": x, "what": "gradient"}
    return None


@rule
def clamped_too_early(failure: Failure, student: Student) -> Facts | None:
    """The same small, positive value at two far points."""
    if not came_back(failure):
        return None
    y = student.Sigmoid.apply(torch.tensor([-1e4, -5e3], dtype=torch.float64))
    if (
        not isinstance(y, Tensor)
        or y.shape != (2,)
        or not bool(y[0] == y[1])
        or not 1e-9 < float(y[0]) < 0.5
    ):
        return None
    positive = torch.tensor([0.5, 1.5], dtype=torch.float64)
    if not same(
        student.Sigmoid.apply(positive.clone()), torch.sigmoid(positive), rtol=1e-12, atol=0.0
    ):
        return None  # a small number is added everywhere
    return {"got": float(y[0]), "bound": round(float(torch.logit(y[0])), 3)}


@rule
def no_tensor_but_an_array(failure: Failure, student: Student) -> Facts | None:
    """A list, a number or a NumPy array comes back."""
    if not came_back(failure):
        return None
    _, y = value_of(failure, student)
    if y is None or isinstance(y, Tensor):
        return None
    kind = y.type_name if isinstance(y, Opaque) else type(y).__name__
    return {"kind": "NumPy array" if kind == "ndarray" else kind}


# -------------------------------------------------------------------- what belongs to somebody else


@rule
def writes_into_x(failure: Failure, student: Student) -> Facts | None:
    """x before and after."""
    if not came_back(failure):
        return None
    before = questions(failure)[0]
    after = before.clone()
    student.Sigmoid.apply(after)
    return {"before": before, "after": after} if differs(after, before) else None


@rule
def writes_into_grad_output(failure: Failure, student: Student) -> Facts | None:
    """The incoming gradient before and after; torch itself refuses where elements share memory, or
    where it is a leaf.
    """
    if (
        not came_back(failure)
        and not failure.raised("single memory location")
        and not failure.raised("in-place operation")
    ):
        return None
    x, before = questions(failure)
    x.requires_grad_()
    after = before.clone()
    y = student.Sigmoid.apply(x)
    if not isinstance(y, Tensor) or not y.requires_grad:
        return None
    torch.autograd.grad(y, x, after, allow_unused=True)
    return {"before": before, "after": after} if differs(after, before) else None


@rule
def writes_into_saved(failure: Failure, student: Student) -> Facts | None:
    """torch has noticed by the version counter."""
    if failure.error and failure.raised("modified by an inplace operation"):
        return {"said": failure.error.message.split(":")[0]}
    return None


@rule
def stash_on_ctx(failure: Failure, student: Student) -> Facts | None:
    """Attributes of the node hold tensors."""
    if not came_back(failure) or failure.check not in (
        "test_save_for_backward",
        "test_backward_again",
    ):
        return None
    seen = student.observe("kept", questions(failure)[0].requires_grad_())
    names = ", ".join(f"ctx.{name}" for name in seen["attributes"])
    return (
        {"node": seen["node"], "names": names, "saved": str(seen["saved"] or "none")}
        if names
        else None
    )


@rule
def stash_outside(failure: Failure, student: Student) -> Facts | None:
    """The gradient of a first call, after a second one, is made from the second's values."""
    if not came_back(failure):
        return None
    x, z, v = (
        failure.draw.tensor(3, requires_grad=True),
        failure.draw.tensor(3),
        failure.draw.tensor(3),
    )
    y = student.Sigmoid.apply(x)
    student.Sigmoid.apply(z)
    if not isinstance(y, Tensor) or not y.requires_grad:
        return None
    (got,) = torch.autograd.grad(y, x, v, allow_unused=True)
    s, t = torch.sigmoid(x.detach()), torch.sigmoid(z)
    want, wrong = v * s * (1 - s), v * t * (1 - t)
    return (
        {"x": x, "z": z, "got": got, "want": want}
        if same(got, wrong) and differs(got, want)
        else None
    )


# ------------------------------------------------------------------------------------- the gradient


@rule
def backward_returns_nothing(failure: Failure, student: Student) -> Facts | None:
    """The result is differentiable, and its gradient is None."""
    if not came_back(failure):
        return None
    x, v = questions(failure)
    y, gradient = ask(student, x, v)
    missing = isinstance(y, Tensor) and y.requires_grad and gradient is None
    return {"x": x, "v": v} if missing and not ends_in_return(student, "backward") else None


@rule
def ignores_grad_output(failure: Failure, student: Student) -> Facts | None:
    """The same gradient for different incoming ones."""
    if not came_back(failure):
        return None
    x, v = questions(failure)
    other = torch.where(v > 0, v + 1, v - 1)
    got, again = ask(student, x, v)[1], ask(student, x, other)[1]
    small = ask(student, x, -0.01 * v)[
        1
    ]  # what is clipped is the same for two large ones, a sign for two of one sign
    s = torch.sigmoid(x)
    if (
        got is None
        or not same(got, again)
        or not same(got, small)
        or not bool(got.any())
        or bool(got.isnan().any())
    ):
        return None
    if not same(got, s * (1 - s)):
        return None  # it is not the derivative alone
    return {"x": x, "v": v, "other": other, "got": got, "want": v * s * (1 - s)}


def formula_of_gradient(
    *, formulas: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]]
) -> LessonRule:
    """A rule that is told by the formula, in v, x and s = s(x), that backward computes in place
    of v * s * (1 - s).
    """

    def recognize(failure: Failure, student: Student) -> Facts | None:
        if not came_back(failure):
            return None
        x, v = questions(failure)
        got = ask(student, x, v)[1]
        s = torch.sigmoid(x)
        want = v * s * (1 - s)
        if got is None or not differs(got, want):
            return None
        turned = ask(student, x, -v)[
            1
        ]  # where v is negative throughout, its absolute value looks like a lost sign
        for name, formula in formulas.items():
            if (
                same(got, formula(v, x, s))
                and turned is not None
                and same(turned, formula(-v, x, s))
            ):
                return {"x": x, "v": v, "s": s, "got": got, "want": want, "formula": name}
        return None

    return rule(recognize)


gradient_passed_through = formula_of_gradient(formulas={"v": lambda v, x, s: v})
gradient_added = formula_of_gradient(formulas={"v + s * (1 - s)": lambda v, x, s: v + s * (1 - s)})
factor_missing = formula_of_gradient(
    formulas={"v * s": lambda v, x, s: v * s, "v * (1 - s)": lambda v, x, s: v * (1 - s)}
)
sign_of_gradient = formula_of_gradient(
    formulas={"-v * s * (1 - s)": lambda v, x, s: -v * s * (1 - s)}
)
plus_for_minus = formula_of_gradient(formulas={"v * s * (1 + s)": lambda v, x, s: v * s * (1 + s)})
x_for_y = formula_of_gradient(
    formulas={
        "v * x * (1 - x)": lambda v, x, s: v * x * (1 - x),
        "v * s * (1 - x)": lambda v, x, s: v * s * (1 - x),
        "v * x * (1 - s)": lambda v, x, s: v * x * (1 - s),
    }
)
derivative_of_tanh = formula_of_gradient(
    formulas={
        "v * (1 - s²)": lambda v, x, s: v * (1 - s * s),
        "v * (1 - tanh²(x))": lambda v, x, s: v * (1 - torch.tanh(x) ** 2),
    }
)
sigmoid_of_output = formula_of_gradient(
    formulas={"v * t * (1 - t)": lambda v, x, s: v * torch.sigmoid(s) * (1 - torch.sigmoid(s))}
)


@rule
def term_outside_the_product(failure: Failure, student: Student) -> Facts | None:
    """backward(v) is a product with v, and something beside it."""
    if not came_back(failure):
        return None
    x, v = questions(failure)
    rest, once, twice = (ask(student, x, k * v)[1] for k in (0, 1, 2))
    if (
        rest is None
        or once is None
        or twice is None
        or not bool(rest.any())
        or not bool(rest.isfinite().all())
    ):
        return None
    return {"rest": rest} if differs(once, rest) and same(twice - once, once - rest) else None


@rule
def nonlinear_in_grad_output(failure: Failure, student: Student) -> Facts | None:
    """backward(k v) is not k backward(v)."""
    if not came_back(failure):
        return None
    x, v = questions(failure)
    got = ask(student, x, v)[1]
    if got is None or same(got, ask(student, x, -0.01 * v)[1]):  # v has no part in it
        return None
    for factor in (-1.0, 2.0, 100.0):
        again = ask(student, x, factor * v)[1]
        if differs(again, factor * got):
            return {
                "x": x,
                "v": v,
                "got": got,
                "again": again,
                "factor": factor,
                "want": factor * got,
            }
    return None


# --------------------------------------------------------------------------------------- the shapes


@rule
def needs_an_element(failure: Failure, student: Student) -> Facts | None:
    """Empty raises; a matrix does not."""
    if failure.error is None or failure.check != "test_empty_tensors":
        return None
    if trouble_with(student, failure.draw.tensor(2, 3, 2), failure.draw.tensor(2, 3, 2)):
        return None
    return {"said": str(failure.error).split(". ")[0]}


@rule
def vectors_only(failure: Failure, student: Student) -> Facts | None:
    """Right for one dimension; wrong, or raising, for none or two."""
    if failure.check not in ("test_every_shape", "test_strided_tensors", "test_empty_tensors"):
        return None
    if trouble_with(student, failure.draw.tensor(3), failure.draw.tensor(3)):
        return None
    for shape in ((), (2, 2)):
        problem = trouble_with(student, failure.draw.tensor(*shape), failure.draw.tensor(*shape))
        if problem:
            return {"shape": str(shape), "said": problem}
    return None


def trouble_with(student: Student, x: Tensor, v: Tensor) -> str | Phrase | None:
    """What happens for this x that should not, in words."""
    try:
        y, gradient = ask(student, x, v)
    except Exception as error:
        return phrase("your code raised {error}", error=str(error))
    s = torch.sigmoid(x)
    if not same(y, s):
        return "the value is wrong"
    return None if same(gradient, v * s * (1 - s)) else "the gradient is wrong"


# ----------------------------------------------------------------------------------- def sigmoid(x)


@rule
def sigmoid_returns_nothing(failure: Failure, student: Student) -> Facts | None:
    """None comes back."""
    empty = failure.error is None and failure.actual is None and failure.expected is not None
    return {} if empty and not ends_in_return(student, "sigmoid") else None


@rule
def sigmoid_returns_the_function(failure: Failure, student: Student) -> Facts | None:
    """The method apply comes back; since torch 2.14 its type is that of built-in functions."""
    got = failure.actual
    unapplied = isinstance(got, Opaque) and got.text == "apply"
    return {"kind": got.type_name} if unapplied else None


@rule
def sigmoid_makes_an_instance(failure: Failure, student: Student) -> Facts | None:
    """An instance comes back, or torch complains of one."""
    if failure.error and failure.raised("Legacy autograd function"):
        return {"said": failure.error.message.split(". ")[0]}
    if isinstance(failure.actual, Opaque) and failure.actual.type_name == "Sigmoid":
        return {"said": "sigmoid(x) is an object of the class Sigmoid"}
    return None


@rule
def sigmoid_calls_forward(failure: Failure, student: Student) -> Facts | None:
    """forward ran with a ctx that is not a node, or could not be called."""
    if "given" in failure.facts:
        return {"said": phrase("forward ran with a {given} for ctx", given=failure.facts["given"])}
    if (
        failure.error
        and failure.raised("TypeError", "Sigmoid.forward()")
        and calls_forward(student, "sigmoid")
    ):
        return {"said": phrase("Python said: {message}", message=failure.error.message)}
    return None


def calls_forward(student: Student, name: str) -> bool:
    """Whether the function has a method by the name of forward in its hands, and no apply."""
    used = {
        node.attr
        for function in functions(student, name)
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute)
    }
    return "forward" in used and "apply" not in used


@rule
def sigmoid_leaves_sigmoid_out(failure: Failure, student: Student) -> Facts | None:
    """A tensor comes back, and forward has not run."""
    return {} if failure.facts.get("forwards") == 0 and isinstance(failure.actual, Tensor) else None


@rule
def sigmoid_cuts_the_graph(failure: Failure, student: Student) -> Facts | None:
    """The value is right, and nothing leads back."""
    if not came_back(failure):
        return None
    x = failure.draw.tensor(3, requires_grad=True)
    seen = student.observe("exchanged", x, failure.draw.tensor(3), 2.0, 3.0)
    return {} if same(seen["value"], 2.0 * x) and not seen["requires_grad"] else None
