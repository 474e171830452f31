"""Draw a graph as a tree of text, beginning with the root. A node that is reached again is only
named.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from grader.core.i18n import Catalogue
from grader.core.pictures import GraphEdge, GraphNode, GraphPicture
from grader.render.graph.labels import badges, node_label, output_of, saved_words

WIDTH = 80
DEEPEST = 12
"""From this depth on, branches are not drawn, and a number shows a line's depth."""


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
        lines.append(
            _line(
                branch, edge, node, tr, width=width, marked=node.id in marked, again=node.id in seen
            )
        )
        if node.id in seen:
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
        lines.append(
            TreeLine("", tr("{count} more nodes are not drawn", count=picture.left_out), faint=True)
        )
    return lines


def _cut(lines: list[TreeLine], most: int, tr: Catalogue) -> list[TreeLine]:
    """Return the first lines, and the first marked one if it comes later."""
    first = next((k for k, line in enumerate(lines) if line.marked), 0)
    later = lines[first : first + 1] if first >= most - 1 else []
    kept = (
        [*lines[: most - 3], TreeLine("", "⋮", faint=True), *later] if later else lines[: most - 1]
    )
    shown = len(kept) - len(later)  # the text that stands for omitted lines is not one of them
    return [
        *kept,
        TreeLine("", tr("… and {count} more lines", count=len(lines) - shown), faint=True),
    ]


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


def tree_text(
    picture: GraphPicture,
    tr: Catalogue | None = None,
    *,
    width: int = WIDTH,
    marked: Collection[str] = (),
) -> str:
    return "\n".join(str(line) for line in tree_lines(picture, tr, width=width, marked=marked))
