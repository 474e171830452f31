"""hooks' checks. Those below the line "hidden" are not handed out.

A hook is seen by what it does to gradients. So most checks build a graph beside the student's code,
call a function on its tensors, run backward there, and compare what the leaves hold with the true
gradients of the same graph.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Graph,
    RandomInputs,
    Student,
    StudentCodeError,
    assert_equal,
    assert_gradient,
    assert_raises,
    assert_tensor,
    assert_that,
    bar_names,
    bar_values,
    chart_figure,
    check,
    curve,
    fetch,
    graphs_figure,
    panel,
    phrase,
    program,
    same,
    short_repr,
    trace,
    type_name,
)

DOUBLE, RECORD, CLIP = "double_gradient", "record_gradients", "clip_gradient"
SCALE, NORMS = "backward_with_scaled_gradient", "gradient_norms"

ROUGH = {"rtol": 1e-5, "atol": 1e-5}
"""Tolerances of the checks that others wait for. Rounding is a matter of checks of its own."""
EXACT = {"rtol": 2e-9, "atol": 1e-12}
"""Tolerances that float32 does not stay within at a number with all digits."""
CAPPED = {"rtol": 1e-3}
"""Tolerance of a clipped gradient: people add a small number to the norm that they divide by."""

WRONG = "the gradient at {leaf} is wrong"
SHARED = "a, b and y get the same gradient tensor, and the gradient at {leaf} is wrong"
CHUNK = "y is one of two results of chunk, and the gradient at {leaf} is wrong"

Change = Callable[[Tensor], Tensor]


def times(factor: float) -> dict[str, Change]:
    """Return what a hook on y should do: multiply."""
    return {"y": lambda grad: grad * factor}


def clipped(max_norm: float) -> dict[str, Change]:
    """Return what a hook on y should do: clip."""
    return {"y": lambda grad: grad * (max_norm / max(max_norm, float(grad.norm())))}


class Called:
    """The tensors of a graph beside the student's code, after a call of a function on some of them;
    ``result`` is what it returned. In ``args``, a name stands for its tensor. ``through`` says what
    becomes of the gradients that flow through tensors. ``tensors`` are new unless they are given.
    """

    def __init__(
        self,
        student: Student,
        graph: Graph,
        function: str,
        *args: Any,
        through: Mapping[str, Change] | None = None,
        tensors: Mapping[str, Any] | None = None,
    ) -> None:
        self.student, self.graph, self.function, self.args = student, graph, function, [*args]
        self.through = through
        self.tensors = tensors or graph.tensors(student)
        self.result = self.call()

    def call(self) -> Any:
        """Call the function once more."""
        return getattr(self.student, self.function)(*(self._filled(one) for one in self.args))

    def run(self, at: str, v: Tensor | None = None) -> None:
        """Run backward from a tensor."""
        self.tensors[at].backward(None if v is None else v.clone(), retain_graph=True)

    def held(self) -> dict[str, Any]:
        """Return what .grad of the leaves holds."""
        found = fetch([self.tensors[name].grad for name in self.graph.inputs])
        return dict(zip(self.graph.inputs, map(copied, found), strict=True))

    def backward(self, at: str, v: Tensor | None = None) -> dict[str, Any]:
        """Run backward from a tensor; return what it alone puts into .grad of the leaves."""
        for name in self.graph.inputs:
            self.tensors[name].grad = None
        self.run(at, v)
        return self.held()

    def check_backward(
        self, at: str, v: Tensor | None = None, says: str = WRONG, **options: Any
    ) -> None:
        """Run backward, and require the true gradients; options as for ``require``."""
        want = self.graph.gradients(at, v, through=self.through)
        self.require(self.backward(at, v), want, says, **options)

    def require(
        self,
        got: Mapping[str, Any],
        want: Mapping[str, Tensor],
        says: str = WRONG,
        *,
        facts: Mapping[str, Any] | None = None,
        figures: Sequence[Any] = (),
        **near: float,
    ) -> None:
        """Require each leaf's gradient; a message may speak of {leaf}."""
        for leaf, right in want.items():
            drawn = [partial(self.figure, got, want, at=leaf), *figures]
            details = {"facts": {**(facts or {}), "leaf": leaf}, "figures": drawn}
            assert_gradient(got[leaf], right, says, **near, **details)

    def figure(
        self,
        got: Mapping[str, Any],
        want: Mapping[str, Any],
        form: str = ".grad = {}",
        at: str | None = None,
    ) -> Any:
        """Return the graph with the student's hooks, and with those that belong there; at tensors,
        what was measured and what should have been. If the graphs are the same, ``at`` is marked.
        """
        graph, root = self.graph, self.graph.names[-1]
        inputs = list(graph.inputs.values())
        seen = self.student.observe(
            "graph", self.function, graph.names, inputs, graph.program, self.args, root=root
        )
        wanted = graph.tensors()
        if self.function == SCALE:
            wanted[self.args[0]].backward()
        else:
            for name in self.args[0].values() if self.function == RECORD else ["y"]:
                wanted[name].register_hook(lambda grad: None)
        right = {name: short_repr(one) for name, one in want.items()}
        # what is right except for rounding reads the same in both
        mine = {
            name: right[name] if alike(got.get(name), one) else short_repr(got.get(name))
            for name, one in want.items()
        }
        notes = tuple({k: form.format(text) for k, text in one.items()} for one in (mine, right))
        truth = trace(wanted[root], wanted)
        same_graph = graphs_figure(seen, truth).first_difference is None
        return graphs_figure(seen, truth, notes=notes, at=at if same_graph else None)

    def _filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(one) for key, one in value.items()}
        return self.tensors[value] if isinstance(value, str) else value


def copied(grad: Any) -> Any:
    return grad.detach().clone() if isinstance(grad, Tensor) else grad


def alike(got: Any, want: Any) -> bool:
    """Return whether two gradients are the same except for rounding."""
    return same(got, want, rtol=1e-3) and got.dtype == want.dtype


def given(draw: RandomInputs, graph: Graph, **others: Any) -> None:
    """Name a graph, its leaves and others as the inputs that a failure shows."""
    draw.given(graph=graph.formulas, **graph.inputs, **others)


def leaf(draw: RandomInputs, *shape: int, **options: Any) -> Tensor:
    return draw.tensor(*shape, requires_grad=True, **options)


def around(draw: RandomInputs, *, scalar: bool = False) -> Graph:
    """Draw a graph: p reaches its end through y alone, q also past it, r only past it. The end is
    z, or the sum loss.
    """
    a, b, c = draw.coefficients(3)
    y, z = draw.choice(
        [
            (f"({a} * p * q).sin()", f"({b} * y).tanh() * r + {c} * q"),
            (f"{a} * p * q**2", f"({b} * y).sin() + {c} * q * r"),
            (f"({a} * p).exp() * q", f"{b} * y * r + ({c} * q).cos()"),
        ]
    )
    end = f"loss = ({z}).sum()" if scalar else f"z = {z}"
    return draw.graph(f"y = {y}", end, p=leaf(draw, 3), q=leaf(draw, 3), r=leaf(draw, 3))


def shared(draw: RandomInputs, *, scalar: bool = False) -> Graph:
    """Draw a graph whose additions hand one and the same gradient to a, b and y. The node of y runs
    first of the three.
    """
    a, b, c, k = draw.coefficients(4)
    end = f"loss = ({k} * (a + y + b)).sum()" if scalar else f"z = {k} * (a + y + b)"
    leaves = {"p": leaf(draw, 3), "q": leaf(draw, 3), "r": leaf(draw, 3)}
    return draw.graph(f"a = {a} * p", f"b = {b} * r", f"y = {c} * q", end, **leaves)


def halves(draw: RandomInputs, *, scalar: bool = False) -> Graph:
    """Draw a graph in which y is the second result of an operation with two. A hook on the
    operation is not one on y.
    """
    a, b = draw.coefficients(2)
    end = f"loss = ({b} * y + rest).sum()" if scalar else f"z = {b} * y + rest"
    return draw.graph(f"rest, y = ({a} * p).chunk(2)", end, p=leaf(draw, 6))


# ---------------------------------------------------------------------------------- double_gradient


@check(points=0.25, about=DOUBLE, needs="test_double_what_flows_through_y")
def test_worked_example(student: Student, draw: RandomInputs) -> None:
    """For log(x**3) at x = 5, x.grad is 1.2, twice 0.6"""
    x = torch.tensor(5.0, requires_grad=True)
    draw.given(x=x)
    doubled = Called(student, draw.graph("y = x**3", "z = y.log()", x=x), DOUBLE, "y")
    message = (
        "after double_gradient(y) with y = x**3, z.backward() with z = log(y) leaves a wrong"
        " gradient in x.grad"
    )
    doubled.require(doubled.backward("z"), {"x": torch.tensor(1.2)}, message)


@check(points=0.5, about=DOUBLE)
def test_double_what_flows_through_y(student: Student, draw: RandomInputs) -> None:
    """Only the gradient that flows through y is doubled"""
    g, v = around(draw), draw.tensor(3)
    given(draw, g, v=v)
    Called(student, g, DOUBLE, "y", through=times(2)).check_backward("z", v, **ROUGH)


# --------------------------------------------------------------------------------- record_gradients


class Recording(Called):
    """A call of record_gradients on tensors of a graph; ``names`` has their names in the graph by
    those under which they are recorded.
    """

    def __init__(
        self, student: Student, graph: Graph, names: Mapping[str, str], **options: Any
    ) -> None:
        super().__init__(student, graph, RECORD, dict(names), **options)
        self.names, found = names, fetch(self.result)
        message = (
            "record_gradients returned a value of type {type}, which is not the pair (records,"
            " handles)"
        )
        facts = {"type": said(found), **({"given": "only a dict"} if is_dict(found) else {})}
        assert_that(isinstance(found, tuple | list) and len(found) == 2, message, facts=facts)
        self.records, self.handles = self.result[0], self.result[1]

    def recorded(self) -> Any:
        """Return what the records hold now."""
        found = fetch(self.records)
        return {key: copied(one) for key, one in found.items()} if is_dict(found) else found

    def check_records(
        self,
        at: str,
        v: Tensor,
        says: str = "records[{name}] is not the gradient at that tensor",
        but: Sequence[str] = (),
        facts: Any = None,
        **near: float,
    ) -> None:
        """Require the true gradients of a tensor for v, ``but`` not under these names; a message
        may speak of {name}.
        """
        true = self.graph.gradients(at, v, of=[*self.names.values()])
        want = {key: true[name] for key, name in self.names.items() if key not in but}
        records = self.recorded()
        message, told = "records ({type}) is not a dictionary", {"type": said(records)}
        assert_that(is_dict(records), message, facts=told)
        got = {self.names[key]: records.get(key) for key in want}
        right = {self.names[key]: one for key, one in want.items()}
        for key, one in want.items():
            figures = [partial(self.figure, got, right, "records[…] = {}", self.names[key])]
            found, whole = records.get(key), {"expected": want, "actual": records}
            told = {**(facts or {}), "name": key, "type": said(found)}
            message = "after backward, records has no entry {name}"
            assert_that(key in records, message, facts=told, **whole)
            message = "after backward, records[{name}] is not a Tensor ({type})"
            assert_that(isinstance(found, Tensor), message, facts=told, **whole)
            assert_tensor(found, one, says, facts=told, figures=figures, **near)

    def remove(self) -> None:
        """Call remove() of each handle that has one."""
        found = fetch(self.handles)
        for k in range(len(found) if isinstance(found, list | tuple) else 0):
            if removable(self.handles[k]):
                self.handles[k].remove()

    def check_handles(self) -> str:
        """Require a list or a tuple of what has a remove(); return its types."""
        found, message = fetch(self.handles), "the handles ({type}) are neither a list nor a tuple"
        several = isinstance(found, dict | set)  # none is forgotten, they are kept in another way
        facts = {"type": said(found), **({} if several else {"given": said(found)})}
        assert_that(isinstance(found, list | tuple), message, facts=facts)
        handles = [self.handles[k] for k in range(len(found))]
        kinds = ", ".join(map(said, found)) or "nothing"
        message = "the handles are {kinds}, and not all of them have a remove()"
        assert_that(all(map(removable, handles)), message, facts={"kinds": kinds, "given": kinds})
        return kinds


def is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def said(value: Any) -> str:
    """Return a value's type, as a message says it."""
    return "None" if value is None else type_name(value)


def removable(handle: Any) -> bool:
    """Return whether an object has a remove()."""
    try:
        fetch(handle.remove)
    except (StudentCodeError, AttributeError):
        return False
    return True


@check(points=0.5, about=RECORD)
def test_records_hold_each_gradient(student: Student, draw: RandomInputs) -> None:
    """records holds the gradient at each tensor, by name"""
    a, b, c = draw.coefficients(3)
    formulas = f"h = {a} * p * q", f"y = {b} * h.sin()", f"z = y * h + {c} * q"
    g, v = draw.graph(*formulas, p=leaf(draw, 3), q=leaf(draw, 3)), draw.tensor(3)
    keys = draw.sample(["hidden", "first", "inner", "trunk", "weights", "out"], 3)
    names = dict(zip(keys, "hpy", strict=True))
    given(draw, g, v=v, tensors=shown(names))
    recording = Recording(student, g, names)
    recording.run("z", v)
    recording.check_records("z", v)


def shown(names: Mapping[str, str]) -> str:
    """Return a dictionary of tensors as a failure shows it."""
    return "{" + ", ".join(f"{key!r}: {name}" for key, name in names.items()) + "}"


@check(points=0.25, about=RECORD, needs=test_records_hold_each_gradient)
def test_records_start_without_gradients(student: Student, draw: RandomInputs) -> None:
    """records is new and holds no gradient before a backward"""
    g, v = draw.graph("y = 2.0 * p", "h = 3.0 * y", "z = 1.5 * h", p=leaf(draw, 2)), draw.tensor(2)
    calls = {"first call": "{'y': y}", "second call": "{'h': h}, then remove() of its handles"}
    given(draw, g, v=v, **calls)
    first = Recording(student, g, {"y": "y"})
    second = Recording(student, g, {"h": "h"}, tensors=first.tensors)
    start = second.recorded()
    second.remove()
    first.run("z", v)
    kept, shared = (
        {key: found for key, found in one.recorded().items() if key == "y"}
        for one in (first, second)
    )
    message = "after two calls, the records of the second also hold what the first one records"
    assert_that(not shared, message, expected={}, actual=shared)
    message = "after remove() of a second call's handles, the first call no longer records"
    there = kept.get("y") is not None
    assert_that(there, message, expected={"y": 4.5 * v}, actual=kept)
    filled = any(isinstance(one, Tensor) for one in start.values())
    message = "records holds gradients before any backward"
    assert_that(not filled, message, expected={}, actual=start)


# ------------------------------------------------------------------------------------ clip_gradient


@check(points=0.5, about=CLIP)
def test_long_gradient_is_capped(student: Student, draw: RandomInputs) -> None:
    """A long gradient keeps its direction and gets norm max_norm"""
    (a, b), v = draw.coefficients(2), draw.tensor(2, 3)
    leaves = {"p": leaf(draw, 2, 3), "r": leaf(draw, 2, 3)}
    g = draw.graph(f"y = {b} * p", f"z = {a} * y + r", **leaves)
    arriving = a * v
    max_norm = draw.number(0.2, 0.6) * float(arriving.norm())
    given(draw, g, v=v, max_norm=max_norm, **{"gradient at y": arriving})
    called = Called(student, g, CLIP, "y", max_norm)
    got, want = called.backward("z", v), g.gradients("z", v, through=clipped(max_norm))
    message = "a gradient of norm {norm} arrives at y, and the gradient at p is then wrong"
    facts = {"norm": float(arriving.norm())}
    bars = partial(before_and_after, arriving, max_norm, want["p"] / b, got["p"], b)
    called.require(got, {"p": want["p"]}, message, facts=facts, figures=[bars], **CAPPED)
    message = "the gradient of r changed, although it does not flow through y"
    called.require(got, {"r": want["r"]}, message, facts=facts)


def before_and_after(
    arriving: Tensor, max_norm: float, want: Tensor, got: Any, factor: float = 1.0
) -> Any:
    """Return a plot of the gradient at y before and after a clip, element by element. What was got
    is ``factor`` times as much.
    """
    curves = [
        curve("given", None, bar_values(arriving), phrase("before"), form="bars"),
        curve("truth", None, bar_values(want), form="bars"),
    ]
    norms = {"before": arriving, "wanted": want}
    note = "norms: {before} before, {wanted} expected; max_norm is {max_norm}"
    if isinstance(got, Tensor) and got.shape == arriving.shape:
        norms["got"] = got / factor
        curves.append(curve("yours", None, bar_values(got / factor), form="bars"))
        note = "norms: {before} before, {wanted} expected, {got} yours; max_norm is {max_norm}"
    facts = {name: short_repr(float(one.norm())) for name, one in norms.items()}
    return chart_figure(
        phrase("the gradient at y, before and after"),
        panel("", *curves, names=bar_names("", arriving)),
        notes=[phrase(note, max_norm=short_repr(max_norm), **facts)],
    )


@check(points=0.25, about=CLIP, needs=test_long_gradient_is_capped)
def test_short_gradient_is_unchanged(student: Student, draw: RandomInputs) -> None:
    """A gradient shorter than max_norm passes unchanged"""
    g = draw.graph("y = p.clone()", "z = y + r", p=leaf(draw, 4), r=leaf(draw, 4))
    # max_norm is below the sum of the elements' sizes, and that of their squares
    v, longer = draw.tensor(4, avoid=1.0), draw.number(1.2, 1.8)
    for short, near in ((v, {"rtol": 1e-6}), (draw.tensor(4, digits=None), EXACT)):
        norm = float(short.norm())
        given(draw, g, v=short, max_norm=longer * norm)
        called = Called(student, g, CLIP, "y", longer * norm)
        got = called.backward("z", short)
        message = "the gradient at y has norm {norm}, less than max_norm, and it was changed"
        bars = partial(before_and_after, short, longer * norm, short, got["p"])
        called.require(got, {"p": short}, message, facts={"norm": norm}, figures=[bars], **near)


# -------------------------------------------------------------------- backward_with_scaled_gradient


def check_scaled(
    student: Student,
    draw: RandomInputs,
    graph: Graph,
    factor: float,
    says: str = WRONG,
    **near: Any,
) -> None:
    """Require what one call on the tensors loss and y puts into .grad of the leaves."""
    given(draw, graph, factor=factor)
    scaled = Called(student, graph, SCALE, "loss", "y", factor)
    want = graph.gradients("loss", through=times(factor))
    scaled.require(scaled.held(), want, says, **near)


@check(points=0.5, about=SCALE)
def test_scale_what_flows_through_y(student: Student, draw: RandomInputs) -> None:
    """Only the gradient that flows through y is scaled"""
    check_scaled(student, draw, around(draw, scalar=True), draw.choice([0.25, 2.5]), **ROUGH)


@check(points=0.25, about=SCALE, needs=test_scale_what_flows_through_y)
def test_a_later_backward_is_not_scaled(student: Student, draw: RandomInputs) -> None:
    """A backward after the call is not scaled"""
    factor, g = draw.choice([0.5, 3.0, -2.0]), two_losses(draw)
    given(draw, g, factor=factor)
    scaled = Called(student, g, SCALE, "loss", "y", factor)
    message = "after the call, a plain loss2.backward() leaves a wrong gradient in {leaf}.grad"
    scaled.check_backward("loss2", None, message, facts={"factor": factor})


def two_losses(draw: RandomInputs) -> Graph:
    """Draw a graph with two losses, whose common part saves nothing that a backward would free."""
    end = f"loss2 = {draw.number(0.3, 1.5)} * (y**2).sum()"
    return draw.graph("y = p - q", "loss = (y**2).sum()", end, p=leaf(draw, 3), q=leaf(draw, 3))


NEGATED = program(lambda grad: -grad)
"""A hook of the caller's own. It commutes with doubling, clipping and scaling."""


@check(points=0.25, about=SCALE, needs=test_scale_what_flows_through_y)
def test_y_is_as_it_was(student: Student, draw: RandomInputs) -> None:
    """y keeps its state and the caller's hooks"""
    factor, g = draw.choice([0.5, 3.0, -2.0]), two_losses(draw)
    given(draw, g, factor=factor)
    same_states(student, g, SCALE, ["loss", "y", factor], ["y"])
    tensors = g.tensors(student)
    tensors["y"].register_hook(NEGATED)
    scaled = Called(student, g, SCALE, "loss", "y", factor, tensors=tensors)
    assert_callers_hook(scaled, "loss2", None)


def assert_callers_hook(called: Called, at: str, v: Tensor | None) -> None:
    """Require that the caller's own hook on y, which negates the gradient, is still there."""
    got, plain = called.backward(at, v), called.graph.gradients(at, v)
    gone = all(same(got[name], one) for name, one in plain.items())
    message = "the caller's own hook on y, grad -> -grad, is gone"
    assert_that(not gone, message, expected={name: -one for name, one in plain.items()}, actual=got)


def same_states(
    student: Student, graph: Graph, function: str, args: Any, of: Sequence[str], v: Any = None
) -> None:
    """Require that a call, and a backward with v, leave these tensors as they were."""
    inputs = list(graph.inputs.values())
    before, after = student.observe(
        "states", function, graph.names, inputs, graph.program, args, of, v
    )
    message = "{what} of {name} is different after the call"
    for name, state in before.items():
        for what, value in state.items():
            assert_equal(after[name][what], value, message, facts={"what": what, "name": name})


# ----------------------------------------------------------------------------------- gradient_norms

# A module is plain data: the name of an activation, a list with the weight and perhaps the bias of
# a linear layer, a dictionary for a chain of parts by their names, ["branches", parts] for a sum.
ACTIVATIONS = ["tanh", "sigmoid", "softplus"]


def linear(draw: RandomInputs, rows: int, columns: int, **options: Any) -> list[Tensor]:
    shapes = (rows, columns), (rows,)
    return [draw.tensor(*shape, low=-1.0, high=1.0, **options) for shape in shapes]


def network(draw: RandomInputs) -> dict[str, Any]:
    """Draw a chain with a chain inside, from 3 features to 2."""
    first, second, third = draw.sample(["stem", "body", "neck", "mix", "core", "head"], 3)
    inner = {"0": linear(draw, 4, 4), "1": draw.choice(ACTIVATIONS)}
    return {first: linear(draw, 4, 3), second: inner, third: linear(draw, 2, 4)}


def outline(spec: Any) -> str:
    """Return a module in a line, as a failure shows it."""
    if isinstance(spec, str):
        return spec
    kind, parts = ("branches", spec[1]) if is_branches(spec) else ("chain", spec)
    if not is_dict(parts):
        return "linear"
    return f"{kind}({', '.join(f'{name}: {outline(part)}' for name, part in parts.items())})"


def is_branches(spec: Any) -> bool:
    return isinstance(spec, list) and isinstance(spec[0], str)


def computed(spec: Any, x: Tensor, found: dict[str, Tensor], name: str = "") -> Tensor:
    """Return what a module makes of x; note in ``found`` what each leaf module returns."""
    functional = torch.nn.functional
    prefix = f"{name}." if name else ""
    if is_branches(spec):
        return sum(computed(part, x, found, prefix + key) for key, part in spec[1].items())
    if is_dict(spec):
        for key, part in spec.items():
            x = computed(part, x, found, prefix + key)
        return x
    if spec == "turnstile":
        found[name] = x.clone()
    elif isinstance(spec, str):
        found[name] = getattr(functional, spec)(x)
    else:
        found[name] = functional.linear(x, *spec)
    return found[name]


class Measured:
    """What gradient_norms should return for a module and an x, ``want``, and what it returned; a
    0-d tensor counts as its number.
    """

    def __init__(self, student: Student, spec: Any, x: Tensor, *, frozen: bool = False) -> None:
        self.x = x.detach().requires_grad_()
        self.parts: dict[str, Tensor] = {}
        self.total = computed(spec, self.x, self.parts).sum()
        grads = torch.autograd.grad(self.total, [*self.parts.values()], retain_graph=True)
        self.want = {name: grad.norm().item() for name, grad in zip(self.parts, grads, strict=True)}
        self.seen = student.observe("norms", spec, x, frozen)
        norms = self.seen["norms"]
        message = "gradient_norms returned a value of type {type}, expected a dictionary"
        assert_that(is_dict(norms), message, actual=norms, facts={"type": said(norms)})
        self.got = {key: as_number(value) for key, value in norms.items()}

    def check_norms(self, **near: float) -> None:
        """Require each norm to be the expected one."""
        for name, want in self.want.items():
            got = self.got.get(name)
            details = {
                "expected": self.want,
                "actual": self.got,
                "facts": {"name": name, "type": said(got)},
                "figures": [partial(self.figure, name)],
            }
            number = isinstance(got, int | float)
            assert_that(number, "the norm for {name} is not a number ({type})", **details)
            right = number and math.isclose(got, want, **near)
            assert_that(right, "the norm for {name} is wrong", **details)

    def figure(self, at: str) -> Any:
        """Return the graph of the summed result, with the norms at what the leaf modules return;
        one of them is marked.
        """
        norms = {name: f"‖grad‖ = {short_repr(norm)}" for name, norm in self.want.items()}
        data = trace(self.total, {"x": self.x, **self.parts})
        return graphs_figure(None, data, notes=({}, norms), at=at)


def as_number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


@check(points=0.25, about=NORMS)
def test_keys_are_the_leaf_submodules(student: Student, draw: RandomInputs) -> None:
    """The keys are the full names of the leaf modules"""
    spec, x = network(draw), leaf(draw, 5, 3)
    draw.given(module=outline(spec), x=x)
    measured = Measured(student, spec, x)
    missing = [name for name in measured.want if name not in measured.got]
    assert_that(
        measured.got.keys() == measured.want.keys(),
        "the keys are not the names of the leaf modules",
        expected=sorted(measured.want),
        actual=sorted(map(str, measured.got)),
        figures=[partial(measured.figure, name) for name in missing[:1]],
    )


@check(points=0.5, about=NORMS, needs=test_keys_are_the_leaf_submodules)
def test_values_are_the_norms_of_grad_output(student: Student, draw: RandomInputs) -> None:
    """Each value is the norm of the module's grad_output"""
    spec, x = network(draw), leaf(draw, 5, 3)
    draw.given(module=outline(spec), x=x)
    Measured(student, spec, x).check_norms(rel_tol=1e-4, abs_tol=1e-4)


# hidden


# ---------------------------------------------------------------------------------- double_gradient


def check_until_removed(
    student: Student, draw: RandomInputs, v: Tensor, function: str, *args: Any, **near: Any
) -> None:
    """Require that the change of v, which arrives at y, ends with remove(), and that a hook of the
    caller's stays.
    """
    g = draw.graph("y = p.clone()", "z = y.clone()", p=leaf(draw, 3))
    change = clipped(*args) if args else times(2)
    given(draw, g, v=v, **dict(zip(["max_norm"], args, strict=False)))
    tensors = g.tensors(student)
    tensors["y"].register_hook(NEGATED)
    called = Called(student, g, function, "y", *args, tensors=tensors)
    message = "{function} returned a value of type {given}, which has no remove() to call"
    facts = {"function": function, "given": said(fetch(called.result))}
    assert_that(removable(called.result), message, facts=facts)
    got = called.backward("z", v)
    message = "before remove() the gradient at p is wrong"
    assert_gradient(got["p"], -change["y"](v), message, **near)
    called.result.remove()
    assert_callers_hook(called, "z", v)
    got = called.backward("z", v)
    assert_gradient(got["p"], -v, "after remove() the gradient at p is still changed", **near)


@check(points=0.25, about=DOUBLE, needs=test_double_what_flows_through_y)
def test_double_every_later_backward(student: Student, draw: RandomInputs) -> None:
    """Every later backward is doubled, for any shape and dtype"""
    (a, b), p = draw.coefficients(2), leaf(draw, 2, 3, dtype=torch.float32)
    v, w = (draw.tensor(2, 3, dtype=torch.float32) for _ in range(2))
    g, vectors = draw.graph("y = p.sin()", f"z1 = {a} * y", f"z2 = {b} * y + p", p=p), {}
    doubled = Called(student, g, DOUBLE, "y", through=times(2))
    message = "in backward number {number} the gradient at p is wrong"
    for number, one in enumerate((v, w, w * 1e4, v * 1e-4, w, v), 1):
        vectors[f"v{number}"] = one
        given(draw, g, **vectors)
        doubled.check_backward(f"z{2 - number % 2}", one, message, facts={"number": number})
    for v in (draw.tensor(6, digits=None), draw.tensor(), draw.tensor(0, 3)):
        g = draw.graph("y = p.clone()", p=leaf(draw, *v.shape))
        given(draw, g, v=v)
        doubled = Called(student, g, DOUBLE, "y", through=times(2))
        doubled.check_backward("y", v, message, facts={"number": 1}, **EXACT)


@check(points=0.25, about=DOUBLE, needs=test_double_what_flows_through_y)
def test_double_twice_makes_four(student: Student, draw: RandomInputs) -> None:
    """Two calls on one tensor make the factor four"""
    g = draw.graph(f"y = {draw.number(0.3, 1.5)} * p", "z = y.exp()", p=leaf(draw, 3))
    v = draw.tensor(3)
    given(draw, g, v=v)
    doubled = Called(student, g, DOUBLE, "y", through=times(4))
    doubled.call()
    message = "after two calls of double_gradient(y) the gradient at p is wrong"
    doubled.check_backward("z", v, message)


@check(points=0.25, about=DOUBLE, needs=test_double_what_flows_through_y)
def test_double_until_removed(student: Student, draw: RandomInputs) -> None:
    """After remove() the gradient is no longer doubled"""
    check_until_removed(student, draw, draw.tensor(3), DOUBLE)


@check(points=0.5, about=DOUBLE, needs=test_double_what_flows_through_y)
def test_double_leaves_siblings_alone(student: Student, draw: RandomInputs) -> None:
    """Tensors that share y's gradient or operation do not change"""
    for g, says in ((shared(draw), SHARED), (halves(draw), CHUNK)):
        v = draw.tensor(3)
        given(draw, g, v=v)
        Called(student, g, DOUBLE, "y", through=times(2)).check_backward("z", v, says)


# --------------------------------------------------------------------------------- record_gradients


@check(points=0.25, about=RECORD, needs=test_records_hold_each_gradient)
def test_records_latest_backward_counts(student: Student, draw: RandomInputs) -> None:
    """Each backward replaces the records of the one before"""
    a, v, w, vectors = draw.number(0.3, 1.5), draw.tensor(3), draw.tensor(3), {}
    g = draw.graph("y = p**2", f"z = {a} * y", p=leaf(draw, 3))
    recording = Recording(student, g, {"leaf": "p", "inner": "y", "again": "y"})
    message = "after backward number {number}, records[{name}] is not that backward's gradient"
    for number, one in enumerate((v, w * 25, w / 25, v), 1):
        vectors[f"v{number}"] = one
        given(draw, g, tensors=shown(recording.names), **vectors)
        recording.run("z", one)
        recording.check_records("z", one, message, facts={"number": number})


@check(points=0.25, about=RECORD, needs=test_records_hold_each_gradient)
def test_records_are_copies(student: Student, draw: RandomInputs) -> None:
    """A record is a copy: later changes do not affect it"""
    formulas, v = ("left = p.clone()", "right = q.clone()", "z = left + right"), draw.tensor(3)
    g = draw.graph(*formulas, p=leaf(draw, 3), q=leaf(draw, 3))
    names = {"left": "left", "q": "q", "right": "right"}
    given(draw, g, tensors=shown(names), v=v)
    recording, changed, there = Recording(student, g, names), draw.choice([*names]), student.put(v)
    recording.tensors["z"].backward(there)
    recording.check_records("z", v)
    there.add_(100)
    message = "v.add_(100) after z.backward(v) also changed records[{name}]"
    recording.check_records("z", v, message)
    for one in "pq":
        recording.tensors[one].grad.add_(100)
    message = "adding 100 to .grad of the leaves after backward also changed records[{name}]"
    recording.check_records("z", v, message)
    with torch.no_grad():
        recording.records[changed].add_(100)
    message = "records[{changed}].add_(100) also changed records[{name}]"
    recording.check_records("z", v, message, but=[changed], facts={"changed": changed})


@check(points=0.25, about=RECORD, needs=test_records_hold_each_gradient)
def test_records_cover_any_shape(student: Student, draw: RandomInputs) -> None:
    """Any tensor is recorded: 0-d, empty, transposed, a chunk"""
    p = draw.noncontiguous(2, 3, dtype=torch.float32, requires_grad=True)
    q = leaf(draw, 0, 3, dtype=torch.float32)
    formulas = "turned = p.t()", "total = turned.sum()", "nothing = 2.0 * q"
    shapes = draw.graph(*formulas, "z = 3.0 * total + nothing.sum()", p=p, q=q)
    copies = draw.graph("y = p.clone()", "z = y.clone()", p=leaf(draw, 6))
    cases: list[tuple[Graph, list[str], Tensor, dict[str, float]]] = [
        (shapes, ["turned", "total", "nothing"], draw.tensor(dtype=torch.float32), {}),
        (copies, ["y"], draw.tensor(6, digits=None), EXACT),
        (halves(draw), ["y"], draw.tensor(3), {}),
    ]
    for g, names, v, near in cases:
        given(draw, g, v=v)
        recording = Recording(student, g, {name: name for name in names})
        recording.run("z", v)
        recording.check_records("z", v, **near)


@check(points=0.25, about=RECORD, needs=test_records_hold_each_gradient)
def test_records_change_nothing_else(student: Student, draw: RandomInputs) -> None:
    """Recording changes no gradient and adds no .grad"""
    a, before, v, w = draw.number(0.3, 1.5), draw.tensor(3), draw.tensor(3), draw.tensor(3)
    formulas = "y = p * q", "h = y.sin()", f"z = {a} * h + y"
    g = draw.graph(*formulas, p=leaf(draw, 3), q=leaf(draw, 3))
    names = {name: name for name in "pyh"}
    given(draw, g, tensors="p, y, h", v1=v, v2=w, **{"p.grad before": before})
    recording = Recording(student, g, names)
    recording.tensors["p"].grad = before.clone()
    for number, (one, total) in enumerate(((v, v), (w, v + w)), 1):
        recording.run("z", one)
        want = g.gradients("z", total)
        want["p"] = want["p"] + before
        message = "after backward number {number}, {leaf}.grad differs from that without recording"
        recording.require(recording.held(), want, message, facts={"number": number})
    same_states(student, g, RECORD, [names], ["y", "h"], v)
    given(draw, g, tensors="p, y, h")
    tensors = g.tensors()
    leaves = [tensors["p"], tensors["q"]]
    firsts = torch.autograd.grad(tensors["z"].sum(), leaves, create_graph=True)
    wants = torch.autograd.grad(sum(one.sum() for one in firsts), leaves)
    told = g.names, list(g.inputs.values()), g.program, [names]
    message = "create_graph=True: the gradient of the sum of all gradients is wrong at {leaf}"
    found = student.observe("differentiated", RECORD, *told)
    for name, got, want in zip("pq", found, wants, strict=True):
        assert_gradient(got, want, message, facts={"leaf": name})


@check(points=0.25, about=RECORD, needs=test_records_hold_each_gradient)
def test_records_until_removed(student: Student, draw: RandomInputs) -> None:
    """After remove() of each handle nothing is recorded"""
    v, w = draw.tensor(3), draw.tensor(3)
    g = draw.graph("y = p.clone()", "z = y.clone()", p=leaf(draw, 3))
    names = {"leaf": "p", "inner": "y"}
    given(draw, g, tensors=shown(names), v1=v, v2=w)
    recording = Recording(student, g, names)
    recording.run("z", v)
    recording.check_records("z", v)
    kinds = recording.check_handles()
    recording.remove()
    recording.run("z", w)
    message = "after remove() of the handles ({kinds}), a backward with v2 changed records[{name}]"
    facts = {"kinds": kinds} | ({"given": "an empty list"} if kinds == "nothing" else {})
    recording.check_records("z", v, message, facts=facts)


# ------------------------------------------------------------------------------------ clip_gradient


@check(points=0.25, about=CLIP, needs=test_long_gradient_is_capped)
def test_clip_a_zero_gradient(student: Student, draw: RandomInputs) -> None:
    """A gradient of zeros stays zeros"""
    g = draw.graph("y = p.clone()", "z = y.clone()", p=leaf(draw, 3))
    v, max_norm = torch.zeros(3, dtype=torch.float64), draw.number(0.5, 2.0)
    given(draw, g, v=v, max_norm=max_norm)
    message = "zeros arrive at y, and the gradient at p is not zeros"
    Called(student, g, CLIP, "y", max_norm).check_backward("z", v, message)


@check(points=0.25, about=CLIP, needs=test_long_gradient_is_capped)
def test_clip_any_shape(student: Student, draw: RandomInputs) -> None:
    """Any y is clipped: 0-d, empty, expanded, transposed, a chunk"""
    wide, small = draw.noncontiguous(3, 4, dtype=torch.float32), torch.float32
    message = "{case}: a gradient of norm {norm} arrives at y, and the gradient at p is wrong"
    cases = [
        ("0-d", "4.0 * y", draw.tensor(dtype=small), draw.tensor(dtype=small)),
        ("empty", "y.clone()", draw.tensor(0, 4), draw.tensor(0, 4)),
        # max_norm is above the largest element there, which is 0.29 times the norm
        ("expanded", "y.sum()", draw.tensor(3, 4, dtype=small), draw.tensor(dtype=small)),
        ("transposed", "y.t()", wide, draw.tensor(4, 3, dtype=small)),
        ("chunk", None, None, draw.tensor(3)),
    ]
    for case, formula, p, v in cases:
        if formula is None:
            g, says = halves(draw), CHUNK
        else:
            g = draw.graph("y = p.clone()", f"z = {formula}", p=p.requires_grad_())
            says = message
        arriving = g.gradients("z", v, of=["y"])["y"]
        norm = float(arriving.norm())
        max_norm = draw.number(0.3, 0.7) * (norm or 1.0)
        given(draw, g, v=v, max_norm=max_norm, **{"gradient at y": arriving})
        called = Called(student, g, CLIP, "y", max_norm, through=clipped(max_norm))
        called.check_backward("z", v, says, facts={"case": case, "norm": norm}, **CAPPED)


@check(points=0.25, about=CLIP, needs=test_long_gradient_is_capped)
def test_clip_writes_nothing(student: Student, draw: RandomInputs) -> None:
    """The hook does not write to the gradient that it gets"""
    g, v = shared(draw), draw.tensor(3)
    max_norm = draw.number(0.2, 0.6) * float(g.gradients("z", v, of=["y"])["y"].norm())
    given(draw, g, v=v, max_norm=max_norm)
    called = Called(student, g, CLIP, "y", max_norm, through=clipped(max_norm))
    called.check_backward("z", v, SHARED, **CAPPED)
    there = student.put(v)
    called.tensors["y"].backward(there)
    message = "y.backward(v) passes v itself to the hooks of y, and v holds other values afterwards"
    assert_tensor(fetch(there), v, message)


LENGTHS = [2.0, 0.01, 0.5, 1.01, 0.99, 5.0, 0.8, 40.0, 1.3, 0.9, 1.1]
"""Norms of gradients that arrive one after another, as multiples of max_norm: long, middle, and
short ones, in no order.
"""


@check(points=0.25, about=CLIP, needs=test_long_gradient_is_capped)
def test_clip_the_whole_gradient_of_every_backward(student: Student, draw: RandomInputs) -> None:
    """Every backward clips the whole gradient by its own norm"""
    (a, b), max_norm, vectors = draw.coefficients(2), draw.number(0.5, 2.0), {}
    g = draw.graph("y = p.clone()", f"z = {a} * y + {b} * y", p=leaf(draw, 4))
    v = draw.tensor(4, avoid=0.5)
    whole = v * (max_norm / float(v.norm()))
    called = Called(student, g, CLIP, "y", max_norm)
    message = "in backward number {number} the gradient at p is wrong"
    for number, length in enumerate(LENGTHS, 1):
        vectors[f"v{number}"] = whole * (length / (a + b))
        given(draw, g, max_norm=max_norm, **vectors)
        got = called.backward("z", vectors[f"v{number}"])
        if length > 1:  # short ones: test_short_gradient_is_unchanged
            called.require(got, {"p": whole}, message, facts={"number": number}, **CAPPED)
    formulas = "y = p.clone()", "h = q.clone()", "z = 1.0 * y + 1.0 * h"
    g = draw.graph(*formulas, p=leaf(draw, 4), q=leaf(draw, 4))
    given(draw, g, v=2 * whole)
    first = Called(student, g, CLIP, "y", max_norm)
    Called(student, g, CLIP, "h", max_norm / 2, tensors=first.tensors)
    message = (
        "after clip_gradient(y, {first}) and clip_gradient(h, {second}) the gradient at {leaf} is"
        " wrong"
    )
    got = first.backward("z", 2 * whole)
    for name, want in (("p", whole), ("q", whole / 2)):
        facts = {"first": max_norm, "second": max_norm / 2, "leaf": name}
        assert_gradient(got[name], want, message, facts=facts, **CAPPED)


@check(points=0.25, about=CLIP, needs=test_long_gradient_is_capped)
def test_clip_until_removed(student: Student, draw: RandomInputs) -> None:
    """After remove() the gradient is no longer clipped"""
    v = draw.tensor(3)
    max_norm = draw.number(0.2, 0.6) * float(v.norm())
    check_until_removed(student, draw, v, CLIP, max_norm, **CAPPED)


# -------------------------------------------------------------------- backward_with_scaled_gradient


@check(points=0.25, about=SCALE, needs=test_scale_what_flows_through_y)
def test_scale_by_zero_and_by_negatives(student: Student, draw: RandomInputs) -> None:
    """factor may be 0, 1, negative or an int"""
    formulas = f"y = {draw.number(0.3, 1.5)} * p", "loss = (y * q).sum()"
    p, q = (leaf(draw, 2, 3, dtype=torch.float32) for _ in range(2))
    for factor in (0.0, draw.number(-3.0, -0.5), 1.0, draw.integer(2, 5)):
        check_scaled(student, draw, draw.graph(*formulas, p=p, q=q), factor)
    p, q = (leaf(draw, 6, digits=None) for _ in range(2))
    for factor in (3.0, 0.1):
        g = draw.graph("y = p.clone()", "loss = (y * q).sum()", p=p, q=q)
        check_scaled(student, draw, g, factor, **EXACT)
    factor, g = draw.number(-3.0, -0.5), draw.graph("y = (0.7 * p).sum()", p=p)
    given(draw, g, factor=factor, loss="y")
    scaled = Called(student, g, SCALE, "y", "y", factor)
    scaled.require(scaled.held(), g.gradients("y", through=times(factor)))


@check(points=0.25, about=SCALE, needs=test_scale_what_flows_through_y)
def test_scale_adds_to_what_grad_held(student: Student, draw: RandomInputs) -> None:
    """.grad of the leaves accumulates as in any backward"""
    formulas = "y = p.sin()", f"loss = ({draw.number(0.3, 1.5)} * y * q).sum()"
    g, factor = draw.graph(*formulas, p=leaf(draw, 3), q=leaf(draw, 3)), draw.choice([0.75, 4.0])
    before, tensors = draw.tensor(3), g.tensors(student)
    given(draw, g, factor=factor, **{"p.grad before": before})
    tensors["p"].grad = before.clone()
    scaled = Called(student, g, SCALE, "loss", "y", factor, tensors=tensors)
    want = g.gradients("loss", through=times(factor))
    want["p"] = want["p"] + before
    message = "{leaf}.grad is not its old value plus the gradient of this backward"
    scaled.require(scaled.held(), want, message, **ROUGH)
    for name in g.inputs:
        attached = fetch(scaled.tensors[name].grad.requires_grad)
        message = "{leaf}.grad requires grad after the call"
        assert_that(not attached, message, facts={"leaf": name})


@check(points=0.25, about=SCALE, needs=test_scale_what_flows_through_y)
def test_scale_leaves_siblings_alone(student: Student, draw: RandomInputs) -> None:
    """Tensors that share y's gradient or operation are not scaled"""
    factor = draw.choice([1.5, 5.0])
    check_scaled(student, draw, shared(draw, scalar=True), factor, SHARED)
    check_scaled(student, draw, halves(draw, scalar=True), factor, CHUNK)


TOO_FEW = program(lambda one, other: one, inputs=2)
"""A hook that raises: it gets one gradient and takes two."""


@check(points=0.25, about=SCALE, needs=test_a_later_backward_is_not_scaled)
def test_scale_nothing_after_an_error(student: Student, draw: RandomInputs) -> None:
    """If backward raises, so does the call, and the hook is gone"""
    factor, g = draw.choice([0.5, 3.0, -2.0]), two_losses(draw)
    given(draw, g, factor=factor)
    tensors = g.tensors(student)
    raising = tensors["p"].register_hook(TOO_FEW)
    call = partial(student.backward_with_scaled_gradient, tensors["loss"], tensors["y"], factor)
    message = "a hook on p raised in the call's backward, and the call returned without an error"
    assert_raises("Exception", lambda: fetch(call()), message=message)
    raising.remove()
    for name in g.inputs:
        tensors[name].grad = None
    tensors["loss2"].backward()
    message = (
        "a hook on p raised in the call's backward, and a plain loss2.backward() then leaves a"
        " wrong gradient in {leaf}.grad"
    )
    for name, want in g.gradients("loss2").items():
        assert_gradient(tensors[name].grad, want, message, facts={"leaf": name})


# ----------------------------------------------------------------------------------- gradient_norms


def deep(draw: RandomInputs, **options: Any) -> dict[str, Any]:
    """Draw a chain with a sum of branches inside, from 3 features to 2; one part stands still."""
    short = {"fc": linear(draw, 4, 4, **options)[:1], "act": draw.choice(ACTIVATIONS)}
    first, last = linear(draw, 5, 4, **options), linear(draw, 4, 5, **options)
    both = ["branches", {"short": short, "long": {"fc": first, "act": "relu", "end": last}}]
    stem, head = linear(draw, 4, 3, **options), linear(draw, 2, 4, **options)
    return {"stem": stem, "gate": "turnstile", "both": both, "head": head}


SMALL = "chain(0: linear, 1: turnstile, 2: linear)"


def small(draw: RandomInputs) -> dict[str, Any]:
    """Draw a chain of three, with a turnstile in the middle."""
    return {"0": linear(draw, 4, 3), "1": "turnstile", "2": linear(draw, 2, 4)}


@check(points=0.25, about=NORMS, needs=test_values_are_the_norms_of_grad_output)
def test_norms_of_other_networks(student: Student, draw: RandomInputs) -> None:
    """Branches, nested modules, float32 and x without grad work"""
    single = torch.float32
    tiny = {"0": linear(draw, 2, 3), "1": [draw.tensor(1, 2, digits=None) * 1e-4]}
    cases = (
        (deep(draw), torch.float64, True, False),
        (deep(draw, dtype=single), single, False, False),
        (deep(draw, dtype=single), single, True, True),
        (linear(draw, 2, 3), torch.float64, False, False),
        (tiny, torch.float64, False, False),
    )
    earlier: set[str] = set()
    for spec, dtype, wants, frozen in cases:
        x = draw.tensor(4, 3, dtype=dtype, requires_grad=wants)
        flags = {"x.requires_grad": wants, "parameters require grad": not frozen}
        draw.given(module=outline(spec), x=x, **flags)
        measured = Measured(student, spec, x, frozen=frozen)
        others = sorted(set(measured.got) & earlier - set(measured.want))
        earlier |= set(measured.want)
        message = "the result also has modules of an earlier call"
        assert_that(not others, message, expected=[], actual=others)
        measured.check_norms(rel_tol=1e-6 if dtype is torch.float64 else 1e-4)


@check(points=0.25, about=NORMS, needs=test_values_are_the_norms_of_grad_output)
def test_norms_are_floats_from_one_forward(student: Student, draw: RandomInputs) -> None:
    """The values are floats, from one forward pass"""
    x = leaf(draw, 4, 3)
    draw.given(module=SMALL, x=x)
    measured = Measured(student, small(draw), x)
    for name, value in measured.seen["norms"].items():
        details = {"expected": measured.want.get(name), "actual": value}
        message, facts = "the value for {name} is not a float ({type})", {"name": name}
        assert_that(type(value) is float, message, facts={**facts, "type": said(value)}, **details)
    (passed,) = measured.seen["passed"]
    message = "the forward of module 1 ran {passed} times"
    assert_that(passed <= 1, message, facts={"passed": passed})


@check(points=0.25, about=NORMS, needs=test_keys_are_the_leaf_submodules)
def test_norms_leave_no_hook(student: Student, draw: RandomInputs) -> None:
    """No hook is left, and none of others is lost"""
    x = leaf(draw, 4, 3)
    draw.given(module=SMALL, x=x, **{"hooks of others": "of each kind on each of these"})
    before, after = student.observe("left", small(draw), x)
    message = "after the call there are other hooks than before"
    assert_equal(after["hooks"], before["hooks"], message)


SHAPES = {"0.weight": (4, 3), "0.bias": (4,), "2.weight": (2, 4), "2.bias": (2,)}


def grads_before(draw: RandomInputs, none_first: int) -> dict[str, Tensor | None]:
    """Draw what `.grad` of the parameters holds before a call: for half of them None."""
    return {
        name: None if (k + none_first) % 2 == 0 else draw.tensor(*shape)
        for k, (name, shape) in enumerate(SHAPES.items())
    }


def same_grads(after: Mapping[str, Any], before: Mapping[str, Any], trouble: str = "") -> None:
    """Require that the parameters' `.grad` is as before a call."""
    for name, want in before.items():
        got, facts = after["grads"][name], {"name": name, "trouble": trouble}
        if want is None:
            message = "the .grad of {name} was None before the call and is a gradient now"
            assert_that(got is None, message, expected=None, actual=got, facts=facts)
        else:
            message = "the .grad of {name} held a gradient before the call and is None now"
            assert_that(got is not None, message, expected=want, actual=None, facts=facts)
            assert_tensor(
                got, want, "the .grad of {name} holds other values after the call", facts=facts
            )


@check(points=0.25, about=NORMS, needs=test_keys_are_the_leaf_submodules)
def test_norms_leave_parameter_grads(student: Student, draw: RandomInputs) -> None:
    """Parameters, modes and x are as before the call"""
    spec, x = small(draw), leaf(draw, 4, 3)
    draw.given(module=SMALL, x=x)
    for none_first in (1, 0):
        grads = grads_before(draw, none_first)
        before, after = student.observe("left", spec, x, list(grads.values()))
        same_grads(after, grads)
    for what, setting in before["settings"].items():
        message, facts = "{what} is different after the call", {"what": what}
        assert_equal(after["settings"][what], setting, message, facts=facts)
    assert_tensor(after["x"], x.detach(), "x holds other values after the call")


@check(points=0.25, about=NORMS, needs=test_keys_are_the_leaf_submodules)
def test_norms_leave_no_hook_after_an_error(student: Student, draw: RandomInputs) -> None:
    """A run that raises leaves hooks and .grad like any other"""
    spec, x, before = small(draw), leaf(draw, 4, 3), grads_before(draw, 1)
    draw.given(module=SMALL, x=x)
    held = list(before.values())
    calm, *troubled = (
        student.observe("left", spec, x, held, trouble)[1]
        for trouble in (None, "forward", "backward")
    )
    for trouble, seen in zip(("forward", "backward"), troubled, strict=True):
        message = (
            "module 1 raised in its {trouble}; after the call there are other hooks than after one"
            " that works"
        )
        facts = {"trouble": trouble}
        assert_equal(seen["hooks"], calm["hooks"], message, facts=facts)
        message = "module 1 raised in its {trouble}, and gradient_norms returned without an error"
        assert_that(seen["raised"] is not None, message, facts=facts)
    kept = (
        calm["grads"][name] is None if want is None else same(calm["grads"][name], want)
        for name, want in before.items()
    )
    if all(kept):  # else test_norms_leave_parameter_grads fails
        for trouble, seen in zip(("forward", "backward"), troubled, strict=True):
            same_grads(seen, before, trouble)
