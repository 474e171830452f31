"""The page of submissions that share code, side by side, with the shared parts marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.classroom.statistics.class_page import percent
from grader.classroom.statistics.similarity import Pair
from grader.render.page import environment, inlined, style_hash

SHOWN = 200
"""How many pairs the page has. More pairs would not be read, and mean that the threshold is too
low.
"""


def render_similar(
    pairs: Sequence[Pair],
    labels: Mapping[str, str],
    *,
    compared: int,
    threshold: float,
    earlier: str | None = None,
) -> str:
    """Render the page; ``labels`` are this class's names, ``earlier`` is the other class's name."""
    sheet = inlined("theme.css", "similar.css")
    return (
        environment()
        .get_template("similar.html")
        .render(
            pairs=pairs[:SHOWN],
            more=max(0, len(pairs) - SHOWN),
            labels=labels,
            compared=compared,
            threshold=threshold,
            earlier=earlier,
            percent=percent,
            style=sheet,
            style_hash=style_hash(sheet),
        )
    )
