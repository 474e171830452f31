"""Write the files that a command was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from grader.core.errors import UsageError


def write_file(
    path: Path | None, make: Callable[[], str], *, options: str = "--html, --json"
) -> None:
    """Write a text if a path is given, lone surrogates escaped; raises UsageError."""
    try:
        if path is not None:
            path.write_text(make(), "utf-8", "backslashreplace", newline="\n")
    except OSError as error:
        message = "{path} can't be written: {reason}. Name another place with {options}"
        raise UsageError(
            message, path=str(error.filename), reason=str(error.strerror), options=options
        ) from None
