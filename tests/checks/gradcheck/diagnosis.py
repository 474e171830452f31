"""gradcheck, rules that recognize mistakes by what the student's code does, asked again."""

import ast
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Failure,
    LessonRule,
    Student,
    differs,
    formula,
    formula_value,
    methods,
    rule,
    same,
    value_and_gradients,
    value_rule,
)

Facts = dict[str, Any]
F64 = torch.float64
SQUARE = formula("x ** 2")
POINT, EPS = torch.tensor([1.0, 2.0], dtype=F64), 0.25
PAIR = [SQUARE, formula("v * x * 2", "x v")]
SUM_OF_TWO = [formula("x * 3 + y * y", "x y"), formula("(v * 3, v * y * 2)", "x y v")]


# --------------------------------------------------------------------------------- passes_gradcheck


def verdict(student: Student, parts: Any, *inputs: Tensor) -> Facts:
    """Return what passes_gradcheck says, and how it called the function."""
    found: Facts = student.observe("verdict", parts, *inputs)
    return found


def accepts(student: Student, value: str, backward: str | None = None, *marks: str) -> bool:
    """Return whether passes_gradcheck accepts a function at POINT."""
    parts: Any = formula(value)
    if backward is not None:
        parts = [parts, formula(backward, "x v"), *marks]
    return verdict(student, parts, POINT.clone())["result"] is True


@rule
def exceptions_escape(failure: Failure, student: Student) -> Facts | None:
    """gradcheck's own error, or the one that the check put into the function, comes out."""
    if failure.error is None:
        return None
    ours = "this function stops here" in failure.error.message
    ours = ours or failure.error.type_name == "GradcheckError"
    return {"kind": failure.error.type_name} if ours else None


@rule
def copies_do_not_require_grad(failure: Failure, student: Student) -> Facts | None:
    """gradcheck was called with no tensor that requires grad."""
    if failure.raised("ValueError", "expects at least one input tensor to require gradient"):
        return {"answer": "ValueError"}
    if failure.error is not None or failure.actual is not False or "changed" in failure.facts:
        return None
    seen = student.observe("handed", PAIR, POINT.clone())
    without = [wants for wants in seen["wants"] if not any(wants)]
    return {"answer": "False"} if seen["result"] is False and without else None


@rule
def star_lost(failure: Failure, student: Student) -> Facts | None:
    """The definition takes fn and one more argument."""
    for one in methods(student, "passes_gradcheck"):
        taken = one.args
        if len(taken.args) == 2 and not (taken.vararg or taken.kwonlyargs or taken.defaults):
            names = ", ".join(argument.arg for argument in taken.args)
            return {"line": one.lineno, "given": f"passes_gradcheck({names})"}
    return None


@value_rule
def inputs_one_by_one(failure: Failure, student: Student) -> Facts | None:
    """A call of gradcheck has a star, and two inputs never pass."""
    nodes = (node for one in methods(student, "passes_gradcheck") for node in ast.walk(one))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    starred = [
        one.lineno
        for one in calls
        if ast.unparse(one.func).endswith("gradcheck")
        and any(isinstance(argument, ast.Starred) for argument in one.args)
    ]
    accepted = starred and verdict(student, SUM_OF_TWO, POINT.clone(), POINT.clone())["result"]
    return {"line": starred[0]} if starred and not accepted else None


@value_rule
def only_the_first_input(failure: Failure, student: Student) -> Facts | None:
    """Of two inputs one requires grad and the other does not, and that is what the check is about:
    the caller's tensors are as before.
    """
    if "changed" in failure.facts:
        return None
    for first in (POINT.clone(), POINT.clone().requires_grad_()):
        calls = student.observe("handed", SUM_OF_TWO, first, POINT.flip(0))["wants"]
        wants = tuple(map(any, zip(*calls, strict=False)))  # those of all calls of gradcheck
        if len(wants) == 2 and any(wants) and not all(wants):
            return {"wants": wants}
    return None


@value_rule
def inputs_are_flattened(failure: Failure, student: Student) -> Facts | None:
    """fn is called with a tensor of another shape than that of its input."""
    if failure.about != "passes_gradcheck" or failure.actual is not False:
        return None
    shapes = verdict(student, PAIR, torch.diag(POINT) + 1)["shapes"]
    if len(shapes) != 1 or shapes[0] == [2, 2]:
        return None
    return {"given": str(tuple(shapes[0])), "shape": "(2, 2)"}


@value_rule
def inputs_stay_float32(failure: Failure, student: Student) -> Facts | None:
    """The function was called in float32, and a right gradient was rejected."""
    if failure.actual is True or "changed" in failure.facts:
        return None
    if failure.about == "passes_gradcheck":
        seen = verdict(student, PAIR, torch.tensor([5.0], requires_grad=True))
        dtypes = seen["dtypes"] if seen["result"] is False else []
    else:
        seen = failure.facts.get("seen") or {}
        dtypes = [dtype for one in seen.values() for dtype in one["dtypes"]]
    if "float32" not in dtypes:
        return None
    near = torch.tensor(5.0)
    above = near + 1e-6
    shown = {"above": f"{float(above):.8f}", "step": f"{float(above - near):.8f}"}
    return {"dtype": "float32", "near": 5.0, **shown}


@rule
def tolerances_widened(failure: Failure, student: Student) -> Facts | None:
    """Twice the gradient of x ** 2 is seen; one that is slightly wrong, or small, is not."""
    if failure.actual is not True or accepts(student, "x ** 2", "v * x * 4"):
        return None
    for f, slope, factor in (
        ("x ** 2", 2.0, 1.003),
        ("x ** 2 / 100", 0.02, 1.003),
        ("x ** 2 / 1000", 0.002, 2.0),
    ):
        if accepts(student, f, f"v * x * {slope * factor}"):
            return {"f": f, "x": POINT, "got": POINT * slope * factor, "want": POINT * slope}
    return None


@rule
def second_derivative_wanted(failure: Failure, student: Student) -> Facts | None:
    """A right backward is accepted, and rejected as soon as it can't be differentiated."""
    if failure.actual is not False or not accepts(student, "x ** 2", "v * x * 2"):
        return None
    return None if accepts(student, "x ** 2", "v * x * 2", "once") else {}


@rule
def outputs_added_up(failure: Failure, student: Student) -> Facts | None:
    """An exchanged incoming gradient passes for x ** 2, and twice the gradient does not."""
    if failure.actual is not True or accepts(student, "x ** 2", "v * x * 4"):
        return None
    mixed_up = "v[1].unsqueeze(0).cat(v[0].unsqueeze(0)) * x * 2"
    return {"x": POINT} if accepts(student, "x ** 2", mixed_up) else None


@rule
def tuple_half_checked(failure: Failure, student: Student) -> Facts | None:
    """A tuple with a wrong gradient is accepted, and an only output with one is not."""
    if failure.actual is not True or accepts(student, "x.sin() * x.detach()"):
        return None
    for text in (
        "(x.sin() + x.exp().detach(), -x.exp().detach())",
        "(x.sin() * x.detach(), x.cos())",
        "(x.cos(), x.sin() * x.detach())",
    ):
        if accepts(student, text):
            return {"f": text}
    return None


# ------------------------------------------------------------------------------- numerical_jacobian


@value_rule
def uses_autograd(failure: Failure, student: Student) -> Facts | None:
    """A derivative of the function was asked for."""
    count = student.observe("measured", PAIR, POINT.clone())["derivatives"]
    return {"count": count} if count else None


@value_rule
def computed_in_float32(failure: Failure, student: Student) -> Facts | None:
    """fn was called in float32, or float32 came back; a wrong shape does not come from that."""
    values = (failure.actual, failure.expected)
    if len({value.shape for value in values if isinstance(value, Tensor)}) > 1:
        return None
    x = torch.tensor([5.0])
    seen = student.observe("measured", SQUARE, x)
    got, want = seen["result"], torch.tensor([[10.0]], dtype=F64)
    if not isinstance(got, Tensor):
        return None
    called, right = "float32" in seen["dtypes"], same(got, want)
    # fn may be called in float32 only for the size of its result, say
    if not ((called and not right) if got.dtype is F64 else (called or right)):
        return None
    dtype = "float32" if called else str(got.dtype).removeprefix("torch.")
    return {"x": x, "dtype": dtype, "got": got, "want": want}


@rule
def rows_for_columns(failure: Failure, student: Student) -> Facts | None:
    """What the code raises where y and x differ in size; else the result is transposed."""
    if failure.about != "numerical_jacobian" or failure.error is None:
        return None
    got = student.observe("measured", formula("x * x[0]"), POINT.clone())["result"]
    want = torch.tensor([[2.0, 2.0], [0.0, 1.0]], dtype=F64)
    return {} if same(got, want, rtol=1e-4, atol=1e-4) else None


def slopes_of_square(student: Student) -> Tensor | None:
    """Return what numerical_jacobian makes of x ** 2 at 1 and 2 with eps = 0.25: its diagonal, or
    None where there is more to it.
    """
    got = student.observe("measured", SQUARE, POINT.clone(), EPS)["result"]
    if not isinstance(got, Tensor) or got.shape != (2, 2):
        return None
    return got.diagonal() if same(got, torch.diag(got.diagonal())) else None


@value_rule
def one_sided(failure: Failure, student: Student) -> Facts | None:
    """The slopes are those of the forward, or of the backward difference."""
    got, want = slopes_of_square(student), 2 * POINT
    for text, slopes in (
        ("(fn(x + eps) - fn(x)) / eps", want + EPS),
        ("(fn(x) - fn(x - eps)) / eps", want - EPS),
    ):
        if same(got, slopes):
            return {"x": POINT, "eps": EPS, "got": got, "formula": text, "want": want}
    return None


@value_rule
def divided_by_another_step(failure: Failure, student: Student) -> Facts | None:
    """All slopes are off by one positive factor, such as 2, or what missing brackets make."""
    got, want = slopes_of_square(student), 2 * POINT
    factor = 0.0 if got is None else float(got[0] / want[0])
    if got is None or factor <= 0 or not same(got, factor * want) or not differs(got, want):
        return None
    return {"x": POINT, "eps": EPS, "got": got, "factor": round(factor, 6), "want": want}


# ----------------------------------------------------------------------------------------- FixedPow


def asked(student: Student, *numbers: tuple[float, float]) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Return x, q, v and FixedPow's two gradients there."""
    x, q, v = (torch.tensor(one, dtype=F64) for one in (*numbers, (0.7, -1.3)))
    return x, q, v, value_and_gradients(student.FixedPow.apply, [x, q], v)[1]


@rule
def gradients_exchanged(failure: Failure, student: Student) -> Facts | None:
    """First comes what belongs to q, then what belongs to x."""
    x, q, v, got = asked(student, (2.0, 5.0), (3.0, 1.5))
    right = same(got[0], v * x**q * x.log()) and same(got[1], v * q * x ** (q - 1))
    return {"x": x, "q": q, "v": v, "first": got[0]} if right else None


@rule
def incoming_gradient_left_out(failure: Failure, student: Student) -> Facts | None:
    """One gradient is the bare derivative."""
    x, q, v, got = asked(student, (2.0, 5.0), (3.0, 1.5))
    for which, gradient, bare in zip("xq", got, (q * x ** (q - 1), x**q * x.log()), strict=True):
        if same(gradient, bare):
            return {"v": v, "which": which, "got": gradient}
    return None


def by_formula(place: int, right: str, *formulas: str) -> LessonRule:
    """Return a rule for a gradient that a wrong formula gives: that of x or, in place 1, of q."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        x, q, v, gradients = asked(student, (2.0, 5.0), (0.5, 3.0))
        names, got = {"x": x, "q": q, "v": v}, gradients[place]
        for text in formulas:
            if same(got, formula_value(text, **names)):
                want = formula_value(right, **names)
                return {**names, "got": got, "formula": text, "want": want}
        return None

    return recognize


logarithm_not_mended = by_formula(
    1,
    "v * x ** q * log(x)",
    "v * x ** q * log(x + 1)",
    "v * x ** q",
    "v * log(x)",
    "v * x ** q / x",
    "v * x ** q * log10(x)",
    "v * x ** q * log2(x)",
    "v * q * x ** (q - 1)",
    "v * x * q ** (x - 1)",
)
another_power = by_formula(
    0,
    "v * q * x ** (q - 1)",
    "v * q * x ** (q - 1).clamp(min=0)",
    "v * q * x ** (q - 1).abs()",
    "v * x ** (q - 1)",
    "v * q * x ** q",
)


@rule
def logarithm_is_protected(failure: Failure, student: Student) -> Facts | None:
    """log is taken of x plus a small number, or of a number that x is raised to."""
    _, _, v, got = asked(student, (1e-30, 5.0), (0.0, 0.0))
    added = float(torch.exp(got[1][0] / v[0]))
    return {"x": 1e-30, "added": f"{added:.0e}"} if 1e-20 < added < 1e-2 else None
