"""Figures of a failed check as records: a graph, a plot, two Jacobians, predictions.

The judge makes them (``judge/figures.py``), a report carries them as JSON, ``render/figures.py``
draws them. JSON is read by ``read_figure`` and ``GraphPicture.from_json``, which trust nothing:
msgspec compares types, counts and limits with the records, ``cleaned`` does the rest and cleans
texts. The keys of a report's figures are those of ``report.schema.json``.

======================  ==========================================================================
``kind: "graph"``       one graph, or the student's beside the expected one
``kind: "plot"``        panels with curves, points or bars, and a marked point
``kind: "jacobian"``    the Jacobian by backward beside the one by differences
``kind: "prediction"``  what was predicted beside what happens
======================  ==========================================================================
"""

from __future__ import annotations

import math
import sys
from collections import Counter, deque
from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from grader.core.report import describe
from grader.core.text import clean

MAX_GRAPH_NODES = 200
MAX_NAME = 80
MAX_COUNT = 1_000_000
MAX_LABEL = 80
MAX_CAPTION = 200
MAX_VARIABLE = 24

NodeId = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9]{1,12}\Z")]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Role = Literal["yours", "truth", "given", "other"]
Form = Literal["line", "dots", "bars"]


def read_figure(data: object) -> Figure:
    """Return a report's figure; raise ValueError if the data is not one."""
    describe(Figure)
    figure: Figure = msgspec.convert(data, Figure)
    return figure.cleaned()


class NotAPicture(ValueError):
    """Data that claims to be a picture of a graph and is not one."""


class Saved(msgspec.Struct, frozen=True):
    """A tensor that a node keeps for backward; ``shape`` is empty if it was not read."""

    name: str
    shape: str = ""
    freed: bool = False

    def cleaned(self) -> Saved:
        return replace(self, name=name_text(self.name), shape=name_text(self.shape))


class GraphNode(msgspec.Struct, frozen=True):
    """One node.

    ``kind``: ``op`` (a function's node), ``intermediate`` (its result has a name), ``leaf``
    (collects ``.grad``), ``constant`` (an input without gradient, no node of torch's). ``name`` is
    the tensor's, ``outputs`` counts results, ``cut`` counts edges to nodes that are left out,
    ``note`` is a check's text.
    """

    id: NodeId
    kind: Literal["op", "intermediate", "leaf", "constant"]
    type: str = ""
    name: str = ""
    shape: str = ""
    saved: tuple[Saved, ...] = ()
    hooks: Count = 0
    retains_grad: bool = False
    outputs: Annotated[int, Meta(ge=1, le=MAX_COUNT)] = 1
    cut: Count = 0
    note: str = ""

    @property
    def names(self) -> list[str]:
        """The names of the node's tensors, without numbers of outputs."""
        return [name.partition(" (")[0] for name in self.name.split(", ")] if self.name else []

    @property
    def label(self) -> str:
        """A name for one line: ``y = MulBackward0``, ``x``."""
        if self.kind in ("op", "intermediate"):
            return f"{self.name} = {self.type}" if self.name else self.type
        return self.name

    def cleaned(self) -> GraphNode:
        return replace(
            self,
            type=name_text(self.type),
            name=name_text(self.name),
            shape=name_text(self.shape),
            saved=tuple(one.cleaned() for one in self.saved[:12]),
            note=name_text(self.note),
        )


class GraphEdge(msgspec.Struct, frozen=True):
    """An edge: input ``slot`` of node ``source`` was output ``output`` of node ``target``."""

    source: NodeId
    target: NodeId
    output: Count = 0
    slot: Count = 0


class GraphPicture(msgspec.Struct, frozen=True):
    """A graph; its first node is the root, and every other can be reached from it."""

    nodes: Annotated[tuple[GraphNode, ...], Meta(min_length=1, max_length=MAX_GRAPH_NODES)]
    edges: Annotated[tuple[GraphEdge, ...], Meta(max_length=1000)] = ()
    left_out: Count = 0
    root_output: Count = 0

    @classmethod
    def from_json(cls, data: object) -> GraphPicture:
        """Read untrusted data; raise NotAPicture."""
        describe(cls)
        try:
            return msgspec.convert(data, cls).cleaned()
        except msgspec.ValidationError as error:
            raise NotAPicture(f"no picture of a graph: {error}") from None

    def cleaned(self) -> GraphPicture:
        picture = replace(self, nodes=tuple(node.cleaned() for node in self.nodes))
        picture.check()
        return picture

    def check(self) -> None:
        """Raise NotAPicture unless ids are unique and it is one acyclic graph with one root."""
        ids = self.by_id().keys()
        if len(ids) != len(self.nodes):
            raise NotAPicture("no picture of a graph: two nodes have one id")
        if not all(edge.source in ids and edge.target in ids for edge in self.edges):
            raise NotAPicture("no picture of a graph: an edge leads to no node")
        if ids - {edge.target for edge in self.edges} != {self.nodes[0].id}:
            raise NotAPicture("no picture of a graph: the first node must be the one root")
        if len(self.in_order()) != len(self.nodes):
            raise NotAPicture("no picture of a graph: it has a circle")

    def in_order(self) -> list[str]:
        """Return ids so that every edge leads to a later one; none on or after a circle."""
        waiting = Counter(edge.target for edge in self.edges)
        following, found = self.following(), []
        ready = [node.id for node in self.nodes if not waiting[node.id]]
        while ready:
            found.append(ready.pop())
            for edge in following[found[-1]]:
                waiting[edge.target] -= 1
                if not waiting[edge.target]:
                    ready.append(edge.target)
        return found

    def following(self) -> dict[str, list[GraphEdge]]:
        found: dict[str, list[GraphEdge]] = {node.id: [] for node in self.nodes}
        for edge in sorted(self.edges, key=lambda edge: edge.slot):
            found[edge.source].append(edge)
        return found

    def by_id(self) -> dict[str, GraphNode]:
        return {node.id: node for node in self.nodes}

    def annotated(self, notes: dict[str, str]) -> GraphPicture:
        return replace(
            self,
            nodes=tuple(replace(node, note=notes.get(node.id, node.note)) for node in self.nodes),
        )

    def nearest(self, limit: int) -> GraphPicture:
        """Return the ``limit`` nodes nearest to the root, breadth-first."""
        if len(self.nodes) <= limit:
            return self
        following, root = self.following(), self.nodes[0].id
        kept, order = {root}, deque([root])
        while order:
            for edge in following[order.popleft()]:
                if edge.target not in kept and len(kept) < limit:
                    kept.add(edge.target)
                    order.append(edge.target)
        nodes = []
        for node in self.nodes:
            if node.id in kept:
                cut = sum(edge.target not in kept for edge in following[node.id])
                nodes.append(replace(node, cut=min(MAX_COUNT, node.cut + cut)))
        edges = tuple(edge for edge in self.edges if {edge.source, edge.target} <= kept)
        left_out = self.left_out + len(self.nodes) - len(nodes)
        return replace(self, nodes=tuple(nodes), edges=edges, left_out=left_out)


def first_difference(actual: GraphPicture, expected: GraphPicture) -> tuple[str | None, str | None]:
    """Return the first nodes, breadth-first, in which two graphs differ; None, None if alike.

    The comparison covers kinds, types, and the inputs and outputs of edges, then hooks, retained
    gradients and freed tensors, then notes.
    """
    mine, wanted = actual.by_id(), expected.by_id()
    left, right = actual.following(), expected.following()
    order = deque([(actual.nodes[0].id, expected.nodes[0].id)])
    partners, taken = dict(order), {expected.nodes[0].id}
    while order:
        pair = order.popleft()
        one, other = mine[pair[0]], wanted[pair[1]]
        if _sort(one) != _sort(other) or [_end(edge) for edge in left[pair[0]]] != [
            _end(edge) for edge in right[pair[1]]
        ]:
            return pair
        for a, b in zip(left[pair[0]], right[pair[1]], strict=True):
            if a.target in partners or b.target in taken:
                if partners.get(a.target) != b.target:  # one node in one graph, two in the other
                    return a.target, b.target
                continue
            partners[a.target] = b.target
            taken.add(b.target)
            order.append((a.target, b.target))
    for look in (_state, attrgetter("note")):  # notes may depend on hooks elsewhere
        for here, there in partners.items():
            if look(mine[here]) != look(wanted[there]):
                return here, there
    return None, None


def _state(node: GraphNode) -> tuple[int, bool, bool]:
    return node.hooks, node.retains_grad, any(one.freed for one in node.saved)


def _sort(node: GraphNode) -> tuple[str, str]:
    return ("op" if node.kind == "intermediate" else node.kind, node.type)


def _end(edge: GraphEdge) -> tuple[int, int]:
    return edge.slot, edge.output


def name_text(value: str) -> str:
    """Return one line of text, at most ``MAX_NAME`` characters long."""
    line = " ".join(clean(value[: MAX_NAME + 1]).split())
    return line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…"


class GraphFigure(msgspec.Struct, frozen=True, tag_field="kind", tag="graph"):
    """The ``expected`` graph, and the student's beside it if there is one.

    The differences are the ids of the nodes where they differ first, or to which a check points.
    """

    expected: GraphPicture
    actual: GraphPicture | None = None
    first_difference: str | None = None
    actual_difference: str | None = None

    def cleaned(self) -> GraphFigure:
        return replace(
            self, expected=self.expected.cleaned(), actual=self.actual and self.actual.cleaned()
        )


class Series(msgspec.Struct, frozen=True):
    """Values over x.

    ``role`` says whose they are, ``form`` how to draw them; the role ``given`` is the check's
    input. A y of None marks a point without a value. If ``label`` is empty, the role is the name.
    For bars, x is the position: 0, 1, 2, …
    """

    label: str
    role: Role
    form: Form
    x: Annotated[tuple[Finite, ...], Meta(max_length=400)]
    y: tuple[Finite | None, ...]

    def cleaned(self) -> Series:
        if len(self.x) != len(self.y):
            raise ValueError("not a plot: the number of points")
        return replace(self, label=line_text(self.label, MAX_LABEL))


class PointMark(msgspec.Struct, frozen=True):
    """The point that a check is about; without a y only its x is known."""

    x: Finite
    y: Finite | None
    role: Role = "yours"


class Axis(msgspec.Struct, frozen=True):
    """The name and the scale of an axis."""

    label: str = ""
    log: bool = False

    def cleaned(self) -> Axis:
        return replace(self, label=line_text(self.label, MAX_LABEL))


class PlotPanel(msgspec.Struct, frozen=True):
    """One drawing. ``names`` are those of its bars."""

    caption: str
    x: Axis
    y: Axis
    series: Annotated[tuple[Series, ...], Meta(min_length=1, max_length=6)]
    marks: tuple[PointMark, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def bars(self) -> bool:
        return any(one.form == "bars" for one in self.series)

    def cleaned(self) -> PlotPanel:
        xs = [*(x for one in self.series for x in one.x), *(mark.x for mark in self.marks)]
        ys = [*(y for one in self.series for y in one.y), *(mark.y for mark in self.marks)]
        for axis, values in ((self.x, xs), (self.y, ys)):
            if axis.log and any(value is not None and value <= 0 for value in values):
                raise ValueError("not a plot: a coordinate has no logarithm")
        return replace(
            self,
            caption=line_text(self.caption, MAX_CAPTION),
            x=self.x.cleaned(),
            y=self.y.cleaned(),
            series=tuple(one.cleaned() for one in self.series),
            names=tuple(line_text(name, MAX_LABEL) for name in self.names),
        )


class PlotFigure(msgspec.Struct, frozen=True, tag_field="kind", tag="plot"):
    """Panels that belong together; ``notes`` are sentences about them."""

    caption: str
    panels: Annotated[tuple[PlotPanel, ...], Meta(min_length=1, max_length=4)]
    notes: tuple[str, ...] = ()

    def cleaned(self) -> PlotFigure:
        return replace(
            self,
            caption=line_text(self.caption, MAX_CAPTION),
            panels=tuple(panel.cleaned() for panel in self.panels),
            notes=tuple(line_text(note, MAX_CAPTION) for note in self.notes),
        )


class JacobianFigure(msgspec.Struct, frozen=True, tag_field="kind", tag="jacobian"):
    """Two matrices of one shape, and how far they may be apart.

    A row is an output, a column an element of the input; NaN and infinities are texts. ``cut`` is
    how many rows and columns of the full matrices are left out.
    """

    analytic: Sequence[Sequence[float | str]]
    numeric: Sequence[Sequence[float | str]]
    atol: float
    rtol: float
    input: str
    output: str
    cut: tuple[int, int]

    def cleaned(self) -> JacobianFigure:
        mine, theirs = ([len(row) for row in matrix] for matrix in self.matrices())
        if mine != theirs or len(set(mine)) != 1:
            raise ValueError("no pair of Jacobians: their shapes differ")
        return replace(
            self, input=clean(self.input, MAX_VARIABLE), output=clean(self.output, MAX_VARIABLE)
        )

    def matrices(self) -> tuple[list[list[float]], list[list[float]]]:
        """Return both matrices as numbers."""
        mine, theirs = (
            [[float(value) for value in row] for row in matrix]
            for matrix in (self.analytic, self.numeric)
        )
        return mine, theirs

    def differing(self) -> list[tuple[int, int]]:
        """Return row and column of each entry that differs, the largest difference first."""
        found = []
        for i, (row, others) in enumerate(zip(*self.matrices(), strict=True)):
            for j, (mine, theirs) in enumerate(zip(row, others, strict=True)):
                apart = abs(mine - theirs)
                if (
                    math.isnan(apart)
                    and not (math.isnan(mine) and math.isnan(theirs))
                    and mine != theirs
                ):
                    found.append((math.inf, i, j))
                elif apart > self.atol + self.rtol * abs(theirs):
                    found.append((apart, i, j))
        return [(i, j) for _, i, j in sorted(found, key=lambda one: -one[0])]

    def entry(self, i: int, j: int) -> str:
        """Return ``∂y[0]/∂x[1]``."""
        return f"∂{self.output}[{i}]/∂{self.input}[{j}]"


class Prediction(msgspec.Struct, frozen=True, array_like=True):
    """What was predicted, the prediction, the outcome, and why."""

    what: str
    predicted: str
    outcome: str
    why: str

    def cleaned(self) -> Prediction:
        return Prediction(*(clean(cell, 400) for cell in msgspec.structs.astuple(self)))


class PredictionFigure(msgspec.Struct, frozen=True, tag_field="kind", tag="prediction"):
    """Predictions; JSON has each as a row of four texts."""

    rows: tuple[Prediction, ...]

    def cleaned(self) -> PredictionFigure:
        return PredictionFigure(tuple(row.cleaned() for row in self.rows))


Figure = GraphFigure | PlotFigure | JacobianFigure | PredictionFigure


def line_text(value: str, most: int) -> str:
    """Return a text in one line; if it is cut at ``most`` characters, that is visible."""
    return " ".join(clean(value, most).split())
