"""vector_backward: rules that recognize mistakes by what the student's code does, asked again.

The rules for vjp ask for a small product whose wrong answers are easy to tell apart: W = [[1, 2],
[3, 4]] is the Jacobian of W @ x, and v = (1, 10) tells rows from columns, and both from their sum.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Again,
    Failure,
    LessonRule,
    Student,
    StudentCodeError,
    differs,
    phrase,
    program,
    rule,
    same,
    value_rule,
)

Facts = dict[str, Any]

W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
V = torch.tensor([1.0, 10.0], dtype=torch.float64)
PROBE = program(lambda x, w: w @ x, parameters=[W])


def agrees(left: Any, right: Any) -> bool:
    """``same`` with a tolerance that float32 stays within."""
    return same(left, right, rtol=1e-4, atol=1e-6)


def ones(*shape: int) -> Tensor:
    return torch.ones(shape, dtype=torch.float64, requires_grad=True)


def arrivals(student: Student) -> dict[str, int]:
    return student.observe("arrivals", PROBE, ones(2))


def asked_again(failure: Failure, student: Student) -> Again:
    """Ask for the product with the Jacobian of W @ x, for the formulas of diagnosis.toml."""
    return Again(
        names={"W": W, "v": V},
        right={"gradient": "v @ W"},
        ask={"gradient": lambda at: student.observe("product", PROBE, ones(2), at["v"])["result"]},
        elsewhere=[{"W": W, "v": -0.5 * V}],
    )


def raises_one_of(*fragments: str, check: str | None = None) -> LessonRule:
    """Make a rule for an exception with one of these in its text, in one check if that is given."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        if failure.error is None or check not in (None, failure.check):
            return None
        found = any(failure.raised(text) for text in fragments)
        return {"said": failure.error.message.splitlines()[0].rstrip(".")} if found else None

    return recognize


OnRows = Callable[[Tensor, Tensor, Failure, Student], Facts | None]


def on_rows(recognize: OnRows) -> LessonRule:
    """Make a rule from a function of the right rows, one for each element of f(x), of the tensor
    that came back, the failure and the student.
    """

    @value_rule
    def asked(failure: Failure, student: Student) -> Facts | None:
        want, got = failure.expected, failure.actual
        if not isinstance(want, Tensor) or not isinstance(got, Tensor) or not want.numel():
            return None
        return recognize(want.reshape(-1, *failure.inputs["x"].shape), got, failure, student)

    return asked


def on_triple(name: str, recognize: Callable[..., Facts | None]) -> LessonRule:
    """Make a rule for a failure of one result of broadcast_dot, from a function of all three, of
    the right ones, the failure and the student.
    """

    @rule
    def asked(failure: Failure, student: Student) -> Facts | None:
        got, want = failure.facts.get("got"), failure.facts.get("want")
        if failure.facts.get("name") != name or not isinstance(got, tuple) or len(got) != 3:
            return None
        return recognize(got, want, failure, student)

    return asked


def dz_dx_is(wrong: Callable[..., Tensor]) -> LessonRule:
    """Make a rule for a dz/dx that is ``wrong(right, held, a, b)`` and not the right one."""

    def recognize(got: Any, want: Any, failure: Failure, student: Student) -> Facts | None:
        inputs = failure.inputs
        guess = wrong(want[1], inputs.get("x.grad before"), inputs["a"], inputs["b"])
        return {} if agrees(got[1], guess) and not agrees(guess, want[1]) else None

    return on_triple("dz/dx", recognize)


# ---------------------------------------------------------------------------------------------- vjp


@rule
def writes_to_x_grad(failure: Failure, student: Student) -> Facts | None:
    """What failed is x.grad itself, or the result is the old x.grad plus the product; and a
    backward added to x.grad: to assign to it is another mistake.
    """
    facts = failure.facts
    if "held" not in facts or not facts.get("added"):
        return None
    held = facts["held"]
    if held is None:
        left = failure.expected is None and agrees(facts["grad"], facts["want"])
        return {} if left else None
    counted = agrees(facts["result"], facts["want"] + held)
    keeps = any(
        isinstance(node, ast.Assign) and ast.unparse(node.value) == "x.grad"
        for node in student.source.nodes
    )
    kept = phrase(", and `old = x.grad` is not a copy") if keeps else ""
    return {"kept": kept} if counted or agrees(failure.expected, held) else None


@rule
def sum_of_no_tensors(failure: Failure, student: Student) -> Facts | None:
    is_int = failure.facts.get("type") == "int"
    return {} if is_int and failure.check == "test_vjp_without_elements" else None


@rule
def frees_the_graph(failure: Failure, student: Student) -> Facts | None:
    further = failure.facts.get("further")
    freed = isinstance(further, str) and "backward through the graph a second time" in further
    return {} if freed else None


# ----------------------------------------------------------------------------------------- jacobian


path_to_x_taken_for_granted = raises_one_of(
    "does not require grad and does not have a grad_fn",
    "appears to not have been used in the graph",
    "NoneType",
    "but got None",
    "expected Tensor as element",
    check="test_the_jacobian_of_a_constant",
)
transform_meets_custom_function = raises_one_of("functorch transforms", "jvp function for custom")


@rule
def empty_shape_unpacked(failure: Failure, student: Student) -> Facts | None:
    sizes = ('arguments: "size"', 'arguments: "shape"', "combination of arguments - got ()")
    if not any(failure.raised("TypeError", text) for text in sizes):
        return None
    try:  # if only one of the two is 0-d, it works
        student.jacobian(program(lambda x: x.expand(2) * 2), ones())
        student.jacobian(program(lambda x: x.sum()), ones(2))
    except StudentCodeError:
        return None
    return {}


@on_rows
def rows_added_up(rows: Tensor, got: Tensor, failure: Failure, student: Student) -> Facts | None:
    total = rows.sum(0)
    if len(rows) < 2 or not differs(total.expand_as(rows), rows):
        return None  # all of them zeros: a sum of rows and the rows look alike
    if agrees(got, total):
        return {}
    if not agrees(got, total.expand_as(rows).reshape(failure.expected.shape)):
        return None
    return {} if arrivals(student)["added"] < 2 else None


@on_rows
def rows_pile_up(rows: Tensor, got: Tensor, failure: Failure, student: Student) -> Facts | None:
    """Running totals, the last row or total in each row, or the gradient from before."""
    if got.shape != failure.expected.shape:
        return None
    held = failure.facts.get("held")
    first = torch.zeros_like(rows[0]) if held is None else held
    totals = rows.cumsum(0) + first
    wrong = (
        totals,
        totals[-1].expand_as(rows),
        rows[-1].expand_as(rows),
        rows + first,
        torch.cat([rows[:1] + first, rows[1:]]),
    )
    found = any(agrees(got.reshape(rows.shape), one) and differs(one, rows) for one in wrong)
    # The same values come from a v that is not cleared, but then nothing is added to a .grad.
    return {} if found and arrivals(student)["added"] else None


@on_rows
def axes_turned_round(
    rows: Tensor, got: Tensor, failure: Failure, student: Student
) -> Facts | None:
    """The values with the dimensions of x first, in that shape or in the right one."""
    want, dims = failure.expected, failure.inputs["x"].dim()
    turned = want.permute(*range(want.dim() - dims, want.dim()), *range(want.dim() - dims))
    for guess in (turned, turned.reshape(want.shape)):
        if agrees(got, guess) and not agrees(guess, want):
            return {"shape": str(tuple(got.shape))}
    return None


@on_rows
def numerical_differences(
    rows: Tensor, got: Tensor, failure: Failure, student: Student
) -> Facts | None:
    """Nearly right, everywhere, or wrong where differences lose their digits, and no gradient ever
    arrived at x.
    """
    if got.shape != failure.expected.shape or got.dtype is not rows.dtype:
        return None
    size, off = rows.abs().max().item(), (got - failure.expected).abs().max().item()
    near = 0 < off < 0.01 * size or failure.check == "test_the_jacobian_is_differentiated"
    if not near or arrivals(student)["arrived"]:
        return None
    return {"off": off, "size": size}


# ------------------------------------------------------------------------------------ broadcast_dot


def none_for_y(got: Any, want: Any, failure: Failure, student: Student) -> Facts | None:
    """None for dz/dy, and a .grad that was read of a tensor that keeps none, or too early."""
    if got[2] is not None or not isinstance(got[1], Tensor):
        return None
    seen = student.observe("sought", ones(), V, 2 * V)
    return {} if seen["read"] or seen["late"] else None


def exchanged(got: Any, want: Any, failure: Failure, student: Student) -> Facts | None:
    swapped = agrees(got[1], want[2]) and agrees(got[2], want[1])
    return {"first": got[1], "second": got[2]} if swapped else None


only_a_leaf_keeps_grad = on_triple("dz/dy", none_for_y)
gradients_exchanged = on_triple("dz/dx", exchanged)
counts_grad_from_before = dz_dx_is(
    lambda right, held, a, b: right if held is None else right + held
)
paths_not_added_up = dz_dx_is(lambda right, held, a, b: a * b)
incoming_gradient_left_out = dz_dx_is(lambda right, held, a, b: a.sum())


# ------------------------------------------------------------------------------- complex_derivative


def derivative_is(wrong: Callable[[Tensor, Tensor], dict[str, Tensor]]) -> LessonRule:
    """Make a rule for a derivative that is one of the values of ``wrong(right, w)``, or its
    conjugate; the name of the value is the fact ``loss``.
    """

    @value_rule
    def asked(failure: Failure, student: Student) -> Facts | None:
        want, got, w = failure.expected, failure.actual, failure.facts.get("w")
        if not isinstance(want, Tensor) or not isinstance(got, Tensor) or w is None:
            return None
        for name, one in wrong(want, w).items():
            if any(agrees(got, guess.resolve_conj()) for guess in (one, one.conj())):
                return None if agrees(got, want) else {"loss": name}
        return None

    return asked


conjugate_missing = derivative_is(lambda right, w: {"": right})
slopes_averaged = derivative_is(lambda right, w: {"": right / 2})
gradient_of_a_real_loss = derivative_is(
    lambda right, w: {
        "w.imag.sum()": right.conj() * 1j,
        "w.abs().sum()": right.conj() * w / w.abs(),
        "(w.abs() ** 2).sum()": right.conj() * w * 2,
        "(w.real + w.imag).sum()": right.conj() * (1 + 1j),
    }
)


@value_rule
def imaginary_part_lost(failure: Failure, student: Student) -> Facts | None:
    """The real part alone, or the size, in either dtype."""
    want, got = failure.expected, failure.actual
    if "w" not in failure.facts or not isinstance(want, Tensor) or not isinstance(got, Tensor):
        return None
    wide = got.to(want.dtype)
    found = any(agrees(wide, guess.to(want.dtype)) for guess in (want.real, want.abs()))
    return {} if found else None


@value_rule
def old_gradient_included(failure: Failure, student: Student) -> Facts | None:
    held, got, want = failure.inputs.get("z.grad before"), failure.actual, failure.expected
    if held is None or not isinstance(got, Tensor):
        return None
    sums = (want + held, want + held.conj(), (want + held).conj(), want.conj() + held)
    return {"held": held} if any(agrees(got, one.resolve_conj()) for one in sums) else None
