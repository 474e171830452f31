"""Run ``grade batch`` as a process that can be killed, and compare what it leaves."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import grader
from grader.classroom.gradebook.store import DATABASE

REST = "def triple(x): return 3 * x\nLIMIT = 20.0\n"
DOUBLES = (
    "return 2 * x",
    "return x * x",
    "return 2 *",
    "raise KeyError(x)",
    "return x.detach() * 2",
)


def write_answers(place: Path, count: int) -> Path:
    """Write a class for the small course in which each answer is one of five."""
    for number in range(count):
        folder = place / f"student{number:02}"
        folder.mkdir(parents=True)
        text = f"# {number}\ndef double(x): {DOUBLES[number % 5]}\n{REST}"
        (folder / "tiny.py").write_text(text)
    return place


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
    """Return the path of the log of commands that write into a folder."""
    return out.with_name(f"{out.name}.log")


def log_tail(out: Path) -> str:
    """Return the end of the log, to show why a command failed."""
    return log_path(out).read_text("utf-8", "replace")[-4000:]


def stable_files(out: Path) -> list[bytes]:
    """Return the files that must not depend on when and how a class was graded."""
    return [(out / name).read_bytes() for name in ("results.json", "grades.csv")]


def attempt_counts(out: Path) -> dict[str, int]:
    """Return how often each submission was graded; the file must be intact."""
    with contextlib.closing(sqlite3.connect(out / DATABASE)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return dict(
            db.execute(
                "SELECT s.name, count(*) FROM gradings g JOIN attempts a ON a.id = g.attempt JOIN"
                " submissions s ON s.id = a.submission GROUP BY s.name"
            ).fetchall()
        )
