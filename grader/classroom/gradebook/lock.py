"""Lock a folder so that only one batch at a time runs in it; the lock ends with its process.

It is SQLite's lock on an empty database, so it works wherever the gradebook works and does not
block readers.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from grader.classroom.gradebook.store import refusal
from grader.core.errors import UsageError

LOCK = "grades.lock"


@contextlib.contextmanager
def batch_lock(out: Path) -> Iterator[None]:
    """Hold the lock of a folder, and create the folder if
    needed; raise UsageError if it is taken.
    """
    path = out / LOCK
    try:
        out.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=0, isolation_level=None)
    except (sqlite3.Error, OSError) as error:
        raise refusal(path, error) from None
    with contextlib.closing(db):
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise UsageError(
                    f"Another grade command is using {out}. Wait until it is done, or name another"
                    " folder with --out"
                ) from None
            raise refusal(path, error) from None
        yield
