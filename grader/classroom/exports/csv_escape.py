"""Cells for spreadsheet programs; text that would run as a formula is escaped."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Spreadsheet programs read a cell that begins with one of these as a formula. Only some of them do
so for the full-width signs.
"""


def guarded(text: str) -> str:
    """Return a text with an apostrophe before anything that would begin a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(STARTS_A_FORMULA) else text


def row(cells: Iterable[str | float | None]) -> bytes:
    """Return a line of CSV in UTF-8: texts guarded, numbers as they are, None empty."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(
        guarded(cell) if isinstance(cell, str) else cell for cell in cells
    )
    return line.getvalue().encode("utf-8", "backslashreplace")
