"""custom_sigmoid, the checks that students may read."""

import math

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_gradcheck,
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
assert_gradient_near = helpers.assert_gradient_near
local_derivative, FAR = helpers.local_derivative, helpers.FAR

SIGMOIDS = (
    "sigmoid",
    "expit",
    "logistic",
    "softmax",
    "softmin",
    "silu",
    "glu",
    "mish",
    "crossentropy",
    "bce",
    "lstm",
    "gru",
    "rnnlayer",
    "attention",
    "softplusbackward",
    "softmarginlossbackward",
)
"""What names of built-ins that compute a sigmoid contain, without underscores and capitals."""
FORWARD_MODE = {"_make_dual", "_unpack_dual", "_fw_primal", "_has_same_storage_numel"}
"""Operators by which autograd's forward mode begins."""
OUTSIDE_TORCH = {
    "math", "cmath", "decimal", "numpy", "float", ".tolist", ".item", ".numpy", ".new_tensor",
    "torch.tensor", "torch.as_tensor", "torch.asarray", "torch.from_numpy", "torch.Tensor",
    "torch.FloatTensor", "torch.DoubleTensor",
}  # fmt: skip
"""Modules and names by which numbers are computed in Python or NumPy, or come back from there."""


def is_sigmoid(name: str) -> bool:
    """Whether a built-in of this name computes a sigmoid."""
    return any(part in name.replace("_", "").lower() for part in SIGMOIDS)


def assert_seen_to_compute(student: Student, seen: dict, way: str, x: Tensor) -> None:
    """Require of what torch ran in forward, or in backward: no built-in sigmoid, no autograd, and
    no numbers whose making was hidden.
    """
    message = "torch ran {used} in Sigmoid.{way}; compute Sigmoid from exp or tanh"
    for name in filter(is_sigmoid, seen["operators"]):
        used = phrase("its operator {name}", name=name)
        fail(message, inputs={"x": x}, facts={"used": used, "way": way})
    source = "complex numbers" if seen["imaginary"] else None
    if seen["steps"]:
        source = "small steps of x"
    for name in seen["nodes"]:
        source = phrase("autograd's {name}", name=name)
    if FORWARD_MODE.intersection(seen["operators"]):
        source = "autograd's forward mode"
    message = "Sigmoid.{way} takes the derivative from {source}, not from a formula"
    assert_that(not source, message, inputs={"x": x}, facts={"source": source, "way": way})
    hidden = not seen["works"] or any("::" in name for name in seen["operators"])
    if seen["elsewhere"]:
        used = student.source.names_used("Sigmoid")
        heads = {name.partition(".")[0] for name in used}
        hidden = hidden or not OUTSIDE_TORCH & (heads | used.keys())
    message = "Sigmoid.{way} uses numbers that were computed where no check can see it"
    assert_that(not hidden, message, inputs={"x": x}, facts={"hidden": hidden, "way": way})


@check(points=1, about="Sigmoid", at="Sigmoid.forward")
def test_forward_is_the_logistic_function(student: Student, draw: RandomInputs) -> None:
    """forward returns 1 / (1 + exp(-x))"""
    x = helpers.mixed(draw)[0].detach()
    want = torch.sigmoid(x)
    with student.writing_allowed():  # has a check of its own
        y = student.Sigmoid.apply(x.clone())
    assert_tensor(
        y,
        want,
        "Sigmoid.apply(x) is wrong",
        inputs={"x": x},
        figures=[lambda: plot_figure(student.Sigmoid.apply, torch.sigmoid, x, over=(-6, 6))],
        **helpers.NEAR,
    )


@check(points=0.5, about="Sigmoid", needs=test_forward_is_the_logistic_function)
def test_no_built_in_does_the_work(student: Student, draw: RandomInputs) -> None:
    """no built-in sigmoid and no autograd do the work"""
    message = "line {line} uses {used}; compute Sigmoid from exp or tanh"
    used = student.source.names_used("Sigmoid")
    modules = {name.partition(".")[0] for name in student.source.imports.values()} - set(
        student.source.definitions
    )
    for name, line in used.items():
        head, _, rest = name.partition(".")
        if head in modules and is_sigmoid(rest):
            fail(message, facts={"used": name, "line": line}, line=line)
    many = draw.tensor(2000, low=-6.0, high=6.0, digits=None, requires_grad=True)
    far = torch.tensor(draw.sample(FAR, 9), dtype=torch.float32, requires_grad=True)
    for x in (many, far):
        want = torch.sigmoid(x.detach())
        seen = student.observe("operators", x, draw.tensor(len(x), dtype=x.dtype))
        if x is many:  # far x have a check of their own
            details = {"inputs": {"x": x.detach()}, "message": "Sigmoid.apply(x) is wrong"}
            helpers.assert_all(seen["value"], want, **details, **helpers.NEAR)
        for name, line in used.items():
            # a method of that name may be the student's own, until its operator is seen to run
            own = not any(map(is_sigmoid, seen["forward"]["operators"]))
            if not own and name.startswith(".") and is_sigmoid(name):
                fail(message, facts={"used": name, "line": line}, line=line)
        for way in ("forward", "backward"):
            assert_seen_to_compute(student, seen[way], way, x)
        elsewhere = seen["forward"]["elsewhere"]
        assert_that(
            x is far or not any(torch.equal(value, want) for value in elsewhere),
            "all {count} values equal torch.sigmoid's to the last bit, and no operator was seen to"
            " compute them: a built-in did",
            facts={"count": len(x)},
        )


@check(points=1, about="Sigmoid", at="Sigmoid.backward", needs=test_no_built_in_does_the_work)
def test_gradient_uses_the_incoming_gradient(student: Student, draw: RandomInputs) -> None:
    """backward multiplies by grad_output"""
    x, v = helpers.mixed(draw)
    got = gradient(student, applied(student, x), x, v.clone())
    figures = [
        lambda: plot_figure(student.Sigmoid.apply, torch.sigmoid, x, over=(-6, 6), incoming=v)
    ]
    message = "the gradient for the incoming gradient v is wrong"
    assert_gradient_near(got, x, v, message, figures=figures)
    x = draw.tensor(2000, low=-6.0, high=6.0, digits=None, requires_grad=True)
    v = draw.tensor(2000)
    seen = student.observe("operators", x, v)  # is it right while operators are seen?
    details = {"inputs": {"x": x.detach(), "v": v}, "message": message, **helpers.NEAR}
    helpers.assert_all(seen["gradient"], v * local_derivative(x), **details)


@check(points=0.25, about="Sigmoid", at="Sigmoid.forward", needs=test_no_built_in_does_the_work)
def test_value_in_float64(student: Student, draw: RandomInputs) -> None:
    """float64 values are right to 8 digits"""
    x = helpers.many(draw, 6.0)
    with student.writing_allowed():
        got = student.Sigmoid.apply(x.clone())
    helpers.assert_all(got, torch.sigmoid(x), {"x": x}, "Sigmoid.apply(x) is inexact", atol=1e-8)


@check(
    points=0.75,
    about="Sigmoid",
    at="Sigmoid.backward",
    needs=[test_gradient_uses_the_incoming_gradient, test_value_in_float64],
)
def test_gradient_in_float64(student: Student, draw: RandomInputs) -> None:
    """float64 gradients are right to 12 digits"""
    for bound in (2.0, 6.0):
        x = helpers.many(draw, bound).requires_grad_()
        v = draw.tensor(len(x))
        want = v * local_derivative(x)
        got = gradient(student, applied(student, x), x, v.clone())
        allowed = {"rtol": 5e-13, "atol": 1e-15} if bound == 2 else {"atol": 2e-8}
        message, facts = "the gradient is inexact", {}
        if bound == 2 and isinstance(got, Tensor) and got.shape == x.shape:
            off = float(((got - want) / want).abs().max())
            message = "the gradient agrees to only {digits} digits; a formula agrees to about 15"
            facts = {"digits": int(-math.log10(off)) if off else 16}
        inputs = {"x": x.detach(), "v": v}
        helpers.assert_all(got, want, inputs, message, facts=facts, **allowed)


@check(
    points=0.25,
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
            eps=1e-3,
            atol=1e-3,
        )


@check(points=0.5, about="Sigmoid", at="Sigmoid.forward", needs=test_no_built_in_does_the_work)
def test_value_at_extreme_inputs(student: Student, draw: RandomInputs) -> None:
    """values are right from x = -10,000 to 10,000"""
    for dtype, small in ((torch.float64, 1e-8), (torch.float32, 1e-6)):
        for x in (torch.tensor(draw.sample(FAR, 9), dtype=dtype), helpers.grid(dtype)):
            want = torch.sigmoid(x)
            with student.writing_allowed():
                got = student.Sigmoid.apply(x.clone())
            if isinstance(got, Tensor) and got.shape == x.shape and got.isnan().any():
                fail(
                    "Sigmoid.apply(x) is NaN at x = {bad}",
                    expected=want,
                    actual=got,
                    inputs={"x": x},
                    facts={"bad": x[got.isnan()][:9].tolist()},
                )
            message = "Sigmoid.apply(x) is wrong for large inputs"
            helpers.assert_all(got, want, {"x": x}, message, atol=small)
        near = torch.arange(-36, 37, dtype=dtype) / 2
        with student.writing_allowed():
            got = student.Sigmoid.apply(near.clone())
        message = "Sigmoid.apply(x) is wrong at some x"
        helpers.assert_all(got, torch.sigmoid(near), {"x": near}, message, atol=1e-6)
        for number in draw.sample(FAR, 9):
            x = torch.tensor(number, dtype=dtype)
            with student.writing_allowed():
                got = student.Sigmoid.apply(x.clone())
            message = "Sigmoid.apply(x) is wrong for a large 0-d x"
            assert_tensor(got, torch.sigmoid(x), message, inputs={"x": x}, atol=small)


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
