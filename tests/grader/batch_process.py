"""``grade batch`` as a process that can be killed, and what it leaves."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import grader
from grader.gradebook.store import FILE


def batch_process(place: Path, out: Path, *words: str) -> subprocess.Popen[bytes]:
    """The command, started in a session of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(grader.__file__).parents[1]), "GRADE_LANG": "en"}
    command = [sys.executable, "-m", "grader", "batch", str(place), "--out", str(out), *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=environment, start_new_session=True, **quiet)  # type: ignore[call-overload, no-any-return]


def final(out: Path) -> list[bytes]:
    """The files that must not depend on when and how a class was graded."""
    return [(out / name).read_bytes() for name in ("results.json", "grades.csv")]


def attempts(out: Path) -> dict[str, int]:
    """How often each submission was graded; the file is held to be whole."""
    with contextlib.closing(sqlite3.connect(out / FILE)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return dict(db.execute("SELECT submission, count(*) FROM attempts GROUP BY submission").fetchall())
