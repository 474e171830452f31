"""The file of ``grade verify --proof``: from how many seeds the lessons of a course were proved, as
they stand.

It is text, a line for each lesson, to be committed with the course: a proof that takes longer than
one machine is there for goes on on the next, and whoever reads the claim sees whether it is about
what lies there now. TOML 1.0, a table for each language: ``custom_sigmoid = {seeds = 200, key =
"…"}``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomlkit

from grader.core.errors import UsageError

HEAD = """\
From how many seeds, 1 and those that follow, everything that `grade verify` grades of a lesson came out as it should.
A key stands for all that this depends on: once the lesson, the judge or a version is another, so is the key, and a line tells of the past.
"""


@dataclass(frozen=True, slots=True)
class Proved:
    """All cases of a lesson came out as they should from seed 1 to ``seeds``; ``key`` stands for
    all that this depends on.
    """

    seeds: int
    key: str


def read_proved(path: Path, lang: str) -> dict[str, Proved]:
    """What a file says of lessons in a language, by id; nothing where there is no file. Raises
    UsageError for one that is none of these.
    """
    entries = _tables(path).get(lang, {})
    if not isinstance(entries, dict):
        raise UsageError(
            f"{path}: {lang} should be a table of lessons. Correct it, or name another file with"
            " --proof"
        )
    return {lesson: _proved(path, f"{lang}.{lesson}", entry) for lesson, entry in entries.items()}


def write_proved(path: Path, lang: str, lessons: Mapping[str, Proved]) -> None:
    """Write what is known of lessons in a language, in place of what there was; other languages
    stay. Raises UsageError.
    """
    tables = {**_tables(path), lang: {lesson: asdict(one) for lesson, one in lessons.items()}}
    document = tomlkit.document()
    for line in HEAD.splitlines():
        document.add(tomlkit.comment(line))
    for name, entries in sorted(tables.items()):
        document.add(tomlkit.nl())
        table = tomlkit.table()
        for lesson, entry in entries.items():
            inline = tomlkit.inline_table()
            inline.update(entry)
            table.add(lesson, inline)
        document.add(name, table)
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(tomlkit.dumps(document), "utf-8", newline="\n")
        part.replace(path)
    except OSError as error:
        raise UsageError(
            f"{path} can't be written: {error.strerror}. Name a file that can, with --proof"
        ) from None


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} can't be read: {error}. Correct it, or name another file with --proof"
        ) from None


def _proved(path: Path, name: str, entry: Any) -> Proved:
    match entry:
        case {"seeds": int(seeds), "key": str(key), **rest} if (
            not rest and seeds > 0 and not isinstance(seeds, bool)
        ):
            return Proved(seeds, key)
    raise UsageError(
        f'{path}: {name} should be {{seeds = 1, key = "…"}}, or more seeds. Correct it, or name'
        " another file with --proof"
    )
