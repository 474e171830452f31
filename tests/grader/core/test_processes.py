"""What Linux tells of a process: its times are the kernel's."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from grader.core.processes import cpu_seconds, run_delay

pytestmark = pytest.mark.linux
SCHEDSTAT = Path("/proc/self/schedstat")


def waited() -> float:
    return int(SCHEDSTAT.read_text().split()[1]) / 1e9


def test_processor_time_is_that_of_the_user_and_of_the_kernel() -> None:
    assert cpu_seconds(os.getpid()) == pytest.approx(time.process_time(), abs=0.1)


@pytest.mark.skipif(not SCHEDSTAT.exists(), reason="a kernel may be without it")
def test_the_wait_for_a_processor_is_in_seconds() -> None:
    before = waited()
    delay = run_delay(os.getpid())
    assert before <= delay <= waited()
