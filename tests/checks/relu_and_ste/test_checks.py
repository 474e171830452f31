"""relu_and_ste's checks. Those below the line "hidden" are not handed out."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_gradient,
    assert_that,
    check,
    declared,
    hands_on,
    under_test,
)


def mixed(draw: RandomInputs, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """A leaf x and a v of four numbers: below -1, inside -1 … 1 and above 1, and every v larger
    than 1, up or down; the smallest and the largest are the same in every draw.
    """
    sign, order = draw.choice([1.0, -1.0]), draw.sample(range(4), 4)
    x = torch.tensor([0.2, -0.25, 2.4, -2.5], dtype=dtype)
    v = draw.tensor(4, low=1.1, high=2.9, dtype=dtype)
    v[2:] = 3.0
    v = v * torch.tensor([sign, -sign, -sign, sign], dtype=dtype)
    return x[order].requires_grad_(), v[order]


def other_side(draw: RandomInputs, x: Tensor) -> list[Tensor]:
    """Numbers of the other sign, and on the other side of the borders."""
    return [-torch.where(x.abs() < 1, 7 * x, x / 3)]


def class_of(
    name: str, value: Callable[[Tensor], Tensor], slope: Callable[[Tensor], Tensor]
) -> Any:
    """A class under test: what its forward returns, and what its backward multiplies by."""
    return under_test(
        f"{name}.apply",
        declared(value, slope),
        few=mixed,
        others=other_side,
        over=(-3, 3),
        messages={
            "expanded": "the gradient is wrong for a v that is one row, expanded",
            "flag": "x did not require grad before {called}(x), but does afterwards",
            "gradcheck": (
                "gradcheck compared your gradient with finite differences of your forward, and they"
                " disagree"
            ),
            "input changed": "forward or backward changed x",
            "linear": "for {factor} * v the gradient should be {factor} times that for v",
            "nested": "the gradient of {function}.apply({function}.apply(x) - 0.705) is wrong",
            "v changed": (
                "in {function}.apply(x) + w both terms get the same incoming gradient v, but"
                " backward changed what w gets"
            ),
        },
    )


def handing(name: str, of: str) -> Any:
    """A function under test that hands on what a class's apply returns."""
    return hands_on(
        name,
        to=of,
        messages={
            "no class": "{function} is not a class any more",
            "flag": "x did not require grad before {name}(x), but does afterwards",
            "forward called": (
                "{name} calls forward itself, with a {given} for ctx; autograd records the call"
                " only if apply makes it"
            ),
            "cut": (
                "{name}(x) does not require grad, although x does: something on the way cuts the"
                " graph"
            ),
        },
    )


# at 0 the slope of MyReLU may be 1 as well, and only one check asks there
MyReLU = class_of("MyReLU", lambda x: x.clamp(min=0), lambda x: (x > 0).to(x.dtype))
STE = class_of("STE", lambda x: (x > 0).to(x.dtype), torch.ones_like)
ClippedSTE = class_of(
    "ClippedSTE", lambda x: (x > 0).to(x.dtype), lambda x: (x.abs() <= 1).to(x.dtype)
)
relu, binarize = handing("relu", "MyReLU"), handing("binarize", "STE")
F32 = torch.float32


# ------------------------------------------------------------------------------------------- MyReLU


test_my_relu_keeps_what_is_positive = MyReLU.check(
    0.5, "MyReLU keeps positive numbers and makes the rest 0", MyReLU.right_value,
    at="MyReLU.forward",
)  # fmt: skip
test_my_relu_has_the_right_gradient = RELU = MyReLU.check(
    0.5, "MyReLU passes the gradient where x > 0", MyReLU.right_gradients, MyReLU.own_backward,
    at="MyReLU.backward", needs=test_my_relu_keeps_what_is_positive,
)  # fmt: skip


@check(points=0.25, about="MyReLU", at="MyReLU.backward", needs=RELU)
def test_my_relu_after_a_sum(student: Student, draw: RandomInputs) -> None:
    """x.grad after MyReLU and .sum().backward() is 0s and 1s"""
    message = "x.grad should be 0 where x is negative and 1 where it is positive"
    MyReLU.gradient(mixed(draw, F32)[0], None, says=message, after=torch.sum)


@check(points=0.5, about="relu")
def test_relu_returns_what_apply_returns(student: Student, draw: RandomInputs) -> None:
    """relu returns what MyReLU.apply returns"""
    relu.returns(mixed(draw)[0])


# ---------------------------------------------------------------------------------------------- STE


test_ste_is_a_step = STE.check(
    0.5, "STE gives 1 for positive numbers and 0 for negative ones",
    partial(STE.right_value, dtype=F32), at="STE.forward",
)  # fmt: skip
test_ste_hands_the_gradient_on = STEP = STE.check(
    0.5, "STE passes the incoming gradient on unchanged", partial(STE.right_gradients, dtype=F32),
    partial(STE.own_backward, dtype=F32), at="STE.backward", needs=test_ste_is_a_step,
)  # fmt: skip


@check(points=0.25, about="STE", at="STE.backward", needs=STEP)
def test_ste_after_a_sum(student: Student, draw: RandomInputs) -> None:
    """x.grad after STE and .sum().backward() is all 1s"""
    message = "x.grad should be 1 everywhere"
    STE.gradient(mixed(draw, F32)[0], None, says=message, after=torch.sum)


@check(points=0.5, about="binarize")
def test_binarize_returns_what_apply_returns(student: Student, draw: RandomInputs) -> None:
    """binarize returns what STE.apply returns"""
    binarize.returns(mixed(draw)[0])


# --------------------------------------------------------------------------------------- ClippedSTE


test_clipped_ste_stops_the_gradient_outside = CLIPPED = ClippedSTE.check(
    0.5, "ClippedSTE passes the gradient only from -1 to 1",
    partial(ClippedSTE.right_gradients, dtype=F32),
    partial(ClippedSTE.own_backward, dtype=F32),
    at="ClippedSTE.backward", bonus=True,
)  # fmt: skip


# hidden


EXACT = {torch.float64: {"rtol": 1e-12, "atol": 0.0}, F32: {}}
"""Nothing is computed that rounds; a result of float32 has the tolerance of its dtype."""
FAR = torch.tensor([-1e30, 1e30, -50.0, 50.0, 0.0, 1e-30], dtype=torch.float64)


def every_shape(cls: Any) -> None:
    """All shapes, and numbers of one sign."""
    cls.every_shape(dtypes=[F32], also=(0.4, -0.4, [0.4, 1.7], [-0.4, -1.7]))


def strided(cls: Any) -> None:
    cls.strided(dtype=F32)


def empty(cls: Any) -> None:
    cls.empty(dtype=F32)


def extremes(cls: Any) -> None:
    """Huge and tiny numbers, in both dtypes."""
    points = (-1e30, 1e30, -1e4, 1e4, -1e-4, 1e-4, -1e-30, 1e-30)
    cls.extremes(points, near=EXACT, value_near={"atol": 0.0})


def linear(cls: Any) -> None:
    """backward(k v) is k backward(v), also from one retained graph."""
    factors = (2.0, -1.0, 100.0, 0.01, 0.0, 1e10, 1e-10)
    # every slope is another one in the earlier call
    cls.linear(factors=factors, earlier=lambda x: -1 / x, retained=True, dtype=F32, atol=0.0)


def calls_apart(cls: Any) -> None:
    """Two calls in both orders, one call on the result of another, one tensor with other values."""
    cls.calls_apart(both_orders=True)
    cls.nested(between=lambda y: y - 0.705)
    cls.one_tensor_twice()


def leaves_others(cls: Any) -> None:
    """x, v, x.grad and the grad mode are as before."""
    cls.leaves_tensors(dtype=F32)
    cls.leaves_state(asks="flag values mode", dtype=F32)


def leaves_state(function: Any) -> None:
    """What a function leaves alone: x, its .grad, the grad mode. It keeps nothing of a call."""
    places = (torch.empty(0, 2), torch.tensor([0.7, -1.2, 1.6]), FAR, FAR.float())
    function.leaves_state(*places, asks="flag values grad mode recorded")
    function.keeps_nothing()


# ------------------------------------------------------------------------------------------- MyReLU


@check(points=0.5, about="MyReLU", at="MyReLU.backward", needs=RELU)
def test_my_relu_at_zero(student: Student, draw: RandomInputs) -> None:
    """MyReLU is 0 at exactly 0, with slope 0 or 1 there"""
    numbers = [0.0, 0.0, -0.0, -0.0, draw.number(0.3, 2.0), draw.number(-2.0, -0.3)]
    x = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0, -1.0], dtype=x.dtype)
    v = draw.tensor(6, low=0.2, high=0.9) * signs
    slopes = None
    for factor in (1.0, -1.0, 100.0):
        came = v * factor
        one, other = came * (x.detach() > 0), came * (x.detach() >= 0)
        draw.given(x=x, v=came)
        got = MyReLU.call(x).backward(came)
        if not isinstance(got, Tensor) or got.shape != x.shape or got.dtype != x.dtype:
            assert_gradient(got, one, "the gradient is wrong at 0")
        near = {"rtol": 1e-5, "atol": 1e-9}
        right = torch.isclose(got, one, **near) | torch.isclose(got, other, **near)
        if not bool(right[x != 0].all()):
            assert_gradient(got, one, "the gradient is wrong for an x that contains zeros")
        found = {"expected": one, "actual": got, "facts": {"function": "MyReLU"}}
        message = "where x is 0 the gradient should be 0 or the incoming gradient"
        assert_that(bool(right.all()), message, **found)
        passed = got != 0
        message = "where x is 0 the slope depends on grad_output: it is 0 for one and 1 for another"
        assert_that(slopes is None or torch.equal(slopes, passed), message, **found)
        slopes = passed


@check(points=0.25, about="MyReLU", at="MyReLU.backward", needs=RELU)
def test_my_relu_under_gradcheck(student: Student, draw: RandomInputs) -> None:
    """MyReLU passes gradcheck on eight numbers away from 0"""
    x = draw.tensor(8, low=0.1, high=2.0, digits=None)
    x[::2].neg_()
    MyReLU.gradcheck(x.requires_grad_(), eps=1e-6, atol=1e-5)


@check(points=0.25, about="MyReLU", needs=RELU)
def test_my_relu_keeps_the_dtype(student: Student, draw: RandomInputs) -> None:
    """MyReLU returns float32 for float32, float64 for float64"""
    for dtype in (F32, torch.float64):
        x, v = mixed(draw, dtype)
        MyReLU.gradient(x, v, says="the gradient is wrong for this dtype", **EXACT[dtype])
        MyReLU.value(x.detach())


test_my_relu_of_every_shape = MyReLU.check(
    0.25, "MyReLU works for every shape, a single number too", partial(every_shape, MyReLU),
    needs=RELU,
)  # fmt: skip
test_my_relu_of_strided_tensors = MyReLU.check(
    0.25, "MyReLU takes transposed inputs and expanded gradients", partial(strided, MyReLU),
    needs=RELU,
)  # fmt: skip
test_my_relu_of_empty_tensors = MyReLU.check(
    0.25, "MyReLU of an empty tensor is empty", partial(empty, MyReLU), needs=RELU
)
test_my_relu_of_extreme_numbers = MyReLU.check(
    0.25, "MyReLU is right for numbers from 1e-30 to 1e30", partial(extremes, MyReLU), needs=RELU
)
test_my_relu_is_linear_in_the_gradient = MyReLU.check(
    0.25, "MyReLU's gradient scales with the incoming gradient", partial(linear, MyReLU),
    at="MyReLU.backward", needs=RELU,
)  # fmt: skip
test_my_relu_twice_at_once = MyReLU.check(
    0.5, "calls of MyReLU do not affect each other", partial(calls_apart, MyReLU), needs=RELU
)
test_my_relu_leaves_tensors_of_others = MyReLU.check(
    0.25, "MyReLU leaves x and the incoming gradient as they were", partial(leaves_others, MyReLU),
    needs=RELU,
)  # fmt: skip
test_relu_leads_back_to_my_relu = relu.check(
    0.25, "the gradient through relu comes from MyReLU.backward", relu.leads_back,
    needs=test_relu_returns_what_apply_returns,
)  # fmt: skip
test_relu_leaves_the_rest_alone = relu.check(
    0.25, "relu leaves x, x.grad and grad mode as they were", partial(leaves_state, relu),
    needs=test_relu_returns_what_apply_returns,
)  # fmt: skip


# ---------------------------------------------------------------------------------------------- STE


@check(points=0.25, about="STE", at="STE.forward", needs=test_ste_is_a_step)
def test_ste_at_zero(student: Student, draw: RandomInputs) -> None:
    """STE is 0 at exactly 0"""
    points = [0.0, -0.0, draw.number(0.3, 2.0), draw.number(-2.0, -0.3)]
    x = torch.tensor(draw.sample(points, 4), dtype=F32)
    STE.value(x, says="the step is 1 only above 0; at exactly 0 it is 0")


@check(points=0.5, about="STE", at="STE.forward", needs=test_ste_is_a_step)
def test_ste_keeps_the_dtype(student: Student, draw: RandomInputs) -> None:
    """STE returns float64 for float64"""
    STE.value(mixed(draw)[0].detach(), says="STE.apply(x) is wrong in float64")


@check(
    points=0.25,
    about="STE",
    at="STE.backward",
    needs=[STEP, test_ste_keeps_the_dtype, test_ste_at_zero],
)
def test_ste_gradient_in_float64(student: Student, draw: RandomInputs) -> None:
    """STE passes the gradient on in float64 and at 0"""
    points = [0.0, -0.0, draw.number(0.3, 2.0), draw.number(-2.0, -0.3)]
    x = torch.tensor(draw.sample(points, 4), dtype=torch.float64, requires_grad=True)
    message = "the gradient should be v, also where x is 0"
    STE.gradient(x, draw.tensor(4), says=message, **EXACT[torch.float64])


test_ste_of_every_shape = STE.check(
    0.25, "STE works for every shape, a single number too", partial(every_shape, STE), needs=STEP
)
test_ste_of_strided_tensors = STE.check(
    0.25, "STE takes transposed inputs and expanded gradients", partial(strided, STE), needs=STEP
)
test_ste_of_empty_and_extreme_tensors = STE.check(
    0.25, "STE takes empty tensors, and numbers from 1e-30 to 1e30", partial(empty, STE),
    partial(extremes, STE), needs=STEP,
)  # fmt: skip
test_ste_is_linear_in_the_gradient = STE.check(
    0.25, "STE's gradient scales with the incoming gradient", partial(linear, STE),
    at="STE.backward", needs=STEP,
)  # fmt: skip
test_ste_calls_apart = STE.check(
    0.25, "calls of STE do not affect each other", partial(calls_apart, STE), needs=STEP
)
test_ste_leaves_tensors_of_others = STE.check(
    0.25, "STE leaves x and the incoming gradient as they were", partial(leaves_others, STE),
    needs=STEP,
)  # fmt: skip
test_binarize_leads_back_to_ste = binarize.check(
    0.25, "the gradient through binarize comes from STE.backward", binarize.leads_back,
    needs=test_binarize_returns_what_apply_returns,
)  # fmt: skip
test_binarize_leaves_the_rest_alone = binarize.check(
    0.25, "binarize leaves x, x.grad and grad mode as they were", partial(leaves_state, binarize),
    needs=test_binarize_returns_what_apply_returns,
)  # fmt: skip


# --------------------------------------------------------------------------------------- ClippedSTE


@check(points=0.25, about="ClippedSTE", at="ClippedSTE.backward", bonus=True, needs=CLIPPED)
def test_clipped_ste_at_its_borders(student: Student, draw: RandomInputs) -> None:
    """ClippedSTE passes the gradient at exactly -1 and 1"""
    for dtype in (F32, torch.float64):
        near = torch.finfo(dtype).eps  # 1 + near is the number after 1
        points = [-1.0, 1.0, 0.0, -0.0, 1 + near, -1 - near, 1 - near, near - 1, 1.01, -1.2]
        x = torch.tensor(draw.sample(points, 10), dtype=dtype, requires_grad=True)
        v = draw.tensor(10, low=0.5, high=2.0, dtype=dtype)
        message = "the gradient is wrong at or near the borders"
        ClippedSTE.gradient(x, v, says=message, **EXACT[dtype])


@check(points=0.25, about="ClippedSTE", bonus=True, needs=CLIPPED)
def test_clipped_ste_of_all_tensors(student: Student, draw: RandomInputs) -> None:
    """ClippedSTE takes every dtype, shape and incoming gradient"""
    x, v = mixed(draw)
    message = "the gradient is wrong in float64"
    ClippedSTE.gradient(x, v, says=message, **EXACT[torch.float64])
    for part in (every_shape, strided, empty, extremes, linear, calls_apart, leaves_others):
        part(ClippedSTE)
