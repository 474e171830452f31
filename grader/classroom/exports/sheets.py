"""Fill marks into another system's CSV file; bytes outside of the changed cells stay as they are.

The file is read as in RFC 4180, with its own delimiter and line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.classroom.exports.common import NAMED, ExportNote, decimal
from grader.classroom.imports.names import name_list
from grader.core.errors import UsageError
from grader.core.text import counted

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

    def column(self, title: str) -> int:
        """Return the number of the column that ``--column`` names.

        Raise UsageError, listing all titles, if none or several have that title.
        """
        titles = [one.casefold() for one in self.header]
        if titles.count(title.casefold()) != 1:
            how = "more than one column" if title.casefold() in titles else "no column"
            raise UsageError(
                f"{self.path}:1: {how} has the title {title!r} (--column). Columns:"
                f" {', '.join(filter(None, self.header))}"
            )
        return titles.index(title.casefold())

    def as_bytes(self) -> bytes:
        lines = (
            self.delimiter.join(cells) + end
            for cells, end in zip(self._cells, self._ends, strict=True)
        )
        return (self._bom + "".join(lines)).encode("utf-8")


def put_mark(sheet: Sheet, row: int, column: int, mark: str) -> str:
    """Write a mark; return ``3 → 17.5`` if it replaces another one, else an empty text."""
    old = sheet.value(row, column)
    sheet.put(row, column, mark)
    return f"{old} → {mark}" if old and not same_mark(old, mark) else ""


def same_mark(old: str, new: str) -> bool:
    """Return whether two marks are equal; Canvas and Moodle show two decimals of a mark."""
    try:
        return abs(float(old.replace(",", ".")) - float(new.replace(",", "."))) <= 0.005 + 1e-9
    except ValueError:
        return False


def replaced_note(title: str, replaced: Sequence[str]) -> Iterator[ExportNote]:
    """Yield a note on the marks that an export replaces, if any: ``Alice 3 → 17.5``."""
    if replaced:
        yield ExportNote(
            f"{counted(len(replaced), 'mark')} in {title} will be replaced:"
            f" {name_list(replaced, NAMED)}. Is this the right assignment?",
            important=True,
        )


def scale_note(full: float, worth: float, most: float | None, title: str) -> Iterator[ExportNote]:
    """Yield a note if full marks are not worth the same everywhere: in the course (``full``), in
    the export (``worth``), and in the other system (``most``, if known).
    """
    if worth != full or most not in (None, worth):
        possible = f", where {decimal(most)} are possible" if most not in (None, worth) else ""
        yield ExportNote(
            f"full marks of {decimal(full)} are worth {decimal(worth)} in {title}{possible}"
        )
