"""Read ``diagnosis.toml``: the texts of a lesson's mistakes, and the lesson's own repairs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.files import read_toml
from grader.core.report import read


@dataclass(frozen=True, slots=True)
class MistakeText:
    """One mistake. ``about`` has the definitions in which it can occur; empty means all of the
    lesson's. Texts are templates: ``{name}`` is filled from the failure.
    """

    id: str
    title: str
    explanation: str
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepairPattern:
    """An expression that is often written for another one. A capital letter stands for any
    expression: ``wrong = "A * (1 + A)"``, ``right = "A * (1 - A)"``.
    """

    wrong: str
    right: str


REPAIRS = "repairs"


def read_repairs(path: Path) -> tuple[RepairPattern, ...]:
    """Return the tables ``[[repairs]]``, the most plausible first; raise CourseError for a
    malformed one.
    """
    found = []
    for entry in read_toml(path).get(REPAIRS, []):
        try:
            one = read(RepairPattern, entry)
            ast.parse(one.wrong, mode="eval"), ast.parse(one.right, mode="eval")
        except (ValueError, SyntaxError) as error:
            raise CourseError(f"{path}: [[{REPAIRS}]]: {entry}: {error}") from None
        found.append(one)
    return tuple(found)


def read_mistakes(path: Path) -> tuple[MistakeText, ...]:
    """Return the mistakes in the order of the file; raise CourseError for a malformed one."""
    found = []
    for id, entry in read_toml(path).items():
        if id == REPAIRS:
            continue
        if not isinstance(entry, dict):
            raise CourseError(f"{path}: {id} is not a table. Write: [{id}]")
        try:
            found.append(read(MistakeText, {**entry, "id": id}))
        except ValueError as error:
            raise CourseError(f"{path}: [{id}]: {error}") from None
    return tuple(found)


def translatable(path: Path) -> Iterator[str]:
    """Yield the texts that people read."""
    for mistake in read_mistakes(path):
        yield mistake.title
        yield mistake.explanation
