"""Read and write the file with a learner's progress, as a whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from grader.core.report import describe
from grader.course.progress import VERSION, Progress

T = TypeVar("T")

PROGRESS_FILE = ".gradlings.json"
MAX_BYTES = 1 << 20
"""A larger file counts as damaged."""


class Header(msgspec.Struct):
    """The fields that every version of the file has."""

    version: int = VERSION


def find_workspace(place: Path) -> Path | None:
    """Return ``place`` or the nearest folder above it that ``grade init`` made, or None."""
    here = place.resolve()
    return next(
        (folder for folder in (here, *here.parents) if (folder / PROGRESS_FILE).is_file()), None
    )


def read_progress(workspace: Path) -> Progress:
    """Return the contents of the workspace's file; nothing if it is missing or damaged."""
    return _read(workspace / PROGRESS_FILE, Progress) or Progress()


def update_progress(workspace: Path, change: Callable[[Progress], Progress]) -> Progress:
    """Change the file; raise OSError. A damaged one is kept as ``.damaged``.

    A file of a newer version is left as it is.
    """
    path = workspace / PROGRESS_FILE
    header, progress = _read(path, Header), _read(path, Progress)
    changed = change(progress or Progress())
    if header is None or header.version <= VERSION:
        if progress is None and path.exists():
            with contextlib.suppress(OSError):
                path.replace(path.with_name(PROGRESS_FILE + ".damaged"))
        data = {"version": VERSION, **changed.as_json()}
        text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
        _write(path, text + "\n")
    return changed


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        describe(kind)
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _write(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=PROGRESS_FILE, dir=path.parent)
    try:
        with os.fdopen(
            handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n"
        ) as stream:
            stream.write(text)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
