"""Write the files that a command's options name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.files import replacing

LONGEST_SHOWN = 200
"""How many characters of a path a message contains."""


def write_file(
    path: Path | None, make: Callable[[], str], *, options: str = "--html, --json"
) -> None:
    """Write a text if a path is given, lone surrogates escaped; raise UsageError."""
    if path is None:
        return
    data = make().encode("utf-8", "backslashreplace")
    try:
        with replacing(path, durable=False) as file:
            file.write(data)
    except OSError as error:
        message = "{path} can't be written: {reason}. Name another place with {options}"
        raise UsageError(
            message, path=short_path(path), reason=str(error.strerror), options=options
        ) from None


def short_path(path: object) -> str:
    """Return a path, truncated at the end if it is too long for a message."""
    text = str(path)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"
