"""Open SQLite files whose commits survive a crash or a power failure: gradebooks and kept verdicts.

A rollback journal with ``synchronous=FULL`` also works on network drives, and the one file can be
copied, unlike with a write-ahead log.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from grader.core.errors import UsageError

SYNCHRONOUS = "FULL"
"""The pragma by which a commit waits for the disk; tests, which lose nothing, do not wait."""
WAIT_SECONDS = 30.0
"""How long a writer waits for another writer, or for a reader such as an export."""


def connect(path: Path) -> sqlite3.Connection:
    """Open or make the file; raises sqlite3.Error. The caller begins transactions."""
    db = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
    except BaseException:
        db.close()
        raise
    return db


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Commit what the block writes, or nothing; an inner transaction is part of the outer one."""
    if db.in_transaction:
        yield db
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back already
            db.execute("ROLLBACK")
        raise


def refusal(path: Path, error: sqlite3.Error | OSError, *, kind: str, other: str) -> UsageError:
    """Return the message for a file that can't be used; committed data stays.

    ``kind`` is what the file should be, ``other`` what the user can name instead: "another folder
    with --out".
    """
    reason = " ".join(str(error.strerror if isinstance(error, OSError) else error).split())

    def says(*signs: str) -> bool:
        return any(sign in reason.lower() for sign in signs)

    if says("full", "no space", "quota"):
        return UsageError(
            f"{path}: the disk is full. What was graded so far is kept; make room, then run the"
            " same command again"
        )
    if says("readonly", "read-only", "permission", "unable to open"):
        return UsageError(f"{path} can't be written: {reason}. Name {other}, where you may write")
    if says("not a database", "malformed"):
        return UsageError(
            f"{path} is damaged or not a {kind}: {reason}. Move it away, or name {other}"
        )
    if says("locked"):
        return UsageError(
            f"{path} is in use by another process. Wait until it is done, then run the same command"
            " again"
        )
    return UsageError(f"{path} can't be used: {reason}. Name {other}")
