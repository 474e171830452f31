"""custom_sigmoid, the checks that students may read."""

import math

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_gradcheck,
    assert_gradient,
    assert_hands_on,
    assert_tensor,
    assert_that,
    check,
    fail,
    import_helpers,
    own_graph,
    phrase,
    plot_figure,
)

helpers = import_helpers(__file__)
applied, gradient = helpers.applied, helpers.gradient
local_derivative, FAR = helpers.local_derivative, helpers.FAR

BUILT_IN = {
    "torch.sigmoid",
    "torch.sigmoid_",
    "torch.special.expit",
    "torch.nn.Sigmoid",
    "torch.nn.functional.sigmoid",
    "torch.nn.LogSigmoid",
    "torch.nn.functional.logsigmoid",
    "torch.nn.functional.silu",
    "torch.nn.SiLU",
    "torch.nn.functional.glu",
    "torch.nn.GLU",
    "torch.softmax",
    "torch.log_softmax",
    "torch.special.softmax",
    "torch.special.log_softmax",
    "torch.nn.Softmax",
    "torch.nn.LogSoftmax",
    "torch.nn.Softmin",
    "torch.nn.functional.softmax",
    "torch.nn.functional.log_softmax",
    "torch.nn.functional.softmin",
    "scipy.special.expit",
    "scipy.special.log_expit",
    "scipy.special.softmax",
    "scipy.special.log_softmax",
}
"""What computes a sigmoid by itself, or with one step from it."""
METHODS = {
    "sigmoid",
    "sigmoid_",
    "sigmoid_backward",
    "expit",
    "logsigmoid",
    "log_sigmoid",
    "softmax",
    "log_softmax",
}
"""The same as methods, or as functions of whatever module they are taken from."""
OPERATORS = {
    "sigmoid",
    "sigmoid_",
    "sigmoid_backward",
    "special_expit",
    "log_sigmoid",
    "log_sigmoid_forward",
    "log_sigmoid_backward",
    "softmax",
    "_softmax",
    "_softmax_backward_data",
    "log_softmax",
    "_log_softmax",
    "_log_softmax_backward_data",
    "silu",
    "silu_",
    "silu_backward",
    "glu",
    "glu_backward",
}
"""The same as operators that torch runs in the end."""
EXPONENTIALS = {
    "exp",
    "exp_",
    "exp2",
    "expm1",
    "tanh",
    "tanh_",
    "sinh",
    "cosh",
    "pow",
    "float_power",
    "logaddexp",
    "logsumexp",
}
"""What a sigmoid can be made from."""


def assert_derived(operators: list[str], way: str) -> None:
    """Require that torch ran no built-in sigmoid in forward, or in backward."""
    message = "torch ran {used} in Sigmoid.{way}; compute Sigmoid from exp or tanh"
    for name in operators:
        assert_that(
            name not in OPERATORS,
            message,
            facts={"used": phrase("its operator {name}", name=name), "way": way},
        )


@check(points=1, about="Sigmoid", at="Sigmoid.forward")
def test_forward_is_the_logistic_function(student: Student, draw: RandomInputs) -> None:
    """forward returns 1 / (1 + exp(-x))"""
    x = draw.tensor(4)
    want = torch.sigmoid(x)
    with student.writing_allowed():  # has a check of its own
        y = student.Sigmoid.apply(x.clone())
    assert_tensor(
        y,
        want,
        "Sigmoid.apply(x) is wrong",
        inputs={"x": x},
        figures=[lambda: plot_figure(student.Sigmoid.apply, torch.sigmoid, x, over=(-6, 6))],
    )


@check(points=0.5, about="Sigmoid", needs=test_forward_is_the_logistic_function)
def test_no_built_in_does_the_work(student: Student, draw: RandomInputs) -> None:
    """no built-in sigmoid is used"""
    message = "line {line} uses {used}; compute Sigmoid from exp or tanh"
    used = student.source.names_used("Sigmoid")
    modules = {name.partition(".")[0] for name in student.source.imports.values()} - set(
        student.source.definitions
    )
    for name, line in used.items():
        head, _, rest = name.partition(".")
        if name in BUILT_IN or (head in modules and rest.rpartition(".")[2] in METHODS):
            fail(message, facts={"used": name, "line": line}, line=line)
    x = draw.tensor(4, requires_grad=True)
    seen = student.observe("operators", x)
    assert_tensor(seen["value"], torch.sigmoid(x), "Sigmoid.apply(x) is wrong", inputs={"x": x})
    if OPERATORS.intersection(
        seen["forward"]
    ):  # a method of that name may be the student's own, until its operator is seen to run
        for name, line in used.items():
            if name.startswith(".") and name[1:] in METHODS:
                fail(message, facts={"used": name, "line": line}, line=line)
    assert_derived(seen["forward"], "forward")
    far = torch.tensor(draw.sample(FAR, 9), dtype=torch.float32)
    assert_derived(student.observe("operators", far)["forward"], "forward")
    many = draw.tensor(2000, low=-6.0, high=6.0, digits=None)
    seen = student.observe("operators", many)
    out_of_sight = not EXPONENTIALS.intersection(seen["forward"])
    message = (
        "all {count} values equal torch.sigmoid's to the last bit, but torch ran neither exp nor"
        " tanh: a built-in computed them"
    )
    assert_that(
        not (out_of_sight and torch.equal(seen["value"], torch.sigmoid(many))),
        message,
        facts={"count": len(many)},
    )


@check(points=1, about="Sigmoid", at="Sigmoid.backward", needs=test_no_built_in_does_the_work)
def test_gradient_uses_the_incoming_gradient(student: Student, draw: RandomInputs) -> None:
    """backward multiplies by grad_output"""
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    want = v * local_derivative(x)
    got = gradient(student, applied(student, x), x, v.clone())
    figures = [
        lambda: plot_figure(student.Sigmoid.apply, torch.sigmoid, x, over=(-6, 6), incoming=v)
    ]
    assert_gradient(
        got,
        want,
        "the gradient for the incoming gradient v is wrong",
        inputs={"x": x, "v": v},
        figures=figures,
    )
    message = "the gradient agrees to only {digits} digits; a formula agrees to about 15"
    off = float((got - want).abs().max() / want.abs().max().clamp_min(1e-3))
    facts = {"digits": int(-math.log10(off)) if off else 16}
    assert_gradient(
        got, want, message, inputs={"x": x, "v": v}, facts=facts, rtol=1e-12, atol=1e-14
    )
    seen = student.observe("operators", x, v)
    assert_gradient(
        seen["gradient"],
        want,
        "the gradient for the incoming gradient v is wrong",
        inputs={"x": x, "v": v},
    )
    assert_derived(seen["backward"], "backward")
    far = torch.tensor(draw.sample(FAR, 9), dtype=torch.float32, requires_grad=True)
    seen = student.observe("operators", far, draw.tensor(9, dtype=torch.float32))
    assert_derived(seen["backward"], "backward")


@check(
    points=0.5,
    about="Sigmoid",
    at="Sigmoid.backward",
    needs=test_gradient_uses_the_incoming_gradient,
)
def test_gradcheck_agrees(student: Student, draw: RandomInputs) -> None:
    """gradcheck agrees with backward"""
    x = draw.tensor(8, digits=None, requires_grad=True)
    applied(student, x)
    message = "gradcheck compared your gradient with differences of your forward: they disagree"
    with student.writing_allowed():
        assert_gradcheck(
            lambda x: student.Sigmoid.apply(x.clone()),
            [x],
            message,
            names=["x"],
            eps=1e-6,
            atol=1e-5,
        )


@check(points=0.5, about="Sigmoid", at="Sigmoid.forward", needs=test_no_built_in_does_the_work)
def test_value_at_extreme_inputs(student: Student, draw: RandomInputs) -> None:
    """values are right from x = -10,000 to 10,000"""
    for dtype in (torch.float64, torch.float32):
        x = torch.tensor(draw.sample(FAR, 9), dtype=dtype)
        want, small = torch.sigmoid(x), 1e-8 if dtype is torch.float64 else 1e-6
        with student.writing_allowed():
            got = student.Sigmoid.apply(x.clone())
        if isinstance(got, Tensor) and got.shape == x.shape and got.isnan().any():
            bad = x[got.isnan()].tolist()
            fail(
                "Sigmoid.apply(x) is NaN at x = {bad}",
                expected=want,
                actual=got,
                inputs={"x": x},
                facts={"bad": bad},
            )
        assert_tensor(
            got, want, "Sigmoid.apply(x) is wrong for large inputs", inputs={"x": x}, atol=small
        )
        x = helpers.grid(dtype)
        want = torch.sigmoid(x)
        with student.writing_allowed():
            got = student.Sigmoid.apply(x.clone())
        bad = helpers.worst(got, want, small)
        message = "Sigmoid.apply(x) is wrong at some x"
        assert_tensor(got[bad], want[bad], message, inputs={"x": x[bad]}, rtol=0.0, atol=small)
        for number in draw.sample(FAR, 9):
            x = torch.tensor(number, dtype=dtype)
            with student.writing_allowed():
                got = student.Sigmoid.apply(x.clone())
            message = "Sigmoid.apply(x) is wrong for a large 0-d x"
            assert_tensor(got, torch.sigmoid(x), message, inputs={"x": x}, atol=small)
    x = draw.tensor(30, low=0.5, high=4.0, digits=None)
    with student.writing_allowed():
        got = student.Sigmoid.apply(x.clone())
    assert_tensor(
        got, torch.sigmoid(x), "Sigmoid.apply(x) is wrong", inputs={"x": x}, rtol=0.0, atol=1e-8
    )


@check(points=0.5, about="sigmoid")
def test_sigmoid_returns_what_apply_returns(student: Student, draw: RandomInputs) -> None:
    """sigmoid(x) returns what Sigmoid.apply(x) returns"""
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    a, b = draw.coefficients(2, low=2.0, high=5.0)
    assert_that(callable(student.Sigmoid), "Sigmoid is no longer a class", actual=student.Sigmoid)
    seen = student.observe("exchanged", x, v, a, b)
    assert_tensor(
        seen["value"],
        x * a,
        "sigmoid(x) is not what Sigmoid.apply(x) returns (in this check, forward returns {a} * x)",
        inputs={"x": x},
        facts={"a": a, "forwards": len(seen["contexts"])},
    )
    assert_that(
        seen["node"] in seen["contexts"],
        "sigmoid calls forward directly, with a {given} for ctx; only apply connects the result to"
        " the graph",
        inputs={"x": x},
        facts={"given": ", ".join(seen["contexts"])},
        figures=[lambda: own_graph(student, "Sigmoid", "sigmoid", {"x": x})],
    )
    assert_hands_on(student, "sigmoid", "Sigmoid.apply", x)
    far = torch.tensor(draw.sample(FAR, 9), dtype=torch.float64)
    assert_hands_on(student, "sigmoid", "Sigmoid.apply", far)
