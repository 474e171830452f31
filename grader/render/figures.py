"""Prepare figures of a failed check for terminal and page. Malformed figures are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from grader.core.i18n import Catalogue
from grader.core.pictures import (
    GraphFigure,
    GraphPicture,
    JacobianFigure,
    PlotFigure,
    Prediction,
    PredictionFigure,
    read_figure,
)
from grader.core.text import number_text
from grader.render.graph.draw import TreeLine, draw_svg, legend, tree_lines
from grader.render.graph.heatmap import draw_heatmap
from grader.render.graph.plot import aligned, draw_plot, plot_lines, table

MOST_LINES = 12
"""How many lines of a tree a terminal shows below a failed check; the page has all of it."""
WORST = 5


MOST_HALF, MOST_WHOLE = 680, 1370
"""Widths in pixels. A drawing may shrink to 62 percent: then its text is 8 pixels high. The page's
column has 850 pixels.
"""


@dataclass(frozen=True, slots=True)
class Panel:
    """A drawing on a page: caption, escaped SVG, the same as text or table rows, and a legend."""

    caption: str
    svg: str
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    heads: tuple[str, ...] = ()
    marks: tuple[tuple[str, str], ...] = ()

    @property
    def size(self) -> str:
        """``half`` for a drawing that is still readable beside another one, ``whole`` if it needs
        the page's width; empty if it scrolls.
        """
        width = re.search(r' width="(\d+)"', self.svg)
        pixels = int(width[1]) if width else MOST_WHOLE
        return "half" if pixels <= MOST_HALF else "whole" if pixels < MOST_WHOLE else ""


def panels(data: object, tr: Catalogue) -> list[Panel]:
    """Return a figure's drawings for a page; none for predictions, which are ``cards``."""
    try:
        figure = read_figure(data)
        return DRAWN[type(figure)].panels(figure, tr)
    except ValueError:  # it is not a figure, or it can't be drawn
        return []


def cards(data: object) -> tuple[Prediction, ...]:
    """Return a figure's predictions for a page."""
    try:
        figure = read_figure(data)
    except ValueError:
        return ()
    return figure.rows if isinstance(figure, PredictionFigure) else ()


def figure_lines(data: object, tr: Catalogue, width: int, *, whole: bool = False) -> list[Text]:
    """Return a figure for a terminal, in full if ``whole``; a plot is not shown otherwise."""
    try:
        figure = read_figure(data)
        drawn = DRAWN[type(figure)]
        return (drawn.whole if whole else drawn.lines)(figure, tr, width)
    except ValueError:
        return []


def graph_panels(figure: GraphFigure, tr: Catalogue) -> list[Panel]:
    """Return the drawings of a figure's graphs; the last has the legend of all."""
    found, pictures = [], []
    for caption, picture, marked, tree in _graphs(figure, tr):
        svg = draw_svg(picture, tr, marked=marked, title=caption)
        found.append(Panel(caption, svg, "\n".join(map(str, tree))))
        pictures.append(picture)
    return [*found[:-1], replace(found[-1], marks=tuple(legend(pictures, tr)))]


def jacobian_panels(figure: JacobianFigure, tr: Catalogue) -> list[Panel]:
    caption = tr(
        "Jacobian of {output} with respect to {input}", output=figure.output, input=figure.input
    )
    differing = set(figure.differing())
    analytic, numeric = figure.matrices()
    rows = []
    for i, (row, others) in enumerate(zip(analytic, numeric, strict=True)):
        for j, (mine, theirs) in enumerate(zip(row, others, strict=True)):
            name = ("≠ " if (i, j) in differing else "") + figure.entry(i, j)
            rows.append((name, number_text(mine, 6), number_text(theirs, 6)))
    heads = (tr("entry"), tr("your backward"), tr("differences of your forward"))
    return [Panel(caption, draw_heatmap(figure, tr), rows=tuple(rows), heads=heads)]


def plot_panels(plot: PlotFigure, tr: Catalogue) -> list[Panel]:
    """Return a plot's drawings; its caption is above the first, its notes are below the last."""
    found = []
    for panel in plot.panels:
        heads = [plot.caption if panel is plot.panels[0] else "", panel.caption]
        notes = plot.notes if panel is plot.panels[-1] else ()
        caption = " · ".join(filter(None, heads))
        found.append(Panel(caption, draw_plot(panel, tr, notes=notes), table(panel, tr)))
    return found


def tree(figure: GraphFigure, tr: Catalogue, width: int) -> list[Text]:
    (caption, picture, marked, _), *others = _graphs(figure, tr)
    lines = tree_lines(picture, tr, width=width - 2, marked=marked, most=MOST_LINES)
    found = [Text(caption, "dim"), *(Text.assemble("  ", tree_line(line)) for line in lines)]
    for line in (line for *_, tree in others for line in tree if line.marked):
        words = tr("expected there") if marked else tr("missing in yours")
        there = tree_line(replace(line, branch="", marked=False))
        shown = Text.assemble((words + "  ", "dim"), there)
        shown.truncate(width, overflow="ellipsis")
        return [*found, shown]
    return found


def whole_trees(figure: GraphFigure, tr: Catalogue, width: int) -> list[Text]:
    found = []
    pictures = []
    for caption, picture, marked, _ in _graphs(figure, tr):
        lines = tree_lines(picture, tr, width=width - 2, marked=marked)
        found += [Text(caption, "dim"), *(Text.assemble("  ", tree_line(line)) for line in lines)]
        pictures.append(picture)
    return [*found, Text(), *(Text.assemble("  ", line) for line in legend_lines(pictures, tr))]


def _graphs(
    figure: GraphFigure, tr: Catalogue
) -> Iterator[tuple[str, GraphPicture, tuple[str, ...], list[TreeLine]]]:
    """Yield a figure's pictures, the expected one last: caption, picture, marked nodes, tree."""
    alone = figure.actual is None
    expected = tr("The graph that this question is about") if alone else tr("The graph, expected")
    mine = (tr("The graph, yours"), figure.actual, figure.actual_difference)
    for caption, picture, mark in (mine, (expected, figure.expected, figure.first_difference)):
        if picture is not None:
            marked = (mark,) if mark else ()
            yield caption, picture, marked, tree_lines(picture, tr, marked=marked)


def legend_lines(pictures: Sequence[GraphPicture], tr: Catalogue) -> list[Text]:
    """Return what the marks of graphs mean, a line each."""
    rows = legend(pictures, tr)
    width = max((cell_len(mark) for mark, _ in rows), default=0)
    return [Text(f"{set_cell_size(mark, width)}  {said}", "dim") for mark, said in rows]


def tree_line(line: TreeLine) -> Text:
    """Return a line of a tree, with branch and details faint, and a marked line red."""
    style = "bold red" if line.marked else "dim" if line.faint else ""
    text = Text.assemble((line.branch, "dim"), (line.label, style))
    if line.details:
        text.append(f"  {line.details}", "dim")
    return text.append("  ◀", "red") if line.marked else text


def worst_entries(figure: JacobianFigure, tr: Catalogue, width: int) -> list[Text]:
    differing = figure.differing()
    analytic, numeric = figure.matrices()
    rows = [
        (figure.entry(i, j), number_text(analytic[i][j], 4), number_text(numeric[i][j], 4))
        for i, j in differing[:WORST]
    ]
    lines = _columns(["", tr("your backward"), tr("differences of your forward")], rows)
    more = len(differing) - len(rows)
    if more > 0:
        return [*lines, Text("  " + tr("and {count} more that differ", count=more), "dim")]
    return lines


def prediction_lines(figure: PredictionFigure, tr: Catalogue, width: int) -> list[Text]:
    rows = [(one.what, one.predicted, one.outcome) for one in figure.rows]
    lines = _columns([tr("what"), tr("you predicted"), tr("what happens")], rows)
    return [*lines, *(Text(f"  {one.what}: {one.why}", "dim") for one in figure.rows)]


def whole_plot(plot: PlotFigure, tr: Catalogue, width: int) -> list[Text]:
    lines = [Text(plot.caption, "dim")]
    for panel in plot.panels:
        lines += [Text.assemble("  ", line) for line in plot_lines(panel, tr, width - 2)]
    return [*lines, *(Text(f"  {note}", "dim") for note in plot.notes)]


def _columns(heads: list[str], rows: Sequence[tuple[str, ...]]) -> list[Text]:
    head, *lines = aligned([heads, *rows])
    return [Text(f"  {head}", "dim"), *(Text(f"  {line}") for line in lines)]


def nothing(*_: Any) -> list[Any]:
    return []


@dataclass(frozen=True, slots=True)
class Drawn:
    """How a kind of figure is drawn: for a page, for a terminal, and there in full."""

    panels: Callable[[Any, Catalogue], list[Panel]]
    lines: Callable[[Any, Catalogue, int], list[Text]]
    whole: Callable[[Any, Catalogue, int], list[Text]]


DRAWN: dict[type, Drawn] = {
    GraphFigure: Drawn(graph_panels, tree, whole_trees),
    JacobianFigure: Drawn(jacobian_panels, worst_entries, worst_entries),
    PlotFigure: Drawn(plot_panels, nothing, whole_plot),
    PredictionFigure: Drawn(nothing, prediction_lines, prediction_lines),
}
