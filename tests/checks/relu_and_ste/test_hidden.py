"""relu_and_ste, the checks that are not handed out."""

from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    StudentCodeError,
    assert_equal,
    assert_gradcheck,
    assert_gradient,
    assert_hands_on,
    assert_tensor,
    assert_that,
    check,
)

VALUES = {
    "MyReLU": lambda x: x.clamp(min=0),
    "STE": lambda x: (x > 0).to(x.dtype),
    "ClippedSTE": lambda x: (x > 0).to(x.dtype),
}
"""What forward returns."""
SLOPES = {
    "MyReLU": lambda x: (x > 0).to(x.dtype),
    "STE": torch.ones_like,
    "ClippedSTE": lambda x: (x.abs() <= 1).to(x.dtype),
}
"""What backward multiplies by; at 0 that of MyReLU may be 1 as well, and no check but one goes
there.
"""
RELU, STEP, CLIPPED = (
    "test_my_relu_has_the_right_gradient",
    "test_ste_hands_the_gradient_on",
    "test_clipped_ste_stops_the_gradient_outside",
)
"""What the checks of each class need."""


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


def gradient(name: str, x: Tensor, v: Tensor) -> Tensor:
    """The gradient at x for the incoming gradient v; where none passes it is 0, never -0."""
    return torch.where(SLOPES[name](x.detach()) > 0, v, torch.zeros_like(v))


def applied(student: Student, name: str, x: Tensor, **tolerance: float) -> Tensor:
    """The Function applied, whose value must be right and which must be differentiable before a
    gradient is asked for.
    """
    details = {"inputs": {"x": x}, "facts": {"function": name}}
    with student.writing_allowed():  # has a check of its own
        y = getattr(student, name).apply(x.clone())
    assert_tensor(
        y, VALUES[name](x.detach()), "{function}.apply(x) is wrong", **tolerance, **details
    )
    assert_that(
        y.requires_grad or not x.requires_grad,
        "{function}.apply(x) does not require grad, although x does",
        actual=y,
        **details,
    )
    return y


def differentiated(student: Student, y: Tensor, x: Tensor, v: Tensor, **options: Any) -> Any:
    """Return the gradient of y with respect to x. backward may write into its copy of v here, which
    has a check of its own.
    """
    with student.writing_allowed():
        return torch.autograd.grad(y, x, v, allow_unused=True, **options)[0]


def assert_right(
    student: Student, name: str, x: Tensor, v: Tensor, message: str, **tolerance: float
) -> None:
    """Value, and gradient for the incoming gradient v, at the leaf x; message is for the
    gradient.
    """
    want = gradient(name, x, v.clone())
    details = {"inputs": {"x": x, "v": v.clone()}, "facts": {"function": name}}
    got = differentiated(student, applied(student, name, x, **tolerance), x, v)
    exact = {"rtol": 1e-12, "atol": 0.0} if x.dtype is torch.float64 else {}
    assert_gradient(got, want, message, **exact, **details)


def assert_every_shape(student: Student, name: str, draw: RandomInputs) -> None:
    """No dimension, one, two, three, five; few elements and many."""
    for shape in draw.shapes():
        x, v = (
            draw.tensor(*shape, dtype=torch.float32, requires_grad=True),
            draw.tensor(*shape, dtype=torch.float32),
        )
        assert_right(student, name, x, v, "the gradient is wrong for this shape")
    for numbers in (0.4, -0.4, [0.4, 1.7], [-0.4, -1.7]):  # all of one sign
        x = torch.tensor(numbers, requires_grad=True)
        v = draw.tensor(*x.shape, low=0.5, high=2.0, dtype=torch.float32)
        assert_right(student, name, x, v, "the gradient is wrong for this shape")


def assert_strided(student: Student, name: str, draw: RandomInputs) -> None:
    """Transposed x and v, and an expanded v, also that of a sum."""
    x = draw.noncontiguous(3, 4, dtype=torch.float32, requires_grad=True)
    v, row = draw.tensor(4, 3, dtype=torch.float32).t(), draw.tensor(4, dtype=torch.float32)
    assert_right(student, name, x, v, "the gradient is wrong for a transposed x and a transposed v")
    assert_right(
        student,
        name,
        x,
        row.expand(3, 4),
        "the gradient is wrong for a v that is one row, expanded",
    )
    got = differentiated(student, applied(student, name, x).sum(), x, torch.ones(()))
    message = "the gradient of {function}.apply(x).sum() is wrong"
    assert_gradient(
        got, SLOPES[name](x.detach()), message, inputs={"x": x}, facts={"function": name}
    )


def assert_empty(student: Student, name: str, draw: RandomInputs) -> None:
    """No element, in one dimension and in three."""
    for shape in ((0,), (draw.integer(1, 3), 0, draw.integer(1, 3))):
        x = torch.empty(shape, requires_grad=True)
        assert_right(student, name, x, torch.empty(shape), "the gradient is wrong for an empty x")


def assert_extremes(student: Student, name: str, draw: RandomInputs) -> None:
    """Huge and tiny numbers, in both dtypes."""
    for dtype in (torch.float32, torch.float64):
        points = draw.sample([-1e30, 1e30, -1e4, 1e4, -1e-4, 1e-4, -1e-30, 1e-30], 8)
        x = torch.tensor(points, dtype=dtype, requires_grad=True)
        for v in (draw.tensor(8, dtype=dtype), x.detach().clone()):
            assert_right(student, name, x, v, "the gradient is wrong for huge or tiny x", atol=0.0)


def assert_linear(student: Student, name: str, draw: RandomInputs) -> None:
    """backward(k v) is k backward(v), from one retained graph."""
    x, v = mixed(draw, torch.float32)
    applied(student, name, (-1 / x).detach().requires_grad_())  # every slope is another one here
    want, y = gradient(name, x, v), applied(student, name, x)
    for factor in (2.0, -1.0, 100.0, 0.01, 0.0, 1e10, 1e-10):
        got = differentiated(student, applied(student, name, x), x, v * factor)
        message = "for {factor} * v the gradient should be {factor} times that for v"
        assert_gradient(
            got,
            want * factor,
            message,
            atol=0.0,
            inputs={"x": x, "v": v},
            facts={"function": name, "factor": factor},
        )
    a, b = draw.integer(1, 9), draw.integer(1, 9)
    balanced = torch.tensor([0.0, a, -b, b - a], dtype=x.dtype)
    assert_right(
        student, name, x, balanced, "the gradient for a grad_output v that adds up to 0 is wrong"
    )
    for message in (
        "the gradient is wrong with retain_graph=True",
        "the second backward through a retained graph is wrong",
    ):
        got = differentiated(student, y, x, v.clone(), retain_graph=True)
        assert_gradient(got, want, message, inputs={"x": x, "v": v}, facts={"function": name})


def assert_tensors_stay(student: Student, name: str, draw: RandomInputs) -> None:
    """x, v and what a neighbour gets from the same v are as before; the gradient is added to what
    x.grad held.
    """
    x, v = mixed(draw, torch.float32)
    applied(student, name, x.detach().clone().requires_grad_())
    held = draw.tensor(4, dtype=torch.float32)
    seen = student.observe("beside", name, x, v, held)
    details = {"inputs": {"x": x, "v": v, "x.grad before": held}, "facts": {"function": name}}
    assert_equal(seen["x"], x.detach(), "forward or backward changed x", **details)
    message = (
        "in {function}.apply(x) + w both terms get the same incoming gradient v, but backward"
        " changed what w gets"
    )
    assert_gradient(seen["grads"][1], v, message, **details)
    assert_equal(seen["v"], v, "backward changed the incoming gradient", **details)
    message = "the incoming gradient required grad before backward, and does not afterwards"
    assert_that(seen["v_requires_grad"], message, **details)
    message = "x.grad should be its old value plus the gradient"
    assert_gradient(seen["grads"][0], held + gradient(name, x, v), message, **details)
    assert_constant_stays(student, f"{name}.apply", x.detach())


def assert_constant_stays(student: Student, path: str, x: Tensor) -> None:
    """An x that requires no grad still requires none afterwards, and its values are the same."""
    seen = student.observe("constant_input", path, x.clone())
    details = {"inputs": {"x": x}, "facts": {"called": path}}
    message = "x did not require grad before {called}(x), but does afterwards"
    assert_that(not seen["requires_grad"], message, **details)
    assert_equal(seen["x"], x, "{called} changed x", **details)
    message = "after {called}(x) with an x that requires no grad, grad mode is switched off"
    assert_that(seen["records"], message, **details)


def assert_calls_apart(student: Student, name: str, draw: RandomInputs) -> None:
    """Two calls, differentiated in both orders; one call on the result of another; one tensor with
    other values in the second call.
    """
    (x, v), w = mixed(draw), draw.tensor(4)
    # of the other sign, and on the other side of the borders
    z = (-torch.where(x.detach().abs() < 1, 7 * x.detach(), x.detach() / 3)).requires_grad_()
    details = {"inputs": {"x": x, "v": v, "z": z, "w": w}, "facts": {"function": name}}
    calls = {
        "x": (x, v, "the gradient of the first call, on x, is wrong after a second call, on z"),
        "z": (z, w, "the gradient of the second call, on z, is wrong for the incoming gradient w"),
    }
    for order in ("xz", "zx"):
        results = {key: applied(student, name, calls[key][0]) for key in "xz"}
        for key in order:
            leaf, incoming, message = calls[key]
            got = differentiated(student, results[key], leaf, incoming.clone())
            assert_gradient(got, gradient(name, leaf, incoming), message, **details)
    inner = VALUES[name](x.detach()) - 0.705
    outer = applied(student, name, applied(student, name, x) - 0.705)
    got = differentiated(student, outer, x, v.clone())
    message = "the gradient of {function}.apply({function}.apply(x) - 0.705) is wrong"
    want = gradient(name, x, gradient(name, inner, v))
    assert_gradient(got, want, message, inputs={"x": x, "v": v}, facts={"function": name})
    seen = student.observe("one_tensor_twice", name, x, z.detach(), v)
    assert_tensor(
        seen["result"],
        VALUES[name](x.detach()),
        "a second call of {function}.apply, on other numbers, changed the result of the first",
        inputs={"x": x, "z": z},
        facts={"function": name},
    )
    for key, numbers in (("first", x.detach()), ("second", z.detach())):
        assert_gradient(
            seen[key],
            gradient(name, numbers, v),
            "x held other values in a second call, and the gradient of the {call} call is wrong",
            inputs={"x": x, "z": z, "v": v},
            facts={"function": name, "call": key},
        )


def assert_exchanged_gradient(student: Student, draw: RandomInputs, name: str, of: str) -> None:
    """The gradient through a function must be that of its class's backward, whatever x's shape."""
    many, answers = draw.shapes()[-1], True
    for x, v in (
        (draw.noncontiguous(3, 4, requires_grad=True), draw.tensor(3, 4)),
        (draw.tensor(requires_grad=True), draw.tensor()),
        (
            draw.tensor(*many, dtype=torch.float32, requires_grad=True),
            draw.tensor(*many, dtype=torch.float32),
        ),
    ):
        a, b = draw.coefficients(2, low=2.0, high=5.0)
        seen = student.observe("exchanged", name, of, x, v, a, b)
        details = {
            "inputs": {"x": x, "v": v},
            "facts": {"name": name, "function": of, "a": a, "b": b},
        }
        message = (
            "{name}(x) is not what {function}.apply(x) returns (in this check, forward returns {a}"
            " * x)"
        )
        assert_tensor(seen["value"], (x * a).detach(), message, **details)
        message = (
            "{name}(x) does not require grad, although x does: something on the way cuts the graph"
        )
        assert_that(seen["requires_grad"], message, **details)
        message = (
            "the gradient is not what {function}.backward returns (in this check, {b} *"
            " grad_output)"
        )
        # A class whose float32 rounds the gradient has its own checks; the function isn't to blame.
        assert_gradient(seen["gradient"], v * b, message, rtol=1e-6, **details)
        answers = answers and assert_hands_on(student, name, f"{of}.apply", x, v)


def assert_rest_stays(student: Student, draw: RandomInputs, name: str, of: str) -> None:
    """What a function leaves alone: x, its .grad, the grad mode. It keeps nothing of a call."""
    far = torch.tensor([-1e30, 1e30, -50.0, 50.0, 0.0, 1e-30], dtype=torch.float64)
    for x in (torch.empty(0, 2), draw.tensor(3, dtype=torch.float32), far, far.float()):
        with student.writing_allowed():  # the class has its own checks
            try:
                want = getattr(student, of).apply(x.clone())
            except StudentCodeError:
                continue
            got = getattr(student, name)(x.clone())
        if isinstance(want, Tensor):
            message = "{name}(x) is not what {function}.apply(x) returns"
            facts = {"name": name, "function": of}
            assert_tensor(got, want.detach(), message, inputs={"x": x}, facts=facts)
            own = student.observe("constant_input", f"{of}.apply", x)
            if torch.equal(own["x"], x) and not own["requires_grad"] and own["records"]:
                assert_constant_stays(student, name, x)
    x, held = draw.tensor(3), draw.tensor(3)
    z = -x  # so that each step differs
    try:
        own = student.observe("called_again", f"{of}.apply", x, z, held)
    except StudentCodeError:  # the class has its own checks
        return
    seen = student.observe("called_again", name, x, z, held)
    details = {"inputs": {"x": x}, "facts": {"name": name, "function": of}}
    message = "{name}(x) under torch.no_grad() requires grad, and {function}.apply(x) does not"
    assert_that(own["recorded"] or not seen["recorded"], message, **details)
    before = {"inputs": {"x": x, "x.grad before": held}, "facts": details["facts"]}
    assert_tensor(seen["grad"], held, "{name}(x) changed x.grad", **before)
    message = "x was changed in place after {name}(x), and a second {name}(x) is wrong"
    after = {"inputs": {"x before": x, "x": z}, "facts": details["facts"]}
    assert_tensor(seen["again"], own["again"], message, **after)


# ------------------------------------------------------------------------------------------- MyReLU


@check(points=0.5, about="MyReLU", at="MyReLU.backward", needs=RELU)
def test_my_relu_at_zero(student: Student, draw: RandomInputs) -> None:
    """MyReLU is 0 at exactly 0, with slope 0 or 1 there"""
    numbers = [0.0, 0.0, -0.0, -0.0, draw.number(0.3, 2.0), draw.number(-2.0, -0.3)]
    x = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
    v = draw.tensor(6, low=0.2, high=0.9) * torch.tensor(
        [1.0, -1.0, 1.0, -1.0, 1.0, -1.0], dtype=x.dtype
    )
    slopes = None
    for factor in (1.0, -1.0, 100.0):
        came = v * factor
        got = differentiated(student, applied(student, "MyReLU", x), x, came.clone())
        one, other = gradient("MyReLU", x, came), came * (x.detach() >= 0)
        details = {"inputs": {"x": x, "v": came}, "facts": {"function": "MyReLU"}}
        if not isinstance(got, Tensor) or got.shape != x.shape or got.dtype != x.dtype:
            assert_gradient(got, one, "the gradient is wrong at 0", **details)
        near = {"rtol": 1e-5, "atol": 1e-9}
        right = torch.isclose(got, one, **near) | torch.isclose(got, other, **near)
        message = "the gradient is wrong for an x that contains zeros"
        if not bool(right[x != 0].all()):
            assert_gradient(got, one, message, **details)
        message = "where x is 0 the gradient should be 0 or the incoming gradient"
        assert_that(bool(right.all()), message, expected=one, actual=got, **details)
        passed = got != 0
        message = "where x is 0 the slope depends on grad_output: it is 0 for one and 1 for another"
        same_slope = slopes is None or torch.equal(slopes, passed)
        assert_that(same_slope, message, expected=one, actual=got, **details)
        slopes = passed


@check(points=0.25, about="MyReLU", at="MyReLU.backward", needs=RELU)
def test_my_relu_under_gradcheck(student: Student, draw: RandomInputs) -> None:
    """MyReLU passes gradcheck on eight numbers away from 0"""
    x = draw.tensor(8, digits=None, requires_grad=True)
    applied(student, "MyReLU", x)
    message = (
        "gradcheck compared your gradient with finite differences of your forward, and they"
        " disagree"
    )
    with student.writing_allowed():
        assert_gradcheck(
            lambda x: student.MyReLU.apply(x.clone()),
            [x],
            message,
            names=["x"],
            eps=1e-6,
            atol=1e-5,
        )


@check(points=0.25, about="MyReLU", needs=RELU)
def test_my_relu_keeps_the_dtype(student: Student, draw: RandomInputs) -> None:
    """MyReLU returns float32 for float32, float64 for float64"""
    for dtype in (torch.float32, torch.float64):
        x, v = mixed(draw, dtype)
        assert_right(student, "MyReLU", x, v, "the gradient is wrong for this dtype")
        applied(student, "MyReLU", x.detach())


@check(points=0.25, about="MyReLU", needs=RELU)
def test_my_relu_of_every_shape(student: Student, draw: RandomInputs) -> None:
    """MyReLU works for every shape, a single number too"""
    assert_every_shape(student, "MyReLU", draw)


@check(points=0.25, about="MyReLU", needs=RELU)
def test_my_relu_of_strided_tensors(student: Student, draw: RandomInputs) -> None:
    """MyReLU takes transposed inputs and expanded gradients"""
    assert_strided(student, "MyReLU", draw)


@check(points=0.25, about="MyReLU", needs=RELU)
def test_my_relu_of_empty_tensors(student: Student, draw: RandomInputs) -> None:
    """MyReLU of an empty tensor is empty"""
    assert_empty(student, "MyReLU", draw)


@check(points=0.25, about="MyReLU", needs=RELU)
def test_my_relu_of_extreme_numbers(student: Student, draw: RandomInputs) -> None:
    """MyReLU is right for numbers from 1e-30 to 1e30"""
    assert_extremes(student, "MyReLU", draw)


@check(points=0.25, about="MyReLU", at="MyReLU.backward", needs=RELU)
def test_my_relu_is_linear_in_the_gradient(student: Student, draw: RandomInputs) -> None:
    """MyReLU's gradient scales with the incoming gradient"""
    assert_linear(student, "MyReLU", draw)


@check(points=0.5, about="MyReLU", needs=RELU)
def test_my_relu_twice_at_once(student: Student, draw: RandomInputs) -> None:
    """calls of MyReLU do not affect each other"""
    assert_calls_apart(student, "MyReLU", draw)


@check(points=0.25, about="MyReLU", needs=RELU)
def test_my_relu_leaves_tensors_of_others(student: Student, draw: RandomInputs) -> None:
    """MyReLU leaves x and the incoming gradient as they were"""
    assert_tensors_stay(student, "MyReLU", draw)


@check(points=0.25, about="relu", needs="test_relu_returns_what_apply_returns")
def test_relu_leads_back_to_my_relu(student: Student, draw: RandomInputs) -> None:
    """the gradient through relu comes from MyReLU.backward"""
    assert_exchanged_gradient(student, draw, "relu", "MyReLU")


@check(points=0.25, about="relu", needs="test_relu_returns_what_apply_returns")
def test_relu_leaves_the_rest_alone(student: Student, draw: RandomInputs) -> None:
    """relu leaves x, x.grad and grad mode as they were"""
    assert_rest_stays(student, draw, "relu", "MyReLU")


# ---------------------------------------------------------------------------------------------- STE


@check(points=0.25, about="STE", at="STE.forward", needs="test_ste_is_a_step")
def test_ste_at_zero(student: Student, draw: RandomInputs) -> None:
    """STE is 0 at exactly 0"""
    points = [0.0, -0.0, draw.number(0.3, 2.0), draw.number(-2.0, -0.3)]
    x = torch.tensor(draw.sample(points, 4), dtype=torch.float32)
    want = VALUES["STE"](x)
    with student.writing_allowed():
        y = student.STE.apply(x.clone())
    assert_tensor(
        y,
        want,
        "the step is 1 only above 0; at exactly 0 it is 0",
        inputs={"x": x},
        facts={"function": "STE"},
    )


@check(points=0.5, about="STE", at="STE.forward", needs="test_ste_is_a_step")
def test_ste_keeps_the_dtype(student: Student, draw: RandomInputs) -> None:
    """STE returns float64 for float64"""
    x, _ = mixed(draw)
    with student.writing_allowed():
        y = student.STE.apply(x.detach().clone())
    assert_tensor(y, VALUES["STE"](x.detach()), "STE.apply(x) is wrong in float64", inputs={"x": x})


@check(
    points=0.25,
    about="STE",
    at="STE.backward",
    needs=[STEP, test_ste_keeps_the_dtype, test_ste_at_zero],
)
def test_ste_gradient_in_float64(student: Student, draw: RandomInputs) -> None:
    """STE passes the gradient on in float64 and at 0"""
    points = [0.0, -0.0, draw.number(0.3, 2.0), draw.number(-2.0, -0.3)]
    x, v = (
        torch.tensor(draw.sample(points, 4), dtype=torch.float64, requires_grad=True),
        draw.tensor(4),
    )
    assert_right(student, "STE", x, v, "the gradient should be v, also where x is 0")


@check(points=0.25, about="STE", needs=STEP)
def test_ste_of_every_shape(student: Student, draw: RandomInputs) -> None:
    """STE works for every shape, a single number too"""
    assert_every_shape(student, "STE", draw)


@check(points=0.25, about="STE", needs=STEP)
def test_ste_of_strided_tensors(student: Student, draw: RandomInputs) -> None:
    """STE takes transposed inputs and expanded gradients"""
    assert_strided(student, "STE", draw)


@check(points=0.25, about="STE", needs=STEP)
def test_ste_of_empty_and_extreme_tensors(student: Student, draw: RandomInputs) -> None:
    """STE takes empty tensors, and numbers from 1e-30 to 1e30"""
    assert_empty(student, "STE", draw)
    assert_extremes(student, "STE", draw)


@check(points=0.25, about="STE", at="STE.backward", needs=STEP)
def test_ste_is_linear_in_the_gradient(student: Student, draw: RandomInputs) -> None:
    """STE's gradient scales with the incoming gradient"""
    assert_linear(student, "STE", draw)


@check(points=0.25, about="STE", needs=STEP)
def test_ste_calls_apart(student: Student, draw: RandomInputs) -> None:
    """calls of STE do not affect each other"""
    assert_calls_apart(student, "STE", draw)


@check(points=0.25, about="STE", needs=STEP)
def test_ste_leaves_tensors_of_others(student: Student, draw: RandomInputs) -> None:
    """STE leaves x and the incoming gradient as they were"""
    assert_tensors_stay(student, "STE", draw)


@check(points=0.25, about="binarize", needs="test_binarize_returns_what_apply_returns")
def test_binarize_leads_back_to_ste(student: Student, draw: RandomInputs) -> None:
    """the gradient through binarize comes from STE.backward"""
    assert_exchanged_gradient(student, draw, "binarize", "STE")


@check(points=0.25, about="binarize", needs="test_binarize_returns_what_apply_returns")
def test_binarize_leaves_the_rest_alone(student: Student, draw: RandomInputs) -> None:
    """binarize leaves x, x.grad and grad mode as they were"""
    assert_rest_stays(student, draw, "binarize", "STE")


# --------------------------------------------------------------------------------------- ClippedSTE


@check(points=0.25, about="ClippedSTE", at="ClippedSTE.backward", bonus=True, needs=CLIPPED)
def test_clipped_ste_at_its_borders(student: Student, draw: RandomInputs) -> None:
    """ClippedSTE passes the gradient at exactly -1 and 1"""
    for dtype in (torch.float32, torch.float64):
        near = torch.finfo(dtype).eps  # 1 + near is the number after 1
        points = [-1.0, 1.0, 0.0, -0.0, 1 + near, -1 - near, 1 - near, near - 1, 1.01, -1.2]
        x = torch.tensor(draw.sample(points, 10), dtype=dtype, requires_grad=True)
        v = draw.tensor(10, low=0.5, high=2.0, dtype=dtype)
        assert_right(student, "ClippedSTE", x, v, "the gradient is wrong at or near the borders")


@check(points=0.25, about="ClippedSTE", bonus=True, needs=CLIPPED)
def test_clipped_ste_of_all_tensors(student: Student, draw: RandomInputs) -> None:
    """ClippedSTE takes every dtype, shape and incoming gradient"""
    x, v = mixed(draw)
    assert_right(student, "ClippedSTE", x, v, "the gradient is wrong in float64")
    for judged in (
        assert_every_shape,
        assert_strided,
        assert_empty,
        assert_extremes,
        assert_linear,
        assert_calls_apart,
        assert_tensors_stay,
    ):
        judged(student, "ClippedSTE", draw)
