"""softmax, rules that recognize mistakes by what the student's code does, asked again."""

from __future__ import annotations

import ast
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Again,
    Failure,
    Student,
    methods,
    rule,
    same,
    value_and_gradients,
    value_rule,
)

Facts = dict[str, Any]
WAYS = ("forward", "setup_context", "backward")
ALONG = "sum mean max amax squeeze unsqueeze logsumexp softmax log_softmax".split()
"""Methods whose first argument is a dimension."""
REDUCING = {"amax", "max"}
CLASSES = torch.tensor([2, 0, 3, 2, 1])
IGNORED = torch.tensor([2, -100, 3, -100, 1])
IGNORING = ("test_ignored_rows", "test_gradient_of_ignored_rows")


def double(*numbers: Any) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def ask(student: Student, about: str, x: Tensor, *rest: Any, v: Any = None) -> tuple[Any, Any]:
    """Return what apply returns for x and further arguments, and its gradient for v."""

    def apply(x: Tensor) -> Any:
        return getattr(student, about).apply(x, *(copy(one) for one in rest))

    if v is None:
        return apply(x.clone()), None
    y, (gradient,) = value_and_gradients(apply, [x], v)
    return y, gradient


def copy(one: Any) -> Any:
    return one.clone() if isinstance(one, Tensor) else one


def asked_again(failure: Failure, student: Student) -> Again:
    """Ask about numbers of rows: l is the loss, p the softmax, q the probabilities that are wanted,
    k whether a row counts, i its class or 0, n how many rows count, m how many there are.
    """
    draw, about = failure.draw, failure.about
    if about == "LogSumExp":
        x, v = draw.tensor(3, 4), draw.tensor(3)
        names = {"x": x, "v": v[:, None], "p": x.softmax(1), "g": x.softmax(1)}
        right, rest = {"value": "logsumexp(x, 1)", "gradient": "v * p"}, [1]
    else:
        x, v = draw.tensor(5, 4), double(2.5)[0]
        target = IGNORED if failure.check in IGNORING else CLASSES
        k = (target >= 0).double()[:, None]
        i = target.clamp(min=0)[:, None]
        hot = torch.zeros_like(x).scatter(1, i, 1.0)
        third = 0.3 if about == "SmoothedCrossEntropy" else -100
        q = hot * 0.7 + 0.3 / 4 if about == "SmoothedCrossEntropy" else hot
        log_p = x.log_softmax(1)
        n = int(k.sum())
        names = {"x": x, "v": v, "p": log_p.exp(), "q": q, "hot": hot, "k": k, "n": n, "m": 5}
        names |= {"l": -(k * q * log_p).sum() / n, "g": k * (names["p"] - q) / n, "log_p": log_p}
        right, rest = {"value": "l", "gradient": "v * g"}, [target, third]

    def value(at: Facts) -> Any:
        return ask(student, about, at["x"], *rest)[0]

    def gradient(at: Facts) -> Any:
        incoming = at["v"].flatten() if at["v"].dim() else at["v"]
        return ask(student, about, at["x"], *rest, v=incoming)[1]

    def apply(x: Tensor) -> Any:
        return getattr(student, about).apply(x, *map(copy, rest))

    facts = {"apply": apply}
    return Again(names, right, {"value": value, "gradient": gradient}, facts=facts)


def is_nan(value: Any) -> bool:
    return isinstance(value, Tensor) and bool(value.isnan().any())


def is_infinite(value: Any) -> bool:
    return isinstance(value, Tensor) and bool(value.isinf().any())


@rule
def once_differentiable(failure: Failure, student: Student) -> Facts | None:
    used = student.source.names_used(failure.about)
    return {} if any(name.endswith("once_differentiable") for name in used) else None


@rule
def dimension_fixed(failure: Failure, student: Student) -> Facts | None:
    """Right along one dimension of a matrix, and wrong or raising along the other one."""
    if failure.check in ("test_row_of_infinities", "test_second_derivative"):
        return None  # these have causes of their own
    right = {dim: right_along(failure, student, dim) for dim in (0, 1)}
    if right != {0: False, 1: True}:
        return None
    parts = [part for one in methods(student, *WAYS, of=["LogSumExp"]) for part in ast.walk(one)]
    lines = [one.lineno for one in parts if isinstance(one, ast.Call) and names_a_dimension(one)]
    return {"line": min(lines)} if lines else {}


def names_a_dimension(call: ast.Call) -> bool:
    """Whether 1 or -1 is the dimension of a method such as sum or squeeze."""
    given = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "dim")]
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in ALONG and any(ast.unparse(one) in ("1", "-1") for one in given)


@rule
def negative_dimension(failure: Failure, student: Student) -> Facts | None:
    """Right along both dimensions of a matrix, and wrong or raising along the same two counted from
    the end.
    """
    if failure.check != "test_every_dimension":
        return None
    if not all(right_along(failure, student, dim) for dim in (0, 1)):
        return None
    return next(({"dim": dim} for dim in (-1, -2) if not right_along(failure, student, dim)), None)


def right_along(failure: Failure, student: Student, dim: int) -> bool:
    """Whether value and gradient are right along a dimension of a matrix."""
    x = failure.draw.tensor(3, 4)
    want = torch.logsumexp(x, dim)
    try:
        y, gradient = ask(student, "LogSumExp", x, dim, v=torch.ones_like(want))
    except Exception:
        return False
    return same(y, want) and same(gradient, x.softmax(dim))


@rule
def maximum_without_its_dimension(failure: Failure, student: Student) -> Facts | None:
    """A shape does not fit, or dim is out of range, and a maximum along dim has no keepdim."""
    texts = ("must match the size of tensor b", "Dimension out of range")
    if failure.check != "test_value" or not failure.error or not any(map(failure.raised, texts)):
        return None
    parts = (part for one in methods(student, "forward") for part in ast.walk(one))
    reduces = [one for one in parts if isinstance(one, ast.Call) and along_a_dimension(one)]
    without = [one for one in reduces if "keepdim" not in {given.arg for given in one.keywords}]
    return {"said": failure.error.message, "name": called(without[0])} if without else None


def along_a_dimension(call: ast.Call) -> bool:
    """Whether it is ``x.amax(dim)`` or ``torch.amax(x, dim)``, and no maximum of all elements."""
    if called(call) not in REDUCING:
        return False
    of_torch = ast.unparse(call.func).startswith("torch.")
    return len(call.args) > of_torch or "dim" in {given.arg for given in call.keywords}


def called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


@rule
def ignore_index_fixed(failure: Failure, student: Student) -> Facts | None:
    """Right for -100, and wrong or raising for another number."""
    if failure.check != "test_any_ignore_index":
        return None
    x = failure.draw.tensor(5, 4)
    for other in (-100, -1, 255, 0, 3):
        target = torch.tensor([2, other, 1, other, 1])
        want = torch.nn.functional.cross_entropy(x, target, ignore_index=other)
        try:
            right = same(ask(student, "CrossEntropy", x, target, other)[0], want)
        except Exception:
            right = False
        if not right:
            return None if other == -100 else {"other": other}
    return None


@rule
def writes_into_x(failure: Failure, student: Student) -> Facts | None:
    """x before and after a call; a saved x that was changed makes the gradient wrong, too."""
    apply = getattr(student, failure.about).apply
    rest = {"LogSumExp": [1], "CrossEntropy": [CLASSES.clone(), -100]}
    x = failure.draw.tensor(5, 4)
    with student.writing_allowed() as copies:
        apply(x, *rest.get(failure.about, [CLASSES.clone(), 0.3]))
    after = copies.of(x)
    return None if torch.equal(after, x) else {"before": x, "after": after}


@rule
def shared_between_calls(failure: Failure, student: Student) -> Facts | None:
    return {} if failure.check.endswith("calls_apart") else None


@value_rule
def ignored_infinity_counted(failure: Failure, student: Student) -> Facts | None:
    """The loss is NaN beside an ignored row with -inf at class 0, and right without that -inf."""
    if failure.check != "test_any_ignore_index":
        return None
    target = torch.tensor([0, -100])
    told = ask(student, "CrossEntropy", double([1.0, 2.0], [-torch.inf, 2.0]), target, -100)[0]
    other = ask(student, "CrossEntropy", double([1.0, 2.0], [0.0, 2.0]), target, -100)[0]
    return {} if is_nan(told) and not is_nan(other) else None


@value_rule
def infinity_minus_infinity(failure: Failure, student: Student) -> Facts | None:
    if failure.check != "test_row_of_infinities":
        return None
    y, _ = ask(student, "LogSumExp", double([-torch.inf, -torch.inf]), 1)
    return {} if is_nan(y) else None


@value_rule
def infinity_replaced(failure: Failure, student: Student) -> Facts | None:
    if failure.check != "test_row_of_infinities":
        return None
    y, _ = ask(student, "LogSumExp", double([-torch.inf, -torch.inf]), 1)
    finite = isinstance(y, Tensor) and y.shape == (1,) and bool(y.isfinite().all())
    return {"got": y} if finite else None


@value_rule
def infinity_counts(failure: Failure, student: Student) -> Facts | None:
    """-inf beside the smallest number is taken for a number."""
    if failure.check != "test_large_inputs":
        return None
    low, beside = -10000.0, torch.zeros(1, dtype=torch.float64)
    near, zero = (
        ask(student, "LogSumExp", double([-torch.inf, number]), 1)[0] for number in (low, 0.0)
    )
    if not isinstance(near, Tensor) or near.numel() != 1 or not same(zero, beside):
        return None
    return {"got": near} if 1e-3 < float(near) - low < 1 else None


@value_rule
def gradient_of_infinities_nan(failure: Failure, student: Student) -> Facts | None:
    if failure.check != "test_gradient_of_a_row_of_infinities":
        return None
    x = double([-torch.inf, -torch.inf])
    y, gradient = ask(student, "LogSumExp", x, 1, v=double(1.0))
    return {} if same(y, double(-torch.inf)) and is_nan(gradient) else None


@value_rule
def overflows(failure: Failure, student: Student) -> Facts | None:
    """exp of 800 is inf, and exp of -800 is 0; right for the rows nearby."""
    if "large" not in failure.check and "smoothed" not in failure.check:
        return None
    about = failure.about
    if about == "LogSumExp":
        high = ask(student, about, double([800.0, 799.0]), 1)[0]
        return {"got": high} if is_infinite(high) else None
    target, third = torch.tensor([0]), 0.2 if about == "SmoothedCrossEntropy" else -100
    high = ask(student, about, double([800.0, 799.0]), target, third)[0]
    return {"got": high} if is_nan(high) or is_infinite(high) else None


@value_rule
def maximum_over_all(failure: Failure, student: Student) -> Facts | None:
    """A row is right alone, and -inf or NaN beside one that is far away."""
    if failure.check != "test_large_inputs":
        return None
    alone = ask(student, "LogSumExp", double([0.0, 0.0]), 1)[0]
    both = ask(student, "LogSumExp", double([0.0, 0.0], [9000.0, 9000.0]), 1)[0]
    lost = isinstance(both, Tensor) and both.shape == (2,) and not bool(both[0].isfinite())
    return {"got": both} if lost and same(alone, double(2.0).log()) else None


@value_rule
def gradient_overflows(failure: Failure, student: Student) -> Facts | None:
    """Right for small numbers, NaN for 800."""
    about, x, v = failure.about, double([800.0, 799.0]), double(1.0)
    if about == "LogSumExp":
        gradient = ask(student, about, x, 1, v=v)[1]
    else:
        third = 0.2 if about == "SmoothedCrossEntropy" else -100
        gradient = ask(student, about, x, torch.tensor([0]), third, v=v[0])[1]
    return {"got": gradient} if is_nan(gradient) else None


@value_rule
def log_of_zero(failure: Failure, student: Student) -> Facts | None:
    """The loss of a class whose softmax is below the smallest number is not 2000."""
    if failure.check != "test_large_logits":
        return None
    loss = ask(student, "CrossEntropy", double([2000.0, 0.0]), torch.tensor([1]), -100)[0]
    told = isinstance(loss, Tensor) and loss.dim() == 0 and not same(loss, double(2000.0)[0])
    return {"got": loss} if told and not is_nan(loss) else None


@value_rule
def zero_times_infinity(failure: Failure, student: Student) -> Facts | None:
    if failure.check != "test_infinite_logits":
        return None
    x = double([1.0, -torch.inf, 2.0])
    return {} if is_nan(ask(student, "CrossEntropy", x, torch.tensor([0]), -100)[0]) else None


@rule
def second_derivative_nan(failure: Failure, student: Student) -> Facts | None:
    found = failure.check == "test_second_derivative_of_infinities" and is_nan(failure.actual)
    return {} if found else None


@rule
def grad_output_cut(failure: Failure, student: Student) -> Facts | None:
    """The gradient is right and has a graph, which does not lead back to grad_output."""
    if not failure.check.endswith("second_derivative") or isinstance(failure.expected, Tensor):
        return None
    again = asked_again(failure, student)
    x, v = again.names["x"].clone().requires_grad_(), again.names["v"].clone()
    v = (v.flatten() if v.dim() else v).requires_grad_()
    (first,) = torch.autograd.grad(again.facts["apply"](x), x, v, create_graph=True)
    (got,) = torch.autograd.grad(first, v, torch.ones_like(first), allow_unused=True)
    return {"got": got} if got is None else None


@rule
def intermediate_saved(failure: Failure, student: Student) -> Facts | None:
    """The first derivative is right, the second is not."""
    found = failure.check.endswith("second_derivative") and isinstance(failure.expected, Tensor)
    return {} if found and not failure.error else None
