"""Draw a graph as SVG, for a page or for a separate file.

Colors are CSS custom properties with a fallback, so they follow the page's theme. A page gets only
classes, because its policy refuses styles; a file contains ``STYLE``. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from html import escape

from rich.cells import cell_len, set_cell_size

from grader.core.i18n import Catalogue
from grader.core.pictures import GraphNode, GraphPicture
from grader.core.text import clean
from grader.render.graph.labels import badges, node_label, output_of, saved_words
from grader.render.graph.layers import Box
from grader.render.graph.layout import Point, Route, lay_out

CELL = 7.9
"""The width of a character in pixels, for any monospaced font of 13 px; small text has
``SMALL_CELL``.
"""
SMALL_CELL = 6.8
LINE, SMALL_LINE = 18.0, 15.0
PAD_X, PAD_Y = 12.0, 8.0
MAX_CELLS = 44
MAX_TITLE = 200
CURVE = 0.5
STYLE = """svg.graph{color-scheme:light dark;--ink:#1d2228;--soft:#5b6470;--line:#9aa3ad;\
--card:#fff;--sunk:#f3f4f1;--right-bg:#e7f5ec;
--wrong:#c2311f;--right:#1a7f4b;--accent:#2f5fd0;--note-bg:#eef3fe;background:#fcfcfa;\
font-family:ui-monospace,Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){svg.graph{--ink:#e8eaed;--soft:#a2abb6;--line:#5d6670;\
--card:#1b1f24;--sunk:#23282e;--right-bg:#15301f;
--wrong:#ff8f7f;--right:#58c98b;--accent:#8ab0ff;--note-bg:#1b2742;background:#14171b}}
@media print{svg.graph{--ink:#000;--soft:#444;--line:#777;--card:#fff;--sunk:#f2f2f2;\
--right-bg:#f0f8f2;--wrong:#a3281a;--accent:#234;
--note-bg:#f1f4fb;background:#fff}}
"""
SHAPES = """.graph text{fill:var(--ink,currentColor);\
font:13px var(--mono,ui-monospace,Menlo,Consolas,monospace);text-anchor:middle}
.graph .small,.graph .number{font-size:11px;fill:var(--soft,currentColor)}
.graph .freed{text-decoration:line-through;opacity:.75}
.graph .badge{fill:var(--accent,currentColor)}
.graph .note{fill:var(--accent,currentColor);font-weight:700}
.graph rect{fill:var(--card,none);stroke:var(--edge,var(--line,currentColor));stroke-width:1.3}
.graph .leaf rect{fill:var(--right-bg,none);stroke:var(--right,currentColor)}
.graph .intermediate rect{fill:var(--note-bg,none);stroke:var(--accent,currentColor)}
.graph .constant rect,.graph .ghost rect{fill:none;stroke-dasharray:4 3}
.graph .constant text,.graph .ghost text{fill:var(--soft,currentColor)}
.graph .marked rect{stroke:var(--wrong,currentColor);stroke-width:3.5}
.graph .marked .title{font-weight:700}
.graph path{fill:none;stroke:var(--soft,currentColor);stroke-width:1.3}
.graph path.head{fill:var(--soft,currentColor);stroke:none}
"""


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


def short(text: str, cells: int = MAX_CELLS) -> str:
    return text if cell_len(text) <= cells else set_cell_size(text, cells - 1) + "…"


def size_of(lines: list[TextLine]) -> tuple[float, float]:
    return (
        max(line.width for line in lines) + 2 * PAD_X,
        sum(line.height for line in lines) + 2 * PAD_Y,
    )


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
    footer = (
        tr("{count} more nodes are not drawn", count=picture.left_out) if picture.left_out else ""
    )
    width = max(layout.width, cell_len(footer) * SMALL_CELL + 2 * PAD_X)
    height = layout.height + (SMALL_LINE + PAD_Y if footer else 0)
    nodes = picture.by_id()
    title = clean(title, MAX_TITLE) or tr(
        "The graph behind {name}", name=node_label(picture.nodes[0], tr)
    )
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" width="{width:.0f}"'
            f' height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        ),
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(described(picture, tr))}</desc>",
        f"<style>{STYLE}{SHAPES}</style>" if own_style else "",
        *(_edge(route, picture, tr) for route in layout.routes),
        *(
            _node(nodes[id], texts[id], box, marked=id in marked)
            for id, box in layout.boxes.items()
        ),
        *(_ghost(nodes[target], box, tr) for box, target in layout.ghosts.values()),
        _text(footer, width / 2, height - PAD_Y, "small") if footer else "",
        "</svg>",
    ]
    return "\n".join(part for part in parts if part)


def described(picture: GraphPicture, tr: Catalogue) -> str:
    kinds = [node.kind for node in picture.nodes]
    return tr(
        "{operations} operations, {leaves} leaves, {edges} edges; arrows go the way that gradients"
        " go, from the root to the leaves.",
        operations=kinds.count("op") + kinds.count("intermediate"),
        leaves=kinds.count("leaf"),
        edges=len(picture.edges),
    )


def _node(node: GraphNode, lines: list[TextLine], box: Box, *, marked: bool) -> str:
    parts = [
        f'<g class="{node.kind}{" marked" if marked else ""}">',
        f"<title>{escape(node.label or node.kind)}</title>",
        _rect(box),
    ]
    y = box.y - sum(line.height for line in lines) / 2
    for line in lines:
        y += line.height
        parts.append(_text(line.text, box.x, y - 4, line.style))
    return "".join([*parts, "</g>"])


def _ghost(node: GraphNode, box: Box, tr: Catalogue) -> str:
    label = short("↗ " + node_label(node, tr), int((box.width - 8) / SMALL_CELL))
    title = f"<title>{escape(node.label or node.kind)}</title>"
    text = _text(label, box.x, box.y + 4, "small")
    return f'<g class="ghost">{title}{_rect(box)}{text}</g>'


def _rect(box: Box) -> str:
    return (
        f'<rect x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}"'
        f' height="{box.height:.1f}" rx="7"/>'
    )


def _text(text: str, x: float, y: float, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _edge(route: Route, picture: GraphPicture, tr: Catalogue) -> str:
    target = picture.by_id()[route.edge.target]
    x, y = route.points[-1]
    head = f'<path class="head" d="M{x:.1f} {y:.1f}l-4 -8h8z"/>'
    number = ""
    if words := output_of(route.edge, target, tr):
        output = _text(str(route.edge.output), x + 8, y - 9, "number")
        number = f"<g><title>{escape(words)}</title>{output}</g>"
    return f'<path d="{_curve(route.points)}"/>{head}{number}'


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
