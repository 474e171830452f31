"""hooks, what its visible and hidden checks share."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from grader.authoring import (
    assert_gradient,
    assert_that,
    bar_names,
    bar_values,
    chart_figure,
    curve,
    fail,
    fetch,
    graphs_figure,
    panel,
    phrase,
    short_repr,
    trace,
    type_name,
)

# ------------------------------------------------------ a graph beside the student's code, driven


def put(student, leaves):
    """The leaves beside the student's code."""
    return [student.put(leaf) for leaf in leaves]


def taken(leaves):
    """Copies of the leaves' gradients, which are cleared."""
    grads = held(leaves)
    for leaf in leaves:
        leaf.grad = None
    return grads


def held(tensors):
    """Copies of what `.grad` holds."""
    grads = fetch(*(tensor.grad for tensor in tensors), None)[:-1]
    return [grad.detach().clone() if isinstance(grad, torch.Tensor) else grad for grad in grads]


def passes(student, name, arguments, graph, leaves, vectors, calls=1):
    """The gradients at the leaves of (y, z) = graph(*leaves), for one backward from z with each of
    the vectors.
    """
    leaves = put(student, leaves)
    y, z = graph(*leaves)
    for _ in range(calls):
        getattr(student, name)(y, *arguments)
    rounds = []
    for v in vectors:
        z.backward(v.clone(), retain_graph=True)
        rounds.append(taken(leaves))
    return rounds


def later(student, name, arguments, trunk, tails, leaves, vectors):
    """The gradients at the leaves for one tail after the other, each built on the same y and run
    backward with its own vector.
    """
    leaves = put(student, leaves)
    y = trunk(*leaves)
    getattr(student, name)(y, *arguments)
    rounds = []
    for tail, v in zip(tails, vectors, strict=True):
        tail(y, *leaves).backward(v.clone(), retain_graph=True)
        rounds.append(taken(leaves))
    return rounds


def scaled(student, factor, graph, leaves, before=()):
    """`.grad` of the leaves after one call on (y, loss) = graph(*leaves); `before` is what it holds
    beforehand.
    """
    leaves = put(student, leaves)
    y, loss = graph(*leaves)
    for leaf, grad in zip(leaves, before, strict=False):
        leaf.grad = grad.clone()
    student.backward_with_scaled_gradient(loss, y, factor)
    return {"grads": held(leaves)}


def afterwards(student, factor, trunk, tails, leaves):
    """The gradients at the leaves of one call on the first tail, then of plain backwards through
    the others, built on the same y.
    """
    leaves = put(student, leaves)
    y = trunk(*leaves)
    student.backward_with_scaled_gradient(tails[0](y, *leaves), y, factor)
    rounds = [taken(leaves)]
    for tail in tails[1:]:
        tail(y, *leaves).backward()
        rounds.append(taken(leaves))
    return rounds


CAPPED = 1e-3
"""Relative tolerance for a capped gradient: people add a small number to the norm that they divide
by.
"""

ROUGH = {"rtol": 1e-5, "atol": 1e-5}
"""Tolerances of the checks that others wait for. Rounding is a matter of checks of its own."""

EXACT = {"rtol": 2e-9, "atol": 1e-12}
"""Tolerances that float32 does not stay within where a gradient is one of THIRDS."""

THIRDS = torch.tensor([1 / 3, -1 / 7, 0.1], dtype=torch.float64)
"""Numbers that float32 does not hold to eight digits."""

WRONG_GRADIENT = "the gradient at {leaf} is wrong"


def said(value):
    """A value's type in a message."""
    return "None" if value is None else type_name(value)


def then(y, after):
    """The two results of a graph: y, and what is made of it."""
    return y, after(y)


@dataclass(frozen=True)
class Drawn:
    """A graph of which a failure shows what hooks the student's function puts there, beside those
    that belong there.

    ``arguments`` are those after y; of record_gradients, the keys of the outputs. ``outputs`` names
    what the graph returns.
    """

    student: Any
    function: str
    arguments: list
    graph: Any
    leaves: list
    outputs: tuple = ("y", "z")
    calls: int = 1
    released: bool = False
    names: str = "pqr"

    def figures(self, got, want, form=".grad = {}", at=None):
        """The two graphs; at the tensors of those names (the leaves by default) what was measured
        there and what should have been.
        """
        found = notes(self.letters if at is None else at, got, want, form)
        return [lambda: graphs_figure(self.seen(), self.wanted(), notes=found)]

    @property
    def letters(self):
        """The leaves' names."""
        return [*self.names[: len(self.leaves)]]

    def seen(self):
        """The graph with the student's hooks."""
        names = [*self.letters, *self.outputs]
        return self.student.observe(
            "graph",
            self.function,
            self.arguments,
            self.graph,
            self.leaves,
            names,
            self.calls,
            self.released,
        )

    def wanted(self):
        """The graph with the hooks that belong there."""
        scaled = self.function == "backward_with_scaled_gradient"
        hooked = self.outputs[:-1] if self.function == "record_gradients" else self.outputs[:1]
        data = plain_graph(self.graph, self.leaves, [*self.letters, *self.outputs], freed=scaled)
        for node in data["nodes"]:
            if node["name"] in hooked and not scaled and not self.released:
                node["hooks"] = self.calls
        return data


def plain_graph(graph, leaves, names, *, freed=False):
    """The graph as it is without hooks; ``freed``: after a backward. The names are those of leaves
    and outputs.
    """
    copies = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    ends = graph(*copies)
    named = dict(zip(names, [*copies, *ends], strict=True))
    if freed:
        ends[-1].backward()
    return trace(ends[-1], named)


def clipped(arriving, max_norm, want, got, factor=1.0):
    """What makes a figure of a gradient before and after clip_gradient, element by element. What
    was got is ``factor`` times as much.
    """

    def figure():
        curves = [
            curve("given", None, bar_values(arriving), phrase("before"), form="bars"),
            curve("truth", None, bar_values(want), form="bars"),
        ]
        norms = {"before": arriving, "wanted": want}
        note = "norms: {before} before, {wanted} expected; max_norm is {max_norm}"
        if isinstance(got, torch.Tensor) and got.shape == arriving.shape:
            norms["got"] = mine = got / factor
            curves.append(curve("yours", None, bar_values(mine), form="bars"))
            note = "norms: {before} before, {wanted} expected, {got} yours; max_norm is {max_norm}"
        facts = {name: short_repr(float(one.norm())) for name, one in norms.items()}
        names = bar_names("", arriving)
        return chart_figure(
            phrase("the gradient at y, before and after"),
            panel("", *curves, names=names),
            notes=[phrase(note, max_norm=short_repr(max_norm), **facts)],
        )

    return figure


def later_figures(student, factor, trunk, tails, leaves, how, got, want):
    """The graph of a later backward, after a call on the first tail that ended as ``how`` says,
    beside the plain one.
    """
    names = [*"pqr"[: len(leaves)]]

    def end(*copies):
        y = trunk(*copies)
        return y, tails[1](y, *copies)

    def figure():
        seen = student.observe(
            "later_graph", factor, trunk, tails, leaves, [*names, "y", "loss2"], how
        )
        return graphs_figure(
            seen,
            plain_graph(end, leaves, [*names, "y", "loss2"]),
            notes=notes(names, got, want, ".grad = {}"),
        )

    return [figure]


def notes(names, got, want, form):
    """What stands at each tensor, as it came back and as it should be; what is right except for"
    " rounding reads the same in both."""
    pairs = {name: (mine, right) for name, mine, right in zip(names, got, want, strict=True)}
    here = {
        name: form.format(short_repr(right if alike(mine, right) else mine))
        for name, (mine, right) in pairs.items()
    }
    return here, {name: form.format(short_repr(right)) for name, (_, right) in pairs.items()}


def alike(got, want):
    """Whether two gradients are the same except for rounding."""
    tensors = (
        isinstance(got, torch.Tensor)
        and isinstance(want, torch.Tensor)
        and got.shape == want.shape
        and got.dtype == want.dtype
    )
    return tensors and torch.allclose(got, want, rtol=CAPPED)


def same_leaves(got, want, message=WRONG_GRADIENT, names="pqr", **details):
    """Each leaf's gradient must be the expected one; a message may speak of {leaf}."""
    for leaf, actual, expected in zip(names, got, want, strict=True):
        facts = {**details.get("facts", {}), "leaf": leaf}
        if expected is None:
            assert_that(
                actual is None, message, expected=None, actual=actual, **{**details, "facts": facts}
            )
        else:
            assert_gradient(actual, expected, message, **{**details, "facts": facts})


def is_pair(got, inputs):
    """What record_gradients returned must be a pair."""
    facts = {"type": got["type"]}
    assert_that(
        got["pair"],
        "record_gradients returned a value of type {type}, which is not the pair (records,"
        " handles)",
        inputs=inputs,
        facts=facts,
    )


def linear(draw, rows, columns, *, bias=True, dtype=torch.float64):
    """The plain data of a Linear with drawn weights."""
    weight = draw.tensor(rows, columns, dtype=dtype, low=-1.0, high=1.0)
    return ["linear", weight, draw.tensor(rows, dtype=dtype, low=-1.0, high=1.0) if bias else None]


def norms_of(got, inputs):
    """The returned dictionary, once it is one; a value that is a 0-d tensor counts as its number
    here.
    """
    norms = got["norms"]
    facts = {"type": said(norms)}
    assert_that(
        isinstance(norms, dict),
        "gradient_norms returned a value of type {type}, expected a dictionary",
        actual=norms,
        inputs=inputs,
        facts=facts,
    )
    return {
        key: value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value
        for key, value in norms.items()
    }


def same_norms(got, want, inputs, rtol=1e-6, atol=1e-9, figure=None):
    """Each norm must be the expected one; ``figure`` makes one that marks the module of a name."""
    for name, expected in want.items():
        actual = got.get(name)
        figures = [partial(figure, at=name, want=want)] if figure else []
        details = {
            "expected": want,
            "actual": got,
            "inputs": inputs,
            "facts": {"name": name, "type": said(actual)},
            "figures": figures,
        }
        if not isinstance(actual, int | float):
            fail("the norm for {name} is not a number ({type})", **details)
        assert_that(
            math.isclose(actual, expected, rel_tol=rtol, abs_tol=atol),
            "the norm for {name} is wrong",
            **details,
        )


def module_figure(student, spec, x, *, at, want):
    """The graph of a module's summed result: at what each part returned the norm of the gradient
    there, and one of them marked.
    """
    data = student.observe("module_graph", spec, x, list(want))
    norms = {
        name: f"‖grad‖ = {short_repr(norm)}" for name, norm in want.items() if norm is not None
    }
    return graphs_figure(None, data, notes=({}, norms), at=at)
