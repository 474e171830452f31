"""relu_and_ste, the checks that students may read."""

from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_gradient,
    assert_hands_on,
    assert_tensor,
    assert_that,
    check,
    own_graph,
    plot_figure,
    type_name,
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


def applied(student: Student, name: str, x: Tensor) -> Tensor:
    """The Function applied, whose value must be right and which must be differentiable before a
    gradient is asked for.
    """
    details = {"inputs": {"x": x}, "facts": {"function": name}}
    with student.writing_allowed():  # has a check of its own
        y = getattr(student, name).apply(x.clone())
    figures = [lambda: plotted(student, name, x)]
    message = "{function}.apply(x) is wrong"
    assert_tensor(y, VALUES[name](x.detach()), message, figures=figures, **details)
    if x.requires_grad:
        assert_that(
            y.requires_grad,
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


def plotted(student: Student, name: str, x: Tensor, v: Tensor | None = None) -> dict | None:
    """A figure: the Function's value and gradient from -3 to 3, over those that belong there."""

    def truth(x: Tensor) -> Tensor:
        return VALUES[name](x.detach()) + (x - x.detach()) * SLOPES[name](x.detach())

    return plot_figure(getattr(student, name).apply, truth, x, over=(-3, 3), incoming=v)


def assert_own_gradient(
    student: Student, name: str, draw: RandomInputs, dtype: torch.dtype
) -> None:
    """The gradient for a drawn v must be right, and must be the one that the class's own backward
    returns.
    """
    x, v = mixed(draw, dtype)
    want, details = gradient(name, x, v), {"inputs": {"x": x, "v": v}, "facts": {"function": name}}
    got = differentiated(student, applied(student, name, x), x, v.clone())
    figures = [lambda: plotted(student, name, x, v)]
    message = "the gradient for the incoming gradient v is wrong"
    assert_gradient(got, want, message, figures=figures, **details)
    (a,) = draw.coefficients(1, low=2.0, high=5.0)
    details["facts"] |= {"a": a}
    seen = student.observe("handed_back", name, x, v, a)
    message = (
        "the graph has no node of {function}: {function} is not a Function, or apply did not make"
        " the result"
    )
    assert_that(
        seen["found"],
        message,
        **details,
        figures=[lambda: own_graph(student, name, "apply", {"x": x})],
    )
    message = (
        "this check multiplies what {function}.backward returns by {a}; the gradient did not change"
        " accordingly"
    )
    assert_gradient(seen["gradient"], want * a, message, **details)


def assert_exchanged_value(student: Student, draw: RandomInputs, name: str, of: str) -> None:
    """A function must hand on what the apply of its class returns, and leave the call of forward to
    apply.
    """
    _ = getattr(student, name)  # a file without it is told so, and what it defines instead
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    a, b = draw.coefficients(2, low=2.0, high=5.0)
    facts = {"name": name, "function": of, "a": a}
    assert_that(
        callable(getattr(student, of)),
        "{function} is not a class any more",
        actual=type_name(getattr(student, of)),
        facts=facts,
    )
    seen = student.observe("exchanged", name, of, x, v, a, b)
    facts |= {"forwards": len(seen["contexts"]), "given": ", ".join(seen["contexts"])}
    message = (
        "{name}(x) is not what {function}.apply(x) returns (in this check, forward returns {a} * x)"
    )
    assert_tensor(seen["value"], (x * a).detach(), message, inputs={"x": x}, facts=facts)
    message = (
        "{name} calls forward itself, with a {given} for ctx; autograd records the call only if"
        " apply makes it"
    )
    figures = [lambda: own_graph(student, of, name, {"x": x})]
    assert_that(
        seen["node"] in seen["contexts"],
        message,
        inputs={"x": x},
        facts={**facts, "direct": True},
        figures=figures,
    )
    assert_hands_on(student, name, f"{of}.apply", mixed(draw)[0])


# ------------------------------------------------------------------------------------------- MyReLU


@check(points=0.5, about="MyReLU", at="MyReLU.forward")
def test_my_relu_keeps_what_is_positive(student: Student, draw: RandomInputs) -> None:
    """MyReLU keeps positive numbers and makes the rest 0"""
    x, _ = mixed(draw)
    applied(student, "MyReLU", x.detach())


@check(points=0.5, about="MyReLU", at="MyReLU.backward", needs=test_my_relu_keeps_what_is_positive)
def test_my_relu_has_the_right_gradient(student: Student, draw: RandomInputs) -> None:
    """MyReLU passes the gradient where x > 0"""
    assert_own_gradient(student, "MyReLU", draw, torch.float64)


@check(points=0.25, about="MyReLU", at="MyReLU.backward", needs=test_my_relu_has_the_right_gradient)
def test_my_relu_after_a_sum(student: Student, draw: RandomInputs) -> None:
    """x.grad after MyReLU and .sum().backward() is 0s and 1s"""
    x = mixed(draw, torch.float32)[0]
    got = differentiated(student, applied(student, "MyReLU", x).sum(), x, torch.ones(()))
    message = "x.grad should be 0 where x is negative and 1 where it is positive"
    assert_gradient(got, SLOPES["MyReLU"](x.detach()), message, inputs={"x": x.detach()})


@check(points=0.5, about="relu")
def test_relu_returns_what_apply_returns(student: Student, draw: RandomInputs) -> None:
    """relu returns what MyReLU.apply returns"""
    assert_exchanged_value(student, draw, "relu", "MyReLU")


# ---------------------------------------------------------------------------------------------- STE


@check(points=0.5, about="STE", at="STE.forward")
def test_ste_is_a_step(student: Student, draw: RandomInputs) -> None:
    """STE gives 1 for positive numbers and 0 for negative ones"""
    x, _ = mixed(draw, torch.float32)
    applied(student, "STE", x.detach())


@check(points=0.5, about="STE", at="STE.backward", needs=test_ste_is_a_step)
def test_ste_hands_the_gradient_on(student: Student, draw: RandomInputs) -> None:
    """STE passes the incoming gradient on unchanged"""
    assert_own_gradient(student, "STE", draw, torch.float32)


@check(points=0.25, about="STE", at="STE.backward", needs=test_ste_hands_the_gradient_on)
def test_ste_after_a_sum(student: Student, draw: RandomInputs) -> None:
    """x.grad after STE and .sum().backward() is all 1s"""
    x = mixed(draw, torch.float32)[0]
    got = differentiated(student, applied(student, "STE", x).sum(), x, torch.ones(()))
    assert_gradient(got, torch.ones(4), "x.grad should be 1 everywhere", inputs={"x": x.detach()})


@check(points=0.5, about="binarize")
def test_binarize_returns_what_apply_returns(student: Student, draw: RandomInputs) -> None:
    """binarize returns what STE.apply returns"""
    assert_exchanged_value(student, draw, "binarize", "STE")


# --------------------------------------------------------------------------------------- ClippedSTE


@check(points=0.5, about="ClippedSTE", at="ClippedSTE.backward", bonus=True)
def test_clipped_ste_stops_the_gradient_outside(student: Student, draw: RandomInputs) -> None:
    """ClippedSTE passes the gradient only from -1 to 1"""
    assert_own_gradient(student, "ClippedSTE", draw, torch.float32)
