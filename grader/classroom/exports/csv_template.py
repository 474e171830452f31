"""Fill in a CSV file; bytes outside of the changed cells stay as they are.

RFC 4180, with the delimiter and line ends of the file.
"""

from __future__ import annotations

import re
from pathlib import Path

from grader.core.errors import UsageError

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
DELIMITERS = ",;\t"


class Sheet:
    """Rows of cells with their original bytes; ``value`` reads a cell, ``put`` replaces it."""

    def __init__(self, path: Path) -> None:
        """Read a sheet; raise UsageError that names the file, and the line if it is known."""
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as error:
            raise UsageError(
                f"{path} can't be read: {error.strerror}. Give the downloaded file with --template"
            ) from None
        except UnicodeDecodeError:
            raise UsageError(
                f"{path} is not UTF-8. Use the file as it was downloaded, not one that a"
                " spreadsheet program saved"
            ) from None
        self.path = path
        self._bom = BOM if text.startswith(BOM) else ""
        text = text.removeprefix(BOM)
        header = re.sub(r'"(?:[^"]|"")*"', "", text).partition("\n")[0]
        self.delimiter = max(DELIMITERS, key=header.count)
        self._cells, self._ends = self._read(text)
        if not self._cells:
            raise UsageError(f"{path} is empty. Give the downloaded file with --template")

    def _read(self, text: str) -> tuple[list[list[str]], list[str]]:
        cell = re.compile(
            rf'("(?:[^"]|"")*"|[^{self.delimiter}\r\n"][^{self.delimiter}\r\n]*|)({self.delimiter}|\r\n|\n|\r|\Z)'
        )
        rows: list[list[str]] = []
        ends: list[str] = []
        current: list[str] = []
        position = 0
        while position < len(text) or current:
            found = cell.match(text, position)
            if found is None:
                line = text.count("\n", 0, position) + 1
                raise UsageError(
                    f"{self.path}:{line}: a quotation mark is not closed, or is inside a cell."
                    " Download the file again"
                )
            current.append(found[1])
            position = found.end()
            if found[2] != self.delimiter:
                rows.append(current)
                ends.append(found[2])
                current = []
        return rows, ends

    @property
    def header(self) -> list[str]:
        return [self.value(0, column) for column in range(len(self._cells[0]))]

    @property
    def rows(self) -> range:
        return range(1, len(self._cells))

    def value(self, row: int, column: int) -> str:
        """Return a cell without quotation marks and blanks; empty if the row is too short."""
        cells = self._cells[row]
        raw = cells[column] if column < len(cells) else ""
        return (raw[1:-1].replace('""', '"') if raw.startswith('"') else raw).strip()

    def put(self, row: int, column: int, text: str) -> None:
        cells = self._cells[row]
        cells += [""] * (column + 1 - len(cells))
        special = any(character in text for character in f'{self.delimiter}"\r\n')
        cells[column] = '"' + text.replace('"', '""') + '"' if special else text

    def column(self, title: str, asked_by: str) -> int:
        """Return the number of the column with that title.

        Raise UsageError, listing all titles, if none or several have it.
        """
        titles = [one.casefold() for one in self.header]
        if titles.count(title.casefold()) != 1:
            how = "more than one column" if title.casefold() in titles else "no column"
            raise UsageError(
                f"{self.path}:1: {how} has the title {title!r} ({asked_by}). Columns:"
                f" {', '.join(filter(None, self.header))}"
            )
        return titles.index(title.casefold())

    def as_bytes(self) -> bytes:
        lines = (
            self.delimiter.join(cells) + end
            for cells, end in zip(self._cells, self._ends, strict=True)
        )
        return (self._bom + "".join(lines)).encode("utf-8")
