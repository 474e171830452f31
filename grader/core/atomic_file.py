"""Replace a file as a whole, so that readers see the old one or the new one."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO


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
