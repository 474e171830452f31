"""second_derivative, what its visible and hidden checks share."""

from functools import partial

import torch

from grader.authoring import (
    assert_tensor,
    chart_figure,
    curve,
    drawing,
    fetch,
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

CURVE = "{a} * x ** 3 + ({b} * x).cos()"
"""Its derivatives have both signs where x has."""
WEIGHTED = "w * x ** 3 + ({a} * x).sin()"
SURFACE = "x[0] ** 2 * x[1] * {a} + (x[2] * x[0] * {b}).sin() + x.sum() ** 3 * {c}"
LONG_SURFACE = "(x.sum() * {a}).sin() + (x ** 3).sum() * {b} + x[0] * x[1] ** 2"
"""That of a vector of any length."""
CRITIC = "((x @ W).tanh() * v).sum(1)"
"""It raises for a single row that is no batch."""
COLUMN_CRITIC = "(x @ W).tanh() @ v"

ROUGH = {"rtol": 1e-3, "atol": 1e-3}
"""Room for computations in float32, and for a small number under the root. Precision has checks of
its own, on which no other check waits.
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


def drawn(draw, text, **parameters):
    """A formula with coefficients that are drawn."""
    a, b, c = draw.coefficients(3, low=0.4)
    return Formula(text.format(a=a, b=b, c=c), **parameters)


def critic(draw, column=False, dtype=torch.float64):
    """A function of rows of three numbers with two parameters, and the parameters by name."""
    w = draw.tensor(3, 2, low=0.8, high=1.5, dtype=dtype, requires_grad=True)
    v = both_signs(draw, 2, *[1] * column, low=1.0, dtype=dtype)
    with torch.no_grad():  # where the two cancel, all gradients would be small, and much alike
        v *= (2 / (w @ v).norm()).clamp(min=1)
    return Formula(COLUMN_CRITIC if column else CRITIC, W=w, v=v), {"W": w, "v": v}


def both_signs(draw, count, *shape, low=0.5, **options):
    """A leaf whose elements are positive and negative in turn, none of them near zero."""
    x = draw.tensor(count, *shape, low=low, **options)
    x[1::2] *= -1
    return x.requires_grad_()


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


def spread(draw, f, rows, features=3, dtype=torch.float64):
    """An x whose rows have gradients of different norms, from about 0.3 to 2: none is near zero,
    where a small number under the root counts.
    """
    drawn = draw.tensor(200, features, dtype=dtype)
    norms = torch.autograd.functional.jacobian(lambda x: f.program(x).sum(), drawn).norm(dim=1)
    wanted = torch.linspace(0.3, 2.0, rows)
    nearest = (norms.detach()[:, None] - wanted).abs().argmin(dim=0)
    return drawn[nearest].requires_grad_()


def assert_roughly(actual, expected, message, **details):
    """Like ``assert_tensor``, whatever the floating dtype of what came back and its precision."""
    actual = fetch(actual)
    if isinstance(actual, torch.Tensor) and actual.is_floating_point():
        actual = actual.to(expected.dtype)
    assert_tensor(actual, expected, message, **ROUGH, **details)


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
