"""second_derivative, what its visible and hidden checks share."""

from functools import partial

import torch

from grader.authoring import (
    chart_figure,
    curve,
    drawing,
    graphs_figure,
    panel,
    phrase,
    plot_figure,
    program,
    trace,
)

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
LONG_SURFACES = [
    "(x.sum() * {a}).sin() + (x ** 3).sum() * {b} + x[0] * x[1] ** 2",
    "(x * {b}).exp().sum() * x[1] + x[0] * x[2] * {a} + (x ** 4).sum()",
]
"""Those of a vector of any length."""
CRITICS = ["(x @ W).tanh() @ v", "(x @ W).sin() @ v + (x ** 2).sum(1)", "((x @ W) ** 2) @ v"]

STABILISED = {"rtol": 1e-4, "atol": 1e-5}
"""Tolerances that leave room for a small number under the root, which keeps its derivative finite
where a gradient is zero.
"""


class Formula:
    """A function of x as text, for messages, and as the program that it says."""

    def __init__(self, text, **parameters):
        self.text = text
        self.parameters = parameters
        names = ", ".join(["x", *parameters])
        self.program = program(
            eval(f"lambda {names}: {text}"), parameters=list(parameters.values())
        )

    def __str__(self):
        return self.text


def drawn(draw, texts, **parameters):
    """One of the formulas with coefficients that are drawn."""
    a, b, c = draw.coefficients(3, low=0.4)
    return Formula(draw.choice(texts).format(a=a, b=b, c=c), **parameters)


def derivative(f, x, n):
    """The n-th derivative of an elementwise function at x: n times the product of ones with the
    Jacobian.
    """
    function = f.program
    for _ in range(n):
        function = partial(gradient, function)
    return function(x.detach()).detach()


def gradient(function, x):
    """The gradient of the sum of an elementwise function."""
    return torch.autograd.functional.vjp(function, x, torch.ones_like(x), create_graph=True)[1]


def penalty(f, x):
    """The gradient penalty, from the whole Jacobian of all rows by all rows."""
    jacobian = torch.autograd.functional.jacobian(
        lambda x: f.program(x).flatten(), x.detach(), create_graph=True
    )
    rows = jacobian.diagonal(dim1=0, dim2=1).t()
    return ((rows**2).sum(1).sqrt() - 1).square().mean()


def steep(f, draw_x):
    """An x with as many rows as ``draw_x`` draws, none of them with a gradient near zero: a small
    number under the root would count there.
    """
    drawn = torch.cat([draw_x().detach() for _ in range(20)])
    gradients = torch.autograd.functional.jacobian(lambda x: f.program(x).sum(), drawn)
    steepness = gradients.norm(dim=1).detach().clamp(max=0.4)
    order = steepness.argsort(descending=True, stable=True)
    return drawn[order[: len(drawn) // 20]].requires_grad_()


# ----------------------------------------------------------------------------------------- pictures


def drawn_behind(student, name, f, x, *more):
    """A block that asks ``name`` for f at x: a failure in it shows the graph that was cut off from
    x or a parameter, if one was, and a plot of what came back.
    """
    return drawing(
        partial(cut_off, student, name, f, x, *more), partial(plotted, student, name, f, x, *more)
    )


def plotted(student, name, f, x, *more):
    """The derivative that came back over the right one; of the penalty, the norms of its rows."""
    if name == "gradient_penalty":
        return row_norms(student, f, x)
    if name == "hessian" or not x.numel():
        return None
    n = more[0] if more else 2
    return plot_figure(
        getattr(student, name),
        lambda _, x, *more: derivative(f, x, n),
        (f.program, x, *more),
        over=(float(x.min()) - 1, float(x.max()) + 1),
        vary=1,
        gradient=False,
    )


def row_norms(student, f, x):
    """The norm of each row's gradient, and the mean of its squared distance from 1 beside the
    penalty that came back.
    """
    jacobian = torch.autograd.functional.jacobian(lambda x: f.program(x).sum(), x.detach())
    norms = jacobian.norm(dim=1).detach()[:12]
    places, names = [-0.4, len(norms) - 0.6], [phrase("row {k}", k=k) for k in range(len(norms))]
    got = student.gradient_penalty(f.program, x.detach().clone().requires_grad_())
    curves = [
        curve("truth", None, (norms - 1) ** 2, phrase("(norm - 1)²"), form="bars"),
        curve("truth", places, [float(penalty(f, x))] * 2, phrase("their mean")),
    ]
    if isinstance(got, torch.Tensor) and got.numel() == 1:
        curves.append(curve("yours", places, [float(got.detach())] * 2, phrase("your penalty")))
    return chart_figure(
        phrase("the gradient of f, row by row"),
        panel(
            phrase("norm of each row's gradient"),
            curve("truth", None, norms, phrase("norm"), form="bars"),
            curve("other", places, [1.0, 1.0], phrase("target 1")),
            names=names,
        ),
        panel(phrase("what the penalty is the mean of"), *curves, names=names),
    )


def cut_off(student, name, f, x, *more):
    """The first graph that is cut off, of what was differentiated or is the penalty, beside the one
    that it should be; None if none is.

    A derivative that is rightly constant in x shows its graph alone, where the student's code
    raised over it.
    """
    orders = names_of_orders(name, *more)
    seen = student.observe("graphs", name, orders, f.parameters, f.program, x, *more)
    mine = seen["differentiated"]
    stages = [*zip([*mine, seen["gradient"]][: len(orders)], orders[: len(mine) + 1], strict=False)]
    if name == "gradient_penalty":
        stages.append((seen["result"], "penalty"))
    for order, (graph, at) in enumerate(stages):
        if graph is None:
            continue
        right = right_graph(f, x, orders, order if at != "penalty" else None)
        if reached(right, f) - reached(graph, f):
            return graphs_figure(
                graph, right, notes=({at: leads_to(graph, f)}, {at: leads_to(right, f)})
            )
        if seen["raised"] and 0 < order < len(mine) and "x" not in reached(right, f):
            return graphs_figure(None, right, notes=({}, {at: leads_to(right, f)}), at=at)
    return None


def names_of_orders(name, n=2):
    """What is differentiated on the way to what ``name`` returns: f(x), and the derivatives below
    the last.
    """
    if name in ("hessian", "gradient_penalty"):
        return ["f(x)", "∇f(x)"]
    return ["f" + "'" * order + "(x)" for order in range(n)]


def right_graph(f, x, orders, order):
    """The graph of the derivative of f of that order at x; None stands for the penalty."""
    x = x.detach().requires_grad_()
    tensor = f.program(x)
    named = {"x": x, **f.parameters, orders[0]: tensor}
    for at in orders[1:] if order is None else orders[1 : order + 1]:
        if not tensor.requires_grad:
            break
        (tensor,) = torch.autograd.grad(tensor.sum(), x, create_graph=True, materialize_grads=True)
        named[at] = tensor
    if order is None:
        tensor = named["penalty"] = ((tensor.norm(dim=1) - 1) ** 2).mean()
    elif tensor is not named.get(orders[order]):
        tensor = named[orders[order]] = torch.zeros_like(x)
    return trace(tensor, named)


def reached(graph, f):
    """Of x and f's parameters, those that a graph leads to."""
    found = {
        one
        for node in graph["nodes"]
        if node["kind"] != "constant"
        for one in node["name"].split(", ")
    }
    return found & {"x", *f.parameters}


def leads_to(graph, f):
    """That as a note: ``→ w, x``; empty where it is none."""
    found = sorted(reached(graph, f))
    return f"→ {', '.join(found)}" if found else ""
