"""finite_difference, what its visible and hidden checks share."""

from functools import partial

import torch
from torch import Tensor

from grader.authoring import ask_all, assert_tensor, chart_figure, curve, panel, phrase, program

NOT_THE_FORWARD = "not the slope from x to x + h"
NOT_THE_CENTRAL = "not the slope from x - h to x + h"
NOT_THE_GRADIENT = "not the gradient"

DEFAULT_STEPS = {"forward_difference": 1e-3, "central_difference": 1e-3, "numerical_gradient": 1e-5}


class Formula:
    """A function of x as text, for messages, and as the program that it says; ``tensors`` are the
    other names in it.
    """

    def __init__(self, text, **tensors):
        self.text, self.tensors = text, tensors
        arguments = ", ".join(["x", *tensors])
        self.program = program(eval(f"lambda {arguments}: {text}"), parameters=[*tensors.values()])

    def __str__(self):
        return self.text


def drawn(draw, texts):
    """One of the formulas with coefficients that are drawn, all of them positive."""
    a, b, c = draw.coefficients(3, low=0.4, high=1.2)
    return Formula(draw.choice(texts).format(a=a, b=b, c=c))


def asked(student, name, f, x, *h, **named):
    """What came back, with the details of a failure; without an h the default step is used.

    Where f was asked is measured in another call, and only explains; the result is not its word.
    """
    seen = student.observe("answer", name, f.program, x, *h, **named)
    with student.writing_allowed():  # a check of its own asks that x is left alone
        result = getattr(student, name)(f.program, x, *h, **named)
    step = h[0] if h else named.get("h", DEFAULT_STEPS[name])
    details = {"inputs": {"f": f, **f.tensors, "x": x, "h": step}, "facts": {**seen, "name": name}}
    return result, {
        **details,
        "figures": [partial(plotted, student, f, x, step, seen, result, name)],
    }


def assert_values(got, want, message, details, **tolerance):
    """Shape and values; the dtype is another check's matter."""
    if isinstance(got, Tensor) and got.is_floating_point():
        got = got.to(want.dtype)
    assert_tensor(got, want, message, **tolerance, **details)


def weighted(draw, *shape):
    """A linear function, of which every difference has the gradient: the weights."""
    return Formula("(x * w).sum()", w=draw.tensor(*shape, digits=3))


SMALL = {"low": 0.0005, "high": 0.0009, "digits": 5, "avoid": 0.0}
"""How x is drawn where the default step must be a step in float32 too."""


def gradient(f, x):
    """torch's own gradient of f at x; of a curve, its derivative at each point of x."""
    x = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f.program(x).sum(), x)[0]


# ----------------------------------------------------------------------------------------- pictures


def plotted(student, f, x, h, seen, got, name):
    """A figure: the line of the slope that came back beside secant and tangent, and the error of
    the difference against h.
    """
    errors = errors_against_h(student, f, x, name)
    if x.dim() or name == "numerical_gradient":
        return chart_figure(phrase("the error against h"), errors)
    slopes = slopes_at(f, x, h, seen, got, name)
    return chart_figure(phrase("the slope at x, and its error against h"), slopes, errors)


def slopes_at(f, x, h, seen, got, name):
    """f near x, the tangent there, the secant of the step, and the line that came back."""
    x = x.detach().double()
    start, end = (x if name == "forward_difference" else x - h), x + h
    reach = max(2 * h, float(x.abs()) / 2)
    xs = torch.linspace(float(x) - reach, float(x) + reach, 61, dtype=torch.float64)
    low, high = f.program(start), f.program(end)

    def line(slope, through=x, height=None):
        return (f.program(x) if height is None else height) + slope * (xs - through)

    curves = [
        curve("given", xs, [float(f.program(at)) for at in xs], "f"),
        curve("other", xs, line(gradient(f, x)), phrase("tangent")),
        curve("truth", xs, line((high - low) / (end - start), start, low), phrase("secant")),
    ]
    if isinstance(got, Tensor) and got.numel() == 1:
        mine = line(got.detach().double().flatten(), start, low)
        curves.append(curve("yours", xs, mine, phrase("your slope")))
    pairs = [
        (float(at), float(value))
        for at, value in zip(seen["points"], seen["values"], strict=False)
        if isinstance(value, Tensor) and at.numel() == value.numel() == 1
    ]
    if pairs:
        asked_at = phrase("where you called f")
        curves.append(curve("yours", *zip(*pairs, strict=True), asked_at, form="dots"))
    return panel(phrase("f, its tangent at x, the secant of the step"), *curves)


def errors_against_h(student, f, x, name):
    """How far the difference is from the derivative, for steps from 0.1 to 1e-12, on scales of
    powers of ten.
    """
    steps = [10.0 ** (-k / 2) for k in range(2, 25)]
    x = x.detach().double()
    exact = gradient(f, x)
    found = ask_all(getattr(student, name), [(f.program, x.clone(), h) for h in steps])
    mine = [
        float((one.detach() - exact).abs().max())
        if isinstance(one, Tensor) and one.shape == exact.shape
        else None
        for one in found
    ]
    return panel(
        phrase("the error against h"),
        curve("truth", steps, [error_of(f, x, h, exact, name) for h in steps]),
        curve("yours", steps, mine, form="dots"),
        x="h",
        log=True,
    )


def error_of(f, x, h, exact, name):
    """The error of the right difference of this step."""
    if name == "forward_difference":
        return abs(float((f.program(x + h) - f.program(x)) / h - exact))
    return float(max(abs(one) for one in differences(f, x, h) - exact.flatten()))


def differences(f, x, h):
    """The central difference of each element."""
    found = []
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[k] = h
        step = step.reshape(x.shape)
        found.append((f.program(x + step) - f.program(x - step)) / (2 * h))
    return torch.stack(found)
