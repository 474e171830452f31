"""What is forked from is laid out in large pages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.runtime.huge_pages import LARGE, own_memory, use_huge_pages

MAPS = """\
55d0c0000000-55d0c8000000 rw-p 00000000 00:00 0                          [heap]
7f0000000000-7f0000200000 rw-p 00000000 00:00 0
7f0000200000-7f0000300000 r--p 00000000 00:00 0
7f0000400000-7f0000500000 rw-p 00001000 08:01 99                         /usr/lib/libtorch.so
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
"""


def test_only_what_is_ours_and_can_be_written_is_laid_out_anew() -> None:
    assert own_memory(MAPS) == [(0x55D0C0000000, 0x55D0C8000000), (0x7F0000000000, 0x7F0000200000)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such pages here")
def test_much_of_a_process_becomes_large_pages_and_keeps_what_it_holds() -> None:
    """In a process of its own; where the kernel is too old for it, nothing is done and nothing
    said.
    """
    if (
        tuple(map(int, os.uname().release.split(".")[:2])) < (6, 1)
        or not Path("/sys/kernel/mm/transparent_hugepage").exists()
    ):
        pytest.skip("this kernel collapses no pages when asked")
    code = (
        "held = bytes(range(256)) * (1 << 16); lists = [[n] for n in range(1 << 19)]\n"
        "from grader.runtime.huge_pages import use_huge_pages\n"
        "done = use_huge_pages()\n"
        "assert held == bytes(range(256)) * (1 << 16)\n"
        "assert all(one == [n] for n, one in enumerate(lists))\n"
        "print(done)"
    )
    root = str(Path(__file__).resolve().parents[3])
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(run.stdout) >= 4 * LARGE


def test_a_system_without_the_call_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert use_huge_pages() == 0
