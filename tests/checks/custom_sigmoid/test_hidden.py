"""custom_sigmoid, the checks that are not handed out."""

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    StudentCodeError,
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
    same,
)

helpers = import_helpers(__file__)
applied, gradient = helpers.applied, helpers.gradient
assert_gradient_near = helpers.assert_gradient_near
local_derivative, FAR = helpers.local_derivative, helpers.FAR

FORWARD, GRADIENT = "test_no_built_in_does_the_work", "test_gradient_uses_the_incoming_gradient"
"""What most checks need: a forward that is right and uses no built-in, and a right gradient."""


def assert_same_gradient(student: Student, x: Tensor, v: Tensor, message: str) -> None:
    """Require Sigmoid's value and gradient at the leaf x, for the incoming gradient v."""
    before = v.clone()
    got = gradient(student, applied(student, x), x, v)
    assert_gradient_near(got, x, before, message)


# -------------------------------------------------------------------------------- dtypes and shapes


@check(points=0.25, about="Sigmoid", at="Sigmoid.forward", needs=FORWARD)
def test_value_in_float32(student: Student, draw: RandomInputs) -> None:
    """float32 input gives float32 output"""
    x = torch.cat([draw.tensor(5, low=-6.0, high=6.0), torch.linspace(-6, 6, 60)]).float()
    with student.writing_allowed():
        y = student.Sigmoid.apply(x.clone())
    message = "Sigmoid.apply(x) is wrong in float32"
    helpers.assert_all(y, torch.sigmoid(x), {"x": x}, message, atol=1e-6)


@check(points=0.25, about="Sigmoid", at="Sigmoid.backward", needs=GRADIENT)
def test_gradient_in_float32(student: Student, draw: RandomInputs) -> None:
    """the gradient is right in float32"""
    x = torch.cat([draw.tensor(6, low=-8.0, high=8.0), torch.linspace(-8, 8, 60)]).float()
    v = torch.linspace(-50, 40, 66)[draw.sample(range(66), 66)]
    got = gradient(student, applied(student, x.requires_grad_()), x, v.clone())
    # 1 - y cancels where y is near 1: about 6e-8 is lost, times the incoming gradient
    inputs = {"x": x.detach(), "v": v}
    message = "the gradient is wrong in float32"
    helpers.assert_all(got, v * local_derivative(x), inputs, message, atol=1e-6 * 50)


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
        student, x, row.expand(3, 4), "the gradient is wrong for a v made by expand() from one row"
    )
    got = gradient(student, applied(student, x).sum(), x, torch.ones((), dtype=x.dtype))
    message, inputs = "the gradient of Sigmoid.apply(x).sum() is wrong", {"x": x}
    assert_gradient_near(got, x, torch.ones_like(x), message, inputs=inputs)


@check(points=0.25, about="Sigmoid", needs=GRADIENT)
def test_empty_tensors(student: Student, draw: RandomInputs) -> None:
    """an empty tensor gives an empty result"""
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
    """gradients are right from x = -10,000 to 10,000"""
    for dtype, small in ((torch.float64, 1e-8), (torch.float32, 1e-6)):
        for size in (1.0, 1e6):
            for numbers in (torch.tensor(draw.sample(FAR, 9)), helpers.grid(dtype)):
                x = numbers.to(dtype).requires_grad_()
                v = draw.tensor(len(x), dtype=dtype) * size
                want, inputs = v * local_derivative(x), {"x": x.detach(), "v": v}
                got = gradient(student, applied(student, x), x, v.clone())
                if isinstance(got, Tensor) and got.isnan().any():
                    fail(
                        "the gradient is NaN at x = {bad}",
                        expected=want,
                        actual=got,
                        inputs=inputs,
                        facts={"bad": x.detach()[got.isnan()][:9].tolist()},
                    )
                message = "the gradient is wrong for large inputs"
                helpers.assert_all(got, want, inputs, message, rtol=1e-5, atol=2 * small * size)
        x = (torch.arange(-36, 37, dtype=dtype) / 2).requires_grad_()
        v = draw.tensor(len(x), dtype=dtype)
        got = gradient(student, applied(student, x), x, v.clone())
        assert_gradient_near(got, x, v, "the gradient is wrong at some x")
        for number in draw.sample(FAR, 9):
            one = torch.tensor(number, dtype=dtype, requires_grad=True)
            want = local_derivative(one) * 2
            got = gradient(student, applied(student, one), one, torch.full_like(want, 2.0))
            message = "the gradient is wrong for a large 0-d x"
            assert_gradient(got, want, message, inputs={"x": one}, atol=2 * small)


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", needs=GRADIENT)
def test_gradient_is_linear(student: Student, draw: RandomInputs) -> None:
    """the gradient is proportional to grad_output"""
    x, v = helpers.mixed(draw)
    for factor in (2.0, -1.0, 1e6, 1e-4, 0.0):
        got = gradient(student, applied(student, x), x, v * factor)
        message = "for {factor} * v the gradient should be {factor} times the gradient for v"
        assert_gradient_near(got, x, v, message, factor=factor, facts={"factor": factor})
    a, b = draw.integer(1, 9), draw.integer(1, 9)
    v = torch.tensor([0.0, a, -b, b - a], dtype=x.dtype)
    got = gradient(student, applied(student, x), x, v.clone())
    message = "the gradient for a grad_output v that adds up to 0 is wrong"
    assert_gradient_near(got, x, v, message)


@check(points=0.5, about="Sigmoid", needs=GRADIENT)
def test_two_results_at_once(student: Student, draw: RandomInputs) -> None:
    """calls do not affect each other"""
    x, z = draw.tensor(3, requires_grad=True), draw.tensor(3, low=0.5, high=3.0, requires_grad=True)
    v, w = draw.tensor(3), draw.tensor(3)
    first, second = applied(student, x), applied(student, z)
    assert_gradient_near(
        gradient(student, first, x, v.clone()),
        x,
        v,
        "the gradient of the first call, on x, is wrong after a second call, on z",
        inputs={"x": x, "v": v, "z": z},
    )
    assert_gradient_near(
        gradient(student, second, z, w.clone()),
        z,
        w,
        "the gradient of the second call, on z, is wrong",
        inputs={"x": x, "z": z, "v": w},
    )
    twice = applied(student, applied(student, x))
    (want,) = torch.autograd.grad(torch.sigmoid(torch.sigmoid(x)), x, v)
    assert_gradient(
        gradient(student, twice, x, v.clone()),
        want,
        "the gradient of Sigmoid applied twice, s(s(x)), is wrong",
        inputs={"x": x, "v": v},
        **helpers.NEAR,
    )
    again = student.observe("after_a_change", "Sigmoid.apply", x)
    if again is not None:
        message = "Sigmoid.apply(x) is wrong after an earlier result for x was changed in place"
        want = torch.sigmoid(x.detach())
        assert_tensor(again, want, message, inputs={"x": x, "z": z}, **helpers.NEAR)
    seen = student.observe("one_tensor_twice", x, z, v)
    inputs = {"x": x, "z": z, "v": v}
    message = "x was set to z between two calls, and the {what} of the {call} call is wrong"
    for call, at in (("second", z), ("first", x)):
        wanted = {"value": torch.sigmoid(at.detach()), "gradient": v * local_derivative(at)}
        for what in wanted:
            details = {"inputs": inputs, "facts": {"call": call, "what": what}, **helpers.NEAR}
            assert_gradient(seen[f"{call} {what}"], wanted[what], message, **details)


# ------------------------------------------------------------------------- tensors of the caller


@check(points=0.5, about="Sigmoid", needs=GRADIENT)
def test_tensors_of_others_stay(student: Student, draw: RandomInputs) -> None:
    """x and grad_output are not changed"""
    before = torch.cat([draw.tensor(2), torch.tensor([-1e4, 1e4], dtype=torch.float64)])
    x = before.clone().requires_grad_()
    v, neighbour = draw.tensor(4), draw.tensor(4, requires_grad=True)
    with student.writing_allowed() as copies:  # the comparisons below say what was written
        y = student.Sigmoid.apply(x)
        assert_equal(copies.of(x), before, "forward changed x", inputs={"x": before})
        torch.autograd.grad(y + neighbour, (x, neighbour), v, allow_unused=True)
        message = (
            "Sigmoid.apply(x) + w passes the same gradient v to both, and backward changed"
            " what w gets"
        )
        assert_equal(copies.of(v), v, message, inputs={"x": x, "v": v})
    state = student.observe("constant_input", "Sigmoid.apply", before)
    message = "x does not require grad, but after Sigmoid.apply(x) {what} does"
    for what in ("x", "the result"):
        assert_equal(state[what], False, message, facts={"what": what})
    assert_equal(state["grad"], torch.ones_like(before), "Sigmoid.apply(x) changed x.grad")
    message = "Sigmoid.apply(x) called x.retain_grad(), so backward fills x.grad"
    assert_that(not state["retains"], message)


@check(points=0.5, about="Sigmoid", at="Sigmoid.forward", needs=GRADIENT)
def test_save_for_backward(student: Student, draw: RandomInputs) -> None:
    """what backward needs goes through save_for_backward"""
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    seen = student.observe("kept", x)
    names = ", ".join(f"ctx.{name}" for name in seen["attributes"])
    facts = {"names": names, "saved": seen["saved"], "node": seen["node"]}
    assert_that(
        not names,
        "backward uses a tensor in {names}, which did not go through save_for_backward",
        inputs={"x": x},
        facts=facts,
    )
    assert_that(
        seen["saved"] >= 1,
        "no tensor was saved with save_for_backward",
        inputs={"x": x},
        facts=facts,
    )
    for what in ("x", "the result"):
        got = student.observe("changed_before_backward", what, x, v)
        if got is not None:
            message = (
                "{what} was changed in place before backward, and backward used the new values"
            )
            assert_gradient_near(got, x, v, message, facts={"what": what})


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", needs=GRADIENT)
def test_backward_again(student: Student, draw: RandomInputs) -> None:
    """a second backward works only with retain_graph=True"""
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    y = applied(student, x)
    for message in (
        "the gradient is wrong with retain_graph=True",
        "the second backward through a retained graph is wrong",
    ):
        with student.writing_allowed():
            (got,) = torch.autograd.grad(y, x, v.clone(), retain_graph=True, allow_unused=True)
        assert_gradient_near(got, x, v, message)
    gradient(student, y, x, v.clone())
    message = (
        "backward still gave a gradient after the graph was freed: what it used is not in"
        " saved_tensors"
    )
    again = lambda: gradient(student, y, x, v.clone())  # noqa: E731
    assert_raises("RuntimeError", again, message=message, inputs={"x": x, "v": v})


# ------------------------------------------------------------------------------------- the function


@check(points=0.5, about="sigmoid", needs="test_sigmoid_returns_what_apply_returns")
def test_sigmoid_leads_back_to_sigmoid(student: Student, draw: RandomInputs) -> None:
    """the gradient of sigmoid(x) comes from Sigmoid.backward"""
    x, z, v = draw.tensor(3), draw.tensor(3, low=0.5, high=3.0), draw.tensor(3)
    b = draw.number(low=2.0, high=5.0)
    first, *later = student.observe("sigmoid_again", x, z, v, b)
    if same(first["value"], torch.sigmoid(x)) and same(first["gradient"], v * b):
        inputs = {"x": x, "z": z, "v": v}
        message = "a call of sigmoid returns what an earlier call did"
        for at, seen in zip((x, z), later, strict=True):
            assert_tensor(seen["value"], torch.sigmoid(at), message, inputs=inputs)
            assert_gradient(seen["gradient"], v * b, message, inputs=inputs)
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
        seen = student.observe("exchanged", x, v, a, b)
        message = (
            "sigmoid(x) is not what Sigmoid.apply(x) returns (in this check, forward returns {a} *"
            " x)"
        )
        assert_tensor(seen["value"], x * a, message, inputs={"x": x}, facts={"a": a})
        assert_that(
            seen["requires_grad"],
            "sigmoid(x) does not require grad, although x does: something cuts the graph",
            inputs={"x": x},
        )
        message = (
            "the gradient is not what Sigmoid.backward returns (in this check, {b} * grad_output)"
        )
        details = {"inputs": {"x": x, "v": v}, "facts": {"a": a, "b": b}}
        # a class whose float32 rounds the gradient has checks of its own
        assert_gradient(seen["gradient"], v * b, message, rtol=1e-6, **details)
        answers = answers and assert_hands_on(student, "sigmoid", "Sigmoid.apply", x, v)
    assert_hands_on(student, "sigmoid", "Sigmoid.apply", torch.empty((0, 2), dtype=torch.float64))
    x = torch.cat([draw.tensor(2), torch.tensor([-1e4, 1e4], dtype=torch.float64)])
    try:
        own = student.observe("constant_input", "Sigmoid.apply", x)
        before = student.observe("after_a_change", "Sigmoid.apply", z)
    except StudentCodeError:  # has checks of its own
        return
    again = student.observe("after_a_change", "sigmoid", z)
    if again is not None and before is not None and same(before, torch.sigmoid(z)):
        message = "sigmoid(x) is wrong after an earlier result for x was changed in place"
        assert_tensor(again, before, message, inputs={"x": z, "z": z})
    state = student.observe("constant_input", "sigmoid", x)
    message = "x does not require grad, but after sigmoid(x) {what} does"
    for what in ("x", "the result"):
        assert_that(not state[what] or own[what], message, facts={"what": what})
    assert_equal(state["values"], own["values"], "sigmoid changed x")
    assert_equal(state["grad"], own["grad"], "sigmoid changed x.grad")
    message = "sigmoid(x) called x.retain_grad(), so backward fills x.grad"
    assert_that(own["retains"] or not state["retains"], message)
    message = "sigmoid(x) under torch.no_grad() requires grad, and Sigmoid.apply(x) does not"
    assert_that(own["recorded"] or not state["recorded"], message)


# ---------------------------------------------------------------------------------------- the bonus


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", bonus=True, needs=GRADIENT)
def test_second_derivative(student: Student, draw: RandomInputs) -> None:
    """backward can itself be differentiated"""
    x, v, u = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True), draw.tensor(3)
    y = applied(student, x)
    with student.writing_allowed():
        (first,) = torch.autograd.grad(y, x, v, create_graph=True)
    s = torch.sigmoid(x.detach())
    want = u * v.detach() * s * (1 - s) * (1 - 2 * s)
    inputs = {"x": x, "v": v, "u": u}
    cut = (
        "the gradient has no graph back to x: .detach(), .data or NumPy cuts it off, or what was"
        " saved is neither forward's input nor its output"
    )
    if not first.requires_grad:
        fail(cut, expected=want, inputs=inputs)
    got = gradient(student, first, x, u)
    if got is None or not got.any():
        fail(cut, expected=want, actual=got, inputs=inputs)
    wrong = (
        "the first derivative is right, the second is wrong: save every tensor that backward"
        " uses, and do not compute under no_grad()"
    )
    assert_gradient(got, want, wrong, inputs=inputs, **helpers.NEAR)


@check(points=0.5, about="Sigmoid", at="Sigmoid.backward", bonus=True, needs=test_second_derivative)
def test_gradgradcheck_agrees(student: Student, draw: RandomInputs) -> None:
    """gradgradcheck agrees with backward"""
    x = draw.tensor(2, 3, digits=None, requires_grad=True)
    message = "gradgradcheck compared your second derivative with differences: they disagree"
    with student.writing_allowed():
        assert_gradgradcheck(
            lambda x: student.Sigmoid.apply(x.clone()),
            [x],
            message,
            names=["x"],
            eps=1e-3,
            atol=1e-3,
        )
