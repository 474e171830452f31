"""Keep the rows of the class table on disk, so that memory does not grow with the class."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from grader.classroom.statistics.records import Row


class RowsOnDisk:
    """Rows in an unnamed file, one line of JSON each; the file is gone when it is closed."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, closed by close
        self._count = 0

    def __enter__(self) -> RowsOnDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, row: Row, /) -> None:
        self._file.seek(0, 2)
        self._file.write(json.dumps(row.as_json()).encode() + b"\n")
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        place = 0
        for _ in range(self._count):
            self._file.seek(place)
            line = self._file.readline()
            place += len(line)
            yield Row.from_json(json.loads(line))
