"""Draw a plot: curves, points and bars between axes, with the failing point marked.

The student's and the true values differ in form, too. In an SVG the student's are dots, or bars
with another fill, beside a solid line; in a terminal, crosses beside a curve of braille dots.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from grader.core.i18n import Catalogue
from grader.core.pictures import PlotPanel, Series
from grader.core.text import number_text
from grader.render.graph.svg import SMALL_CELL, SMALL_LINE, drawing, element, short, text_at, titled

BEYOND = 50.0
"""How far other values may stretch a scale beyond the true ones, in true ranges, to either side."""
MARGIN = 0.06
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_ROWS = 14
WIDTH, HEIGHT = 360.0, 190.0
"""The size of the rectangle between the axes with its margins, without legend and note."""
LEFT, RIGHT, TOP, BOTTOM = 52.0, 12.0, 8.0, 34.0
ROW = 17.0
SAMPLE = 22.0
RADIUS = 2.6
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


def draw_plot(panel: PlotPanel, tr: Catalogue, *, notes: Sequence[str] = ()) -> str:
    """Return a panel as an ``svg`` element, with the notes below it."""
    legend, rows = _legend(panel, tr)
    frame = Axes(panel, TOP + rows * ROW)
    below = [line for note in [outside(panel, frame.y, tr), *notes] for line in wrapped(note)]
    height = frame.bottom + BOTTOM + len(below) * SMALL_LINE
    head = titled(panel.caption or tr("Plot")) + element("desc", escape(described(panel, tr)))
    parts = [
        *legend,
        *_axes(panel, frame),
        *_bars(panel, frame, tr),
        *(part for one in panel.series for part in _series(one, frame)),
        *_marks(panel, frame),
        *(
            text_at(8.0, frame.bottom + BOTTOM + k * SMALL_LINE + 9, line, "small left")
            for k, line in enumerate(below)
        ),
    ]
    return drawing("graph plot", WIDTH, height, head, parts)


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

    def level(self, style: str, y: float) -> str:
        return _path(style, f"M{self.left:.1f} {y:.1f}H{self.right:.1f}")

    def upright(self, style: str, x: float) -> str:
        return _path(style, f"M{x:.1f} {self.top:.1f}V{self.bottom:.1f}")


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
            sample = element("rect", class_=f"bar {one.role}", x=x, y=y - 5, width=14, height=9)
        elif one.form == "dots":
            sample = "".join(_dot(x + step, y, one.role) for step in (2, 9, 16))
        else:
            sample = _path(f"curve {one.role}", f"M{x:.1f} {y:.1f}h16")
        parts += [sample, text_at(x + SAMPLE, y + 4, label, "small left")]
        x += wide
    return parts, row + 1


def _axes(panel: PlotPanel, frame: Axes) -> list[str]:
    parts = []
    for value in frame.y.ticks(5):
        y = frame.down(value)
        parts.append(frame.level("grid", y))
        text = tick_text(value, log=frame.y.log)
        parts.append(text_at(frame.left - 5, y + 4, text, "small right"))
    marks = [] if panel.names else [(x, tick_text(x, log=frame.x.log)) for x in frame.x.ticks(6)]
    room = (frame.right - frame.left) / max(len(panel.names), 1)
    marks += [
        (float(k), short(name, max(int(room / SMALL_CELL), 2)))
        for k, name in enumerate(panel.names)
    ]
    for value, text in marks:
        x = frame.across(value)
        if not panel.names:
            parts.append(frame.upright("grid", x))
        parts.append(text_at(x, frame.bottom + 14, text, "small"))
    zero = frame.down(0.0) if not frame.y.log and frame.y.holds(0.0) else frame.bottom
    parts += [frame.level("axis", zero), frame.upright("axis", frame.left)]
    middle = (frame.left + frame.right) / 2
    label = short(panel.x.label, 44) if not panel.names else ""
    return [*parts, text_at(middle, frame.bottom + 28, label, "small") if label else ""]


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
            place = {"x": left + 1, "y": min(zero, end), "width": max(wide - 2, 1.0)}
            tooltip = titled(f"{series_label(one, tr)} = {number_text(y, 6)}")
            height = max(abs(end - zero), 0.5)
            parts.append(element("rect", tooltip, class_=f"bar {one.role}", **place, height=height))
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
    return [_path(f"curve {one.role}", path)] if path else []


def _marks(panel: PlotPanel, frame: Axes) -> list[str]:
    parts = []
    for mark in panel.marks:
        x = frame.across(mark.x)
        parts.append(frame.upright("mark", x))
        if mark.y is not None:
            tooltip = titled(f"{number_text(mark.x, 4)}, {number_text(mark.y, 6)}")
            y = frame.down(mark.y)
            parts.append(element("circle", tooltip, class_="mark", cx=x, cy=y, r=6))
    return parts


def _dot(x: float, y: float, role: str) -> str:
    return element("circle", class_=role, cx=x, cy=y, r=RADIUS)


def _path(style: str, d: str) -> str:
    return element("path", class_=style, d=d)


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
        side = "┤" if row in ticks else "│"
        line = Text(f"{ticks.get(row, ''):>{margin}} ", "dim").append(side, "dim")
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


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character of the drawing, and the role of its series."""

    sign: str
    role: str


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
    (x, y), across, up = start, end[0] - start[0], end[1] - start[1]
    count = max(1, round(max(abs(across), abs(up))))
    steps = range(count + 1)
    return [(round(x + across * k / count), round(y + up * k / count)) for k in steps]


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


def table(panel: PlotPanel, tr: Catalogue) -> str:
    """Return the values as columns of text: x, and each series' value there."""
    heads = [panel.x.label or "x", *(series_label(one, tr) for one in panel.series)]
    return "\n".join(aligned([heads, *_rows(panel)]))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines, in which cells are aligned below each other."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(set_cell_size, row, widths)).rstrip() for row in rows]


def _rows(panel: PlotPanel) -> Iterator[list[str]]:
    known = [dict(zip(one.x, one.y, strict=True)) for one in panel.series]
    base = next((one for one in panel.series if one.role == "yours"), panel.series[0])
    places = list(base.x)
    every = max(1, -(-len(places) // MOST_ROWS))
    kept = set(places[::every]) | {mark.x for mark in panel.marks}
    for x in sorted(kept):
        name = number_text(x, 4)
        if panel.names and x == int(x) and 0 <= x < len(panel.names):
            name = panel.names[int(x)]
        yield [name, *("" if (y := one.get(x)) is None else number_text(y, 6) for one in known)]


def series_label(series: Series, tr: Catalogue) -> str:
    """Return the name of a series in a legend."""
    if series.label:
        return series.label
    return {"yours": tr("yours"), "truth": tr("expected")}.get(series.role, "")


def described(panel: PlotPanel, tr: Catalogue) -> str:
    """Return a sentence for people who can't see the drawing."""
    names = ", ".join(dict.fromkeys(series_label(one, tr) for one in panel.series))
    sentence = tr("A plot over {x}: {names}.", x=panel.x.label or "x", names=names)
    for mark in panel.marks:
        at = number_text(mark.x, 4)
        if mark.y is None:
            sentence += " " + tr("The failing point is at {x}.", x=at)
        else:
            sentence += " " + tr(
                "The failing point is at {x}, {y}.", x=at, y=number_text(mark.y, 4)
            )
    return sentence


def outside(panel: PlotPanel, scale: Scale, tr: Catalogue) -> str:
    """Return a sentence about points above or below the drawing; empty if all are in it."""
    count = sum(
        y is not None and not scale.holds(y)
        for one in panel.series
        if one.form != "bars"
        for y in one.y
    )
    if count == 1:
        return tr("1 point lies above or below the drawing")
    return tr("{count} points lie above or below the drawing", count=count) if count else ""


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of values, linear or logarithmic."""

    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value lies: 0 at the low end, 1 at the high one."""
        low, high = self._of(self.low), self._of(self.high)
        return (self._of(value) - low) / (high - low)

    def holds(self, value: float) -> bool:
        return -1e-9 <= self.place(value) <= 1 + 1e-9

    def _of(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self, most: int = 6) -> list[float]:
        """Return round numbers within the range; for a logarithmic scale, powers of ten."""
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            every = max(1, -(-(last - first + 1) // most))
            return [10.0**power for power in range(first, last + 1, every)]
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in STEPS if factor * power >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(k * step, 12) for k in range(first, last + 1)]


def scales(panel: PlotPanel) -> tuple[Scale, Scale]:
    """Return a panel's scales; a student's extreme values do not flatten the true ones."""
    xs = [x for one in panel.series for x in one.x] + [mark.x for mark in panel.marks]
    true: list[float] = []
    others: list[float] = []
    for one in panel.series:
        (others if one.role == "yours" else true).extend(y for y in one.y if y is not None)
    others += [mark.y for mark in panel.marks if mark.y is not None]
    if panel.bars:
        last = max(x for one in panel.series if one.form == "bars" for x in (*one.x, 0.0))
        return Scale(-0.5, last + 0.5), stretched([*true, *others, 0.0], margin=0.1)
    return (
        stretched(xs, margin=0.0, log=panel.x.log),
        stretched(within(true, others, log=panel.y.log), log=panel.y.log),
    )


def within(true: Sequence[float], others: Sequence[float], *, log: bool) -> list[float]:
    """Return the true values and the others, those far from them moved to the limits."""
    if not true or log:
        return [*true, *others]
    low, high = min(true), max(true)
    room = BEYOND * max(high - low, abs(high), abs(low), 1e-12)
    return [*true, *(min(max(y, low - room), high + room) for y in others)]


def stretched(values: Sequence[float], *, margin: float = MARGIN, log: bool = False) -> Scale:
    """Return a scale that holds all values, with a margin, and is never empty."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if log:
        if not values:
            low, high = 0.1, 1.0
        return Scale(low / 1.5, high * 1.5, log=True)
    room = (high - low) * margin
    if high - low <= 1e-9 * max(abs(high), abs(low), 1e-3):
        room = max(abs(high) / 2, 0.5) if margin else 0.5
    return Scale(low - room, high + room)


def tick_text(value: float, *, log: bool = False) -> str:
    """Return a number beside an axis: ``0.5``, ``-2``, ``1e-5``."""
    if value == 0:
        return "0"
    if log and not 1e-3 <= abs(value) < 1e4:
        return f"1e{round(math.log10(abs(value)))}"
    text = f"{value:.4g}"
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
