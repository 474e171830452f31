"""A plot as validated plain data: panels with curves, points or bars, and a marked point.

The judge makes it (``judge/plots.py``), a report carries it, ``render/graph`` draws it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from grader.core.sanitize import clean

ROLES = ("yours", "truth", "given", "other")
FORMS = ("line", "dots", "bars")
MAX_PANELS = 4
MAX_SERIES = 6
MAX_POINTS = 400
MAX_LABEL = 80
MAX_CAPTION = 200


@dataclass(frozen=True, slots=True)
class Series:
    """Values over x.

    ``role`` says whose they are, ``form`` how to draw them; the role ``given`` is the check's
    input. A y of None marks a point without a value. If ``label`` is empty, the role is the name.
    For bars, x is the position: 0, 1, 2, …
    """

    label: str
    role: str
    form: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class PointMark:
    """The point that a check is about; without a y only its x is known."""

    x: float
    y: float | None
    role: str = "yours"


@dataclass(frozen=True, slots=True)
class Axis:
    """The name and the scale of an axis."""

    label: str = ""
    log: bool = False


@dataclass(frozen=True, slots=True)
class PlotPanel:
    """One drawing. ``names`` are those of its bars."""

    caption: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[PointMark, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def bars(self) -> bool:
        return any(one.form == "bars" for one in self.series)


@dataclass(frozen=True, slots=True)
class Plot:
    """Panels that belong together; ``notes`` are sentences about them."""

    caption: str
    panels: tuple[PlotPanel, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the figure ``kind: "plot"`` of a report."""
        return {"kind": "plot", **_lists(asdict(self))}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Plot:
        """Read a figure. Raise ValueError if it is not a plot."""
        try:
            panels = tuple(_panel(one) for one in data["panels"])
            if not 0 < len(panels) <= MAX_PANELS:
                raise ValueError("not a plot: the number of panels")
            notes = tuple(label_text(note, MAX_CAPTION) for note in data["notes"])
            return cls(label_text(data["caption"], MAX_CAPTION), panels, notes)
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"not a plot: {type(error).__name__}") from None


def _lists(value: Any) -> Any:
    """Return data as JSON has it: lists instead of tuples."""
    if isinstance(value, dict):
        return {key: _lists(one) for key, one in value.items()}
    return [_lists(one) for one in value] if isinstance(value, list | tuple) else value


def _panel(data: dict[str, Any]) -> PlotPanel:
    x, y = (
        Axis(label_text(data[key]["label"], MAX_LABEL), data[key]["log"] is True)
        for key in ("x", "y")
    )
    series = tuple(_series(one, x, y) for one in data["series"])
    if not 0 < len(series) <= MAX_SERIES:
        raise ValueError("not a plot: the number of series")
    marks = tuple(
        PointMark(
            _number(one["x"], log=x.log), _value(one["y"], log=y.log), _one_of(one["role"], ROLES)
        )
        for one in data["marks"]
    )
    names = tuple(label_text(name, MAX_LABEL) for name in data["names"])
    return PlotPanel(label_text(data["caption"], MAX_CAPTION), x, y, series, marks, names)


def _series(data: dict[str, Any], x: Axis, y: Axis) -> Series:
    xs = tuple(_number(value, log=x.log) for value in data["x"])
    ys = tuple(_value(value, log=y.log) for value in data["y"])
    if len(xs) != len(ys) or len(xs) > MAX_POINTS:
        raise ValueError("not a plot: the number of points")
    role, form = _one_of(data["role"], ROLES), _one_of(data["form"], FORMS)
    return Series(label_text(data["label"], MAX_LABEL), role, form, xs, ys)


def _value(value: Any, *, log: bool) -> float | None:
    return None if value is None else _number(value, log=log)


def _number(value: Any, *, log: bool) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("not a plot: a coordinate is not a finite number")
    if log and value <= 0:
        raise ValueError("not a plot: a coordinate has no logarithm")
    return float(value)


def _one_of(value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ValueError(f"not a plot: {str(value)[:40]!r}")
    return str(value)


def label_text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise TypeError("a text that is none")
    return " ".join(clean(value, most).split())
