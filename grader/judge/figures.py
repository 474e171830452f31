"""Figures of a failed check: graphs, plots, Jacobians and predictions (``core/pictures.py``).

A check gives ``CheckFailure`` functions that make its figures. The judge calls them after the check
has failed, so a passing check costs nothing. If a figure can't be made, it is left out; the verdict
stays.

A plot shows the student's function over the true one. All its points are asked ahead. Points at
which the student's function raises are left out, and a note says so.
"""

from __future__ import annotations

import contextlib
import math
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from msgspec.structs import replace
from torch import Tensor

from grader.core.errors import CheckFailure, MissingName, StudentCodeError, WorkerLost
from grader.core.i18n import Phrase, phrase
from grader.core.pictures import (
    Axis,
    Figure,
    Form,
    GraphFigure,
    GraphPicture,
    JacobianFigure,
    NotAPicture,
    PlotFigure,
    PlotPanel,
    PointMark,
    Prediction,
    PredictionFigure,
    Role,
    Series,
    first_difference,
)
from grader.judge.describe import json_number
from grader.judge.remote.proxies import RemoteCallable
from grader.judge.remote.session import NotStarted
from grader.worker.wire.trace import trace

MAX_FIGURES = 3
MAX_FIGURE_NODES = 60
"""How many nodes of a graph a report draws; ``grade graph`` draws more."""
MAX_NOTED = 40
MAX_SHORT = 4
DIGITS = 6
MAX_BARS = 12
POINTS, TRUE_POINTS, FEWEST = 41, 81, 8
"""How many points of the student's function and of the true one are computed, and the fewest for a
plot.
"""
MAX_CALLS = 400
"""How many times a figure calls the student's function at most."""
SECONDS, TRIALS = 2.0, 3
"""The time for all points together, and how often a call is timed. A slow function gets fewer
points.
"""
MAX_SIDE = 12
"""The most rows and columns to show. A row costs a backward pass, a column two forward passes."""
Text = str | Phrase
FigureMaker = Callable[[], Figure | None]
STUDENTS_FAULT = (CheckFailure, MissingName, NotAPicture, NotStarted, StudentCodeError, WorkerLost)
"""Exceptions that the student's code may cause while a figure is made."""


def render_figures(
    makers: Sequence[FigureMaker], problems: list[str] | None = None
) -> list[Figure]:
    """Return the figures that can be made. One is left out if the student's code, which it may
    call, raises or gives nonsense. Any other failure is the author's mistake; ``problems`` gets the
    traceback.
    """
    found = []
    for make in makers[:MAX_FIGURES]:
        try:
            figure = make()
        except STUDENTS_FAULT:
            continue
        except Exception:
            if problems is not None:
                problems.append(f"a figure could not be made:\n{traceback.format_exc()}")
            continue
        if figure is not None:
            found.append(figure)
    return found


@contextlib.contextmanager
def drawing(*makers: FigureMaker) -> Iterator[None]:
    """Add figures to a failure, or to an exception of the student's code, that ends the block."""
    try:
        yield
    except CheckFailure as failure:
        failure.figures = (*failure.figures, *makers)
        raise
    except StudentCodeError as error:
        # not appended: the error of a file that can't be loaded is raised again for every check
        error.figures = makers
        raise


def graph_figure(
    root: Tensor, names: Mapping[str, Any], at: tuple[str, Any] | None = None
) -> GraphFigure:
    """Return the graph that a student was asked about, with the place ``at`` marked at which the
    answer was wrong.

    ``("entry", 3)`` is the third node of the depth-first, pre-order walk; every node shows the
    numbers of its visits. ``("edge", 2)`` is the node at the end of the root's second edge,
    ``("leaf", "x")`` the leaf x, ``("tensor", "y")`` the tensor with the name y.
    """
    picture = GraphPicture.from_json(trace(root, names, limit=MAX_FIGURE_NODES))
    kind, place = at or ("", None)
    if kind == "entry":
        picture = picture.annotated(visits(picture))
    return GraphFigure(picture, first_difference=place_of(picture, kind, place))


def graphs_figure(
    actual: Any,
    expected: Any,
    *,
    notes: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    at: str | None = None,
) -> GraphFigure:
    """Return two graphs, as ``wire.trace`` gives them, and where they first differ; ``actual`` may
    be None. Raise ValueError for malformed data. ``notes`` are shown at each graph's tensors, by
    their names. If the graphs may differ in shape, ``at`` names the tensor to mark instead.
    """
    wanted = _noted(expected, notes[1])
    mine = None if actual is None else _noted(actual, notes[0])
    if at is not None or mine is None:
        here, there = (
            place_of(picture, "tensor", at) if picture and at else None
            for picture in (mine, wanted)
        )
    else:
        here, there = first_difference(mine, wanted)
    return GraphFigure(wanted, mine, first_difference=there, actual_difference=here)


def gradients_figure(z: Tensor, named: Mapping[str, Tensor], at: str) -> GraphFigure:
    """Return the graph of z with the gradient at each named tensor; ``at`` is marked."""
    gradients = torch.autograd.grad(z.sum(), list(named.values()), retain_graph=True)
    notes = {
        name: f"∂z/∂{name} = {short_repr(gradient)}"
        for name, gradient in zip(named, gradients, strict=True)
    }
    return graphs_figure(None, trace(z, {"z": z, **named}), notes=({}, notes), at=at)


def _noted(graph: Any, notes: Mapping[str, str]) -> GraphPicture:
    """Return a graph, cut to what is drawn, with notes at the named tensors."""
    picture = GraphPicture.from_json(graph).nearest(MAX_FIGURE_NODES)
    found = {node.id: notes[name] for node in picture.nodes for name in node.names if name in notes}
    return picture.annotated(found)


def place_of(picture: GraphPicture, kind: str, place: Any) -> str | None:
    """Return the id of the node that a place names, or None if it is not drawn."""
    ids: Iterable[str] = ()
    if kind == "entry":
        ids = walk(picture)[place - 1 : place]
    elif kind == "edge":
        edges = [edge for edge in picture.edges if edge.source == picture.nodes[0].id]
        ids = (edge.target for edge in edges if edge.slot == place - 1)
    elif kind == "leaf":
        ids = (node.id for node in picture.nodes if node.kind == "leaf" and node.name == place)
    elif kind == "tensor":
        ids = (node.id for node in picture.nodes if place in node.names)
    return next(iter(ids), None)


def walk(picture: GraphPicture, most: int = 400) -> list[str]:
    """Return the ids of the nodes, depth-first and in pre-order, without constants. The walk ends
    at a node with an edge to a node that is not drawn.
    """
    following, nodes = picture.following(), picture.by_id()
    found: list[str] = []
    stack = [picture.nodes[0].id]
    while stack and len(found) < most:
        id = stack.pop()
        if nodes[id].kind == "constant":
            continue
        found.append(id)
        if nodes[id].cut:
            break
        stack += [edge.target for edge in reversed(following[id])]
    return found


def visits(picture: GraphPicture) -> dict[str, str]:
    """Return the numbers of the visits to each node: ``1``, ``3, 7``."""
    found: dict[str, list[str]] = {}
    for visit, id in enumerate(walk(picture)[:MAX_NOTED], 1):
        found.setdefault(id, []).append(str(visit))
    return {id: "#" + ", ".join(numbers) for id, numbers in found.items()}


def one_call(name: str, inputs: Mapping[str, Tensor]) -> object:
    """Return the graph of one call of a custom Function of that name."""

    def forward(ctx: Any, *values: Tensor) -> Tensor:
        return sum(values, torch.zeros(()))

    made_up = type(name, (torch.autograd.Function,), {"forward": staticmethod(forward)})
    copies = {key: value.detach().clone().requires_grad_() for key, value in inputs.items()}
    return trace(made_up.apply(*copies.values()), copies)  # type: ignore[attr-defined]


def prediction_figure(rows: Sequence[Sequence[Any]]) -> PredictionFigure:
    """Return a figure of predictions: what was predicted, the prediction, the outcome, why."""
    return PredictionFigure(tuple(Prediction(*row) for row in rows))


def short_repr(value: Any) -> str:
    """Return a value for a note: four digits, four elements."""
    if isinstance(value, Tensor):
        numbers = ", ".join(f"{float(one):.4g}" for one in value.detach().flatten()[:MAX_SHORT])
        more = ", …" if value.numel() > MAX_SHORT else ""
        return numbers if not value.dim() else f"[{numbers}{more}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def curve(role: Role, xs: Any, ys: Any, label: Text = "", *, form: Form = "line") -> Series:
    """Return values over x; without ``xs`` the places are 0, 1, 2, … Values that are not finite are
    left out.
    """
    values = [rounded(y) for y in _floats(ys)]
    places = [rounded(x) for x in (range(len(values)) if xs is None else _floats(xs))]
    pairs = [(x, y) for x, y in zip(places, values, strict=True) if x is not None]
    return Series(_text(label), role, form, tuple(x for x, _ in pairs), tuple(y for _, y in pairs))


def panel(
    caption: Text,
    *curves: Series,
    x: Text = "x",
    y: Text = "",
    log: bool = False,
    mark: tuple[float, float | None] | None = None,
    names: Sequence[Text] = (),
) -> PlotPanel:
    """Return one drawing of a plot. ``log`` makes both scales logarithmic; values without a
    logarithm are left out. ``mark`` is the point that the check is about. ``names`` are those of
    bars, at 0, 1, 2, …
    """
    return PlotPanel(
        _text(caption),
        Axis(_text(x), log),
        Axis(_text(y), log),
        tuple(map(_with_logarithm, curves)) if log else curves,
        () if mark is None else (PointMark(cast("float", rounded(mark[0])), rounded(mark[1])),),
        tuple(map(_text, names)),
    )


def chart_figure(caption: Text, *panels: PlotPanel, notes: Sequence[Text] = ()) -> PlotFigure:
    """Return a figure of some panels; the notes are sentences below them."""
    return PlotFigure(_text(caption), panels, tuple(map(_text, notes)))


def _text(text: Text) -> str:
    """Return a text for a figure; a phrase stays one until ``results.figure_json`` words it."""
    return cast("str", text)


def _with_logarithm(one: Series) -> Series:
    pairs = [(x, y) for x, y in zip(one.x, one.y, strict=True) if x > 0]
    ys = (y if y is not None and y > 0 else None for _, y in pairs)
    return replace(one, x=tuple(x for x, _ in pairs), y=tuple(ys))


def bar_names(name: str, tensor: Tensor) -> list[str]:
    """Return ``x[0]``, ``x[1]``, … for the elements that bars show: the first twelve."""
    return [element_name(name, tensor, k) for k in range(min(tensor.numel(), MAX_BARS))]


def bar_values(tensor: Any) -> list[float]:
    """Return the elements that bars show: the first twelve."""
    return _floats(tensor)[:MAX_BARS]


def rounded(value: Any) -> float | None:
    """Return a number with as many digits as a drawing shows; None if it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.{DIGITS}g}")


def _floats(values: Any) -> list[float]:
    if isinstance(values, Tensor):
        return values.detach().to(torch.float64).flatten().tolist()
    return [math.nan if value is None else float(value) for value in values]


def element_name(name: str, tensor: Tensor, at: int) -> str:
    """Return ``x[1]``, or ``x`` for a single number."""
    if not tensor.dim():
        return name
    return f"{name}[{', '.join(map(str, index_of(tensor, at)))}]"


def index_of(tensor: Tensor, at: int) -> tuple[int, ...]:
    """Return the index of an element, given its number in row-major order."""
    return tuple(int(k) for k in torch.unravel_index(torch.tensor(at), tensor.shape))


def plot_figure(
    function: Callable[..., Any],
    truth: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    over: tuple[float, float],
    vary: int = 0,
    name: str = "x",
    incoming: Tensor | None = None,
    gradient: bool = True,
) -> PlotFigure | None:
    """Plot the value and the gradient of a student's elementwise function over the true ones, with
    the failing point marked.

    ``inputs`` are those of the failed call. In the tensor at place ``vary``, the element with the
    greatest error moves across ``over``; all others keep their values. The gradient is for the
    incoming gradient ``incoming``, by default ones. Return None if the function gives too few
    points.
    """
    args = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    x: Tensor = args[vary]
    if not x.numel():
        return None
    v = None
    if gradient:
        v = torch.ones_like(x).detach() if incoming is None else incoming.detach()
        args[vary] = x.detach().requires_grad_()
    count = min(POINTS, affordable(function, copies_of(args), 1 if v is None else 2))
    if count < FEWEST:
        return None
    at = worst(*(read(one, copies_of(args), vary, v) for one in (function, truth)))
    here = float(x.detach().flatten()[at])
    low, high = min(over[0], here), max(over[1], here)
    places, true_places = (spread(low, high, n, here) for n in (count, TRUE_POINTS))
    calls = [moved(args, vary, at, place) for place in places]
    with asked_ahead(function, calls, v):
        found = [read(function, one, vary, v) for one in calls]
    true = [read(truth, moved(args, vary, at, place), vary, v) for place in true_places]
    label = element_name(name, x, at)
    caption, headings = "{function} over {input}", {"value": phrase("value")}
    if v is not None:
        caption = "{function} and its gradient, over {input}"
        shown = short_repr(v.flatten()[at])
        headings["gradient"] = phrase("gradient, for grad_output = {v}", v=shown)
    panels, notes = [], []
    for what, heading in headings.items():
        mine, right = (elements(readings, what, at) for readings in (found, true))
        notes += left_out(found, what, mine)
        if any(rounded(y) is not None for y in mine):
            curves = (curve("truth", true_places, right), curve("yours", places, mine, form="dots"))
            mark = (here, mine[places.index(here)])
            panels.append(panel(heading, *curves, x=label, mark=mark))
    if not panels:
        return None
    facts = {"function": getattr(function, "__name__", "f"), "input": label}
    return chart_figure(phrase(caption, **facts), *panels, notes=notes)


def ask_all(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return what a student's function returns for each of these arguments: None if it raises, or
    if there is no time left for the call.
    """
    shown = calls[: affordable(function, calls[0])]
    found: list[Any] = []
    with asked_ahead(function, shown):
        for args in shown:
            try:
                found.append(function(*args))
            except StudentCodeError:
                found.append(None)
    return found + [None] * (len(calls) - len(found))


def affordable(function: Callable[..., Any], args: tuple[Any, ...], steps: int = 1) -> int:
    """Return how many points there is time for, by timing calls of the function. Each point takes
    as long as ``steps`` calls. A first call is often slow and the host may be busy, so the fastest
    call counts.
    """
    fastest = SECONDS
    for _ in range(TRIALS):
        began = time.monotonic()
        with contextlib.suppress(StudentCodeError):
            function(*args)
        taken = time.monotonic() - began
        fastest = min(fastest, taken)
        if fastest * MAX_CALLS < SECONDS or taken * TRIALS > SECONDS:
            break
    return min(int(SECONDS / (fastest + 1e-6)), MAX_CALLS) // steps


def asked_ahead(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], v: Tensor | None = None
) -> contextlib.AbstractContextManager[None]:
    """Send calls of a student's function ahead for a block."""
    if isinstance(function, RemoteCallable):
        return function.ask_ahead(calls, v)
    return contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class Reading:
    """A function's result at one point, or why there is none."""

    value: Tensor | Phrase
    gradient: Tensor | Phrase


def read(
    function: Callable[..., Any], args: tuple[Any, ...], vary: int, v: Tensor | None
) -> Reading:
    """Return the value at these arguments and, with ``v``, the gradient of the varied one."""
    x: Tensor = args[vary]
    try:
        value = function(*args)
    except (StudentCodeError, RuntimeError) as error:
        why = raised(error)
        return Reading(why, why)
    if not isinstance(value, Tensor) or value.shape != x.shape or value.dtype.is_complex:
        why = phrase("no tensor of the input's shape came back")
        return Reading(why, why)
    found: Tensor | Phrase | None = None
    if v is not None and not value.requires_grad:
        found = phrase("the result is a constant: it has no grad_fn")
    elif v is not None:
        try:
            (found,) = torch.autograd.grad(value, x, v, retain_graph=True, allow_unused=True)
        except (StudentCodeError, RuntimeError) as error:
            found = raised(error)
    return Reading(value.detach(), phrase("no gradient came back") if found is None else found)


def raised(error: Exception) -> Phrase:
    return phrase("it raised {error}", error=getattr(error, "type_name", type(error).__name__))


def copies_of(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values; tensors are leaves of their own."""
    return tuple(
        one.detach().clone().requires_grad_(one.requires_grad) if isinstance(one, Tensor) else one
        for one in values
    )


def moved(args: Sequence[Any], vary: int, at: int, value: float) -> tuple[Any, ...]:
    """Return copies of the arguments; element ``at`` of the varied one is set to ``value``."""
    copies = copies_of(args)
    with torch.no_grad():
        copies[vary][index_of(copies[vary], at)] = value
    return copies


def worst(found: Reading, true: Reading) -> int:
    """Return the element whose value is most wrong, or else whose gradient is."""
    for mine, right in ((found.value, true.value), (found.gradient, true.gradient)):
        if not isinstance(mine, Tensor) or not isinstance(right, Tensor):
            continue
        if not torch.allclose(mine.to(right.dtype), right, rtol=1e-4, atol=1e-6):
            apart = (mine.to(torch.float64) - right.to(torch.float64)).abs().flatten()
            return int(apart.nan_to_num(nan=math.inf).argmax())
    return 0


def elements(readings: Sequence[Reading], what: str, at: int) -> list[float]:
    """Return element ``at`` of each value or gradient; NaN where there is none."""
    results = [getattr(one, what) for one in readings]
    return [float(one.flatten()[at]) if isinstance(one, Tensor) else math.nan for one in results]


def left_out(readings: Sequence[Reading], what: str, ys: Sequence[float]) -> list[Text]:
    """Return how many values or gradients are left out, and why."""
    message = "{count} of {all} values are left out: {why}"
    if what == "gradient":
        message = "{count} of {all} gradients are left out: {why}"
    results = [
        getattr(one, what) for one, y in zip(readings, ys, strict=True) if rounded(y) is None
    ]
    whys = [one if isinstance(one, Phrase) else phrase("NaN or infinity") for one in results]
    known = {str(why): why for why in whys}
    return [
        phrase(message, count=count, all=len(ys), why=known[why])
        for why, count in Counter(map(str, whys)).most_common(2)
    ]


def spread(low: float, high: float, count: int, here: float) -> list[float]:
    """Return ``count`` evenly spaced places from low to high, and ``here``."""
    return sorted({*torch.linspace(low, high, count, dtype=torch.float64).tolist(), here})


def jacobian_figure(
    function: Callable[..., Any],
    inputs: Mapping[str, Any],
    *,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    eps: float = 1e-6,
) -> JacobianFigure | None:
    """Return both Jacobians, for the first input in which they disagree; None if there is none."""
    for place, (name, one) in enumerate(inputs.items()):
        if not isinstance(one, Tensor) or not one.requires_grad:
            continue
        copies = copies_of(list(inputs.values()))
        analytic, numeric, cut = both_jacobians(function, copies, place, eps)
        if not torch.allclose(analytic, numeric, atol=atol, rtol=rtol, equal_nan=True):
            return JacobianFigure(
                rows_of(analytic), rows_of(numeric), atol, rtol, input=name, output="y", cut=cut
            )
    return None


def rows_of(matrix: Tensor) -> list[list[float | str]]:
    """Return a matrix as rows of numbers, NaN and infinities as strings."""
    return [[json_number(value) for value in row] for row in matrix.tolist()]


def both_jacobians(
    function: Callable[..., Any], inputs: Sequence[Any], place: int, eps: float
) -> tuple[Tensor, Tensor, tuple[int, int]]:
    """Return ∂y/∂x by backward and by central differences, and how many rows and columns are cut.
    Rows are outputs, columns elements of the input.
    """

    def value(x: Tensor) -> Tensor:
        result = function(*inputs[:place], x, *inputs[place + 1 :])
        results = result if isinstance(result, tuple) else (result,)
        return next(one for one in results if isinstance(one, Tensor))

    base = inputs[place].detach()
    x = base.clone().requires_grad_()
    y = value(x).flatten()
    rows, columns = min(y.numel(), MAX_SIDE), min(x.numel(), MAX_SIDE)
    analytic, numeric = torch.zeros(2, rows, columns, dtype=torch.float64)
    for row in range(rows) if y.requires_grad else ():
        (gradient,) = torch.autograd.grad(y[row], x, retain_graph=True, allow_unused=True)
        if gradient is not None:
            analytic[row] = gradient.detach().flatten()[:columns]
    for column in range(columns):
        step = torch.zeros_like(base).flatten()
        step[column] = eps
        step = step.reshape(base.shape)
        above, below = (
            value((base + sign * step).requires_grad_()).detach().flatten()[:rows]
            for sign in (1, -1)
        )
        numeric[:, column] = (above - below) / (2 * eps)
    return analytic, numeric, (y.numel() - rows, x.numel() - columns)


def gradient_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that gradgradcheck differentiates: from inputs and v to the gradient."""

    def gradient(*values: Tensor) -> Tensor:
        *xs, v = values
        wanted = [x for x in xs if x.requires_grad]
        first, *_ = torch.autograd.grad(function(*xs), wanted, v, create_graph=True)
        return first

    return gradient
