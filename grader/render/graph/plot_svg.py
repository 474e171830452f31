"""Draw a plot as SVG: curves, points and bars between axes, with the failing point marked.

Colors are the page's, with a fallback. The student's and the true values also differ in form: dots
and patterned bars beside a solid line.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rich.cells import cell_len

from grader.core.i18n import Catalogue
from grader.core.pictures import PlotPanel, Series
from grader.core.text import number_text
from grader.render.graph.plot_scale import scales, tick_text
from grader.render.graph.plot_words import described, outside, series_label
from grader.render.graph.svg import SHAPES, SMALL_CELL, SMALL_LINE, STYLE, short

WIDTH, HEIGHT = 360.0, 190.0
"""The size of the rectangle between the axes with its margins, without legend and note."""
LEFT, RIGHT, TOP, BOTTOM = 52.0, 12.0, 8.0, 34.0
ROW = 17.0
SAMPLE = 22.0
RADIUS = 2.6
PLOT = """svg.plot{height:auto;max-width:100%}
.plot text.left{text-anchor:start}.plot text.right{text-anchor:end}
.plot path.grid{stroke:var(--line,currentColor);stroke-width:1;opacity:.6}
.plot path.axis{stroke:var(--soft,currentColor);stroke-width:1}
.plot path.curve{stroke-width:2;stroke-linejoin:round}
.plot path.truth{stroke:var(--right,currentColor)}
.plot path.yours{stroke:var(--wrong,currentColor);stroke-dasharray:5 3}
.plot path.given{stroke:var(--ink,currentColor);stroke-width:1.3}
.plot path.other{stroke:var(--accent,currentColor);stroke-dasharray:2 3}
.plot circle.yours{fill:var(--wrong,currentColor)}.plot circle.truth{fill:var(--right,currentColor)}
.plot circle.given{fill:var(--ink,currentColor)}
.plot circle.other{fill:var(--accent,currentColor)}
.plot rect.bar{stroke-width:1.5}.plot rect.bar.truth{fill:var(--right,currentColor);\
stroke:var(--right,currentColor);fill-opacity:.35}
.plot rect.bar.yours{fill:var(--wrong,currentColor);stroke:var(--wrong,currentColor)}
.plot rect.bar.given{fill:none;stroke:var(--soft,currentColor)}
.plot rect.bar.other{fill:none;stroke:var(--accent,currentColor);stroke-dasharray:3 2}
.plot circle.mark{fill:none;stroke:var(--wrong,currentColor);stroke-width:2}
.plot path.mark{stroke:var(--wrong,currentColor);stroke-width:1;stroke-dasharray:1 3}
"""
"""Styles in addition to ``svg.SHAPES``."""


class Axes:
    """The mapping from values to positions on the drawing."""

    def __init__(self, panel: PlotPanel, top: float) -> None:
        self.x, self.y = scales(panel)
        self.left, self.right = LEFT, WIDTH - RIGHT
        self.top, self.bottom = top, top + HEIGHT - TOP - BOTTOM

    def across(self, x: float) -> float:
        return self.left + (self.right - self.left) * self.x.place(x)

    def down(self, y: float) -> float:
        """Return the y position of a value; a value outside is placed at the edge."""
        place = min(max(self.y.place(y), 0.0), 1.0)
        return self.bottom - (self.bottom - self.top) * place


def draw_plot(
    panel: PlotPanel,
    tr: Catalogue | None = None,
    *,
    notes: Sequence[str] = (),
    own_style: bool = False,
) -> str:
    """Return a panel as an ``svg`` element, with the notes
    below it; use ``own_style`` for a file.
    """
    tr = tr or Catalogue()
    legend, rows = _legend(panel, tr)
    frame = Axes(panel, TOP + rows * ROW)
    below = [line for note in [outside(panel, frame.y, tr), *notes] for line in wrapped(note)]
    height = frame.bottom + BOTTOM + len(below) * SMALL_LINE
    title = panel.caption or tr("Plot")
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="graph plot" role="img"'
            f' width="{WIDTH:.0f}" height="{height:.0f}" viewBox="0 0 {WIDTH:.0f} {height:.0f}">'
        ),
        f"<title>{escape(title)}</title><desc>{escape(described(panel, tr))}</desc>",
        f"<style>{STYLE}{SHAPES}{PLOT}</style>" if own_style else "",
        *legend,
        *_axes(panel, frame),
        *_bars(panel, frame, tr),
        *(part for one in panel.series for part in _series(one, frame)),
        *_marks(panel, frame),
        *(
            _text(line, 8, frame.bottom + BOTTOM + k * SMALL_LINE + 9, "small left")
            for k, line in enumerate(below)
        ),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part)


def wrapped(text: str) -> list[str]:
    """Return a sentence as lines that fit below a drawing."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if cell_len(longer) * SMALL_CELL > WIDTH - 16 and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return [line for line in lines if line]


def _legend(panel: PlotPanel, tr: Catalogue) -> tuple[list[str], int]:
    """Return the legend's samples with their names, and the number of rows they take."""
    parts, x, row = [], LEFT, 0
    entries = [(one, short(series_label(one, tr), 40)) for one in panel.series]
    for one, label in entries:
        wide = SAMPLE + cell_len(label) * SMALL_CELL + 12
        if x > LEFT and x + wide > WIDTH:
            x, row = LEFT, row + 1
        y = TOP + row * ROW + 5
        if one.form == "bars":
            sample = (
                f'<rect class="bar {one.role}" x="{x:.1f}" y="{y - 5:.1f}" width="14" height="9"/>'
            )
        elif one.form == "dots":
            sample = "".join(_dot(x + step, y, one.role) for step in (2, 9, 16))
        else:
            sample = f'<path class="curve {one.role}" d="M{x:.1f} {y:.1f}h16"/>'
        parts += [sample, _text(label, x + SAMPLE, y + 4, "small left")]
        x += wide
    return parts, row + 1


def _axes(panel: PlotPanel, frame: Axes) -> list[str]:
    parts = []
    for value in frame.y.ticks(5):
        y = frame.down(value)
        parts.append(f'<path class="grid" d="M{frame.left:.1f} {y:.1f}H{frame.right:.1f}"/>')
        text = tick_text(value, log=frame.y.log)
        parts.append(_text(text, frame.left - 5, y + 4, "small right"))
    marks = [] if panel.names else [(x, tick_text(x, log=frame.x.log)) for x in frame.x.ticks(6)]
    room = (frame.right - frame.left) / max(len(panel.names), 1)
    marks += [
        (float(k), short(name, max(int(room / SMALL_CELL), 2)))
        for k, name in enumerate(panel.names)
    ]
    for value, text in marks:
        x = frame.across(value)
        if not panel.names:
            parts.append(f'<path class="grid" d="M{x:.1f} {frame.top:.1f}V{frame.bottom:.1f}"/>')
        parts.append(_text(text, x, frame.bottom + 14, "small"))
    zero = frame.down(0.0) if not frame.y.log and frame.y.holds(0.0) else frame.bottom
    parts.append(f'<path class="axis" d="M{frame.left:.1f} {zero:.1f}H{frame.right:.1f}"/>')
    parts.append(f'<path class="axis" d="M{frame.left:.1f} {frame.top:.1f}V{frame.bottom:.1f}"/>')
    middle = (frame.left + frame.right) / 2
    label = short(panel.x.label, 44) if not panel.names else ""
    return [*parts, _text(label, middle, frame.bottom + 28, "small") if label else ""]


def _bars(panel: PlotPanel, frame: Axes, tr: Catalogue) -> list[str]:
    """Return the bars, side by side at each place, starting at zero."""
    sets = [one for one in panel.series if one.form == "bars"]
    parts = []
    for which, one in enumerate(sets):
        for x, y in zip(one.x, one.y, strict=True):
            if y is None:
                continue
            wide = (frame.across(1.0) - frame.across(0.0)) * 0.8 / len(sets)
            left = frame.across(x) + (which - len(sets) / 2) * wide
            zero, end = frame.down(0.0), frame.down(y)
            box = f'x="{left + 1:.1f}" y="{min(zero, end):.1f}" width="{max(wide - 2, 1):.1f}"'
            tooltip = escape(f"{series_label(one, tr)} = {number_text(y, 6)}")
            parts.append(
                f'<rect class="bar {one.role}" {box} height="{max(abs(end - zero), 0.5):.1f}">'
                f"<title>{tooltip}</title></rect>"
            )
    return parts


def _series(one: Series, frame: Axes) -> list[str]:
    points = [
        (frame.across(x), frame.down(y)) if y is not None and frame.y.holds(y) else None
        for x, y in zip(one.x, one.y, strict=True)
    ]
    if one.form == "dots":
        return [_dot(x, y, one.role) for x, y in filter(None, points)]
    if one.form == "bars":
        return []
    path, pen = "", "M"
    for point in points:
        if point is None:
            pen = "M"
        else:
            path, pen = f"{path}{pen}{point[0]:.1f} {point[1]:.1f}", "L"
    return [f'<path class="curve {one.role}" d="{path}"/>'] if path else []


def _marks(panel: PlotPanel, frame: Axes) -> list[str]:
    parts = []
    for mark in panel.marks:
        x = frame.across(mark.x)
        parts.append(f'<path class="mark" d="M{x:.1f} {frame.top:.1f}V{frame.bottom:.1f}"/>')
        if mark.y is not None:
            tooltip = escape(f"{number_text(mark.x, 4)}, {number_text(mark.y, 6)}")
            parts.append(
                f'<circle class="mark" cx="{x:.1f}" cy="{frame.down(mark.y):.1f}" r="6">'
                f"<title>{tooltip}</title></circle>"
            )
    return parts


def _dot(x: float, y: float, role: str) -> str:
    return f'<circle class="{role}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}"/>'


def _text(text: str, x: float, y: float, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
