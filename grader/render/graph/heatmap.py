"""Draw two Jacobians side by side as SVG: size by color, differences framed, numbers if they fit.

The page's policy forbids style attributes, so color strength is SVG's opacity.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from html import escape
from typing import Any

from rich.cells import cell_len

from grader.core.i18n import Catalogue
from grader.core.text import clean, number_text
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


@dataclass(frozen=True, slots=True)
class Jacobians:
    """Two matrices of one shape, and how far they may be apart.

    ``cut`` is how many rows and columns of the full matrices are left out.
    """

    analytic: list[list[float]]
    numeric: list[list[float]]
    atol: float
    rtol: float
    input: str
    output: str
    cut: tuple[int, int]

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Jacobians:
        """Read a figure's data; raise ValueError if it is not a pair of Jacobians."""
        try:
            analytic, numeric = (
                [[float(value) for value in row] for row in data[key]]
                for key in ("analytic", "numeric")
            )
            x, y = (clean(str(data[key]), 24) for key in ("input", "output"))
            rows, columns = data["cut"]
            made = cls(
                analytic,
                numeric,
                float(data["atol"]),
                float(data["rtol"]),
                x,
                y,
                (int(rows), int(columns)),
            )
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"no pair of Jacobians: {type(error).__name__}") from None
        if (
            not analytic
            or [len(row) for row in analytic] != [len(row) for row in numeric]
            or len({len(row) for row in analytic}) != 1
        ):
            raise ValueError("no pair of Jacobians: their shapes differ")
        return made

    def differing(self) -> list[tuple[int, int]]:
        """Return row and column of each entry that differs, the largest difference first."""
        found = []
        for i, row in enumerate(self.analytic):
            for j, mine in enumerate(row):
                theirs = self.numeric[i][j]
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


def draw_heatmap(pair: Jacobians, tr: Catalogue | None = None, *, own_style: bool = False) -> str:
    tr = tr or Catalogue()
    rows, columns = len(pair.analytic), len(pair.analytic[0])
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
    entries = itertools.chain(*pair.analytic, *pair.numeric)
    largest = max((abs(value) for value in entries if math.isfinite(value)), default=0.0)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" width="{width:.0f}"'
            f' height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        ),
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>",
        f"<style>{STYLE}{SHAPES}{HEAT}</style>" if own_style else "",
    ]
    for place, (matrix, heading) in enumerate(
        zip((pair.analytic, pair.numeric), headings, strict=True)
    ):
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
