"""A computational graph as validated plain data, beginning with the root.

A plot as validated plain data: panels with curves, points or bars, and a marked point.

The judge makes it (``judge/plots.py``), a report carries it, ``render/graph`` draws it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import asdict, dataclass, replace
from typing import Any

from grader.core.text import clean

MAX_GRAPH_NODES = 200
MAX_EDGES = 1000
MAX_SAVED = 12
MAX_NAME = 80
MAX_COUNT = 1_000_000
NODE_KINDS = ("op", "intermediate", "leaf", "constant")


class NotAPicture(ValueError):
    """Data that claims to be a picture of a graph and is not one."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A tensor that a node keeps for backward; ``shape`` is empty if it was not read."""

    name: str
    shape: str = ""
    freed: bool = False


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One node.

    ``kind``: ``op`` (a function's node), ``intermediate`` (its result has a name), ``leaf``
    (collects ``.grad``), ``constant`` (an input without gradient, no node of torch's). ``name`` is
    the tensor's, ``outputs`` counts results, ``cut`` counts edges to nodes that are left out,
    ``note`` is a check's text.
    """

    id: str
    kind: str
    type: str = ""
    name: str = ""
    shape: str = ""
    saved: tuple[Saved, ...] = ()
    hooks: int = 0
    retains_grad: bool = False
    outputs: int = 1
    cut: int = 0
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


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge: input ``slot`` of node ``source`` was output ``output`` of node ``target``."""

    source: str
    target: str
    output: int = 0
    slot: int = 0


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """A graph; its first node is the root, and every other can be reached from it."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...] = ()
    left_out: int = 0
    root_output: int = 0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> GraphPicture:
        """Read untrusted data: clean its texts and bound its counts; raise ValueError."""
        try:
            nodes = tuple(_node(one) for one in data["nodes"])
            edges = tuple(
                GraphEdge(
                    _id(e["source"]), _id(e["target"]), _count(e["output"]), _count(e["slot"])
                )
                for e in data["edges"]
            )
            picture = cls(
                nodes, edges, _count(data.get("left_out", 0)), _count(data.get("root_output", 0))
            )
        except (LookupError, TypeError, AttributeError) as error:
            raise NotAPicture(f"no picture of a graph: {type(error).__name__}: {error}") from None
        picture.check()
        return picture

    def check(self) -> None:
        """Raise ValueError unless there is a root, ids are unique, all nodes are known, and the
        graph is acyclic and connected.
        """
        ids = {node.id for node in self.nodes}
        if (
            not 1 <= len(self.nodes) <= MAX_GRAPH_NODES
            or len(ids) != len(self.nodes)
            or len(self.edges) > MAX_EDGES
        ):
            raise NotAPicture(
                f"no picture of a graph: {len(self.nodes)} nodes with {len(ids)} names,"
                f" {len(self.edges)} edges"
            )
        if not all(edge.source in ids and edge.target in ids for edge in self.edges):
            raise NotAPicture("no picture of a graph: an edge leads to no node")
        waiting = {node.id: 0 for node in self.nodes}
        for edge in self.edges:
            waiting[edge.target] += 1
        ready = [id for id, count in waiting.items() if not count]
        if ready != [self.nodes[0].id]:
            raise NotAPicture("no picture of a graph: the first node must be the one root")
        following = self.following()
        reached = 0
        while ready:
            reached += 1
            for edge in following[ready.pop()]:
                waiting[edge.target] -= 1
                if not waiting[edge.target]:
                    ready.append(edge.target)
        if reached != len(self.nodes):
            raise NotAPicture("no picture of a graph: it has a circle")

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
        following, kept, order = (
            self.following(),
            {self.nodes[0].id: None},
            deque([self.nodes[0].id]),
        )
        while order:
            for edge in following[order.popleft()]:
                if edge.target not in kept and len(kept) < limit:
                    kept[edge.target] = None
                    order.append(edge.target)
        cut = {id: sum(edge.target not in kept for edge in following[id]) for id in kept}
        nodes = tuple(
            replace(node, cut=min(MAX_COUNT, node.cut + cut[node.id]))
            for node in self.nodes
            if node.id in kept
        )
        edges = tuple(edge for edge in self.edges if edge.source in kept and edge.target in kept)
        return replace(
            self, nodes=nodes, edges=edges, left_out=self.left_out + len(self.nodes) - len(nodes)
        )


def first_difference(
    actual: GraphPicture, expected: GraphPicture, *, closely: bool = False
) -> tuple[str | None, str | None]:
    """Return the first nodes, breadth-first, in which two graphs differ; None, None if alike.

    The comparison covers kinds, types, and the inputs and outputs of edges. With ``closely``, it
    goes on to hooks, retained gradients and freed tensors, then to notes.
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
    for look in (_state, _note) if closely else ():  # notes may depend on hooks elsewhere
        for here, there in partners.items():
            if look(mine[here]) != look(wanted[there]):
                return here, there
    return None, None


def _state(node: GraphNode) -> tuple[int, bool, bool]:
    return node.hooks, node.retains_grad, any(one.freed for one in node.saved)


def _note(node: GraphNode) -> str:
    return node.note


def _sort(node: GraphNode) -> tuple[str, str]:
    return ("op" if node.kind == "intermediate" else node.kind, node.type)


def _end(edge: GraphEdge) -> tuple[int, int]:
    return edge.slot, edge.output


def _node(data: dict[str, Any]) -> GraphNode:
    kind = data["kind"]
    if kind not in NODE_KINDS:
        raise NotAPicture(f"no picture of a graph: a node of the kind {str(kind)[:40]!r}")
    saved = data.get("saved") or ()
    if not isinstance(saved, list | tuple):
        raise TypeError("saved is not a list")
    return GraphNode(
        id=_id(data["id"]),
        kind=kind,
        type=name_text(data.get("type", "")),
        name=name_text(data.get("name", "")),
        shape=name_text(data.get("shape", "")),
        saved=tuple(
            Saved(name_text(one["name"]), name_text(one.get("shape", "")), one.get("freed") is True)
            for one in saved[:MAX_SAVED]
        ),
        hooks=_count(data.get("hooks", 0)),
        retains_grad=data.get("retains_grad") is True,
        outputs=max(1, _count(data.get("outputs", 1))),
        cut=_count(data.get("cut", 0)),
        note=name_text(data.get("note", "")),
    )


def _id(value: Any) -> str:
    if not isinstance(value, str) or not value.isascii() or not value.isalnum() or len(value) > 12:
        raise NotAPicture(
            "no picture of a graph: a node's id is a short word of letters and digits"
        )
    return value


def name_text(value: Any) -> str:
    """Return one line of text, at most ``MAX_NAME`` characters long."""
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} where text belongs")
    line = " ".join(clean(value[: MAX_NAME + 1]).split())
    return line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…"


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise TypeError("a count that is none")
    return value


ROLES = ("yours", "truth", "given", "other")
FORMS = ("line", "dots", "bars")
MAX_PANELS = 4
MAX_SERIES = 6
MAX_POINTS = 400
MAX_LABEL = 80
MAX_CAPTION = 200


@dataclass(frozen=True, slots=True)
class Series:
    """Values over x.

    ``role`` says whose they are, ``form`` how to draw them; the role ``given`` is the check's
    input. A y of None marks a point without a value. If ``label`` is empty, the role is the name.
    For bars, x is the position: 0, 1, 2, …
    """

    label: str
    role: str
    form: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class PointMark:
    """The point that a check is about; without a y only its x is known."""

    x: float
    y: float | None
    role: str = "yours"


@dataclass(frozen=True, slots=True)
class Axis:
    """The name and the scale of an axis."""

    label: str = ""
    log: bool = False


@dataclass(frozen=True, slots=True)
class PlotPanel:
    """One drawing. ``names`` are those of its bars."""

    caption: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[PointMark, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def bars(self) -> bool:
        return any(one.form == "bars" for one in self.series)


@dataclass(frozen=True, slots=True)
class Plot:
    """Panels that belong together; ``notes`` are sentences about them."""

    caption: str
    panels: tuple[PlotPanel, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the figure ``kind: "plot"`` of a report."""
        return {"kind": "plot", **_lists(asdict(self))}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Plot:
        """Read a figure. Raise ValueError if it is not a plot."""
        try:
            panels = tuple(_panel(one) for one in data["panels"])
            if not 0 < len(panels) <= MAX_PANELS:
                raise ValueError("not a plot: the number of panels")
            notes = tuple(label_text(note, MAX_CAPTION) for note in data["notes"])
            return cls(label_text(data["caption"], MAX_CAPTION), panels, notes)
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"not a plot: {type(error).__name__}") from None


def _lists(value: Any) -> Any:
    """Return data as JSON has it: lists instead of tuples."""
    if isinstance(value, dict):
        return {key: _lists(one) for key, one in value.items()}
    return [_lists(one) for one in value] if isinstance(value, list | tuple) else value


def _panel(data: dict[str, Any]) -> PlotPanel:
    x, y = (
        Axis(label_text(data[key]["label"], MAX_LABEL), data[key]["log"] is True)
        for key in ("x", "y")
    )
    series = tuple(_series(one, x, y) for one in data["series"])
    if not 0 < len(series) <= MAX_SERIES:
        raise ValueError("not a plot: the number of series")
    marks = tuple(
        PointMark(
            _number(one["x"], log=x.log), _value(one["y"], log=y.log), _one_of(one["role"], ROLES)
        )
        for one in data["marks"]
    )
    names = tuple(label_text(name, MAX_LABEL) for name in data["names"])
    return PlotPanel(label_text(data["caption"], MAX_CAPTION), x, y, series, marks, names)


def _series(data: dict[str, Any], x: Axis, y: Axis) -> Series:
    xs = tuple(_number(value, log=x.log) for value in data["x"])
    ys = tuple(_value(value, log=y.log) for value in data["y"])
    if len(xs) != len(ys) or len(xs) > MAX_POINTS:
        raise ValueError("not a plot: the number of points")
    role, form = _one_of(data["role"], ROLES), _one_of(data["form"], FORMS)
    return Series(label_text(data["label"], MAX_LABEL), role, form, xs, ys)


def _value(value: Any, *, log: bool) -> float | None:
    return None if value is None else _number(value, log=log)


def _number(value: Any, *, log: bool) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("not a plot: a coordinate is not a finite number")
    if log and value <= 0:
        raise ValueError("not a plot: a coordinate has no logarithm")
    return float(value)


def _one_of(value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ValueError(f"not a plot: {str(value)[:40]!r}")
    return str(value)


def label_text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise TypeError("a text that is none")
    return " ".join(clean(value, most).split())
