"""broadcasting: rules that recognize mistakes by what the student's code does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Failure,
    LessonRule,
    Student,
    rule,
    same,
    value_and_gradients,
    value_rule,
)

Facts = dict[str, Any]
Shape = tuple[int, ...]
RESHAPE = ("RuntimeError", "invalid for input of size")
PROBES: list[tuple[Shape, Shape]] = [
    ((3, 4), (4,)), ((3, 4), (3, 1)), ((2, 3, 4), (3, 1)), ((3, 4), (3, 4)), ((2, 2, 2), (2,)),
    ((3, 4), (1, 4)),
]  # fmt: skip


def leading(gradient: Tensor, shape: Shape) -> list[int]:
    return [*range(gradient.dim() - len(shape))]


def ones(gradient: Tensor, shape: Shape) -> list[int]:
    """The dimensions of the gradient in which shape has size 1."""
    return [k for k, size in enumerate(shape, gradient.dim() - len(shape)) if size == 1]


def total(gradient: Tensor, dims: list[int], *, keepdim: bool = False) -> Tensor:
    return gradient.sum(dims, keepdim=keepdim) if dims else gradient


def right(gradient: Tensor, shape: Shape) -> Tensor:
    return gradient.sum_to_size(shape)


def summed_as(*wrongs: Callable[[Tensor, Shape], Tensor]) -> LessonRule:
    """Return a rule that recognizes a sum_to which always returns what one of ``wrongs`` returns,
    also if it ends in a reshape to the right shape, which may raise.
    """

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        if failure.error and not failure.raised(*RESHAPE) and not failure.raised("IndexError"):
            return None
        found = (
            always(wrong, failure, student, bent=bent) for wrong in wrongs for bent in (False, True)
        )
        return next((facts for facts in found if facts), None)

    return recognize


def always(
    wrong: Callable[[Tensor, Shape], Tensor], failure: Failure, student: Student, *, bent: bool
) -> Facts | None:
    """Return the facts of the first wrong result if each is that of ``wrong``, or of a reshape of
    that.
    """
    facts = None
    for wide, shape in PROBES:
        gradient = failure.draw.tensor(*wide)
        got, left = outcome(student.sum_to, gradient, shape), outcome(wrong, gradient, shape)
        want = outcome(lambda g, to: wrong(g, to).reshape(to), gradient, shape) if bent else left
        if not (got == want if isinstance(got, str) else same(got, want)):
            return None
        if facts is None and not same(got, right(gradient, shape)):
            held = str(tuple(left.shape)) if isinstance(left, Tensor) else left
            facts = {"from": str(wide), "to": str(shape), "got": held}
    return facts


def outcome(function: Callable[[Tensor, Shape], Any], gradient: Tensor, shape: Shape) -> Any:
    """Return what a function returns, or what it raises about numbers of dimensions or elements."""
    try:
        return function(gradient.clone(), shape)
    except Exception as error:
        said = re.search(r"invalid for input of size \d+|Dimension out of range", str(error))
        if said is None:
            raise
        return said[0]


def from_the_left(gradient: Tensor, shape: Shape) -> Tensor:
    while gradient.dim() > len(shape):
        gradient = gradient.sum(-1)
    return total(gradient, ones(gradient, shape), keepdim=True)


def first_ones(gradient: Tensor, shape: Shape) -> Tensor:
    for _ in leading(gradient, shape):
        gradient = gradient[0]
    for dim in ones(gradient, shape):
        gradient = gradient.narrow(dim, 0, 1)
    return gradient


def ones_from_the_left(gradient: Tensor, shape: Shape) -> Tensor:
    for dim, size in enumerate(shape):
        gradient = gradient.sum(dim, keepdim=True) if size == 1 else gradient
    return gradient


def ones_first(gradient: Tensor, shape: Shape) -> Tensor:
    gradient = ones_from_the_left(gradient, shape)
    return total(gradient, leading(gradient, shape))


def one_by_one(gradient: Tensor, shape: Shape) -> Tensor:
    for dim in both(gradient, shape):
        gradient = gradient.sum(dim)
    return gradient


def leading_shift(gradient: Tensor, shape: Shape) -> Tensor:
    for dim in leading(gradient, shape):
        gradient = gradient.sum(dim)
    return ones_from_the_left(gradient, shape)


def averaged(gradient: Tensor, shape: Shape) -> Tensor:
    return right(gradient, shape) * (torch.Size(shape).numel() / gradient.numel())


def all_summed(gradient: Tensor, shape: Shape) -> Tensor:
    return gradient if gradient.shape == shape else gradient.sum().expand(shape)


def both(gradient: Tensor, shape: Shape) -> list[int]:
    return leading(gradient, shape) + ones(gradient, shape)


nothing_summed = summed_as(lambda g, shape: g)
size_one_forgotten = summed_as(lambda g, shape: total(g, leading(g, shape)))
leading_forgotten = summed_as(
    lambda g, shape: total(g, ones(g, shape), keepdim=True), ones_from_the_left
)
ones_before_leading = summed_as(ones_first)
keepdim_forgotten = summed_as(lambda g, shape: total(g, both(g, shape)))
lacking_dimensions_kept = summed_as(lambda g, shape: total(g, both(g, shape), keepdim=True))
matched_from_the_left = summed_as(from_the_left)
mean_in_place_of_sum = summed_as(averaged)
one_repetition_taken = summed_as(first_ones)
everything_summed = summed_as(all_summed)


@rule
def empty_list_of_dimensions(failure: Failure, student: Student) -> Facts | None:
    """For shapes without a size of 1, or without a missing dimension, the sum of all, in any shape,
    or an error because it has one element or no dimensions; right for other shapes.
    """
    lost, seen = [], False
    for wide, shape in PROBES:
        gradient = failure.draw.tensor(*wide)
        try:
            got = student.sum_to(gradient.clone(), shape)
        except Exception as error:
            one_element = "invalid for input of size 1" in str(error)
            if not one_element and "IndexError" not in str(error):
                return None
            seen |= one_element
        else:
            if same(got, right(gradient, shape)):
                continue
            if not isinstance(got, Tensor) or not same(got, gradient.sum().expand(got.shape)):
                return None
            seen = True
        if ones(gradient, shape) and leading(gradient, shape):
            return None
        lost.append({"from": str(wide), "to": str(shape)})
    return lost[-1] if seen and len(lost) < len(PROBES) else None


@rule
def size_zero_not_summed(failure: Failure, student: Student) -> Facts | None:
    """A gradient without elements comes back, where one that has some is summed."""
    got, shape = failure.actual, failure.facts.get("from")
    found = shape == "(0,)" and isinstance(got, Tensor) and got.shape == (0,)
    return {"got": shape} if found else None


numbers_of_dimensions_shift = summed_as(one_by_one, leading_shift)


@rule
def weight_transposed_in_backward(failure: Failure, student: Student) -> Facts | None:
    """The line of a product that does not fit has w transposed behind grad_output."""
    if failure.error is None or not failure.raised("RuntimeError"):
        return None
    product = re.search(r"\bgrad_output @ w\.(T|mT|t\(\))", student.source.line(failure.error.line))
    return {"line": failure.error.line} if product else None


@rule
def bias_summed_over_one_dimension(failure: Failure, student: Student) -> Facts | None:
    """What backward returned for b lacks the first of several batch dimensions."""
    x, b, shape = failure.inputs.get("x"), failure.inputs.get("b"), failure.facts.get("shape")
    if failure.facts.get("which") != "b" or not isinstance(x, Tensor) or not isinstance(b, Tensor):
        return None
    whole = (*x.shape[:-1], *b.shape)
    return {"whole": str(whole), "shape": shape} if shape == str(whole[1:]) else None


@value_rule
def ignores_grad_output(failure: Failure, student: Student) -> Facts | None:
    """The same gradient for another incoming gradient."""
    names = {"Scale": ["row", "matrix"], "Affine": ["x", "w", "b"]}[failure.about]
    given = [failure.inputs.get(name) for name in names]
    v = failure.inputs.get("v")
    if not isinstance(v, Tensor) or not all(isinstance(one, Tensor) for one in given):
        return None
    apply = getattr(student, failure.about).apply
    _, found = value_and_gradients(apply, given, v)
    _, again = value_and_gradients(apply, given, -3 * v)
    for which, got, other in zip(names, found, again, strict=True):
        if isinstance(got, Tensor) and got.any() and same(got, other):
            return {"which": which, "got": got}
    return None


@value_rule
def bias_left_out(failure: Failure, student: Student) -> Facts | None:
    """x @ w.T alone."""
    x, w, b = (failure.inputs.get(name) for name in "xwb")
    if not all(isinstance(one, Tensor) for one in (x, w, b, failure.actual)):
        return None
    return {} if same(failure.actual, x @ w.T) and b.any() else None


@value_rule
def einsum_gradients_swapped(failure: Failure, student: Student) -> Facts | None:
    """The gradients of a product of matrices, in the other order."""
    a, b, v = (failure.draw.tensor(*shape) for shape in ((2, 3), (3, 4), (2, 4)))
    found = student.einsum_gradients("ij,jk->ik", a, b, v)
    pair = isinstance(found, tuple | list) and len(found) == 2
    return {} if pair and all(map(same, found, (a.T @ v, v @ b.T))) else None


@rule
def lone_letter_put_last(failure: Failure, student: Student) -> Facts | None:
    """For "ij,j->", each column of the gradient of a is b, not each row."""
    a, b = failure.draw.tensor(3, 3), failure.draw.tensor(3)
    got = student.einsum_gradients("ij,j->", a, b, torch.ones((), dtype=a.dtype))[0]
    return {} if same(got, b[:, None].expand(3, 3)) else None
