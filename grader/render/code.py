"""Show a learner's Python on a page: colored by Pygments, as an excerpt, or compared with another
file.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from grader.core.text import clean

CONTEXT = 3
"""How many lines are shown before and after the line in question."""
MAX_LINE = 400
MAX_LINES, MAX_CHARACTERS = 1000, 64 << 10
"""A longer file is shown without color, and is not compared."""
TEXTS_KEPT = 32
"""How many colored texts are remembered: a page shows each of its texts several times, and a class
has thousands of pages.
"""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of code: its number, its HTML, whether it is the line in question."""

    number: int
    code: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row of a comparison: ``same``, ``changed``, or ``gap`` for omitted equal rows."""

    kind: str
    mine: CodeLine | None = None
    reference: CodeLine | None = None


@functools.lru_cache(TEXTS_KEPT)
def coloured(text: str) -> tuple[str, ...]:
    """Return the lines of Python as HTML; spans have the style sheet's classes."""
    # pygments.lexers replaces itself during its import: a thread that waited for that import would
    # find no lexer.
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    plain = [clean(line.rstrip("\r").expandtabs(4), MAX_LINE) for line in text.split("\n")]
    if len(plain) > MAX_LINES or sum(map(len, plain)) > MAX_CHARACTERS:
        return tuple(escape(line) for line in plain)
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    made = highlight("\n".join(plain), lexer, HtmlFormatter(nowrap=True)).split("\n")
    made += [""] * (len(plain) - len(made))
    return tuple(made[: len(plain)])


def excerpt(text: str, number: int) -> list[CodeLine]:
    """Return the line of that number with its neighbors, without blank lines at the ends."""
    lines, plain = coloured(text), text.split("\n")
    first, last = max(1, number - CONTEXT), min(len(lines), number + CONTEXT)
    while first < number and not plain[first - 1].strip():
        first += 1
    while last > number and not plain[last - 1].strip():
        last -= 1
    return [CodeLine(k, lines[k - 1], k == number) for k in range(first, last + 1)]


def beside(mine: str, reference: str) -> list[DiffRow]:
    """Return both files row by row near differences; nothing if they are equal or too long."""
    left, right = mine.rstrip().split("\n"), reference.rstrip().split("\n")
    if left == right or max(len(left), len(right)) > MAX_LINES:
        return []
    return list(_rows(left, right, coloured("\n".join(left)), coloured("\n".join(right))))


def _rows(
    left: list[str], right: list[str], mine: tuple[str, ...], reference: tuple[str, ...]
) -> Iterator[DiffRow]:
    groups = difflib.SequenceMatcher(a=left, b=right, autojunk=False).get_grouped_opcodes(CONTEXT)
    for number, group in enumerate(groups):
        if number or group[0][1] or group[0][3]:
            yield DiffRow("gap")
        for tag, i, after_i, j, after_j in group:
            ours = [CodeLine(k + 1, mine[k]) for k in range(i, after_i)]
            theirs = [CodeLine(k + 1, reference[k]) for k in range(j, after_j)]
            for place in range(max(len(ours), len(theirs))):
                pair = (
                    ours[place] if place < len(ours) else None,
                    theirs[place] if place < len(theirs) else None,
                )
                yield DiffRow("same" if tag == "equal" else "changed", *pair)
