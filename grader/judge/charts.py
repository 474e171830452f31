"""Plots of a failed check as plain data: figures of ``kind: "plot"`` (``core/plot_data.py``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from grader.core.i18n import Phrase
from grader.judge.figures import Figure

DIGITS = 6
MAX_BARS = 12

Text = str | Phrase


def curve(role: str, xs: Any, ys: Any, label: Text = "", *, form: str = "line") -> dict[str, Any]:
    """Return values over x. Without ``xs`` the places are 0, 1, 2, …

    ``role`` is "yours", "truth", "given" or "other"; ``form`` is "line", "dots" or "bars". Values
    that are not finite are left out.
    """
    values = [rounded(y) for y in _floats(ys)]
    places = [float(x) for x in (range(len(values)) if xs is None else _floats(xs))]
    pairs = [(rounded(x), y) for x, y in zip(places, values, strict=True) if math.isfinite(x)]
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    return {"label": label, "role": role, "form": form, "x": xs, "y": ys}


def panel(
    caption: Text,
    *curves: dict[str, Any],
    x: Text = "x",
    y: Text = "",
    log: bool = False,
    mark: tuple[float, float | None] | None = None,
    names: Sequence[str] = (),
) -> dict[str, Any]:
    """Return one drawing of a plot.

    ``log`` makes both scales logarithmic; values without a logarithm are left out. ``mark`` is the
    point that the check is about. ``names`` are the names of bars, at 0, 1, 2, …
    """
    shown = [_with_logarithm(one) for one in curves] if log else list(curves)
    marks = (
        [] if mark is None else [{"x": rounded(mark[0]), "y": rounded(mark[1]), "role": "yours"}]
    )
    return {
        "caption": caption,
        "x": {"label": x, "log": log},
        "y": {"label": y, "log": log},
        "series": shown,
        "marks": marks,
        "names": list(names),
    }


def chart_figure(caption: Text, *panels: dict[str, Any], notes: Sequence[Text] = ()) -> Figure:
    """Return a figure of some panels; the notes are sentences below them."""
    return {"kind": "plot", "caption": caption, "panels": list(panels), "notes": list(notes)}


def bar_names(name: str, tensor: Tensor) -> list[str]:
    """Return ``x[0]``, ``x[1]``, … for the elements that bars show: the first twelve."""
    return [element_name(name, tensor, k) for k in range(min(tensor.numel(), MAX_BARS))]


def bar_values(tensor: Any) -> list[float]:
    """Return the elements that bars show: the first twelve."""
    return _floats(tensor)[:MAX_BARS]


def rounded(value: Any) -> float | None:
    """Return a number with as many digits as a drawing shows; None if it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.{DIGITS}g}")


def _floats(values: Any) -> list[float]:
    if isinstance(values, Tensor):
        return values.detach().to(torch.float64).flatten().tolist()
    return [math.nan if value is None else float(value) for value in values]


def _with_logarithm(one: dict[str, Any]) -> dict[str, Any]:
    pairs = [(x, y) for x, y in zip(one["x"], one["y"], strict=True) if x > 0]
    ys = [y if y is not None and y > 0 else None for _, y in pairs]
    return {**one, "x": [x for x, _ in pairs], "y": ys}


def element_name(name: str, tensor: Tensor, at: int) -> str:
    """Return ``x[1]``, or ``x`` for a single number."""
    if not tensor.dim():
        return name
    return f"{name}[{', '.join(map(str, index_of(tensor, at)))}]"


def index_of(tensor: Tensor, at: int) -> tuple[int, ...]:
    """Return the index of an element, given its number in row-major order."""
    return tuple(int(k) for k in torch.unravel_index(torch.tensor(at), tensor.shape))
