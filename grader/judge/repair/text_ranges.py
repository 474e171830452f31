"""Find the positions of syntax tree nodes in a text; Python counts columns in UTF-8 bytes."""

from __future__ import annotations

import ast
import itertools


class TextRanges:
    """The ranges of nodes of one text, as offsets of characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        # not splitlines, which also splits at form feeds and Unicode separators
        self._lines = text.split("\n")
        lengths = (len(line) + 1 for line in self._lines)
        self._starts = [0, *itertools.accumulate(lengths)]

    def of(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno, node.end_col_offset),
        )

    def _offset(self, line: int, column: int) -> int:
        before = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a character, both counted from 1."""
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - self._starts[line - 1] + 1

    def indentation(self, offset: int) -> str:
        """Return the text between the start of a character's line and the character."""
        return self.text[self.text.rfind("\n", 0, offset) + 1 : offset]

    def indented(self, code: str, offset: int) -> str:
        """Return code with all lines after the first indented to a character's column."""
        return code.replace("\n", f"\n{self.indentation(offset)}")
