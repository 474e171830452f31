"""Edits of a file's text: what a candidate for a repair changes, and where."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """The text from ``start`` to ``end`` becomes ``new``. If the change only adds something, no
    text there is wrong, and ``beside`` is the range of the adjacent statement.
    """

    start: int
    end: int
    new: str
    beside: tuple[int, int] | None = None

    @property
    def shown(self) -> tuple[int, int]:
        """The range that a report shows."""
        return self.beside or (self.start, self.end)

    def overlaps(self, other: Change) -> bool:
        return self.start < other.end and other.start < self.end

    def related(self, other: Change) -> bool:
        (start, end), (begin, stop) = self.shown, other.shown
        return start < stop and begin < end


@dataclass(frozen=True, slots=True)
class Edit:
    """One change, or up to three that only help together, in the order of the text.

    A lower ``rank`` is more plausible; fewer changes come first.
    """

    changes: tuple[Change, ...]
    rank: int
    donated: bool = False
    """Whether it contains code of another answer."""

    @classmethod
    def of(
        cls, start: int, end: int, new: str, rank: int, beside: tuple[int, int] | None = None
    ) -> Edit:
        """Return an edit of one change."""
        return cls((Change(start, end, new, beside),), rank)

    @property
    def main(self) -> Change:
        """The change that a report shows: the last one, because
        earlier ones may only prepare it.
        """
        return self.changes[-1]

    @property
    def start(self) -> int:
        return self.changes[0].start

    @property
    def extent(self) -> tuple[int, int]:
        """The number of characters that are replaced, and the number of new ones."""
        shown = (change.shown for change in self.changes)
        return sum(end - start for start, end in shown), sum(
            len(change.new) for change in self.changes
        )

    def applied(self, text: str) -> str:
        for one in sorted(self.changes, key=lambda change: -change.start):
            text = f"{text[: one.start]}{one.new}{text[one.end :]}"
        return text

    def related(self, other: Edit) -> bool:
        """Return whether ranges overlap, so that both edits blame the same place."""
        return any(one.related(two) for one in self.changes for two in other.changes)


def parsed(text: str) -> ast.Module | None:
    """Return the tree of an edited text; None if it is no longer Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
