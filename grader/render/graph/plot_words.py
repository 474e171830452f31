"""Texts of a plot, shared by page and terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size

from grader.core.i18n import Catalogue
from grader.core.pictures import PlotPanel, Series
from grader.core.text import number_text
from grader.render.graph.plot_scale import Scale

MOST_ROWS = 14


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
        if one.form == "dots"
        for y in one.y
    )
    return tr("{count} points lie above or below the drawing", count=count) if count else ""


def table(panel: PlotPanel, tr: Catalogue) -> str:
    """Return the values as columns of text: x, and each series' value there."""
    heads = [panel.x.label or "x", *(series_label(one, tr) for one in panel.series)]
    rows = [heads, *_rows(panel)]
    widths = [max(cell_len(row[k]) for row in rows) for k in range(len(heads))]
    return "\n".join(
        "  ".join(
            set_cell_size(cell, width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


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
