"""Figures of a failed check, as plain data.

A check gives ``CheckFailure`` functions that make its figures. The judge calls them after the check
has failed, so a passing check costs nothing. If a figure can't be made, it is left out; the verdict
stays.

======================  ==========================================================================
``kind: "graph"``       ``expected`` and ``actual``, each a picture (``core.graph_data``) or None;
                        ``first_difference`` and ``actual_difference``, the ids of the nodes where
                        they differ first
``kind: "jacobian"``    ``analytic`` and ``numeric``, rows of numbers; ``atol``, ``rtol``;
                        ``input``, ``output``, their names; ``cut``, how many more rows and
                        columns there are
``kind: "prediction"``  ``rows``, each what was predicted, the prediction, the outcome, and why
``kind: "plot"``        curves and bars (``charts``)
======================  ==========================================================================
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.core.errors import CheckFailure, MissingName, StudentCodeError, WorkerLost
from grader.core.pictures import GraphPicture, NotAPicture, first_difference
from grader.judge.remote.session import NotStarted
from grader.worker.wire.trace import trace

MAX_FIGURES = 3
MAX_FIGURE_NODES = 60
"""How many nodes of a graph a report draws; ``grade graph`` draws more."""
MAX_NOTED = 40
MAX_SHORT = 4

Figure = dict[str, Any]
FigureMaker = Callable[[], Figure | None]

STUDENTS_FAULT = (CheckFailure, MissingName, NotAPicture, NotStarted, StudentCodeError, WorkerLost)
"""Exceptions that the student's code may cause while a figure is made."""


def render_figures(
    makers: Sequence[FigureMaker], problems: list[str] | None = None
) -> list[Figure]:
    """Return the figures that can be made.

    No figure changes a verdict. Making a figure may call the student's code; if that raises or
    gives nonsense, the figure is left out. Any other failure is the author's mistake; ``problems``
    gets the traceback.
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
    """Add these figures to a failure, or to an exception of the student's code, that ends the
    block.
    """
    try:
        yield
    except CheckFailure as failure:
        failure.figures = (*failure.figures, *makers)
        raise
    except StudentCodeError as error:
        # not appended: the error of a file that can't be loaded is raised again for every check
        error.figures = makers
        raise


def trace_graph(root: Tensor, names: Mapping[str, Any] | None = None) -> GraphPicture:
    """Return the picture of a graph that was built in this process."""
    return GraphPicture.from_json(trace(root, names, limit=MAX_FIGURE_NODES))


def graph_figure(
    root: Tensor, names: Mapping[str, Any], at: tuple[str, Any] | None = None
) -> Figure:
    """Return the graph that a student was asked about, with the place ``at`` marked at which the
    answer was wrong.

    ``("entry", 3)`` is the third node of the depth-first, pre-order walk; every node shows the
    numbers of its visits. ``("edge", 2)`` is the node at the end of the root's second edge,
    ``("leaf", "x")`` the leaf x, ``("tensor", "y")`` the tensor with the name y.
    """
    picture = trace_graph(root, names)
    kind, place = at or ("", None)
    if kind == "entry":
        picture = picture.annotated(visits(picture))
    return {
        "kind": "graph", "expected": picture.as_json(), "actual": None,
        "first_difference": place_of(picture, kind, place), "actual_difference": None,
    }  # fmt: skip


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


def graphs_figure(
    actual: Any,
    expected: Any,
    *,
    notes: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    at: str | None = None,
) -> Figure:
    """Return two graphs, as ``wire.trace`` gives them, and where they first differ.

    Raise ValueError for malformed data. ``actual`` may be None. ``notes`` are shown at each graph's
    tensors, by their names. If the graphs may differ in shape, ``at`` names the tensor to mark
    instead.
    """
    wanted = _noted(expected, notes[1])
    mine = None if actual is None else _noted(actual, notes[0])
    if at is not None or mine is None:
        here, there = (
            picture and at and place_of(picture, "tensor", at) for picture in (mine, wanted)
        )
    else:
        here, there = first_difference(mine, wanted, closely=True)
    return {
        "kind": "graph", "expected": wanted.as_json(), "actual": mine and mine.as_json(),
        "first_difference": there, "actual_difference": here,
    }  # fmt: skip


def _noted(graph: Any, notes: Mapping[str, str]) -> GraphPicture:
    """Return a graph, cut to what is drawn, with notes at the named tensors."""
    picture = GraphPicture.from_json(graph).nearest(MAX_FIGURE_NODES)
    found = {node.id: notes[name] for node in picture.nodes for name in node.names if name in notes}
    return picture.annotated(found)


def short_repr(value: Any) -> str:
    """Return a value for a note: four digits, four elements."""
    if isinstance(value, Tensor):
        numbers = ", ".join(f"{float(one):.4g}" for one in value.detach().flatten()[:MAX_SHORT])
        more = ", …" if value.numel() > MAX_SHORT else ""
        return numbers if not value.dim() else f"[{numbers}{more}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def one_call(name: str, inputs: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the graph of one call of a custom Function of that name."""

    def forward(ctx: Any, *values: Tensor) -> Tensor:
        return sum(values, torch.zeros(()))

    made_up = type(name, (torch.autograd.Function,), {"forward": staticmethod(forward)})
    copies = {key: value.detach().clone().requires_grad_() for key, value in inputs.items()}
    return trace(made_up.apply(*copies.values()), copies)  # type: ignore[attr-defined]


def prediction_figure(rows: Sequence[Sequence[Any]]) -> Figure:
    """Return a figure of predictions: what was predicted, the prediction, the outcome, why."""
    return {"kind": "prediction", "rows": [list(row) for row in rows]}
