"""chain_rule's checks. Those below the line "hidden" are not handed out."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_that,
    assert_tuple,
    check,
    drawing,
    fail,
    fetch,
    gradients_figure,
    graphs_figure,
    trace,
    type_name,
)

ROUGH = {torch.float64: {"rtol": 2e-4, "atol": 1e-4}, torch.float32: {"rtol": 1e-4, "atol": 5e-5}}
"""The tolerance of checks that are not about digits."""


class ByHand:
    """A function whose gradients are derived on paper: its name, and a function that returns z and
    the tensors on the way to it, by their names.
    """

    def __init__(self, name: str, steps: Callable[..., tuple[Tensor, dict]], inputs: str) -> None:
        self.name, self.steps, self.inputs = name, steps, inputs.split()
        self.message = "the gradient is wrong"
        if len(self.inputs) > 1:
            self.message = "the gradient with respect to {name} is wrong"

    def truth(self, *inputs: Tensor) -> tuple[Sequence[Tensor], Tensor, dict[str, Tensor]]:
        """Return autograd's gradients, z, and the tensors that lead to it, by name."""
        leaves = [one.detach().clone().requires_grad_() for one in inputs]
        z, between = self.steps(*leaves)
        wants = torch.autograd.grad(z.sum(), leaves, retain_graph=True)
        return wants, z, {**between, **dict(zip(self.inputs, leaves, strict=True))}

    def require(
        self,
        student: Student,
        *inputs: Tensor,
        ask: Callable[..., Any] | None = None,
        known: Sequence[Tensor] = (),
        message: str = "",
        drawn: bool = False,
        **near: float,
    ) -> Any:
        """Require the gradients at these inputs, of a call or of what ``ask`` returns; return them.
        With ``drawn``, a failure shows the graph of z. ``known`` are the gradients where they are
        known, ``near`` is a tolerance.
        """
        wants, z, named = self.truth(*inputs)
        wants = known or wants
        details: dict[str, Any] = {"inputs": dict(zip(self.inputs, inputs, strict=True))}
        result = (ask or getattr(student, self.name))(*inputs)
        got = (result,) if len(inputs) == 1 else result
        assert_tuple(got, len(inputs), expected=wants, **details)
        details |= near or ROUGH[inputs[0].dtype]
        for name, found, want in zip(self.inputs, got, wants, strict=True):
            if drawn:
                details["figures"] = [partial(gradients_figure, z, named, at=name)]
            facts = {"name": name}
            assert_gradient(found, want, message or self.message, facts=facts, **details)
        return got


def two_paths(x: Tensor) -> tuple[Tensor, dict]:
    y, w = x**3, x**2
    return torch.log(y) + torch.sqrt(w), {"y": y, "w": w}


def power(x: Tensor, q: Tensor) -> tuple[Tensor, dict]:
    y = x**q
    return torch.log(y), {"y": y}


PATHS = ByHand("gradient_by_hand", two_paths, "x")
POWERS = ByHand("power_gradients_by_hand", power, "x q")

ARGUMENTS = ("apple", "n_apple", "tangerine", "n_tangerine", "tax")
KEYS = ("apple", "num_apple", "tangerine", "num_tangerine", "ctax")
"""The keys of the gradients of shopping's arguments."""
BETWEEN = ("apple_price", "tangerine_price", "price", "result")


def number_in(value: Any) -> float | None:
    """A number, or the one in a tensor of one element, as a float; None where there is none."""
    if isinstance(value, Tensor):
        return float(value) if value.numel() == 1 and not value.is_complex() else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def assert_number(name: str, got: Any, want: float, near: float, plain: bool, **details: Any):
    """Require the gradient of this name, as a number; with ``plain``, as an int or a float."""
    details["facts"] = {**details.get("facts", {}), "name": name, "type": type_name(got)}
    number = number_in(got)
    if got is None:
        fail("the gradient of {name} is None", **details)
    if number is None:
        fail("the gradient of {name} is of type {type}, not a number", **details)
    if not abs(number - want) <= near:
        fail("the gradient of {name} is wrong", **details)
    if plain and not isinstance(got, int | float):
        fail("the gradient of {name} is of type {type}, not a float or an int", **details)


def assert_three(
    got: Any,
    x: float,
    w: float,
    b: float,
    *,
    known: tuple[float, ...] = (),
    digits: bool = False,
    plain: bool = False,
) -> None:
    """Require the three gradients of (w * x + b) ** 2, in their order. Without ``digits``, rounding
    to one decimal is as good; without ``plain``, tensors of one element and a list are, too.
    """
    y = w * x + b
    want = known or (2 * y * w, 2 * y * x, 2 * y)
    details: dict[str, Any] = {"expected": want, "inputs": {"x": x, "w": w, "b": b}}
    assert_tuple(got, 3, lists=not plain, **details)
    # what float32 may lose where w * x and b cancel
    rounding = 1e-6 * (abs(w * x) + abs(b)) * (1 + abs(w) + abs(x))
    rtol, atol = (1e-5, rounding) if digits else (1e-3, 0.1)
    for name, item, right in zip("xwb", got, want, strict=True):
        assert_number(name, item, right, rtol * abs(right) + atol, plain, actual=got, **details)


def assert_entries(
    got: Any, want: dict[str, float], names: Sequence[str], bill: Sequence[float], plain=False
) -> None:
    """Require these entries of the gradients of a bill; other keys are not looked at."""
    inputs = dict(zip(ARGUMENTS, bill, strict=True))
    whole: dict[str, Any] = {"expected": want, "actual": got, "inputs": inputs}
    assert_that(got is not None, "None came back: is there a return?", **whole)
    message = "{type} was returned, expected a dictionary"
    assert_that(isinstance(got, dict), message, facts={"type": type_name(got)}, **whole)
    values = bill_of(*bill)
    for name in names:
        facts = {"key": repr(name), "keys": ", ".join(map(str, got)), "value": values[name]}
        missing = "the key {key} is missing; your dictionary has: {keys}"
        assert_that(name in got, missing, facts=facts, **whole)
        entry = {"expected": {name: want[name]}, "actual": {name: got[name]}, "inputs": inputs}
        near = max(1e-5 * abs(want[name]), 1e-9)
        assert_number(name, got[name], want[name], near, plain, facts=facts, **entry)


def drawn_line(draw: RandomInputs) -> list[float]:
    """x, w and b for linear_gradients, no two alike; the gradient of b is near no whole number."""
    while True:
        x, w, b = draw.number(2.0, 4.0), draw.number(6.0, 9.0), draw.number(4.5, 5.5)
        if 0.3 < 2 * (w * x + b) % 1 < 0.7:
            return [x, w, b]


def drawn_bill(draw: RandomInputs) -> list[float]:
    """Prices, pieces and a tax for shopping, no two alike; gradients have two decimals."""
    apple, tangerine = draw.integer(10, 90), draw.integer(100, 180)
    n_apple, n_tangerine = draw.integer(2, 4), draw.integer(5, 8)
    tax = draw.choice([1.07, 1.13, 1.21, 1.39, 1.47, 1.63, 1.81])
    return [*map(float, (apple, n_apple, tangerine, n_tangerine)), tax]


def square(x: Any, w: Any, b: Any) -> dict[str, Any]:
    """The numbers of linear_gradients, and what is computed from them, by name; what is
    differentiated comes last.
    """
    y = w * x + b
    return {"x": x, "w": w, "b": b, "y": y, "loss": y**2}


def bill_of(*numbers: Any) -> dict[str, Any]:
    """The same for shopping."""
    found = dict(zip(KEYS, numbers, strict=True))
    found["apple_price"] = found["apple"] * found["num_apple"]
    found["tangerine_price"] = found["tangerine"] * found["num_tangerine"]
    found["price"] = found["apple_price"] + found["tangerine_price"]
    return {**found, "result": found["price"] * found["ctax"]}


def drawn_behind(student: Student, name: str, numbers: Sequence[float]) -> Any:
    """A block that asks ``name`` about these numbers: a failure shows where the graph ends early,
    or where no gradient is retained.
    """
    return drawing(partial(differentiated, student, name, numbers))


def differentiated(student: Student, name: str, numbers: Sequence[float]) -> Any:
    """The graph that ``name`` differentiated beside the right one, as both are before the pass;
    None if nothing is wrong in it.

    Marked is the first tensor, from the root on, that is missing, or computed from others in one
    graph only; if there is none and a gradient is None, the first that does not retain it. Tensors
    are known by their numbers, so one that was computed wrongly is missing, and so are those after
    it: it is marked if all is there that it is computed from.
    """
    build = bill_of if name == "shopping" else square
    known = build(*map(float, numbers))
    root = [*known][-1]
    seen = student.observe("graphs", name, numbers, known)
    if not seen["graphs"]:
        return None
    mine = next((graph for graph in seen["graphs"] if root in by_name(graph)), seen["graphs"][0])
    leaves = torch.tensor(numbers, dtype=torch.float64).unbind()
    named = build(*(leaf.clone().requires_grad_() for leaf in leaves))
    for tensor in named.values() if name == "shopping" else ():
        tensor.retain_grad()
    right = trace(named[root], named)
    here, there = by_name(mine), by_name(right)
    for at in reversed(known):
        if at not in here:
            at = next(
                (one for one in known if one not in here and has_sources(one, right, here)), at
            )
            both = graphs_figure(mine, right)
            same_place = both.first_difference == there[at]["id"]
            return both if same_place else graphs_figure(mine, right, at=at)
        if computed(here[at]) != computed(there[at]):
            return graphs_figure(mine, right, at=at)
    for at in reversed(known):
        if seen["none"] and there[at].get("retains_grad") and not here[at].get("retains_grad"):
            return graphs_figure(mine, right, at=at)
    return None


def by_name(graph: Any) -> dict[str, Any]:
    """A graph's nodes by the names of their tensors; a constant only if it is all there is."""
    nodes = graph["nodes"]
    return {
        name: node
        for node in nodes
        for name in node["name"].split(", ")
        if name and (node is nodes[0] or node["kind"] != "constant")
    }


def has_sources(name: str, graph: Any, here: Mapping[str, Any]) -> bool:
    """Whether all that a tensor of a graph is computed from is among these nodes."""
    node = by_name(graph)[name]
    targets = {edge["target"] for edge in graph["edges"] if edge["source"] == node["id"]}
    sources = {one["name"] for one in graph["nodes"] if one["id"] in targets}
    return computed(node) and sources <= here.keys()


def computed(node: Any) -> bool:
    """Whether a node is neither leaf nor constant, nor an element of a tensor."""
    element = node["type"].startswith(("SelectBackward", "UnbindBackward"))
    return node["kind"] not in ("leaf", "constant") and not element


# --------------------------------------------------------------------------------- gradient_by_hand


@check(points=0.75, about="gradient_by_hand")
def test_both_paths_add_up(student: Student, draw: RandomInputs) -> None:
    """the contributions of both paths are added"""
    x = torch.cat([draw.tensor(3, low=0.3, high=4.0), torch.tensor([2.9], dtype=torch.float64)])
    PATHS.require(student, x, drawn=True)


@check(points=0.25, about="gradient_by_hand", needs="test_gradient_by_hand_is_a_formula")
def test_the_number_of_c9(student: Student) -> None:
    """log(x³) + sqrt(x²) has the gradient 1.6 at x = 5"""
    x, *known = (torch.tensor(number, dtype=torch.float64) for number in (5.0, 1.6))
    PATHS.require(student, x, known=known, rtol=1e-7, atol=1e-9)


# -------------------------------------------------------------------------- power_gradients_by_hand


@check(points=0.75, about="power_gradients_by_hand")
def test_base_and_exponent_get_their_gradients(student: Student, draw: RandomInputs) -> None:
    """dz/dx and dz/dq are right and in this order"""
    x = torch.tensor([1.5, draw.number(1.6, 2.6), draw.number(2.7, 4.0)], dtype=torch.float64)
    q = torch.tensor(draw.sample([2.0, 3.0, 4.0], 3), dtype=torch.float64)
    POWERS.require(student, x, q, drawn=True)


@check(points=0.25, about="power_gradients_by_hand", needs="test_power_gradients_are_formulas")
def test_the_numbers_of_c10(student: Student) -> None:
    """log(x^q) at x = 5, q = 3 has the gradients 0.6 and 1.609"""
    numbers = (5.0, 3.0, 0.6, 1.6094379124341003)
    x, q, *known = (torch.tensor(number, dtype=torch.float64) for number in numbers)
    POWERS.require(student, x, q, known=known, rtol=1e-7, atol=1e-9)


# --------------------------------------------------------------------------------- linear_gradients


@check(points=0.5, about="linear_gradients")
def test_three_gradients_in_their_order(student: Student, draw: RandomInputs) -> None:
    """the gradients of (w·x + b)² are in the order x, w, b"""
    x, w, b = drawn_line(draw)
    with drawn_behind(student, "linear_gradients", (x, w, b)):
        assert_three(student.linear_gradients(x, w, b), x, w, b)


@check(points=0.25, about="linear_gradients", needs="test_autograd_does_the_differentiating")
def test_the_numbers_of_g(student: Student) -> None:
    """x = 2, w = 3, b = 1 gives 42, 28 and 14"""
    x, w, b = 2.0, 3.0, 1.0
    assert_three(student.linear_gradients(x, w, b), x, w, b, known=(42.0, 28.0, 14.0))


# ----------------------------------------------------------------------------------------- shopping


def raises_of(*bill: float) -> dict[str, float]:
    """By how much one more of each raises the bill: its gradient, since the bill is linear in each
    of them alone.
    """
    raised = [[number + (k == at) for k, number in enumerate(bill)] for at in range(len(bill))]
    totals = [bill_of(*numbers)["result"] - bill_of(*bill)["result"] for numbers in raised]
    return dict(zip(KEYS, totals, strict=True))


@check(points=0.75, about="shopping")
def test_prices_pieces_and_tax(student: Student, draw: RandomInputs) -> None:
    """the gradients of prices, pieces and tax are right"""
    bill = drawn_bill(draw)
    with drawn_behind(student, "shopping", bill):
        assert_entries(student.shopping(*bill), raises_of(*bill), KEYS, bill)


@check(points=0.5, about="shopping", needs=test_prices_pieces_and_tax)
def test_the_nine_numbers_of_s(student: Student) -> None:
    """the bill in the README has its nine gradients"""
    bill = (100.0, 2.0, 150.0, 3.0, 1.1)
    numbers = (2.2, 110.0, 3.3, 165.0, 650.0, 1.1, 1.1, 1.1, 1.0)
    want = dict(zip(KEYS + BETWEEN, numbers, strict=True))
    with drawn_behind(student, "shopping", bill):
        assert_entries(student.shopping(*bill), want, KEYS + BETWEEN, bill)


# hidden

DIFFERENTIATOR = re.compile(
    r"(torch\.autograd|torch\.func|functorch)\.(.*\.)?"
    r"(grad|grad_and_value|backward|jac\w+|hessian|vjp|jvp|hvp|vhp|linearize|make_dual)"
)
"""What differentiates, by its full name. What is called as a method shows in the trace."""
AT_TWO, ABOVE_THREE = (
    start + 1e-9 * torch.arange(24, dtype=torch.float64) for start in (2.0 - 12e-9, 3.0)
)
"""Numbers so close to each other that differences of z jump between them; the spacing of floats
changes at 2.
"""


def assert_no_autograd(student: Student, name: str, *inputs: Tensor) -> Any:
    """Require that nothing differentiates while a function works; return its result. Something that
    does is named with its line, if that is known.
    """
    seen = student.observe("traced", name, *inputs)
    if not (seen["nodes"] or seen["calls"] or seen["passes"] or seen["forward"]):
        return seen["result"]
    for used, line in student.source.names_used(name).items():
        if DIFFERENTIATOR.fullmatch(used):
            message = "line {line} uses {used}, but this function must not use autograd"
            fail(message, facts={"line": line, "used": used}, line=line)
    if seen["nodes"]:
        used = ", ".join(seen["nodes"])
        fail("torch ran a backward pass in your function, through {used}", facts={"used": used})
    used = ", ".join(f"torch.autograd.{called}" for called in sorted(set(seen["calls"])))
    used = used or ("torch.autograd.forward_ad" if seen["forward"] else "torch.autograd")
    fail("torch differentiated in your function, with {used}", facts={"used": used})


def assert_formula(student: Student, function: ByHand, *inputs: Tensor) -> None:
    """Require that a function uses neither autograd nor differences, which jump from one of these
    inputs to the next: rounding is divided by a small step. A formula that is inexact does not.
    """
    ask = partial(assert_no_autograd, student, function.name)
    got = function.require(student, *inputs, ask=ask)
    jumps = (
        "close, but the result jumps from one x to the next, 1e-9 away, as finite differences do"
    )
    for one in got:
        if (one.detach().diff(n=2).abs() > 2e-14 * one.abs()[2:]).any():
            fail(jumps, actual=one, inputs=dict(zip(function.inputs, inputs, strict=True)))


def assert_state(student: Student, function: ByHand, *inputs: Tensor) -> None:
    """Require that a function leaves requires_grad of its inputs alone."""
    for wanted in (True, False):
        given = [student.put(one.detach().requires_grad_(wanted)) for one in inputs]
        getattr(student, function.name)(*given)
        for key, one in zip(function.inputs, given, strict=True):
            found = fetch(one.requires_grad)
            facts = {"key": key, "wanted": str(wanted), "found": str(found)}
            message = "{key} had requires_grad={wanted} before the call, and {found} afterwards"
            assert_equal(found, wanted, message, facts=facts)


# --------------------------------------------------------------------------------- gradient_by_hand


@check(points=0.25, about="gradient_by_hand", needs=test_both_paths_add_up)
def test_gradient_by_hand_is_a_formula(student: Student) -> None:
    """gradient_by_hand uses no autograd and no differences"""
    assert_formula(student, PATHS, AT_TWO)


FORMULA = test_gradient_by_hand_is_a_formula


@check(points=0.25, about="gradient_by_hand", needs=FORMULA)
def test_gradient_by_hand_is_exact(student: Student, draw: RandomInputs) -> None:
    """gradient_by_hand is right to 8 digits in float64"""
    drawn = [draw.number(0.1, 1.0), draw.number(1.0, 5.0), draw.number(5.0, 50.0)]
    x = torch.tensor([0.1, 0.37, 1.7, 2.9, 50.0, *drawn], dtype=torch.float64)
    PATHS.require(student, x, message="close, but not right to 8 digits", rtol=1e-8, atol=0.0)


@check(points=0.25, about="gradient_by_hand", needs=FORMULA)
def test_gradient_by_hand_takes_every_shape(student: Student, draw: RandomInputs) -> None:
    """gradient_by_hand works for any shape"""
    for shape in draw.shapes():
        PATHS.require(student, draw.tensor(*shape, low=0.3, high=4.0))


@check(points=0.25, about="gradient_by_hand", needs=FORMULA)
def test_gradient_by_hand_takes_transposed_and_empty(student: Student, draw: RandomInputs) -> None:
    """gradient_by_hand works for transposed and empty tensors"""
    PATHS.require(student, draw.noncontiguous(3, 4, low=0.3, high=4.0))
    for shape in ((0,), (draw.integer(1, 3), 0), (0, 2)):
        PATHS.require(student, draw.tensor(*shape))


@check(points=0.25, about="gradient_by_hand", needs=FORMULA)
def test_gradient_by_hand_in_float32(student: Student, draw: RandomInputs) -> None:
    """gradient_by_hand works in float32, from x = 0.01 to 100"""
    near = draw.tensor(3, low=0.3, high=4.0, dtype=torch.float32)
    for x in (near, torch.tensor(draw.sample([0.01, 0.1, 1.0, 10.0, 100.0], 5)), near[0].clone()):
        PATHS.require(student, x)


@check(points=0.25, about="gradient_by_hand", needs=FORMULA)
def test_x_may_require_grad(student: Student, draw: RandomInputs) -> None:
    """gradient_by_hand works for an x that requires grad"""
    for shape in ((3,), ()):
        x = draw.tensor(*shape, low=0.3, high=4.0, requires_grad=True)
        PATHS.require(student, x, message="the gradient is wrong for an x that requires grad")
    assert_state(student, PATHS, draw.tensor(2, 3, low=0.3, high=4.0))


# -------------------------------------------------------------------------- power_gradients_by_hand


@check(
    points=0.25, about="power_gradients_by_hand", needs=test_base_and_exponent_get_their_gradients
)
def test_power_gradients_are_formulas(student: Student) -> None:
    """power_gradients_by_hand uses no autograd and no differences"""
    assert_formula(student, POWERS, AT_TWO, ABOVE_THREE)


FORMULAS = test_power_gradients_are_formulas


def base_and_exponent(draw: RandomInputs, *shape: int) -> tuple[Tensor, Tensor]:
    """An x above 1 and a whole, positive q: others are what test_every_exponent is about."""
    q = draw.integers(*shape, low=1, high=3).to(torch.float64)
    return draw.tensor(*shape, low=1.2, high=4.0), q


@check(points=0.25, about="power_gradients_by_hand", needs=FORMULAS)
def test_power_gradients_are_exact(student: Student, draw: RandomInputs) -> None:
    """power_gradients_by_hand is right to 8 digits in float64"""
    x = torch.tensor([1.2, 1.7, 2.9, 7.7, 50.0], dtype=torch.float64)
    q = draw.integers(5, low=1, high=3).to(torch.float64)
    POWERS.require(student, x, q, message="close, but not right to 8 digits", rtol=1e-8, atol=0.0)


@check(points=0.25, about="power_gradients_by_hand", needs=FORMULAS)
def test_power_gradients_take_every_shape(student: Student, draw: RandomInputs) -> None:
    """power_gradients_by_hand works for any shape, any strides"""
    for shape in (*draw.shapes(), (0,), (0, 2)):
        POWERS.require(student, *base_and_exponent(draw, *shape))
    x, q = base_and_exponent(draw, 4, 3)
    POWERS.require(student, x.t(), q.t())
    POWERS.require(student, x.t(), q.reshape(3, 4))


@check(points=0.25, about="power_gradients_by_hand", needs=FORMULAS)
def test_x_and_q_may_require_grad(student: Student, draw: RandomInputs) -> None:
    """power_gradients_by_hand works if x and q require grad"""
    for shape in ((3,), ()):
        x, q = base_and_exponent(draw, *shape)
        POWERS.require(student, x.requires_grad_(), q.requires_grad_())
    assert_state(student, POWERS, *base_and_exponent(draw, 2, 3))


@check(points=0.25, about="power_gradients_by_hand", needs=FORMULAS)
def test_power_gradients_in_float32(student: Student, draw: RandomInputs) -> None:
    """power_gradients_by_hand works in float32"""
    for shape in ((4,), ()):
        x, q = (one.to(torch.float32) for one in base_and_exponent(draw, *shape))
        POWERS.require(student, x, q)
    POWERS.require(student, torch.tensor([1.3, 3.7, 10.0, 100.0]), torch.tensor([3.0, 2, 1, 3]))


@check(points=0.25, about="power_gradients_by_hand", needs=FORMULAS)
def test_every_exponent(student: Student, draw: RandomInputs) -> None:
    """dz/dx and dz/dq are right for negative, zero, fractional q"""
    exponents = [draw.number(-3.0, -0.2), 0.0, 0.5, 1.0, draw.number(1.1, 3.0)]
    q = torch.tensor(draw.sample(exponents, 5), dtype=torch.float64)
    POWERS.require(student, draw.tensor(5, low=0.2, high=4.0), q)
    x = torch.tensor([1.01, 1.01, 1.0, 1.0, 100.0, 0.01], dtype=torch.float64)
    q = torch.tensor([0.001, -0.001, 2.5, 0.0, 0.0, 0.001], dtype=torch.float64)
    POWERS.require(student, x, q)


# --------------------------------------------------------------------------------- linear_gradients


@check(points=0.5, about="linear_gradients", needs=test_three_gradients_in_their_order)
def test_autograd_does_the_differentiating(student: Student, draw: RandomInputs) -> None:
    """linear_gradients computes its gradients with autograd"""
    x, w, b = draw.given(**dict(zip("xwb", drawn_line(draw), strict=True)))
    seen = student.observe("traced", "linear_gradients", x, w, b)
    assert_three(seen["result"], x, w, b)
    assert_that(
        seen["nodes"] or seen["passes"] or seen["forward"],
        "the gradients are right, but autograd did not compute them: no backward pass ran in your"
        " function",
    )


BY_AUTOGRAD = test_autograd_does_the_differentiating


@check(points=0.25, about="linear_gradients", needs=BY_AUTOGRAD)
def test_linear_gradients_are_plain_floats(student: Student, draw: RandomInputs) -> None:
    """linear_gradients returns a tuple of plain numbers"""
    x, w, b = drawn_line(draw)
    assert_three(student.linear_gradients(x, w, b), x, w, b, plain=True)


@check(points=0.5, about="linear_gradients", needs=BY_AUTOGRAD)
def test_zeros_and_negative_numbers(student: Student, draw: RandomInputs) -> None:
    """linear_gradients works for zeros and negative numbers"""
    a, b, c = draw.number(0.5, 1.2), draw.number(1.3, 2.0), draw.number(2.1, 3.0)
    for numbers in (
        (-a, b, c),
        (a, -b, -c),
        (0.0, b, c),
        (a, 0.0, -c),
        (a, b, 0.0),
        (2.0, -1.5, 3.0),
        (1 / 3, 1 / 7, 1 / 9),  # gradients with more digits than a rounded one has
    ):
        assert_three(student.linear_gradients(*numbers), *numbers, digits=True)


@check(points=0.25, about="linear_gradients", needs=BY_AUTOGRAD)
def test_linear_gradients_start_afresh(student: Student, draw: RandomInputs) -> None:
    """earlier calls do not change what linear_gradients returns"""
    line = drawn_line(draw)
    for numbers in (line, [number + 1 for number in line], line):
        assert_three(student.linear_gradients(*numbers), *numbers)


# ----------------------------------------------------------------------------------------- shopping


@check(points=0.5, about="shopping", needs=test_prices_pieces_and_tax)
def test_intermediate_results_get_gradients(
    student: Student, reference: Student, draw: RandomInputs
) -> None:
    """the gradients of the intermediate results are right"""
    bill = drawn_bill(draw)
    with drawn_behind(student, "shopping", bill):
        assert_entries(student.shopping(*bill), reference.shopping(*bill), BETWEEN, bill)
    for pieces in ((0.0, 3.0), (2.0, 0.0), (0.0, 0.0)):
        bill = [100.0, pieces[0], 150.0, pieces[1], 1.1]
        assert_entries(student.shopping(*bill), reference.shopping(*bill), BETWEEN, bill)


@check(points=0.25, about="shopping", needs=test_prices_pieces_and_tax)
def test_whole_numbers_will_do(student: Student, reference: Student, draw: RandomInputs) -> None:
    """shopping works for ints"""
    bill = [*(draw.integer(*ends) for ends in ((100, 900), (2, 4), (1000, 2000), (5, 8))), 2]
    assert_entries(student.shopping(*bill), reference.shopping(*bill), KEYS, bill)


@check(points=0.25, about="shopping", needs=test_prices_pieces_and_tax)
def test_shopping_returns_plain_floats(
    student: Student, reference: Student, draw: RandomInputs
) -> None:
    """shopping returns Python numbers, not tensors"""
    bill = drawn_bill(draw)
    got = student.shopping(*bill)
    assert_entries(got, reference.shopping(*bill), KEYS, bill, plain=True)
    for name in BETWEEN:  # what is missing or wrong there is another check's
        if got.get(name) is not None:
            found = {name: got[name]}
            assert_number(name, got[name], 0.0, math.inf, plain=True, actual=found)


@check(points=0.25, about="shopping", needs=test_prices_pieces_and_tax)
def test_one_kind_of_fruit(student: Student, reference: Student, draw: RandomInputs) -> None:
    """shopping works for 0 pieces"""
    apple, tangerine = draw.tensor(2, low=50.0, high=200.0, digits=None).tolist()
    for pieces in ((2.0, 0.0), (0.0, float(draw.integer(2, 7))), (0.0, 0.0)):
        bill = [apple, pieces[0], tangerine, pieces[1], 1.1]
        assert_entries(student.shopping(*bill), reference.shopping(*bill), KEYS, bill)


@check(points=0.25, about="shopping", needs=test_prices_pieces_and_tax)
def test_shopping_starts_afresh(student: Student, reference: Student, draw: RandomInputs) -> None:
    """earlier calls do not change what shopping returns"""
    first = drawn_bill(draw)
    for bill in (first, [number + 1 for number in first], first):
        assert_entries(student.shopping(*bill), reference.shopping(*bill), KEYS, bill)
