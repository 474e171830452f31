"""second_derivative, what its visible and hidden checks share."""

from functools import partial

import torch

from grader.wire.program import program

WRONG = "the second derivative is wrong"
WRONG_ORDER = "the derivative of order {n} is wrong"
WRONG_HESSIAN = "the Hessian is wrong"
WRONG_PENALTY = "the penalty is wrong"

CURVES = [
    "{a} * x ** 3 + ({b} * x).sin()",
    "({a} * x).exp() + {b} * x ** 3",
    "{a} * x ** 4 - {b} * x ** 2 + {c} * x",
    "({a} * x).tanh() + {b} * x ** 4",
    "({a} * x).cos() * x ** 2 + {b} * x ** 3",
]
SURFACES = [
    "x[0] ** 2 * x[1] * {a} + (x[2] * x[0]).sin() + x[1] ** 3",
    "(x.sum() * {a}).sin() + (x ** 3).sum() * {b} + x[0] * x[1] ** 2",
    "x.prod() * {a} + (x * {b}).exp().sum() + x[0] * x[2]",
    "(x[0] * x[1] + x[2] ** 2) ** 2 * {a} + x.sum() ** 3 * {b}",
]
CRITICS = ["(x @ W).tanh() @ v", "(x @ W).sin() @ v + (x ** 2).sum(1)", "((x @ W) ** 2) @ v"]

STABILISED = {"rtol": 1e-5, "atol": 1e-7}
"""Tolerances that leave room for a small number under the root, which keeps its derivative finite where a gradient is zero."""


class Formula:
    """A function of x as text, for messages, and as the program that it says."""

    def __init__(self, text, **parameters):
        self.text = text
        names = ", ".join(["x", *parameters])
        self.program = program(eval(f"lambda {names}: {text}"), parameters=list(parameters.values()))

    def __str__(self):
        return self.text


def drawn(draw, texts, **parameters):
    """One of the formulas with coefficients that are drawn."""
    a, b, c = draw.coefficients(3, low=0.4)
    return Formula(draw.choice(texts).format(a=a, b=b, c=c), **parameters)


def derivative(f, x, n):
    """The n-th derivative of an elementwise function at x: n times the product of ones with the Jacobian."""
    function = f.program
    for _ in range(n):
        function = partial(gradient, function)
    return function(x.detach()).detach()


def gradient(function, x):
    """The gradient of the sum of an elementwise function."""
    return torch.autograd.functional.vjp(function, x, torch.ones_like(x), create_graph=True)[1]


def penalty(f, x):
    """The gradient penalty, from the whole Jacobian of all rows by all rows."""
    jacobian = torch.autograd.functional.jacobian(lambda x: f.program(x).flatten(), x.detach(), create_graph=True)
    rows = jacobian.diagonal(dim1=0, dim2=1).t()
    return ((rows**2).sum(1).sqrt() - 1).square().mean()
