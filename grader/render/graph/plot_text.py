"""Draw a plot in a terminal: the true curve in braille dots, the student's as crosses, bars of
blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from grader.core.i18n import Catalogue
from grader.core.pictures import PlotPanel
from grader.core.text import number_text
from grader.render.graph.plot_scale import Scale, scales, tick_text
from grader.render.graph.plot_words import outside, series_label

ROWS, WIDEST = 6, 64
"""Two drawings fit on a screen of 24 lines, with their heads and the lines of ``grade watch``."""
BRAILLE = 0x2800
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of a braille character, by column and row."""
SIGNS = {"yours": "×", "other": "+", "truth": "•", "given": "·"}
RANKS = ("given", "other", "truth", "yours")
"""The order in which series are drawn; a later sign covers an earlier one."""
MARK = "◉"
STYLES = {"yours": "red", "truth": "green", "other": "blue", "given": ""}
FULL, EIGHTHS = "█", " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character of the drawing, and the role of its series."""

    sign: str
    role: str


def plot_lines(panel: PlotPanel, tr: Catalogue, width: int) -> list[Text]:
    """Return a panel as lines of at most ``width`` cells."""
    lines = _bar_lines(panel, tr, width) if panel.bars else _curve_lines(panel, tr, width)
    caption = [Text(panel.caption, "bold")] if panel.caption else []
    if caption and not panel.bars:
        joined = Text("   ").join([*caption, lines[0]])
        if joined.cell_len <= width:
            caption, lines[0] = [], joined
    for line in [*caption, *lines]:
        line.truncate(width, overflow="ellipsis")
    return [*caption, *lines]


def _curve_lines(panel: PlotPanel, tr: Catalogue, width: int) -> list[Text]:
    across, up = scales(panel)
    ticks = {
        ROWS - 1 - min(int(up.place(value) * ROWS), ROWS - 1): tick_text(value, log=up.log)
        for value in up.ticks(4)
    }
    margin = max((cell_len(text) for text in ticks.values()), default=0)
    name = cell_len(panel.x.label) + 2
    columns = max(10, min(WIDEST, width - margin - 2 - name))
    grid = _drawn(panel, across, up, columns)
    lines = [_legend_lines(panel, tr)]
    for row in range(ROWS):
        line = Text(f"{ticks.get(row, ''):>{margin}} ", "dim").append(
            "┤" if row in ticks else "│", "dim"
        )
        for column in range(columns):
            cell = grid.get((column, row), Glyph(" ", ""))
            line.append(cell.sign, STYLES.get(cell.role, ""))
        line.rstrip()
        lines.append(line)
    lines.append(Text(" " * (margin + 1) + "└" + "─" * columns, "dim"))
    lines.append(Text(" " * (margin + 2) + _below(panel, across, columns), "dim"))
    note = outside(panel, up, tr)
    return [*lines, Text(note, "dim")] if note else lines


def _legend_lines(panel: PlotPanel, tr: Catalogue) -> Text:
    parts = []
    for one in panel.series:
        sign = "⠒⠒" if one.form == "line" and one.role == "truth" else SIGNS[one.role]
        parts.append(Text.assemble((sign, STYLES[one.role]), (f" {series_label(one, tr)}", "dim")))
    if any(mark.y is not None for mark in panel.marks):
        parts.append(Text.assemble((MARK, "bold red"), (" " + tr("the failing point"), "dim")))
    return Text("   ").join(parts)


def _drawn(
    panel: PlotPanel, across: Scale, up: Scale, columns: int
) -> dict[tuple[int, int], Glyph]:
    """Return the characters by column and row: braille for the true lines, signs for the others."""
    cells: dict[tuple[int, int], Glyph] = {}
    bits: dict[tuple[int, int], int] = {}
    for one in sorted(panel.series, key=lambda one: RANKS.index(one.role)):
        last: tuple[float, float] | None = None
        for x, y in zip(one.x, one.y, strict=True):
            if y is None or not up.holds(y) or not across.holds(x):
                last = None
                continue
            here = across.place(x) * (2 * columns - 1), (1 - up.place(y)) * (4 * ROWS - 1)
            for column, row in _stroke(last or here, here):
                place = column // 2, row // 4
                sign = SIGNS[one.role]
                if one.role == "truth" and one.form == "line":
                    bits[place] = bits.get(place, 0) | DOTS[column % 2][row % 4]
                    sign = chr(BRAILLE + bits[place])
                cells[place] = Glyph(sign, one.role)
            last = here if one.form == "line" else None
    for mark in panel.marks:
        if mark.y is not None:
            height = min(max(up.place(mark.y), 0.0), 1.0)
            column = round(across.place(mark.x) * (2 * columns - 1)) // 2
            cells[column, round((1 - height) * (4 * ROWS - 1)) // 4] = Glyph(MARK, "yours")
    return cells


def _stroke(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[int, int]]:
    """Return the dots between two places."""
    count = max(1, round(max(abs(end[0] - start[0]), abs(end[1] - start[1]))))
    return [
        (
            round(start[0] + (end[0] - start[0]) * k / count),
            round(start[1] + (end[1] - start[1]) * k / count),
        )
        for k in range(count + 1)
    ]


def _below(panel: PlotPanel, scale: Scale, columns: int) -> str:
    """Return the numbers below the axis, with its name at the end."""
    line = ""
    for value in scale.ticks(6):
        text = tick_text(value, log=scale.log)
        start = max(round(scale.place(value) * (columns - 1)) - len(text) // 2, 0)
        if not line or start > len(line):
            line = line.ljust(start) + text
    return f"{line.ljust(columns)}  {panel.x.label}"


def _bar_lines(panel: PlotPanel, tr: Catalogue, width: int) -> list[Text]:
    """Return a line for each bar, and one for each level that is drawn across them."""
    rows: list[tuple[str, str, float, str]] = []
    bars = [one for one in panel.series if one.form == "bars"]
    for place, name in enumerate(panel.names):
        for which, one in enumerate(bars):
            y = dict(zip(one.x, one.y, strict=True)).get(float(place))
            if y is not None:
                rows.append((name if not which else "", series_label(one, tr), y, one.role))
    for one in panel.series:
        level = next((y for y in one.y if y is not None), None)
        if one.form != "bars" and level is not None:
            rows.append(("", series_label(one, tr), level, one.role))
    names = max((cell_len(row[0]) for row in rows), default=0)
    labels = max((cell_len(row[1]) for row in rows), default=0)
    largest = max((abs(row[2]) for row in rows), default=0.0) or 1.0
    room = max(6, min(40, width - names - labels - 16))
    lines = []
    for name, label, y, role in rows:
        head = f"{set_cell_size(name, names)}  {set_cell_size(label, labels)}  "
        line = Text(head, "dim").append(_bar(abs(y) / largest * room), STYLES[role])
        lines.append(line.append(f" {number_text(y, 4)}"))
    return lines


def _bar(cells: float) -> str:
    whole, part = divmod(round(cells * 8), 8)
    return FULL * whole + (EIGHTHS[part] if part else "") or EIGHTHS[1]
