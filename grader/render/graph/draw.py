"""Draw the graph behind a tensor, in a notebook, in a terminal or in a file (``grader.draw``)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.core.errors import UsageError
from grader.core.pictures import GraphPicture
from grader.render.graph.svg import draw_svg
from grader.render.graph.tree import tree_text

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """A graph at the time when it was drawn: a picture in a notebook, a tree when printed."""

    picture: GraphPicture

    def _repr_svg_(self) -> str:
        return draw_svg(self.picture, own_style=True)

    def __str__(self) -> str:
        return tree_text(self.picture)

    __repr__ = __str__  # the text that a prompt shows

    def save(self, path: str | Path) -> Path:
        """Write an SVG, or a tree for ``.txt``; return the path.

        Raise UsageError for another suffix.
        """
        place = Path(path)
        if place.suffix not in (".svg", ".txt"):
            raise UsageError(f"{place}: a drawing is saved as .svg or .txt. Name the file so")
        place.write_text(
            f"{self if place.suffix == '.txt' else self._repr_svg_()}\n", "utf-8", newline="\n"
        )
        return place


def draw(tensor: Tensor, *, names: Mapping[str, Any] | None = None) -> Drawing:
    """Draw the graph behind a tensor as it is now: operations, leaves, saved tensors, hooks.

    ``names`` names tensors (default: the caller's variables). Raise TypeError for anything
    but a tensor.
    """
    import torch

    from grader.worker.wire.trace import trace

    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"draw takes a tensor, and got one of type {type(tensor).__name__}")
    if names is None:
        names = {
            name: value
            for name, value in sys._getframe(1).f_locals.items()
            if not name.startswith("_")
        }
    return Drawing(GraphPicture.from_json(trace(tensor, names)))
