"""``grade batch`` as a process that can be killed, and what it leaves."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import grader
from grader.classroom.gradebook.store import FILE


def batch_process(place: Path, out: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start the command in a session of its own; ``log_tail`` returns what it printed."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(grader.__file__).parents[1]),
        "GRADE_LANG": "en",
    }
    command = [sys.executable, "-m", "grader", "batch", str(place), "--out", str(out), *words]
    with log_path(out).open("ab") as file:
        return subprocess.Popen(
            command, env=environment, start_new_session=True, stdout=file, stderr=file
        )


def log_path(out: Path) -> Path:
    """Where the commands that wrote into a folder leave what they say."""
    return out.with_name(f"{out.name}.log")


def log_tail(out: Path) -> str:
    """The last of it, for who asks why one failed."""
    return log_path(out).read_text("utf-8", "replace")[-4000:]


def stable_files(out: Path) -> list[bytes]:
    """The files that must not depend on when and how a class was graded."""
    return [(out / name).read_bytes() for name in ("results.json", "grades.csv")]


def attempt_counts(out: Path) -> dict[str, int]:
    """How often each submission was graded; the file is held to be whole."""
    with contextlib.closing(sqlite3.connect(out / FILE)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return dict(
            db.execute("SELECT submission, count(*) FROM attempts GROUP BY submission").fetchall()
        )
