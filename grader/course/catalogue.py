"""Read catalogues of answers whose verdict is known: one file for each lesson and kind, one cell
for each answer.

::

    # %% ignores_grad_output
    # backward returns s(1 - s) and never multiplies by grad_output.
    import torch

    class Sigmoid(torch.autograd.Function):
        ...

A cell begins with ``# %%`` and its name. The comment below says what is wrong or different.
The rest is a fragment: the definitions that differ from the solution (``stubs.compose``). A wrong
answer and a near miss are named after a mistake; several may have the same name.

If a cell's verdict depends on the version of torch, its head says for which versions it holds::

    # %% clamped_at_its_bounds [torch>=2.14]
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from grader.core.errors import CourseError
from grader.course.analysis.definitions import is_docstring

CELL = re.compile(r"# %%(.*)")
HEADER = re.compile(r"(\w+)(?: \[(.+)\])?")


@dataclass(frozen=True, slots=True)
class CatalogueCell:
    """One answer. ``name`` is the mistake's name or the answer's own, ``number`` counts cells of
    one name from 1, ``line`` is that of the cell's first line in ``path``. ``holds_for`` is the
    condition in brackets.
    """

    path: Path
    name: str
    number: int
    line: int
    description: str
    source: str
    holds_for: str = ""

    def applies(self, version_of: Callable[[str], str] = version) -> bool:
        """Return whether the condition holds for the installed versions, or for others."""
        if not self.holds_for:
            return True
        requirement = Requirement(self.holds_for)
        return requirement.specifier.contains(version_of(requirement.name), prereleases=True)

    @property
    def label(self) -> str:
        """The name, with its number from the second cell of that name on."""
        return self.name if self.number == 1 else f"{self.name} {self.number}"


def read_catalogue(path: Path, *, unique: bool = False) -> tuple[CatalogueCell, ...]:
    """Return the cells of a catalogue, in order; none if there is no such file.

    Raise CourseError, with the line, for a cell without a name, a description or code, for code
    that is not Python, and for a name that comes twice where names are ``unique``.
    """
    if path.with_suffix("").is_dir():
        raise CourseError(
            f"{path.with_suffix('')} is a folder. Put each of its files as a cell into {path}:"
            " a line `# %% name`, a comment that says what is wrong, the code"
        )
    if not path.exists():
        return ()
    lines = path.read_text("utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if CELL.fullmatch(line)]
    _check_head(path, lines[: starts[0] if starts else len(lines)])
    seen: Counter[str] = Counter()
    cells = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        cell = _cell(path, lines, start, end, seen)
        if unique and cell.number > 1:
            raise CourseError(f"{path}:{cell.line}: the name {cell.name} is taken. Choose another")
        cells.append(cell)
    return tuple(cells)


def _check_head(path: Path, head: list[str]) -> None:
    """Raise CourseError if there is code before the first cell, because it belongs to no answer."""
    try:
        body = ast.parse("\n".join(head)).body
    except SyntaxError as error:
        raise CourseError(f"{path}:{error.lineno}: {error.msg}") from None
    code = [node for node in body if not is_docstring(node)]
    if code:
        raise CourseError(
            f"{path}:{code[0].lineno}: code before the first cell. Begin one: # %% name"
        )


def _cell(path: Path, lines: list[str], start: int, end: int, seen: Counter[str]) -> CatalogueCell:
    """Return the cell of the lines from ``start`` to ``end``, counted from 0."""
    line = start + 1
    header = HEADER.fullmatch(lines[start].removeprefix("# %%").strip())
    if not header:
        raise CourseError(f"{path}:{line}: a cell has no name. Write: # %% name")
    name, holds_for = header[1], header[2] or ""
    if holds_for:
        _check_condition(f"{path}:{line}", holds_for)
    code = start + 1
    while code < end and lines[code].startswith("#"):
        code += 1
    description = " ".join(text.lstrip("# ") for text in lines[start + 1 : code]).strip()
    if not description:
        raise CourseError(
            f"{path}:{line}: the cell {name} does not say what is special about it."
            " Add a comment below its first line"
        )
    source = "\n".join(lines[code:end]).strip("\n") + "\n"
    try:
        body = ast.parse("\n" * code + "\n".join(lines[code:end])).body
    except SyntaxError as error:
        raise CourseError(f"{path}:{error.lineno}: {error.msg}") from None
    if not body:
        raise CourseError(f"{path}:{line}: the cell {name} has no code")
    seen[name] += 1
    return CatalogueCell(path, name, seen[name], line, description, source, holds_for)


def _check_condition(place: str, condition: str) -> None:
    """Raise CourseError for a condition that is not a requirement like ``torch>=2.14``."""
    try:
        specified = Requirement(condition).specifier
    except InvalidRequirement:
        specified = None
    if not specified:
        raise CourseError(
            f"{place}: [{condition}] is not a condition. Write: # %% name [torch>=2.14]"
        )
