"""Split a notebook's code into cells again, each with a name for tracebacks, for a debugger or a
script.
"""

from __future__ import annotations
import __future__ as futures

import linecache
import re
import types
from collections.abc import Sequence
from dataclasses import dataclass

FEATURE = re.compile(r"from __future__ import (?P<names>[\w, ]+)")


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """A code cell: its number in the notebook, and its text."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Cells:
    """A notebook's code: ``features`` from ``__future__``, ``shows`` if it calls ``display``."""

    cells: tuple[NotebookCell, ...]
    features: tuple[str, ...]
    shows: bool


def cells_of(text: str, starts: Sequence[tuple[int, int]]) -> Cells:
    """Return the non-empty cells of a notebook's text; ``starts`` has numbers and first lines."""
    lines = text.split("\n")
    ends = [*(first for _, first in starts[1:]), len(lines)]
    bounds = zip(starts, ends, strict=True)
    cells = [
        NotebookCell(number, "".join(f"{line}\n" for line in lines[first - 1 : end - 1]))
        for (number, first), end in bounds
    ]
    kept = tuple(
        cell
        for cell in cells
        if not all(
            line.strip() in ("", "pass") or line.lstrip().startswith("#")
            for line in cell.text.split("\n")
        )
    )
    before = "\n".join(lines[: starts[0][1] - 1])
    named = [
        name.strip() for found in FEATURE.finditer(before) for name in found["names"].split(",")
    ]
    return Cells(
        kept,
        tuple(dict.fromkeys(name for name in named if name in futures.all_feature_names)),
        "as display" in before,
    )


def cell_name(notebook: str, number: int) -> str:
    """Return the file name of a cell in a traceback: ``custom_sigmoid.ipynb, cell 4``."""
    return f"{notebook}, cell {number}"


def execute_cells(code: Cells, module: str, notebook: str) -> types.ModuleType:
    """Run the cells in order in a new module, each registered as a file for tracebacks."""
    made = types.ModuleType(module)
    made.__file__ = notebook
    if code.shows:
        vars(made)["display"] = print
    flags = 0
    for feature in code.features:
        flags |= getattr(futures, feature).compiler_flag
    for cell in code.cells:
        name = cell_name(notebook, cell.number)
        linecache.cache[name] = (len(cell.text), None, cell.text.splitlines(keepends=True), name)
        exec(compile(cell.text, name, "exec", flags=flags, dont_inherit=True), vars(made))
    return made


def loading(code: Cells, module: str, notebook: str) -> list[str]:
    """Return lines of Python that run the cells without the engine."""
    flags = " | ".join(f"__future__.{feature}.compiler_flag" for feature in code.features)
    texts = [f"    {cell.number}: {literal(cell.text)}," for cell in code.cells]
    return [
        *(["import __future__"] if flags else []),
        "import linecache",
        "import types",
        "",
        "import torch",
        "",
        f'{module} = types.ModuleType("{module}")',
        *([f"{module}.display = print"] if code.shows else []),
        "cells = {",
        *texts,
        "}",
        "for number, text in cells.items():",
        f'    name = f"{notebook}, cell {{number}}"',
        "    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)",
        f'    exec(compile(text, name, "exec"{f", {flags}" if flags else ""}), vars({module}))',
    ]


def literal(text: str) -> str:
    """Return a text as a Python literal, over several lines if nothing in it needs escaping."""
    if (
        "'''" not in text
        and "\\" not in text
        and all(line.isprintable() for line in text.split("\n"))
    ):
        return f"'''\\\n{text}'''"
    return repr(text)
