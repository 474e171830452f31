"""Read a TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from grader.core.errors import CourseError


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file's data; raise CourseError with the file and the line."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(f"{path}: {error}") from None
