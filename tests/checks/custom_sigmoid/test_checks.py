"""custom_sigmoid's checks. Those below the line "hidden" are not handed out."""

import math
from functools import partial

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_gradient,
    assert_tensor,
    assert_that,
    assert_worst,
    check,
    hands_on,
    phrase,
    same,
    under_test,
)

FAR = [-1e4, 1e4, -800.0, 800.0, -95.0, 95.0, -25.0, 25.0, 0.0]
"""Inputs at which exp overflows in one dtype, in both, or in neither."""
SMALL = {torch.float64: 1e-8, torch.float32: 1e-6}
"""How far off a value may be at any x."""
SIGMOIDS = (
    "sigmoid expit logistic softmax softmin silu glu mish crossentropy bce lstm gru rnnlayer"
    " attention softplusbackward softmarginlossbackward"
).split()
"""What names of built-ins that compute a sigmoid contain, without underscores and capitals."""
FORWARD_MODE = {*"_make_dual _unpack_dual _fw_primal _has_same_storage_numel".split()}
"""Operators by which autograd's forward mode begins."""


def mixed(draw: RandomInputs, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Return a leaf x and a v of four numbers: every sign of one comes with every sign of the
    other, and each has its largest and its smallest number in every draw.
    """
    small, order = draw.tensor(2, low=0.2, high=0.9, dtype=dtype), draw.sample(range(4), 4)
    x = torch.cat([torch.tensor([2.0, -1.9], dtype=dtype), small * small.new_tensor([1, -1])])
    v = torch.tensor([2.0, 0.2, -0.25, -1.9], dtype=dtype) * draw.choice([1.0, -1.0])
    return x[order].requires_grad_(), v[order]


S = under_test(
    "Sigmoid.apply",
    torch.sigmoid,
    telling=mixed,
    others=lambda draw, x: [draw.tensor(len(x), low=0.5, high=3.0)],
    near={"rtol": 1e-5, "atol": 1e-6},  # many digits are asked for by checks of their own
    scaled=True,
    over=(-6, 6),
    messages={
        "nested": "the gradient of Sigmoid applied twice, s(s(x)), is wrong",
        "built in": "line {line} uses {used}; compute Sigmoid from exp or tanh",
        "operator": "torch ran {used} in Sigmoid.{way}; compute Sigmoid from exp or tanh",
    },
)
H = hands_on("sigmoid", to="Sigmoid")


def many(draw: RandomInputs, bound: float) -> Tensor:
    """Return float64 numbers from -bound to bound: spread evenly, and drawn."""
    drawn = draw.tensor(100, low=-bound, high=bound, digits=None)
    return torch.cat([torch.linspace(-bound, bound, 300, dtype=torch.float64), drawn])


def everywhere(draw: RandomInputs, dtype: torch.dtype) -> list[Tensor]:
    """Return the numbers of FAR, and all halves from -1000 to 1000 at which s has digits for 1e-8
    even in float32.
    """
    halves = torch.arange(-2000, 2001, dtype=dtype) / 2
    grid = halves[(halves < -6) | (halves > 18.4)]
    return [torch.tensor(draw.sample(FAR, 9), dtype=dtype), grid]


def assert_seen_to_compute(seen: dict, way: str) -> None:
    """Require of what torch ran in forward, or in backward: no autograd, and no hidden numbers."""
    source = "complex numbers" if seen["imaginary"] else None
    if seen["steps"]:
        source = "small steps of x"
    for name in seen["nodes"]:
        source = phrase("autograd's {name}", name=name)
    if FORWARD_MODE.intersection(seen["operators"]):
        source = "autograd's forward mode"
    message = "Sigmoid.{way} takes the derivative from {source}, not from a formula"
    assert_that(not source, message, facts={"source": source, "way": way})
    hidden = S.hides(seen)
    message = "Sigmoid.{way} uses numbers that were computed where no check can see it"
    assert_that(not hidden, message, facts={"hidden": hidden, "way": way})


test_forward_is_the_logistic_function = S.check(
    1, "forward returns 1 / (1 + exp(-x))", S.right_value, at="Sigmoid.forward"
)


@check(points=0.5, about="Sigmoid", needs=test_forward_is_the_logistic_function)
def test_no_built_in_does_the_work(student: Student, draw: RandomInputs) -> None:
    """no built-in sigmoid and no autograd do the work"""
    numbers = draw.tensor(2000, digits=None, requires_grad=True)
    far = torch.tensor(draw.sample(FAR, 9), dtype=torch.float32, requires_grad=True)
    for x in (numbers, far):
        draw.given(x=x.detach())
        want = torch.sigmoid(x.detach())
        seen = S.no_built_in(SIGMOIDS, x, draw.tensor(len(x), dtype=x.dtype))
        if x is numbers:  # far x have a check of their own
            S.assert_near(seen["value"], want, "value", worst=4)
        for way in ("forward", "backward"):
            assert_seen_to_compute(seen[way], way)
        elsewhere = seen["forward"]["elsewhere"]
        assert_that(
            x is far or not any(torch.equal(value, want) for value in elsewhere),
            "all {count} values equal torch.sigmoid's to the last bit, and no operator was seen to"
            " compute them: a built-in did",
            facts={"count": len(x)},
        )


FORWARD = test_no_built_in_does_the_work


@check(points=1, about="Sigmoid", at="Sigmoid.backward", needs=FORWARD)
def test_gradient_uses_the_incoming_gradient(student: Student, draw: RandomInputs) -> None:
    """backward multiplies by grad_output"""
    S.right_gradients()
    x = draw.tensor(2000, digits=None, requires_grad=True)
    x, v = draw.given(x=x, v=draw.tensor(2000))
    (want,) = torch.autograd.grad(torch.sigmoid(x), x, v)
    seen = student.observe("operators", S.path, x, v)  # is it right while operators are seen?
    S.assert_near(seen["gradient"], want, "gradient", worst=4)


GRADIENT = test_gradient_uses_the_incoming_gradient


@check(points=0.25, about="Sigmoid", at="Sigmoid.forward", needs=FORWARD)
def test_value_in_float64(student: Student, draw: RandomInputs) -> None:
    """float64 values are right to 8 digits"""
    S.value(many(draw, 6.0), says="Sigmoid.apply(x) is inexact", worst=4, atol=1e-8)


@check(points=0.75, about="Sigmoid", at="Sigmoid.backward", needs=[GRADIENT, test_value_in_float64])
def test_gradient_in_float64(student: Student, draw: RandomInputs) -> None:
    """float64 gradients are right to 12 digits"""
    x = many(draw, 2.0).requires_grad_()
    v = draw.tensor(len(x))
    (want,) = torch.autograd.grad(torch.sigmoid(x), x, v)
    got = S.call(x).backward(v)
    message, facts = "the gradient is inexact", {}
    if isinstance(got, Tensor) and got.shape == x.shape:
        off = float(((got - want) / want).abs().max())
        message = "the gradient agrees to only {digits} digits; a formula agrees to about 15"
        facts = {"digits": int(-math.log10(off)) if off else 16}
    exact = {"rtol": 5e-13, "atol": 1e-15}
    assert_worst(got, want, message, worst=4, inputs={"x": x, "v": v}, facts=facts, **exact)
    x = many(draw, 6.0).requires_grad_()
    S.gradient(x, draw.tensor(len(x)), says="the gradient is inexact", worst=4, atol=2e-8)


@check(points=0.25, about="Sigmoid", at="Sigmoid.backward", needs=GRADIENT)
def test_gradcheck_agrees(student: Student, draw: RandomInputs) -> None:
    """gradcheck agrees with backward"""
    S.gradcheck(draw.tensor(8, digits=None, requires_grad=True))


@check(points=0.5, about="Sigmoid", at="Sigmoid.forward", needs=FORWARD)
def test_value_at_extreme_inputs(student: Student, draw: RandomInputs) -> None:
    """values are right from x = -10,000 to 10,000"""
    for dtype, small in SMALL.items():
        for x in everywhere(draw, dtype):
            nan = "Sigmoid.apply(x) is NaN at x = {bad}"
            S.value(
                x, says="Sigmoid.apply(x) is wrong for large inputs", nan=nan, worst=4, atol=small
            )
        near = torch.arange(-36, 37, dtype=dtype) / 2
        S.value(near, says="Sigmoid.apply(x) is wrong at some x", worst=4, atol=1e-6)
        for number in draw.sample(FAR, 9):
            x = torch.tensor(number, dtype=dtype)
            S.value(x, says="Sigmoid.apply(x) is wrong for a large 0-d x", atol=small)


@check(points=0.5, about="sigmoid")
def test_sigmoid_returns_what_apply_returns(student: Student, draw: RandomInputs) -> None:
    """sigmoid(x) returns what Sigmoid.apply(x) returns"""
    H.returns(torch.tensor(draw.sample(FAR, 9), dtype=torch.float64))


# hidden


@check(points=0.25, about="Sigmoid", at="Sigmoid.forward", needs=FORWARD)
def test_value_in_float32(student: Student, draw: RandomInputs) -> None:
    """float32 input gives float32 output"""
    x = torch.cat([draw.tensor(5, low=-6.0, high=6.0), torch.linspace(-6, 6, 60)]).float()
    S.value(x, says="Sigmoid.apply(x) is wrong in float32", worst=4, atol=1e-6)


@check(points=0.25, about="Sigmoid", at="Sigmoid.backward", needs=GRADIENT)
def test_gradient_in_float32(student: Student, draw: RandomInputs) -> None:
    """the gradient is right in float32"""
    x = torch.cat([draw.tensor(6, low=-8.0, high=8.0), torch.linspace(-8, 8, 60)]).float()
    v = torch.linspace(-50, 40, 66)[draw.sample(range(66), 66)]
    # 1 - y cancels where y is near 1: about 6e-8 is lost, times the incoming gradient
    wrong = "the gradient is wrong in float32"
    S.gradient(x.requires_grad_(), v, says=wrong, worst=4, atol=1e-6 * 50)


test_every_shape = S.check(
    0.5,
    "every shape works, including 0-d",
    partial(S.every_shape, dtypes=[torch.float64]),
    needs=GRADIENT,
)
test_strided_tensors = S.check(
    0.5, "transposed inputs and expanded gradients work", S.strided, needs=GRADIENT
)
test_empty_tensors = S.check(0.25, "an empty tensor gives an empty result", S.empty, needs=GRADIENT)


@check(
    points=0.5,
    about="Sigmoid",
    at="Sigmoid.backward",
    needs=[GRADIENT, test_value_at_extreme_inputs],
)
def test_gradient_at_extreme_inputs(student: Student, draw: RandomInputs) -> None:
    """gradients are right from x = -10,000 to 10,000"""
    large = {
        "says": "the gradient is wrong for large inputs",
        "nan": "the gradient is NaN at x = {bad}",
    }
    for dtype, small in SMALL.items():
        for size in (1.0, 1e6):
            for x in everywhere(draw, dtype):
                v, atol = draw.tensor(len(x), dtype=dtype) * size, 2 * small * size
                S.gradient(x.requires_grad_(), v, **large, worst=4, rtol=1e-5, atol=atol)
        x = (torch.arange(-36, 37, dtype=dtype) / 2).requires_grad_()
        S.gradient(x, draw.tensor(len(x), dtype=dtype), says="the gradient is wrong at some x")
        for number in draw.sample(FAR, 9):
            x = torch.tensor(number, dtype=dtype, requires_grad=True)
            wrong = "the gradient is wrong for a large 0-d x"
            S.gradient(x, torch.full_like(x, 2.0).detach(), says=wrong, atol=2 * small)


test_gradient_is_linear = S.check(
    0.5,
    "the gradient is proportional to grad_output",
    partial(S.linear, factors=(2.0, -1.0, 1e6, 1e-4, 0.0)),
    at="Sigmoid.backward",
    needs=GRADIENT,
)
test_two_results_at_once = S.check(
    0.5,
    "calls do not affect each other",
    S.calls_apart,
    S.nested,
    S.after_a_change,
    S.one_tensor_twice,
    needs=GRADIENT,
)


@check(points=0.5, about="Sigmoid", needs=GRADIENT)
def test_tensors_of_others_stay(student: Student, draw: RandomInputs) -> None:
    """x and grad_output are not changed"""
    x = torch.cat([draw.tensor(2), torch.tensor([-1e4, 1e4], dtype=torch.float64)])
    S.leaves_tensors(x.clone().requires_grad_(), held=False)
    S.leaves_state(x, asks="flag result grad retains")


test_save_for_backward = S.check(
    0.5,
    "what backward needs goes through save_for_backward",
    S.saves,
    S.notices_changes,
    at="Sigmoid.forward",
    needs=GRADIENT,
)
test_backward_again = S.check(
    0.5,
    "a second backward works only with retain_graph=True",
    S.backward_again,
    at="Sigmoid.backward",
    needs=GRADIENT,
)


@check(points=0.5, about="sigmoid", needs=test_sigmoid_returns_what_apply_returns)
def test_sigmoid_leads_back_to_sigmoid(student: Student, draw: RandomInputs) -> None:
    """the gradient of sigmoid(x) comes from Sigmoid.backward"""
    x, z, v = draw.given(x=draw.tensor(3), z=draw.tensor(3, low=0.5, high=3.0), v=draw.tensor(3))
    b = draw.number(low=2.0, high=5.0)
    first, *later = student.observe("sigmoid_again", x, z, v, b)
    if same(first["value"], torch.sigmoid(x)) and same(first["gradient"], v * b):
        message = "a call of sigmoid returns what an earlier call did"
        for at, seen in zip((x, z), later, strict=True):
            assert_tensor(seen["value"], torch.sigmoid(at), message)
            assert_gradient(seen["gradient"], v * b, message)
    H.leads_back()
    x = torch.cat([draw.tensor(2), torch.tensor([-1e4, 1e4], dtype=torch.float64)])
    H.leaves_state(torch.empty((0, 2), dtype=torch.float64), x)
    H.after_a_change(torch.sigmoid)


test_second_derivative = S.check(
    0.5,
    "backward can itself be differentiated",
    S.second_derivative,
    at="Sigmoid.backward",
    needs=GRADIENT,
    bonus=True,
)


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", bonus=True, needs=test_second_derivative)
def test_gradgradcheck_agrees(student: Student, draw: RandomInputs) -> None:
    """gradgradcheck agrees with backward"""
    S.gradgradcheck(draw.tensor(2, 3, digits=None, requires_grad=True))
