"""Kill the real command ``grade batch`` with SIGKILL: the same command continues and leaves the
same bytes.
"""

from __future__ import annotations

import random
import signal
import subprocess
from pathlib import Path

import pytest
from batch_process import attempt_counts, batch_process, log_tail, stable_files, write_answers

pytestmark = pytest.mark.fork

SMALL_COURSE = Path(__file__).parents[1] / "small_course"
KILLS = 20
LONGEST_SECONDS = 4.0


def command(place: Path, out: Path) -> subprocess.Popen[bytes]:
    """Return the command on the small course."""
    options = "--seed 5 --workers 2 --sandbox auto".split()
    return batch_process(place, out, "--course", str(SMALL_COURSE), *options)


@pytest.mark.proof
def test_killed_at_any_moment_a_batch_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """The command is killed twenty times at random moments; nothing committed is graded twice."""
    place = write_answers(tmp_path / "class", 20)
    assert command(place, tmp_path / "whole").wait(120) == 0, log_tail(tmp_path / "whole")
    expected = stable_files(tmp_path / "whole")
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
            assert status == 0, log_tail(out)
            break
        resumed += killed > before
        assert stable_files(out) == expected
        assert set(attempt_counts(out).values()) == {1}
    assert resumed
