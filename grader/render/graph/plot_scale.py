"""Compute the scales of a plot: the range shown, the
position of a value in it, the tick numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grader.core.pictures import PlotPanel

BEYOND = 1.2
"""How far other values may stretch a scale beyond the true ones, in true ranges, to either side."""
MARGIN = 0.06
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


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
    """Return the scales of a panel, so that extreme values of a student do not flatten the true
    ones.
    """
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
    """Return the true values and the others near them; values further away are replaced by the
    limits.
    """
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
