"""finite_difference, what its visible and hidden checks share."""

import torch
from torch import Tensor

from grader.authoring import assert_tensor, program

NOT_THE_FORWARD = "not the slope from x to x + h"
NOT_THE_CENTRAL = "not the slope from x - h to x + h"
NOT_THE_GRADIENT = "not the gradient"

DEFAULT_STEPS = {"forward_difference": 1e-3, "central_difference": 1e-3, "numerical_gradient": 1e-5}


class Formula:
    """A function of x as text, for messages, and as the program that it says."""

    def __init__(self, text):
        self.text = text
        self.program = program(eval(f"lambda x: {text}"))

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
    return result, {"inputs": {"f": f, "x": x, "h": step}, "facts": {**seen, "name": name}}


def assert_values(got, want, message, details, **tolerance):
    """Shape and values; the dtype is another check's matter."""
    if isinstance(got, Tensor) and got.is_floating_point():
        got = got.to(want.dtype)
    assert_tensor(got, want, message, **tolerance, **details)


def gradient(f, x):
    """torch's own gradient of f at x."""
    x = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f.program(x), x)[0]
