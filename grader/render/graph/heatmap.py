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
from grader.render.graph.svg import SMALL_CELL, drawing, element, text_at, titled

CELL_HEIGHT = 26.0
MARGIN, HEAD, LABEL = 10.0, 44.0, 46.0
GAP = 34.0
WIDE, NARROW = 62.0, 26.0
MOST_WITH_NUMBERS = 6
STRONGEST, WEAKEST = 0.5, 0.06


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
    parts: list[str] = []
    for place, (matrix, heading) in enumerate(zip(matrices, headings, strict=True)):
        left = MARGIN + LABEL + place * (LABEL + wide + GAP)
        parts.append(text_at(left + wide / 2, 14, heading, "small heading"))
        start = left + (wide - columns * cell) / 2
        parts += [
            text_at(start + (j + 0.5) * cell, 34, name_of(pair.input, j, numbers), "small")
            for j in range(columns)
        ]
        for i, row in enumerate(matrix):
            y = HEAD + i * CELL_HEIGHT
            label = name_of(pair.output, i, short_names=True)
            parts.append(text_at(start - 20, y + 17, label, "small"))
            for j, value in enumerate(row):
                x, name = start + j * cell, pair.entry(i, j)
                parts.append(_cell(name, value, x, y, cell, largest, numbers=numbers))
        for i, j in sorted(differing):
            x, y = start + j * cell + 2, HEAD + i * CELL_HEIGHT + 2
            size = {"width": cell - 4, "height": CELL_HEIGHT - 4}
            parts.append(element("rect", class_="differs", x=x, y=y, **size, rx=3))
    head = titled(title) + element("desc", escape(description))
    sheets = ("drawing.css", "graph.css", "heatmap.css") if own_style else ()
    return drawing("graph", width, height, head, parts, sheets=sheets)


def name_of(name: str, place: int, short_names: bool) -> str:
    """Return ``x[3]``, or only the number if there is little room."""
    return f"{name}[{place}]" if short_names and cell_len(name) <= 2 else str(place)


def _cell(
    name: str, value: float, x: float, y: float, width: float, largest: float, *, numbers: bool
) -> str:
    share = abs(value) / largest if largest and math.isfinite(value) else 0.0
    kind = "none" if not share else "more" if value > 0 else "less"
    place: dict[str, float | str] = {"x": x, "y": y, "width": width, "height": CELL_HEIGHT}
    if share:
        place["fill_opacity"] = f"{WEAKEST + (STRONGEST - WEAKEST) * share:.2f}"
    box = element("rect", class_=f"cell {kind}", **place)
    text = text_at(x + width / 2, y + 17, number_text(value, 3), "small") if numbers else ""
    return element("g", titled(f"{name} = {number_text(value, 6)}"), box, text)
