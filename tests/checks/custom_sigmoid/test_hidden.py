"""custom_sigmoid, the checks that are not handed out."""

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_equal,
    assert_gradgradcheck,
    assert_gradient,
    assert_hands_on,
    assert_raises,
    assert_tensor,
    assert_that,
    check,
    fail,
    import_helpers,
)

helpers = import_helpers(__file__)
applied, local_derivative = helpers.applied, helpers.local_derivative

FORWARD, GRADIENT = "test_no_built_in_does_the_work", "test_gradient_uses_the_incoming_gradient"
"""What most checks here need: a forward that is right and the student's own; and a gradient as
well.
"""


def assert_same_gradient(student: Student, x: Tensor, v: Tensor, message: str) -> None:
    """Value and gradient of Sigmoid at the leaf x must be those of torch.sigmoid, for the incoming
    gradient v.
    """
    want = v * local_derivative(x)
    (got,) = torch.autograd.grad(applied(student, x), x, v, allow_unused=True)
    assert_gradient(got, want, message, inputs={"x": x, "v": v})


# -------------------------------------------------------------------------------- dtypes and shapes


@check(points=0.5, about="Sigmoid", at="Sigmoid.forward", needs=FORWARD)
def test_value_in_float32(student: Student, draw: RandomInputs) -> None:
    """float32 input gives float32 output"""
    x = draw.tensor(5, dtype=torch.float32, low=-6.0, high=6.0)
    want = torch.sigmoid(x)
    assert_tensor(
        student.Sigmoid.apply(x), want, "Sigmoid.apply(x) is wrong in float32", inputs={"x": x}
    )


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", needs=GRADIENT)
def test_gradient_in_float32(student: Student, draw: RandomInputs) -> None:
    """the gradient is right in float32 too"""
    x = draw.tensor(6, dtype=torch.float32, low=-8.0, high=8.0, requires_grad=True)
    v = draw.tensor(6, dtype=torch.float32, low=-50.0, high=50.0)
    want = v * local_derivative(x)
    (got,) = torch.autograd.grad(applied(student, x), x, v.clone(), allow_unused=True)
    # 1 - y cancels where y is near 1: what is lost is some 6e-8, times whatever comes in.
    rounding = 1e-6 * float(v.abs().max())
    assert_gradient(
        got, want, "the gradient is wrong in float32", inputs={"x": x, "v": v}, atol=rounding
    )


@check(points=0.5, about="Sigmoid", needs=GRADIENT)
def test_every_shape(student: Student, draw: RandomInputs) -> None:
    """every shape works, including 0-d"""
    for shape in draw.shapes():
        x, v = draw.tensor(*shape, requires_grad=True), draw.tensor(*shape)
        assert_same_gradient(student, x, v, "the gradient is wrong for this shape")


@check(points=0.5, about="Sigmoid", needs=GRADIENT)
def test_strided_tensors(student: Student, draw: RandomInputs) -> None:
    """transposed inputs and expanded gradients work"""
    x, v = draw.noncontiguous(3, 4, requires_grad=True), draw.tensor(4, 3).t()
    assert_same_gradient(
        student, x, v, "the gradient is wrong for a transposed x and a transposed v"
    )
    row = draw.tensor(4)
    assert_same_gradient(
        student, x, row.expand(3, 4), "the gradient is wrong for a v that is one row, expanded"
    )
    want = local_derivative(x)
    (got,) = torch.autograd.grad(applied(student, x).sum(), x, allow_unused=True)
    assert_gradient(got, want, "the gradient of Sigmoid.apply(x).sum() is wrong", inputs={"x": x})


@check(points=0.5, about="Sigmoid", needs=GRADIENT)
def test_empty_tensors(student: Student, draw: RandomInputs) -> None:
    """an empty tensor stays empty"""
    for shape in ((0,), (draw.integer(1, 3), 0, draw.integer(1, 3))):
        x = torch.empty(shape, dtype=torch.float64, requires_grad=True)
        assert_same_gradient(
            student,
            x,
            torch.empty(shape, dtype=torch.float64),
            "the gradient is wrong for an empty x",
        )


# ---------------------------------------------------------------------------- large, doubled, again


@check(
    points=0.5,
    about="Sigmoid",
    at="Sigmoid.backward",
    needs=[GRADIENT, "test_value_at_extreme_inputs"],
)
def test_gradient_at_extreme_inputs(student: Student, draw: RandomInputs) -> None:
    """the gradient is right from x = -10,000 to 10,000"""
    for dtype in (torch.float64, torch.float32):
        points = draw.sample([-1e4, 1e4, -800.0, 800.0, -95.0, 95.0, -25.0, 25.0, 0.0], 9)
        x, v = torch.tensor(points, dtype=dtype, requires_grad=True), draw.tensor(9, dtype=dtype)
        want = v * local_derivative(x)
        small = 1e-8 if dtype is torch.float64 else 1e-6
        (got,) = torch.autograd.grad(
            applied(student, x, atol=small), x, v.clone(), allow_unused=True
        )
        if isinstance(got, Tensor) and got.isnan().any():
            bad = x.detach()[got.isnan()].tolist()
            fail(
                "the gradient is NaN at x = {bad}",
                expected=want,
                actual=got,
                inputs={"x": x, "v": v},
                facts={"bad": bad},
            )
        assert_gradient(
            got,
            want,
            "the gradient is wrong for large inputs",
            inputs={"x": x, "v": v},
            atol=4 * small,
        )


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", needs=GRADIENT)
def test_gradient_is_linear(student: Student, draw: RandomInputs) -> None:
    """doubling grad_output doubles the gradient"""
    x, v = draw.tensor(4, requires_grad=True), draw.tensor(4)
    want = v * local_derivative(x)
    for factor in (2.0, -1.0, 100.0, 0.0):
        y = applied(student, x)
        (got,) = torch.autograd.grad(y, x, v * factor, allow_unused=True)
        message = "for {factor} * v the gradient should be {factor} times that for v"
        assert_gradient(
            got, want * factor, message, inputs={"x": x, "v": v}, facts={"factor": factor}
        )


@check(points=0.5, about="Sigmoid", needs=GRADIENT)
def test_two_results_at_once(student: Student, draw: RandomInputs) -> None:
    """a second call does not change the first call's gradient"""
    x, z = draw.tensor(3, requires_grad=True), draw.tensor(3, low=0.5, high=3.0, requires_grad=True)
    v, w = draw.tensor(3), draw.tensor(3)
    first, second = applied(student, x), applied(student, z)
    (got,) = torch.autograd.grad(first, x, v.clone(), allow_unused=True)
    want = v * local_derivative(x)
    assert_gradient(
        got,
        want,
        "after a second call, on z, the gradient of the first, on x, is wrong",
        inputs={"x": x, "v": v, "z": z},
    )
    (got,) = torch.autograd.grad(second, z, w.clone(), allow_unused=True)
    want = w * local_derivative(z)
    assert_gradient(
        got,
        want,
        "the gradient of the second call, on z, is wrong",
        inputs={"x": x, "z": z, "v": w},
    )
    (got,) = torch.autograd.grad(
        applied(student, applied(student, x)), x, v.clone(), allow_unused=True
    )
    (want,) = torch.autograd.grad(torch.sigmoid(torch.sigmoid(x)), x, v)
    assert_gradient(
        got,
        want,
        "the gradient of Sigmoid applied twice, s(s(x)), is wrong",
        inputs={"x": x, "v": v},
    )


# ------------------------------------------------------------------------------- being a good guest


@check(points=0.5, about="Sigmoid", needs=GRADIENT)
def test_tensors_of_others_stay(student: Student, draw: RandomInputs) -> None:
    """x and grad_output are not changed"""
    x, v = draw.tensor(4, requires_grad=True), draw.tensor(4)
    neighbour = draw.tensor(4, requires_grad=True)
    x_before, v_before = x.detach().clone(), v.clone()
    y = applied(student, x)
    assert_equal(x.detach(), x_before, "forward changed x itself")
    _, shared = torch.autograd.grad(y + neighbour, (x, neighbour), v, allow_unused=True)
    message = (
        "in Sigmoid.apply(x) + w both get the same incoming gradient v, and backward changed what w"
        " gets"
    )
    assert_gradient(shared, v_before, message, inputs={"x": x, "v": v_before})
    assert_equal(v, v_before, "backward changed the incoming gradient itself", inputs={"x": x})


@check(points=0.5, about="Sigmoid", at="Sigmoid.forward", needs=GRADIENT)
def test_save_for_backward(student: Student, draw: RandomInputs) -> None:
    """what backward needs goes through save_for_backward"""
    x = draw.tensor(3, requires_grad=True)
    seen = student.observe("kept", x)
    if seen["attributes"]:
        names = ", ".join(f"ctx.{name}" for name in seen["attributes"])
        fail(
            "there are tensors in {names}, beside save_for_backward",
            inputs={"x": x},
            facts={"names": names, "saved": seen["saved"]},
        )
    assert_that(
        seen["saved"] >= 1,
        "no tensor was kept through save_for_backward",
        inputs={"x": x},
        facts={"saved": seen["saved"]},
    )


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", needs=GRADIENT)
def test_backward_again(student: Student, draw: RandomInputs) -> None:
    """a second backward needs retain_graph"""
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    want = v * local_derivative(x)
    y = applied(student, x)
    for message in (
        "the gradient is wrong with retain_graph=True",
        "the second backward through a retained graph is wrong",
    ):
        (got,) = torch.autograd.grad(y, x, v.clone(), retain_graph=True, allow_unused=True)
        assert_gradient(got, want, message, inputs={"x": x, "v": v})
    torch.autograd.grad(y, x, v.clone(), allow_unused=True)
    message = (
        "a backward through a graph that was freed still gave a gradient: what it used is held"
        " elsewhere than in saved_tensors"
    )
    again = lambda: torch.autograd.grad(y, x, v.clone(), allow_unused=True)[0]  # noqa: E731
    assert_raises("RuntimeError", again, message=message, inputs={"x": x, "v": v})


# ------------------------------------------------------------------------------------- the function


@check(points=0.5, about="sigmoid", needs="test_sigmoid_returns_what_apply_returns")
def test_sigmoid_leads_back_to_sigmoid(student: Student, draw: RandomInputs) -> None:
    """the gradient through sigmoid is Sigmoid.backward's"""
    many = draw.shapes()[-1]
    for x, v in (
        (draw.noncontiguous(3, 4, requires_grad=True), draw.tensor(3, 4)),
        (draw.tensor(requires_grad=True), draw.tensor()),
        (
            draw.tensor(*many, dtype=torch.float32, requires_grad=True),
            draw.tensor(*many, dtype=torch.float32),
        ),
    ):
        a, b = draw.coefficients(2, low=2.0, high=5.0)
        seen = student.observe("exchanged", x, v, a, b)
        message = (
            "sigmoid(x) is not what Sigmoid.apply(x) returns (to judge sigmoid alone, forward was"
            " made to return {a} * x)"
        )
        assert_tensor(seen["value"], x * a, message, inputs={"x": x}, facts={"a": a})
        assert_that(
            seen["requires_grad"],
            "sigmoid(x) does not require grad, although x does: something on the way cuts the"
            " graph",
            inputs={"x": x},
        )
        message = (
            "the gradient is not what Sigmoid.backward returns (to judge sigmoid alone, it was made"
            " to return {b} * grad_output)"
        )
        details = {"inputs": {"x": x, "v": v}, "facts": {"a": a, "b": b}}
        # A class whose float32 rounds the gradient has its own checks; the function isn't to blame.
        assert_gradient(seen["gradient"], v * b, message, rtol=1e-6, **details)
        assert_hands_on(student, "sigmoid", "Sigmoid.apply", x, v)


# ---------------------------------------------------------------------------------------- the bonus


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", bonus=True, needs=GRADIENT)
def test_second_derivative(student: Student, draw: RandomInputs) -> None:
    """backward can itself be differentiated"""
    x, v, u = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True), draw.tensor(3)
    y = applied(student, x)
    (first,) = torch.autograd.grad(y, x, v, create_graph=True)
    s = torch.sigmoid(x.detach())
    want = u * v.detach() * s * (1 - s) * (1 - 2 * s)
    inputs = {"x": x, "v": v, "u": u}
    cut = (
        "the gradient has no graph back to x: a .detach(), .data or NumPy cuts it off, or what was"
        " saved is neither forward's input nor its output"
    )
    if not first.requires_grad:
        fail(cut, expected=want, inputs=inputs)
    (got,) = torch.autograd.grad(first, x, u, allow_unused=True)
    if got is None or not got.any():
        fail(cut, expected=want, actual=got, inputs=inputs)
    wrong = (
        "the second derivative is wrong, though the first is right: is all that backward uses"
        " saved, and none of it under no_grad()?"
    )
    assert_gradient(got, want, wrong, inputs=inputs)


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", bonus=True, needs=test_second_derivative)
def test_gradgradcheck_agrees(student: Student, draw: RandomInputs) -> None:
    """gradgradcheck agrees with your backward"""
    x = draw.tensor(2, 3, digits=None, requires_grad=True)
    message = (
        "gradgradcheck differentiated your backward and compared with differences of it, and they"
        " disagree"
    )
    assert_gradgradcheck(student.Sigmoid.apply, [x], message, names=["x"])
