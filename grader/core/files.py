"""Files of the engine and on disk: where the package is, replacing a file as a whole, TOML, and the
hash that identifies the engine.

Together with a course's hash, the engine's hash and torch's version show whether two graders are
the same; ``grader.__version__`` would not.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from grader.core.errors import CourseError

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of the package ``grader``."""
CHECKOUT = PACKAGE.parent
"""The folder around it: the repository's root in a checkout, else where packages are installed."""
LOCALE = PACKAGE / "locale"
PACKAGED_COURSE = PACKAGE / "_course"
"""The course that a wheel carries."""


def templates() -> Path:
    """Return the folder of the Jinja templates, in the checkout or in the wheel."""
    beside = CHECKOUT / "templates"
    return beside if (beside / "report.html").exists() else PACKAGE / "_templates"


@functools.cache
def inlined(*names: str) -> str:
    """Return several style sheets or scripts as one text to put into a page or a drawing."""
    return "".join((templates() / name).read_text("utf-8") for name in names)


@contextlib.contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a file that replaces ``path`` when it is complete; raise OSError if it can't.

    With ``durable``, it is on disk when the block ends. A device or a pipe is written to directly.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    part = path.parent / f".part-{hashlib.sha256(path.name.encode()).hexdigest()[:12]}"
    try:
        with part.open("wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file's data; raise CourseError with the file and the line."""
    try:
        text = path.read_text("utf-8")
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said, _, place = str(error).rpartition(" (at ")
        at = re.match(r"line (\d+)", place)
        line = int(at[1]) if at else len(text.splitlines())
        raise CourseError(f"{path}:{line}: {said}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: {error}") from None


def line_with(path: Path, *texts: str, inside: bool = False) -> str:
    """Return ``path:line`` of the first line that begins with one of these texts, or, ``inside``,
    contains one; else the path alone.
    """
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        if line.startswith(texts) or (inside and any(text in line for text in texts)):
            return f"{path}:{number}"
    return str(path)


DECIDING = (".py", ".toml", ".po")
"""The files that decide verdicts and messages: code, rules and translations. Templates only change
pages.
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
    import importlib.metadata  # slow, and every command imports this module

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
