"""Draw two Jacobians side by side as SVG: size by color, differences framed, numbers if they fit.

The page's policy forbids style attributes, so color strength is SVG's opacity.
"""

from __future__ import annotations

import itertools
import math
from html import escape

from rich.cells import cell_len

from grader.core.i18n import Catalogue
from grader.core.pictures import JacobianFigure
from grader.core.text import number_text
from grader.render.graph.draw import SHAPES, SMALL_CELL, STYLE

CELL_HEIGHT = 26.0
MARGIN, HEAD, LABEL = 10.0, 44.0, 46.0
GAP = 34.0
WIDE, NARROW = 62.0, 26.0
MOST_WITH_NUMBERS = 6
STRONGEST, WEAKEST = 0.5, 0.06
HEAT = """.graph .cell{stroke:var(--paper,none);stroke-width:1}
.graph .cell.more{fill:var(--accent,currentColor)}.graph .cell.less{fill:var(--wait,currentColor)}
.graph rect.cell.none{fill:var(--sunk,none)}
.graph rect.differs{fill:none;stroke:var(--wrong,currentColor);stroke-width:2.5}
.graph text.heading{font-weight:700}
"""
"""Styles in addition to ``graph.svg.SHAPES``."""


def draw_heatmap(
    pair: JacobianFigure, tr: Catalogue | None = None, *, own_style: bool = False
) -> str:
    tr = tr or Catalogue()
    matrices = pair.matrices()
    rows, columns = len(matrices[0]), len(matrices[0][0])
    numbers = columns <= MOST_WITH_NUMBERS
    headings = [tr("your backward"), tr("differences of your forward")]
    cell = WIDE if numbers else NARROW
    wide = max(columns * cell, *(cell_len(text) * SMALL_CELL * 1.15 for text in headings))
    width = 2 * MARGIN + 2 * (LABEL + wide) + GAP
    height = HEAD + rows * CELL_HEIGHT + MARGIN
    differing = set(pair.differing())
    title = tr("Jacobian of {output} with respect to {input}", output=pair.output, input=pair.input)
    description = tr(
        "A row for each output, a column for each element of {input}. {count} entries differ.",
        input=pair.input,
        count=len(differing),
    )
    entries = itertools.chain(*matrices[0], *matrices[1])
    largest = max((abs(value) for value in entries if math.isfinite(value)), default=0.0)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" width="{width:.0f}"'
            f' height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        ),
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>",
        f"<style>{STYLE}{SHAPES}{HEAT}</style>" if own_style else "",
    ]
    for place, (matrix, heading) in enumerate(zip(matrices, headings, strict=True)):
        left = MARGIN + LABEL + place * (LABEL + wide + GAP)
        parts.append(
            f'<text class="small heading" x="{left + wide / 2:.1f}" y="14">{escape(heading)}</text>'
        )
        start = left + (wide - columns * cell) / 2
        parts += [
            f'<text class="small" x="{start + (j + 0.5) * cell:.1f}"'
            f' y="34">{escape(name_of(pair.input, j, numbers))}</text>'
            for j in range(columns)
        ]
        for i, row in enumerate(matrix):
            y = HEAD + i * CELL_HEIGHT
            label = escape(name_of(pair.output, i, short_names=True))
            parts.append(
                f'<text class="small" x="{start - 20:.1f}" y="{y + 17:.1f}">{label}</text>'
            )
            for j, value in enumerate(row):
                x, name = start + j * cell, pair.entry(i, j)
                parts.append(_cell(name, value, x, y, cell, largest, numbers=numbers))
        parts += [
            _frame(start + j * cell, HEAD + i * CELL_HEIGHT, cell) for i, j in sorted(differing)
        ]
    return "\n".join(part for part in [*parts, "</svg>"] if part)


def name_of(name: str, place: int, short_names: bool) -> str:
    """Return ``x[3]``, or only the number if there is little room."""
    return f"{name}[{place}]" if short_names and cell_len(name) <= 2 else str(place)


def _cell(
    name: str, value: float, x: float, y: float, width: float, largest: float, *, numbers: bool
) -> str:
    share = abs(value) / largest if largest and math.isfinite(value) else 0.0
    kind = "none" if not share else "more" if value > 0 else "less"
    strength = f' fill-opacity="{WEAKEST + (STRONGEST - WEAKEST) * share:.2f}"' if share else ""
    shown = number_text(value, 3)
    text = (
        f'<text class="small" x="{x + width / 2:.1f}" y="{y + 17:.1f}">{shown}</text>'
        if numbers
        else ""
    )
    box = (
        f'<rect class="cell {kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}"'
        f' height="{CELL_HEIGHT}"{strength}/>'
    )
    return f"<g><title>{escape(f'{name} = {number_text(value, 6)}')}</title>{box}{text}</g>"


def _frame(x: float, y: float, width: float) -> str:
    box = f'x="{x + 2:.1f}" y="{y + 2:.1f}" width="{width - 4:.1f}" height="{CELL_HEIGHT - 4}"'
    return f'<rect class="differs" {box} rx="3"/>'
