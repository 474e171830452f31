"""custom_sigmoid, rules that recognize mistakes by what the student's code does, asked again."""

from __future__ import annotations

import ast
from typing import Any, TypeGuard

import torch
from torch import Tensor

from grader.authoring import (
    Backward,
    Failure,
    LessonRule,
    Opaque,
    Phrase,
    Student,
    differs,
    formula_value,
    has_facts,
    is_function_class,
    nonlinear_backward,
    phrase,
    raises,
    rule,
    same,
    says,
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


def methods(student: Student, *names: str) -> list[ast.FunctionDef]:
    found = student.source.nodes
    return [one for one in found if isinstance(one, ast.FunctionDef) and one.name in names]


def ends_in_return(student: Student, name: str) -> bool:
    """Return whether the last line returns something, None by name included."""
    last = [method.body[-1] for method in methods(student, name)]
    return any(isinstance(line, ast.Return) and line.value is not None for line in last)


def line_of(failure: Failure, student: Student) -> str:
    """Return the line that raised."""
    return student.source.text.splitlines()[((failure.error and failure.error.line) or 0) - 1]


# ------------------------------------------------------------------------ what torch or Python said


@rule
def not_a_function(failure: Failure, student: Student) -> Facts | None:
    """Sigmoid exists, and the class of its node does not."""
    texts = ("Module.apply()", "attribute 'apply'", "forward()")
    if failure.error and not any(failure.raised(text) for text in texts):
        return None
    return None if is_function_class(student, "Sigmoid") else {}


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
def styles_mixed(failure: Failure, student: Student) -> Facts | None:
    """Python says that arguments don't fit; a method has the parameters of the other style."""
    texts = ("positional argument", "missing a required argument")
    if not failure.error or not any(failure.raised("TypeError", text) for text in texts):
        return None
    said = failure.error.message
    if "backward()" in said:
        name, other = "backward", 1
    elif "forward()" in said or "setup_context()" in said or "required argument" in said:
        name, other = "forward", 2 if methods(student, "setup_context") else 1
    else:
        return None
    mixed = any(len(method.args.args) == other for method in methods(student, name))
    return {"said": said} if mixed else None


@rule
def nothing_saved(failure: Failure, student: Student) -> Facts | None:
    """saved_tensors is empty, or an attribute of ctx is missing."""
    texts = ("tuple index out of range", "not enough values to unpack (expected 1, got 0)")
    empty = any(failure.raised(text) for text in texts) and "saved" in line_of(failure, student)
    if failure.error and (empty or failure.raised("Backward' object has no attribute")):
        return {"said": failure.error.message}
    return None


@rule
def variable_of_forward(failure: Failure, student: Student) -> Facts | None:
    """A NameError about a name that only forward has."""
    if not failure.error or not failure.raised("NameError", "is not defined"):
        return None
    found = methods(student, "forward", "setup_context")
    inside = [node for method in found for node in ast.walk(method)]
    own = {one.arg for one in inside if isinstance(one, ast.arg)}
    own |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    known = own.intersection(failure.error.message.split("'")[1:2])
    return {"said": failure.error.message} if known else None


@rule
def tuple_not_unpacked(failure: Failure, student: Student) -> Facts | None:
    """A TypeError about a tuple, and saved_tensors is used without being unpacked or indexed."""
    texts = ("tuple", "can be converted to an index")
    if not failure.error or not any(failure.raised("TypeError", text) for text in texts):
        return None
    if any(method.args.vararg for method in methods(student, "backward")):
        return None  # *grads is a tuple too
    nodes = student.source.nodes
    saved = {node for node in nodes if getattr(node, "attr", "") == "saved_tensors"}
    unpacked = {
        node.value
        for node in nodes
        if isinstance(node, ast.Subscript | ast.Starred)
        or (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple | ast.List))
    }
    return {"said": failure.error.message} if saved - unpacked else None


gradient_summed_up = raises("returned an invalid gradient", "expected shape")
gradient_is_no_tensor = raises("expected Variable or None")


@rule
def function_of_one_number(failure: Failure, student: Student) -> Facts | None:
    """math.exp or float() was given many; torch.tensor of a list of tensors says the same."""
    texts = ("converted to Python scalars", "be converted to Scalar", "must be real number, not")
    if not failure.error or not any(failure.raised(text) for text in texts):
        return None
    return None if "tensor(" in line_of(failure, student) else {"said": failure.error.message}


# ---------------------------------------------------------------------------------------- the value


wraps_a_built_in = has_facts("used")  # in the source or among the operators that ran
derived_by_autograd = has_facts("source")
computed_out_of_sight = has_facts("hidden")


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
    return {} if y is None and not ends_in_return(student, "forward") else None


def formula_of_value(formula: str) -> LessonRule:
    """Make a rule that recognizes the function of x that forward computes instead of s."""

    def recognize(failure: Failure, student: Student) -> Facts | None:
        x = questions(failure)[0]
        y, want = student.Sigmoid.apply(x.clone()), torch.sigmoid(x)
        told = same(y, formula_value(formula, x=x)) and differs(y, want)
        return {"x": x, "got": y, "want": want} if told else None

    return value_rule(recognize)


value_at_minus_x = formula_of_value("sigmoid(-x)")
value_at_twice_x = formula_of_value("sigmoid(2 * x)")
nan_for_large_inputs = has_facts("bad")


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
    return {"got": float(y[0]), "bound": round(float(torch.logit(y[0])), 3)}


# ------------------------------------------------------------------- the caller's tensors and calls


@rule
def writes_into_x(failure: Failure, student: Student) -> Facts | None:
    return {} if failure.message in ("forward changed x", "sigmoid changed x") else None


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
    seen = student.observe("kept", failure.draw.tensor(3, requires_grad=True))
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


requires_grad_switched_on = says("x does not require grad, but")


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
    return {"x": x, "v": v} if missing and not ends_in_return(student, "backward") else None


def formula_of_gradient(*formulas: str) -> LessonRule:
    """Make a rule that recognizes what backward computes instead of v * s * (1 - s), as a formula
    in v, x and s = s(x).
    """

    def recognize(failure: Failure, student: Student) -> Facts | None:
        x, v = questions(failure)
        s = torch.sigmoid(x)
        got, want = ask(student, x, v)[1], v * s * (1 - s)
        if got is None or not differs(got, want):
            return None
        turned = ask(student, x, -v)[1]  # tells |v| from v if all of v has one sign
        for formula in formulas:
            value, opposite = (formula_value(formula, v=v, x=x, s=s) for v in (v, -v))
            if same(got, value) and same(turned, opposite):
                return {"x": x, "v": v, "s": s, "got": got, "want": want, "formula": formula}
        return None

    return value_rule(recognize)


ignores_grad_output = formula_of_gradient("s * (1 - s)")
gradient_passed_through = formula_of_gradient("v")
gradient_added = formula_of_gradient("v + s * (1 - s)")
factor_missing = formula_of_gradient("v * s", "v * (1 - s)")
sign_of_gradient = formula_of_gradient("-v * s * (1 - s)")
plus_for_minus = formula_of_gradient("v * s * (1 + s)")
x_for_y = formula_of_gradient("v * x * (1 - x)", "v * s * (1 - x)", "v * x * (1 - s)")
derivative_of_tanh = formula_of_gradient("v * (1 - s ** 2)", "v * (1 - tanh(x) ** 2)")
sigmoid_of_output = formula_of_gradient("v * sigmoid(s) * (1 - sigmoid(s))")


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
    if "given" in failure.facts:
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


sigmoid_cuts_the_graph = says("sigmoid(x) does not require grad")
