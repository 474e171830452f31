"""``grade batch`` killed with SIGKILL, as the real command: the same command goes on, and what it leaves is the same bytes."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import grader
from grader.gradebook.store import FILE

SMALL_COURSE = Path(__file__).parent / "small_course"
REST = "def triple(x): return 3 * x\nLIMIT = 20.0\n"
DOUBLES = ("return 2 * x", "return x * x", "return 2 *", "raise KeyError(x)", "return x.detach() * 2")
KILLS = 20
LONGEST_SECONDS = 4.0


def command(place: Path, out: Path) -> subprocess.Popen[bytes]:
    """The command, started in a session of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(grader.__file__).parents[1]), "GRADE_LANG": "en"}
    words = ["batch", str(place), "--out", str(out), "--course", str(SMALL_COURSE), "--seed", "5", "--workers", "2", "--sandbox", "auto"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", "grader", *words], env=environment, start_new_session=True, **quiet)  # type: ignore[call-overload, no-any-return]


def final(out: Path) -> list[bytes]:
    """The files that must not depend on when and how a class was graded."""
    return [(out / name).read_bytes() for name in ("results.json", "grades.csv")]


def attempts(out: Path) -> dict[str, int]:
    """How often each submission was graded; the file is held to be whole."""
    with contextlib.closing(sqlite3.connect(out / FILE)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return dict(db.execute("SELECT submission, count(*) FROM attempts GROUP BY submission").fetchall())


@pytest.mark.proof
def test_killed_at_any_moment_a_batch_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """Twenty kills at random moments, from the start of the process to its last file; nothing is graded twice once it was committed."""
    place = tmp_path / "class"
    for number in range(20):
        (place / f"student{number:02}").mkdir(parents=True)
        (place / f"student{number:02}" / "tiny.py").write_text(f"# {number}\ndef double(x): {DOUBLES[number % 5]}\n{REST}")
    assert command(place, tmp_path / "whole").wait(120) == 0
    expected = final(tmp_path / "whole")
    draw = random.Random(20)
    killed, rounds, resumed = 0, 0, 0
    while killed < KILLS:
        rounds += 1
        out = tmp_path / f"killed{rounds}"
        before = killed
        while True:
            process = command(place, out)
            try:
                status = process.wait(draw.uniform(0.1, LONGEST_SECONDS) if killed < KILLS else 120)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
                continue
            assert status == 0
            break
        resumed += killed > before
        assert final(out) == expected
        assert set(attempts(out).values()) == {1}
    assert resumed
