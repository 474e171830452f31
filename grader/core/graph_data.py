"""A computational graph as validated plain data, beginning with the root."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass, replace
from typing import Any

from grader.core.sanitize import clean

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
