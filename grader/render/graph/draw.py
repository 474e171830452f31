"""Draw a graph, as SVG and as a tree of text; ``grader.draw`` draws the one behind a tensor.

A tree begins with the root. A node that is reached again is only named. All text is escaped.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size

from grader.core.errors import UsageError
from grader.core.i18n import Catalogue
from grader.core.pictures import GraphEdge, GraphNode, GraphPicture
from grader.core.text import clean
from grader.render.graph.layout import Box, Point, Route, lay_out
from grader.render.graph.svg import (
    CELL,
    LINE,
    SMALL_CELL,
    SMALL_LINE,
    drawing,
    element,
    short,
    text_at,
    titled,
)

if TYPE_CHECKING:
    from torch import Tensor

PAD_X, PAD_Y = 12.0, 8.0
MAX_TITLE = 200
CURVE = 0.5
WIDTH = 80
DEEPEST = 12
"""From this depth on, branches are not drawn, and a number shows a line's depth."""


def draw(tensor: Tensor, *, names: Mapping[str, Any] | None = None) -> Drawing:
    """Draw the graph behind a tensor as it is now: operations, leaves, saved tensors, hooks.

    ``names`` names tensors (default: the caller's variables). Raise TypeError for anything
    but a tensor.
    """
    import torch

    from grader.worker.wire.trace import trace

    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"draw takes a tensor, and got one of type {type(tensor).__name__}")
    if names is None:
        variables = sys._getframe(1).f_locals.items()
        names = {name: value for name, value in variables if not name.startswith("_")}
    return Drawing(GraphPicture.from_json(trace(tensor, names)))


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """A graph at the time when it was drawn: a picture in a notebook, a tree when printed."""

    picture: GraphPicture

    def _repr_svg_(self) -> str:
        return draw_svg(self.picture, own_style=True)

    def __str__(self) -> str:
        return "\n".join(map(str, tree_lines(self.picture)))

    __repr__ = __str__  # the text that a prompt shows

    def save(self, path: str | Path) -> Path:
        """Write an SVG, or a tree for ``.txt``; return the path. Raise UsageError for others."""
        place = Path(path)
        if place.suffix not in (".svg", ".txt"):
            raise UsageError(f"{place}: a drawing is saved as .svg or .txt. Name the file so")
        drawn = str(self) if place.suffix == ".txt" else self._repr_svg_()
        place.write_text(f"{drawn}\n", "utf-8", newline="\n")
        return place


def draw_svg(
    picture: GraphPicture,
    tr: Catalogue | None = None,
    *,
    marked: Collection[str] = (),
    title: str = "",
    own_style: bool = False,
) -> str:
    """Return an ``svg`` element; use ``own_style`` for a file or another program's page."""
    tr = tr or Catalogue()
    texts = {node.id: lines_of(node, tr) for node in picture.nodes}
    layout = lay_out(picture, {id: size_of(lines) for id, lines in texts.items()})
    footer = not_drawn(picture, tr) if picture.left_out else ""
    width = max(layout.width, cell_len(footer) * SMALL_CELL + 2 * PAD_X)
    height = layout.height + (SMALL_LINE + PAD_Y if footer else 0)
    nodes = picture.by_id()
    root = node_label(picture.nodes[0], tr)
    title = clean(title, MAX_TITLE) or tr("The graph behind {name}", name=root)
    head = f"{titled(title)}\n{element('desc', escape(described(picture, tr)))}"
    parts = [
        *(_edge(route, nodes[route.edge.target], tr) for route in layout.routes),
        *(
            _node(nodes[id], texts[id], box, marked=id in marked)
            for id, box in layout.boxes.items()
        ),
        *(_ghost(nodes[target], box, tr) for box, target in layout.ghosts),
        text_at(width / 2, height - PAD_Y, footer, "small") if footer else "",
    ]
    sheets = ("drawing.css", "graph.css") if own_style else ()
    return drawing("graph", width, height, head, parts, sheets=sheets)


def not_drawn(picture: GraphPicture, tr: Catalogue) -> str:
    return tr("{count} more nodes are not drawn", count=picture.left_out)


def described(picture: GraphPicture, tr: Catalogue) -> str:
    kinds = [node.kind for node in picture.nodes]
    return tr(
        "{operations} operations, {leaves} leaves, {edges} edges; arrows go the way that gradients"
        " go, from the root to the leaves.",
        operations=kinds.count("op") + kinds.count("intermediate"),
        leaves=kinds.count("leaf"),
        edges=len(picture.edges),
    )


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text in a box."""

    text: str
    style: str

    @property
    def width(self) -> float:
        """An upper bound of its width."""
        return cell_len(self.text) * (CELL if self.style == "title" else SMALL_CELL)

    @property
    def height(self) -> float:
        return LINE if self.style == "title" else SMALL_LINE


def lines_of(node: GraphNode, tr: Catalogue) -> list[TextLine]:
    """Return a box's lines: label, shape, saved tensors, hooks, a check's note."""
    found = [TextLine(short(node_label(node, tr)), "title")]
    if node.kind == "leaf" and node.name:
        found.append(TextLine(short(node.type or tr("leaf")), "small"))
    if node.shape:
        found.append(TextLine(short(node.shape), "small"))
    found += [
        TextLine(short(text), "small freed" if freed else "small")
        for text, freed in saved_words(node, tr)
    ]
    found += [TextLine(short(text), "small badge") for text in badges(node, tr)]
    return [*found, TextLine(short(node.note), "small note")] if node.note else found


def size_of(lines: list[TextLine]) -> tuple[float, float]:
    return (
        max(line.width for line in lines) + 2 * PAD_X,
        sum(line.height for line in lines) + 2 * PAD_Y,
    )


def _node(node: GraphNode, lines: list[TextLine], box: Box, *, marked: bool) -> str:
    y = box.y - sum(line.height for line in lines) / 2
    texts = []
    for line in lines:
        y += line.height
        texts.append(text_at(box.x, y - 4, line.text, line.style))
    return _box(f"{node.kind}{' marked' if marked else ''}", node, box, *texts)


def _ghost(node: GraphNode, box: Box, tr: Catalogue) -> str:
    label = short("↗ " + node_label(node, tr), int((box.width - 8) / SMALL_CELL))
    return _box("ghost", node, box, text_at(box.x, box.y + 4, label, "small"))


def _box(style: str, node: GraphNode, box: Box, *texts: str) -> str:
    place = {"x": box.left, "y": box.top, "width": box.width, "height": box.height}
    shape = element("rect", **place, rx=7)
    return element("g", titled(node.label or node.kind), shape, *texts, class_=style)


def _edge(route: Route, target: GraphNode, tr: Catalogue) -> str:
    x, y = route.points[-1]
    line = element("path", d=_curve(route.points))
    head = element("path", class_="head", d=f"M{x:.1f} {y:.1f}l-4 -8h8z")
    words = output_of(route.edge, target, tr)
    if not words:
        return line + head
    number = text_at(x + 8, y - 9, str(route.edge.output), "number")
    return line + head + element("g", titled(words), number)


def _curve(points: tuple[Point, ...]) -> str:
    """Return a path through the layers that is vertical at the end of every box."""
    x, y = points[0]
    parts = [f"M{x:.1f} {y:.1f}"]
    for x2, y2 in points[1:]:
        if abs(x2 - x) < 0.05:
            parts.append(f"V{y2:.1f}")
        else:
            middle = y + (y2 - y) * CURVE
            parts.append(f"C{x:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}")
        x, y = x2, y2
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A line: branch, label, details; ``marked`` if a check points at it."""

    branch: str
    label: str
    details: str = ""
    marked: bool = False
    faint: bool = False

    def __str__(self) -> str:
        mark = "  ◀" if self.marked else ""
        return f"{self.branch}{self.label}{'  ' if self.details else ''}{self.details}{mark}"


def tree_lines(
    picture: GraphPicture,
    tr: Catalogue | None = None,
    *,
    width: int = WIDTH,
    marked: Collection[str] = (),
    most: int | None = None,
) -> list[TreeLine]:
    """Return at most ``most`` lines of at most ``width`` cells, the marked one included."""
    tr = tr or Catalogue()
    nodes, following = picture.by_id(), picture.following()
    root = picture.nodes[0]
    arrival = GraphEdge("", root.id, picture.root_output)
    stack: list[tuple[GraphEdge, str, str, int]] = [(arrival, "", "", 0)]
    seen: set[str] = set()
    lines = []
    while stack:
        edge, above, joint, depth = stack.pop()
        node = nodes[edge.target]
        branch = above + joint if depth <= DEEPEST else f"{'   ' * (DEEPEST // 4)}{depth:>4} · "
        again, pointed = node.id in seen, node.id in marked
        lines.append(_line(branch, edge, node, tr, width=width, marked=pointed, again=again))
        if again:
            continue
        if following[node.id]:
            seen.add(node.id)
        below = "" if not depth else above + ("   " if joint.startswith("└") else "│  ")
        behind = following[node.id]
        for place, one in reversed(list(enumerate(behind))):
            stack.append((one, below, "└─ " if place == len(behind) - 1 else "├─ ", depth + 1))
    if most is not None and len(lines) > most:
        lines = _cut(lines, most, tr)
    if picture.left_out:
        lines.append(TreeLine("", not_drawn(picture, tr), faint=True))
    return lines


def _cut(lines: list[TreeLine], most: int, tr: Catalogue) -> list[TreeLine]:
    """Return the first lines, and the first marked one if it comes later."""
    first = next((k for k, line in enumerate(lines) if line.marked), 0)
    kept, shown = lines[: most - 1], most - 1
    if first >= most - 1:
        kept = [*lines[: most - 3], TreeLine("", "⋮", faint=True), lines[first]]
        shown = most - 2  # the text that stands for omitted lines is not one of them
    more = tr("… and {count} more lines", count=len(lines) - shown)
    return [*kept, TreeLine("", more, faint=True)]


def _line(
    branch: str,
    edge: GraphEdge,
    node: GraphNode,
    tr: Catalogue,
    *,
    width: int,
    marked: bool,
    again: bool,
) -> TreeLine:
    label = node_label(node, tr)
    room = width - cell_len(branch) - (3 if marked else 0)
    if cell_len(label) > room:
        label = set_cell_size(label, room - 1) + "…"
    words = [output_of(edge, node, tr), node.note]
    if again:
        words.append(tr("as above"))
    else:
        words += [
            *badges(node, tr),
            node.shape if node.kind == "leaf" else "",
            *(text for text, _ in saved_words(node, tr)),
        ]
    details = " · ".join(word for word in words if word)
    room -= cell_len(label) + 2
    if details and cell_len(details) > room:
        details = set_cell_size(details, room - 1) + "…" if room > 8 else ""
    return TreeLine(branch, label, details, marked, node.kind == "constant")


def node_label(node: GraphNode, tr: Catalogue) -> str:
    if node.label:
        return node.label
    return tr("leaf") if node.kind == "leaf" else tr("constant")


def output_of(edge: GraphEdge, target: GraphNode, tr: Catalogue) -> str:
    """Return which output of its target an edge belongs to, if there are several."""
    return tr("output {number}", number=edge.output) if target.outputs > 1 or edge.output else ""


def saved_words(node: GraphNode, tr: Catalogue) -> list[tuple[str, bool]]:
    """Return what a node saves for backward, in words, and whether it is freed."""
    kept = ", ".join(one.name for one in node.saved if not one.freed)
    freed = ", ".join(one.name for one in node.saved if one.freed)
    found = [(tr("keeps {names}", names=kept), False)] if kept else []
    return [*found, (tr("freed: {names}", names=freed), True)] if freed else found


def badges(node: GraphNode, tr: Catalogue) -> list[str]:
    """Return remarks on a node, such as ``2 hooks``, ``retains grad`` or ``+ 3 not drawn``."""
    named_constant = node.kind == "constant" and node.name
    found = [tr("constant: no grad_fn, no requires_grad")] if named_constant else []
    if node.hooks:
        found.append(tr("1 hook") if node.hooks == 1 else tr("{count} hooks", count=node.hooks))
    if node.retains_grad:
        found.append(tr("retains grad"))
    if node.cut:
        found.append(tr("+ {count} not drawn", count=node.cut))
    return found


def legend(pictures: Sequence[GraphPicture], tr: Catalogue) -> list[tuple[str, str]]:
    """Return the meaning of each mark in these graphs: the mark and a sentence. A graph of objects
    that are no tensors has none of torch's kinds of nodes.
    """
    nodes = [node for picture in pictures for node in picture.nodes]
    operations = [node.type for node in nodes if node.kind in ("op", "intermediate")]
    of_torch = not operations or any("Backward" in one for one in operations)
    kinds = {node.kind for node in nodes if of_torch}
    freed = {one.freed for node in nodes for one in node.saved}
    found = []
    if not kinds.isdisjoint(("op", "intermediate")):
        found.append(("…Backward", tr("the grad_fn of an operation; what it used is below")))
    if "leaf" in kinds:
        meaning = tr("requires_grad, no grad_fn: its gradient goes into .grad")
        found.append((tr("leaf"), meaning))
    if "constant" in kinds:
        meaning = tr("no requires_grad, no grad_fn: no gradient goes there")
        found.append((tr("constant"), meaning))
    if False in freed:
        mark = tr("keeps {names}", names="…")
        found.append((mark, tr("tensors that are saved for backward")))
    if True in freed:
        mark = tr("freed: {names}", names="…")
        found.append((mark, tr("saved tensors that a backward pass has freed")))
    if any(node.hooks for node in nodes):
        found.append(("hook", tr("a function that sees the gradient here")))
    if any(node.retains_grad for node in nodes):
        found.append((tr("retains grad"), tr(".grad is kept here, though this is not a leaf")))
    if any(map(_has_repeats, pictures)):
        found.append((tr("as above"), tr("a node that several operations use is drawn once")))
    return found


def _has_repeats(picture: GraphPicture) -> bool:
    """Return whether a tree of this graph says "as above": a node with inputs is reached twice."""
    reached = [edge.target for edge in picture.edges]
    return any(picture.following()[id] for id in reached if reached.count(id) > 1)
