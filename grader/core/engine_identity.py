"""Identify the engine that grades by a hash of its code and by torch's version.

Together with a course's hash they show whether two graders are the same; ``grader.__version__``
would not.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.core.paths import PACKAGE, PACKAGED_COURSE

DECIDING = (".py", ".po")
"""The files that decide verdicts and messages: code and
translations. Templates only change pages.
"""
LEFT_OUT = frozenset({"__pycache__", PACKAGED_COURSE.name})


@functools.cache
def engine_hash() -> str:
    """Return the installed engine's hash, as it was when this process first asked for it."""
    return engine_hash_now()


def engine_hash_now() -> str:
    """Return the hash of the installed engine's files as they are at this moment."""
    return hash_files(PACKAGE, engine_files(PACKAGE))


@functools.cache
def torch_version() -> str:
    """Return the version of the installed torch without importing it, which takes seconds."""
    return importlib.metadata.version("torch")


def engine_files(package: Path) -> Iterator[Path]:
    """Yield the engine's files that decide verdicts and messages, in any order."""
    for folder, folders, names in os.walk(package):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        yield from (Path(folder, name) for name in names if name.endswith(DECIDING))


def hash_files(root: Path, files: Iterable[Path]) -> str:
    """Return 16 hex digits of SHA-256 over files: their paths below ``root`` and their text.

    Line ends count as LF, so that every checkout has the same hash.
    """
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(root).as_posix(), path) for path in files):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()[:16]
