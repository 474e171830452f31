"""Recognize what only IPython understands in a cell: magics, shell commands, help."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAGIC, SHELL, HELP, TAGGED, FOREIGN = (
    "a magic",
    "a line for the shell",
    "a question",
    "a tagged cell",
    "a cell of another kind",
)
"""The kinds of omissions; texts of the catalogue."""


CELL_MAGIC = re.compile(r"\s*%%(?P<name>\S*)(?P<rest>[^\n]*)")


@dataclass(frozen=True, slots=True)
class StrippedCell:
    """A cell's lines with ``pass`` for each that was left out, and those lines."""

    lines: list[str]
    left_out: list[tuple[int, str]]


LEADING = (("%", MAGIC), ("!", SHELL), ("?", HELP), ("/", MAGIC), (",", MAGIC), (";", MAGIC))
"""Beginnings that no Python statement has, each with its kind of omission."""
ELSEWHERE = (
    (re.compile(r"(?:pip|conda|mamba)\s+(?:install|uninstall|list|show|freeze)\b"), SHELL),
    (re.compile(r"get_ipython\s*\("), MAGIC),
    (re.compile(r"[A-Za-z_][\w.,\s]*=\s*%\s*[A-Za-z_]"), MAGIC),
    (re.compile(r"[A-Za-z_][\w.,\s]*=\s*!"), SHELL),
    (re.compile(r"[A-Za-z_%][\w.*\[\]'\"]*\?{1,2}\s*$"), HELP),
)
"""Other lines that only IPython accepts, each with its kind of omission."""
OURS = re.compile(r"\s*%(?:%?grade|(?:re)?load_ext\s+grader)\b")
"""Magics that are left out without a note."""


def without_magics(code: str) -> StrippedCell:
    """Leave out what only IPython understands, but nothing inside strings and statements."""
    lines = code.removesuffix("\n").split("\n")
    kept = StrippedCell(lines, [])
    state = _Lexer()
    dropping = False
    for index, line in enumerate(lines):
        what = MAGIC if dropping else _magic(line) if state.at_statement else None
        if what is None:
            state.read(line)
            continue
        if not dropping and not OURS.match(line):
            kept.left_out.append((index + 1, what))
        dropping = line.endswith("\\")
        lines[index] = f"{line[: len(line) - len(line.lstrip())]}pass"
    return kept


def _magic(line: str) -> str | None:
    """Return the kind of a line at the beginning of a statement, if it is not Python."""
    stripped = line.strip()
    if not stripped:
        return None
    for sign, what in LEADING:
        if stripped.startswith(sign):
            return what
    return next((what for pattern, what in ELSEWHERE if pattern.match(stripped)), None)


PIECE = re.compile(
    r"""\#.*|(?P<long>\"\"\"|''')|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|(?P<open>[(\[{])|(?P<close>[)\]}])"""
)
LONG_END = {'"""': re.compile(r'(?:\\.|[^\\])*?"""'), "'''": re.compile(r"(?:\\.|[^\\])*?'''")}


class _Lexer:
    """Track whether the next line begins a statement: no open bracket, string or backslash."""

    def __init__(self) -> None:
        self.quote = ""
        self.depth = 0
        self.continued = False

    @property
    def at_statement(self) -> bool:
        return not (self.quote or self.depth or self.continued)

    def read(self, line: str) -> None:
        position, commented = 0, False
        while True:
            if self.quote:
                end = LONG_END[self.quote].match(line, position)
                if end is None:
                    return
                self.quote, position = "", end.end()
            piece = PIECE.search(line, position)
            if piece is None:
                break
            position = piece.end()
            commented = piece[0].startswith("#")
            if piece["long"]:
                self.quote = piece["long"]
            elif piece["open"]:
                self.depth += 1
            elif piece["close"]:
                self.depth = max(0, self.depth - 1)
        self.continued = not commented and line.endswith("\\")
