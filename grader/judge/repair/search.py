"""Search for the smallest edit after which every check of a function passes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

from grader.judge.repair.edits import Edit

SEARCH_SECONDS = 5.0
"""How long a search may take, because a student waits for it; then it reports nothing."""


@dataclass(frozen=True, slots=True)
class Search:
    """The result of a search: the repair, if there is one and its place is clear, and the number of
    edits that were tried.
    """

    edit: Edit | None
    tried: int


def search(
    edits: Iterable[Edit],
    repairs: Callable[[Edit], bool],
    *,
    seconds: float = SEARCH_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Search:
    """Try edits rank by rank and return the repair of the first rank that has one.

    ``edits`` are in the order of their ranks. All edits of a rank are tried. If two repairs are at
    unrelated places, it is unclear what is wrong, and the result is None. The same holds if time
    runs out before a rank is finished. Of related repairs, return the one with the smallest range.
    """
    end, tried = clock() + seconds, 0
    for _, of_rank in groupby(edits, key=lambda edit: edit.rank):
        found: list[Edit] = []
        for edit in of_rank:
            if clock() > end:
                return Search(None, tried)
            tried += 1
            if repairs(edit):
                found.append(edit)
                if not found[0].related(edit):
                    return Search(None, tried)
        if found:
            smallest = min(found, key=lambda edit: edit.extent)
            agreed = all(one.related(smallest) for one in found)
            return Search(smallest if agreed else None, tried)
    return Search(None, tried)
