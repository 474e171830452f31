"""Find out whether a notebook was saved: compare what the kernel ran with the file.

A definition is unsaved if it ran after the last save and the file has another version of it. A
definition that ran before the save proves nothing, because the cell may have been edited since.
"""

from __future__ import annotations

import ast
import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.core.i18n import Catalogue
from grader.course.notebook import CELL_MAGIC, is_scratch, without_magics
from grader.course.source import Source
from grader.course.submission import LessonFile

NOT_SAVED = (
    "{file} was not saved since you ran {name} in [{count}]. Line {line} of that cell is not in the"
    " file: {code}\nSave the notebook (Ctrl+S) and run this cell again. Below is what was saved."
)


@dataclass(frozen=True, slots=True)
class RunDefinition:
    """A definition that the kernel ran: when, in which execution, its lines and the first line's
    number.
    """

    at: float
    count: int
    first_line: int
    lines: tuple[str, ...]


class RunDefinitions:
    """The newest definition of each name that the kernel has run."""

    def __init__(self) -> None:
        self._newest: dict[str, RunDefinition] = {}

    def note(self, cell: str, count: int, at: float | None = None) -> None:
        """Note what a cell that is about to run defines; ignore scratch cells and cell magics."""
        if is_scratch(cell, ()) or CELL_MAGIC.match(cell):
            return
        source = Source("\n".join(without_magics(cell).lines), "cell")
        at = time.time() if at is None else at
        for name, node in source.definitions.items():
            self._newest[name] = RunDefinition(
                at, count, node.lineno, definition_lines(source.text, node)
            )

    def unsaved(self, folder: Path, files: Mapping[str, LessonFile], tr: Catalogue) -> list[str]:
        """Return a message for each notebook that was not saved after a definition was run."""
        return [
            message
            for file in files.values()
            if file.cells
            for message in itertools.islice(self._unsaved_in(folder / file.path, file, tr), 1)
        ]

    def _unsaved_in(self, path: Path, file: LessonFile, tr: Catalogue) -> Iterator[str]:
        try:
            saved_at = path.stat().st_mtime
        except OSError:
            return
        source = Source(file.text, file.path)
        for name, node in source.definitions.items():
            run = self._newest.get(name)
            saved = definition_lines(file.text, node)
            if run is None or run.at <= saved_at or run.lines == saved:
                continue
            pairs = itertools.zip_longest(run.lines, saved)
            differs = next(number for number, (mine, theirs) in enumerate(pairs) if mine != theirs)
            differs = min(differs, len(run.lines) - 1)
            yield tr(
                NOT_SAVED,
                file=path.name,
                name=name,
                count=run.count,
                line=run.first_line + differs,
                code=run.lines[differs].strip(),
            )


def definition_lines(text: str, node: ast.stmt) -> tuple[str, ...]:
    lines = text.split("\n")[node.lineno - 1 : node.end_lineno]
    return tuple(line.rstrip() for line in lines)
