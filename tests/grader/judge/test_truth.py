"""Expected values are torch's: programs and reference solutions agree with torch for random
operator trees.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from observed_points import reference_of
from torch import Tensor

from grader.course.course import find_course, load_course
from grader.judge.remote.proxies import RemoteStudent
from grader.worker.wire.program import program

Tree = Any
"""``"x"``, a number, ``(name, tree)`` or ``(name, tree, tree)``."""
UNARY = ("sin", "cos", "tanh", "exp", "square")
BINARY = ("add", "sub", "mul")
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.just("x") | st.sampled_from([0.5, -1.5, 2.0]),
    lambda inner: (
        st.tuples(st.sampled_from(UNARY), inner) | st.tuples(st.sampled_from(BINARY), inner, inner)
    ),
    max_leaves=6,
)
POINTS = st.lists(st.floats(-0.9, 0.9).map(lambda value: round(value, 3)), min_size=1, max_size=4)
MODEST = settings(max_examples=120)


def evaluated(tree: Tree, x: Any) -> Any:
    """Return the tree's value, by Python's operators and the methods of x."""
    if tree == "x":
        return x
    if not isinstance(tree, tuple):
        return tree
    name, *inner = tree
    values = [evaluated(one, x) for one in inner]
    if name in BINARY:
        return getattr(operator, name)(*values)
    (value,) = values
    if isinstance(value, float):
        return value * value if name == "square" else getattr(math, name)(value)
    return getattr(value, name)()


def depends_on_x(tree: Tree) -> bool:
    return tree == "x" or (isinstance(tree, tuple) and any(depends_on_x(one) for one in tree[1:]))


def tame(tree: Tree) -> bool:
    """Return whether values stay in range; nested exponentials and squares would leave no digits to
    compare.
    """
    try:
        values = [evaluated(tree, torch.tensor([-0.9, -0.3, 0.4, 0.9], dtype=torch.float64))]
    except OverflowError:
        return False
    return depends_on_x(tree) and all(
        bool((torch.as_tensor(value).abs() < 1e4).all()) for value in values
    )


FUNCTIONS = TREES.filter(tame)


COURSE = load_course(find_course())
SECOND = reference_of(COURSE.lesson("second_derivative"))
GRAPHS = reference_of(COURSE.lesson("graph_inspection"))
HAND = reference_of(COURSE.lesson("finite_difference"))
CAPSTONE = reference_of(COURSE.lesson("tiny_autograd"))


def gradient(y: Tensor, x: Tensor) -> Tensor:
    """Return the gradient of y's sum, which can be differentiated again."""
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def derivative(function: Callable[[Tensor], Tensor], x: Tensor, order: int) -> Tensor:
    """Return an elementwise function's derivative, by torch's nested ``grad``."""
    for _ in range(order):
        function = torch.func.grad(function)
    return torch.stack([function(value) for value in x])


@given(FUNCTIONS, POINTS)
@MODEST
def test_a_program_is_the_function_that_it_records(tree: Tree, points: list[float]) -> None:
    """Value and gradient are bitwise those of the plain expression."""
    x, again = (torch.tensor(points, dtype=torch.float64, requires_grad=True) for _ in range(2))
    recorded, plain = program(lambda s: evaluated(tree, s))(x), evaluated(tree, again)
    assert torch.equal(recorded, plain)
    assert torch.equal(gradient(recorded, x), gradient(plain, again))


@given(FUNCTIONS, POINTS, st.integers(1, 3))
@MODEST
def test_reference_derivatives_are_torchs(tree: Tree, points: list[float], order: int) -> None:
    x = torch.tensor(points, dtype=torch.float64)
    f = program(lambda s: evaluated(tree, s))
    want = derivative(lambda value: evaluated(tree, value), x, order)
    torch.testing.assert_close(SECOND.nth_derivative(f, x, order), want)
    if order == 2:
        torch.testing.assert_close(SECOND.second_derivative(f, x), want)


@given(FUNCTIONS, POINTS)
@MODEST
def test_the_reference_hessian_is_torchs(tree: Tree, points: list[float]) -> None:
    x = torch.tensor(points, dtype=torch.float64)

    def whole(value: Tensor) -> Tensor:
        result: Tensor = (evaluated(tree, value) * value.sum()).sum()
        return result

    want = torch.autograd.functional.hessian(whole, x)
    torch.testing.assert_close(SECOND.hessian(whole, x), want)


@given(FUNCTIONS, POINTS)
@MODEST
def test_the_reference_difference_comes_near_torchs_gradient(
    tree: Tree, points: list[float]
) -> None:
    x = torch.tensor(points, dtype=torch.float64)
    want = derivative(lambda value: evaluated(tree, value), x, 1)
    got = HAND.numerical_gradient(lambda value: evaluated(tree, value).sum(), x)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


@given(FUNCTIONS, POINTS)
@MODEST
def test_the_reference_walk_is_torchs_graph(tree: Tree, points: list[float]) -> None:
    """A second walk, with an explicit stack, finds the same depths and names."""
    root = evaluated(tree, torch.tensor(points, dtype=torch.float64, requires_grad=True))
    expected, stack = [], [(0, root.grad_fn)] if root.grad_fn is not None else []
    while stack:
        depth, node = stack.pop()
        expected.append((depth, node.name().removeprefix("torch::autograd::")))
        stack += [
            (depth + 1, after) for after, _ in reversed(node.next_functions) if after is not None
        ]
    assert GRAPHS.walk(root) == expected


SCALARS = st.recursive(
    st.just("x") | st.sampled_from([0.5, -1.5, 2.0]),
    lambda inner: (
        st.tuples(st.sampled_from(("tanh", "exp")), inner)
        | st.tuples(st.sampled_from(BINARY), inner, inner)
    ),
    max_leaves=6,
).filter(tame)


@given(SCALARS, st.floats(-0.9, 0.9))
@MODEST
def test_the_capstones_engine_agrees_with_torch(tree: Tree, at: float) -> None:
    value, x = CAPSTONE.Value(at), torch.tensor(at, dtype=torch.float64, requires_grad=True)
    ours, theirs = evaluated(tree, value), evaluated(tree, x)
    ours.backward()
    theirs.backward()
    assert ours.data == pytest.approx(theirs.item(), rel=1e-9, abs=1e-12)
    assert x.grad is not None
    assert value.grad == pytest.approx(x.grad.item(), rel=1e-9, abs=1e-12)


def test_a_function_across_the_border_is_the_function(remote: Callable[..., RemoteStudent]) -> None:
    """A worker's value, gradient and second derivative of random trees are those from here."""
    student = remote("def apply(f, x):\n    return f(x)\n")

    @given(FUNCTIONS, POINTS)
    @settings(max_examples=40)
    def holds(tree: Tree, points: list[float]) -> None:
        here, there = (
            torch.tensor(points, dtype=torch.float64, requires_grad=True) for _ in range(2)
        )
        f = program(lambda s: evaluated(tree, s))
        pairs = [(f(here), student.apply(f, there))]
        for _ in range(2):
            left, right = pairs[-1]
            if not left.requires_grad:
                assert not right.requires_grad
                break
            pairs.append((gradient(left, here), gradient(right, there)))
        for left, right in pairs:
            torch.testing.assert_close(left, right, rtol=0, atol=0)

    holds()
