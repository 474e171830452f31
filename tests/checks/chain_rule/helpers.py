"""chain_rule, what its visible and hidden checks share."""

import math
from functools import partial

import torch

from grader.authoring import (
    assert_gradient,
    drawing,
    fail,
    graphs_figure,
    short_repr,
    trace,
    type_name,
)

WRITTEN_OUT = "test_gradient_by_hand_is_a_formula"
BOTH_WRITTEN_OUT = "test_power_gradients_are_formulas"
BY_AUTOGRAD = "test_autograd_does_the_differentiating"
"""What later checks of a function need: right numbers, computed in the way that the lesson asks
for.
"""

PRICES = ("apple", "tangerine", "num_apple", "num_tangerine", "ctax")
BETWEEN = ("apple_price", "tangerine_price", "price", "result")


def two_paths(x):
    """The z of gradient_by_hand."""
    return torch.log(x**3) + torch.sqrt(x**2)


def power(x, q):
    """The z of power_gradients_by_hand."""
    return torch.log(x**q)


def truth(f, *inputs):
    """What autograd has for the gradients of f, elementwise."""
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    return torch.autograd.grad(f(*leaves).sum(), leaves)


ROUGHLY = {"rtol": 2e-4, "atol": 1e-4}
"""The tolerance in float64 of checks that are not about digits."""
EXACT = {"rtol": 2e-14, "atol": 0.0}
"""What a formula in float64 is right to. Differences of z from four points reach 1e-13; rounding to
float32 on the way costs 1e-8.
"""


def assert_formula(student, x, message="the gradient is wrong", **options):
    """gradient_by_hand is right for x. The truth comes first: what the student's code writes into x
    must not change it.
    """
    (want,) = truth(two_paths, x)
    options = {**(ROUGHLY if x.dtype is torch.float64 else {}), "atol": 0.0, **options}
    assert_gradient(student.gradient_by_hand(x), want, message, inputs={"x": x}, **options)


def assert_formulas(student, x, q, **options):
    """power_gradients_by_hand is right for x and q."""
    want = truth(power, x, q)
    options = {**(ROUGHLY if x.dtype is torch.float64 else {}), **options}
    assert_both(student.power_gradients_by_hand(x, q), want, {"x": x, "q": q}, **options)


def neighbors(count):
    """Numbers around 2, where the spacing of floats changes, and just above 3: the arguments of
    ``count`` results.
    """
    near = 1e-9 * torch.arange(24, dtype=torch.float64)
    return [2.0 + (near - near[12]), 3.0 + near][:count]


def jumps(got, want):
    """Whether a result that is nearly right jumps from one of its arguments, which are close to
    each other, to the next. Differences jump, because rounding is divided by a small step; a
    formula that is inexact does not.
    """
    right = isinstance(got, torch.Tensor) and (got.dtype, got.shape) == (want.dtype, want.shape)
    return right and bool((got.detach().diff(n=2).abs() > EXACT["rtol"] * want[2:]).any())


def assert_both(
    got,
    want,
    inputs,
    message="the gradient with respect to {name} is wrong",
    figure=None,
    **tolerance,
):
    """A tuple of the two gradients of power_gradients_by_hand; ``figure`` makes one that marks the
    input of a name.
    """
    details = {"expected": want, "actual": got, "inputs": inputs}
    if got is None:
        fail("None came back: is there a return?", **details)
    if not isinstance(got, tuple):
        fail(
            "{type} was returned, expected a tuple of two tensors",
            facts={"type": type_name(got)},
            **details,
        )
    if len(got) != 2:
        fail("the tuple has {count} elements, expected 2", facts={"count": len(got)}, **details)
    for name, found, right in zip("xq", got, want, strict=True):
        if found is None:
            fail("the gradient with respect to {name} is None", facts={"name": name}, **details)
        figures = [partial(figure, at=name)] if figure else []
        assert_gradient(
            found, right, message, inputs=inputs, facts={"name": name}, figures=figures, **tolerance
        )


def assert_state(student, name, **inputs):
    """A function leaves requires_grad and the shape of its inputs alone."""
    seen = student.observe("kept", name, *inputs.values())
    for wanted, states in zip((True, False), seen, strict=True):
        for key, state in zip(inputs, states, strict=True):
            shape = list(inputs[key].shape)
            if state != [wanted, shape]:
                fail(
                    "before the call {key} had requires_grad={wanted} and the shape {shape},"
                    " afterwards requires_grad={found} and the shape {other}",
                    inputs=inputs,
                    facts={
                        "key": key,
                        "wanted": str(wanted),
                        "shape": str(shape),
                        "found": str(state[0]),
                        "other": str(state[1]),
                    },
                )


def number_in(value):
    """A number, or the one in a tensor of one element, as a float; None where there is none."""
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 and not value.is_complex() else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def assert_three(got, x, w, b, *, want=None, digits=False):
    """The three gradients of (w * x + b) ** 2 in their order, as numbers; whether they are plain
    floats is another check's. Without ``digits``, rounding to one decimal is as good.
    """
    y = w * x + b
    want = want or (2 * y * w, 2 * y * x, 2 * y)
    details = {"expected": want, "actual": got, "inputs": {"x": x, "w": w, "b": b}}
    if got is None:
        fail("None came back: is there a return?", **details)
    if not isinstance(got, tuple | list):
        fail(
            "{type} was returned, expected a tuple of three floats",
            facts={"type": type_name(got)},
            **details,
        )
    if len(got) != 3:
        fail("the tuple has {count} elements, expected 3", facts={"count": len(got)}, **details)
    # What float32 may lose where w * x and b cancel.
    rounding = 1e-6 * (abs(w * x) + abs(b)) * (1 + abs(w) + abs(x))
    tolerance = (1e-5, rounding) if digits else (1e-3, 0.1)
    for name, item, right in zip("xwb", got, want, strict=True):
        number = number_in(item)
        if item is None:
            fail("the gradient with respect to {name} is None", facts={"name": name}, **details)
        if number is None:
            fail(
                "the gradient with respect to {name} is of type {type}, not a number",
                facts={"name": name, "type": type_name(item)},
                **details,
            )
        if not abs(number - right) <= tolerance[0] * abs(right) + tolerance[1]:
            fail("the gradient with respect to {name} is wrong", facts={"name": name}, **details)


def assert_entries(got, want, names, bill):
    """The entries ``names`` of the gradients of a bill, as numbers; other keys are not looked
    at.
    """
    details = {
        "actual": got,
        "inputs": dict(
            zip(("apple", "n_apple", "tangerine", "n_tangerine", "tax"), bill, strict=True)
        ),
    }
    if got is None:
        fail("None came back: is there a return?", expected=want, **details)
    if not isinstance(got, dict):
        fail(
            "{type} was returned, expected a dictionary",
            expected=want,
            facts={"type": type_name(got)},
            **details,
        )
    for name in names:
        if name not in got:
            keys = ", ".join(str(key) for key in got)
            fail(
                "the key {key} is missing; the keys are: {keys}",
                expected=want,
                facts={"key": repr(name), "keys": keys},
                **details,
            )
        number = number_in(got[name])
        narrowed = {**details, "expected": {name: want[name]}, "actual": {name: got[name]}}
        if got[name] is None:
            fail("the gradient under {key} is None", facts={"key": repr(name)}, **narrowed)
        if number is None:
            fail(
                "the gradient under {key} is of type {type}, not a number",
                facts={"key": repr(name), "type": type_name(got[name])},
                **narrowed,
            )
        if not math.isclose(number, want[name], rel_tol=1e-5, abs_tol=1e-9):
            fail("the gradient under {key} is wrong", facts={"key": repr(name)}, **narrowed)


def drawn_line(draw):
    """x, w and b for linear_gradients, no two alike; the gradient of b is near no whole number."""
    while True:
        x, w, b = draw.number(2.0, 4.0), draw.number(6.0, 9.0), draw.number(4.5, 5.5)
        if 0.3 < 2 * (w * x + b) % 1 < 0.7:
            return [x, w, b]


def drawn_bill(draw, number):
    """Prices, pieces and a tax for shopping, no two alike; gradients have two decimals. No other
    number has the same price of a tangerine.
    """
    apple, tangerine = draw.integer(10, 90), 100 + 20 * number + draw.integer(0, 19)
    n_apple, n_tangerine = draw.integer(2, 4), draw.integer(5, 8)
    tax = draw.choice([1.07, 1.13, 1.21, 1.39, 1.47, 1.63, 1.81])
    return [*map(float, (apple, n_apple, tangerine, n_tangerine)), tax]


def another(drawn, first, apart=0.0):
    """What ``drawn`` gives, with every number further than ``apart`` from that of ``first``."""
    while True:
        numbers = drawn()
        if all(abs(one - other) > apart for one, other in zip(numbers, first, strict=True)):
            return numbers


# ----------------------------------------------------------------------------------------- pictures


def paths_figure(x):
    """The graph of z = log(y) + sqrt(w) with y = x ** 3 and w = x ** 2, and what comes back to each
    of them.
    """
    x = x.detach().clone().requires_grad_()
    y, w = x**3, x**2
    return with_gradients(torch.log(y) + torch.sqrt(w), {"y": y, "w": w, "x": x}, at="x")


def power_figure(x, q, at):
    """The graph of z = log(y) with y = x ** q, what comes back to each, and one of them marked."""
    x, q = (one.detach().clone().requires_grad_() for one in (x, q))
    y = x**q
    return with_gradients(torch.log(y), {"y": y, "x": x, "q": q}, at=at)


def with_gradients(z, named, at):
    """The graph of z, at each named tensor its gradient."""
    gradients = torch.autograd.grad(z.sum(), list(named.values()), retain_graph=True)
    notes = {
        name: f"∂z/∂{name} = {short_repr(grad)}"
        for name, grad in zip(named, gradients, strict=True)
    }
    return graphs_figure(None, trace(z, {"z": z, **named}), notes=({}, notes), at=at)


def square(x, w, b):
    """The numbers of linear_gradients as leaves, and what becomes of them, by name; what is
    differentiated comes last.
    """
    y = w * x + b
    return {"x": x, "w": w, "b": b, "y": y, "loss": y**2}


def bill_of(apple, num_apple, tangerine, num_tangerine, ctax):
    """The same for shopping."""
    leaves = {
        "apple": apple,
        "num_apple": num_apple,
        "tangerine": tangerine,
        "num_tangerine": num_tangerine,
        "ctax": ctax,
    }
    apple_price, tangerine_price = apple * num_apple, tangerine * num_tangerine
    price = apple_price + tangerine_price
    return {
        **leaves,
        "apple_price": apple_price,
        "tangerine_price": tangerine_price,
        "price": price,
        "result": price * ctax,
    }


def drawn_behind(student, name, build, numbers):
    """A block that asks ``name`` about these numbers: a failure shows where the graph ends early,
    or no gradient is retained.
    """
    return drawing(partial(differentiated, student, name, build, numbers))


def differentiated(student, name, build, numbers):
    """The graph that ``name`` differentiated beside the right one, as both are before the pass;
    None where nothing is amiss in it.

    Marked is the first tensor, from the root on, that is missing, or computed from others in one
    graph only; where there is none and a gradient is None, the first that does not retain it.
    """
    known = build(*(float(number) for number in numbers))
    root = [*known][-1]
    seen = student.observe("graphs", name, numbers, known)
    if not seen["graphs"]:
        return None
    mine = next((graph for graph in seen["graphs"] if root in by_name(graph)), seen["graphs"][0])
    named = build(
        *(
            torch.tensor(float(number), dtype=torch.float64, requires_grad=True)
            for number in numbers
        )
    )
    for tensor in named.values() if name == "shopping" else ():
        tensor.retain_grad()
    right = trace(named[root], named)
    here, there = by_name(mine), by_name(right)
    for at in reversed(known):
        if at not in here or computed(here[at]) != computed(there[at]):
            return graphs_figure(mine, right, at=at)
    for at in reversed(known):
        if seen["none"] and there[at].get("retains_grad") and not here[at].get("retains_grad"):
            return graphs_figure(mine, right, at=at)
    return None


def by_name(graph):
    """A graph's nodes by the names of their tensors; a constant is in no graph, but for one that is
    all there is.
    """
    nodes = graph["nodes"]
    return {
        name: node
        for node in nodes
        for name in node["name"].split(", ")
        if name and (node is nodes[0] or node["kind"] != "constant")
    }


def computed(node):
    """Whether a node is neither leaf nor constant."""
    return node["kind"] not in ("leaf", "constant")
