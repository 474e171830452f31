"""Read ``diagnosis.toml``: the title and the explanation of each mistake of a lesson."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.records import read
from grader.core.toml_file import read_toml


@dataclass(frozen=True, slots=True)
class MistakeText:
    """One mistake. ``about`` has the definitions in which it can occur; empty means all of the
    lesson's. Texts are templates: ``{name}`` is filled from the failure.
    """

    id: str
    title: str
    explanation: str
    about: tuple[str, ...] = ()


def read_mistakes(path: Path) -> tuple[MistakeText, ...]:
    """Return the mistakes in the order of the file; raise CourseError for a malformed one."""
    found = []
    for id, entry in read_toml(path).items():
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
