"""Compare a learner's code with the reference line by line, as wide as the terminal is."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from rich.cells import chop_cells
from rich.text import Text

from grader.core.text import clean

CONTEXT = 3
STYLES = {"-": "red", "+": "green", "@": "cyan", " ": ""}


def compare(mine: str, reference: str, *, width: int) -> Iterator[Text]:
    """Yield ``-`` lines (learner's) and ``+`` lines (reference's); nothing if they agree."""
    lines = list(
        difflib.unified_diff(mine.splitlines(), reference.splitlines(), n=CONTEXT, lineterm="")
    )
    for line in lines[2:]:  # skip the two lines that name files
        if line.startswith("@@"):
            yield Text("⋯", "cyan")
            continue
        mark, rest = line[0], clean(line[1:].expandtabs(4))
        for number, piece in enumerate(chop_cells(rest, max(8, width - 2)) or [""]):
            yield Text(f"{mark if number == 0 else '↳'} {piece}", STYLES[mark])
