"""Read a CSV file as spreadsheet programs write it: any delimiter, UTF-8, UTF-16 or CP949."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from grader.core.errors import UsageError

DELIMITERS = ",;\t|"


def csv_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return a CSV file's non-empty rows, each with its line number; raise UsageError."""
    text = _text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=first.count), strict=True
    )
    rows, line = [], 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{path}:{reader.line_num}: {error}. Save it as CSV again") from None
    return rows


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror}. Check its name and its permissions"
        ) from None
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "cp949"):
        try:
            return data.decode(encoding).replace("\0", "")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
    raise UsageError(f"{path}:{line} is neither UTF-8 nor CP949. Save it as CSV in UTF-8")
