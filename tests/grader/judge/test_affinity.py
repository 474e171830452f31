"""A judge and its worker share a processor while they talk, and are free again afterwards."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from grader.judge.remote.affinity import one_processor, pin_to_same_cpu

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has affinity here")


def test_within_the_block_it_stays_on_one_processor() -> None:
    allowed = os.sched_getaffinity(0)
    with one_processor():
        assert len(os.sched_getaffinity(0)) == 1
        assert os.sched_getaffinity(0) <= allowed
    assert os.sched_getaffinity(0) == allowed


def test_another_process_joins() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        with one_processor():
            pin_to_same_cpu(other.pid)
            assert os.sched_getaffinity(other.pid) == os.sched_getaffinity(0)
        other.kill()


def test_a_process_that_is_gone_is_no_trouble() -> None:
    other = subprocess.Popen([sys.executable, "-c", ""])
    other.wait()
    pin_to_same_cpu(other.pid)
