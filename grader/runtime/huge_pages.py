"""Large pages for a process that is forked often: a fork copies the table of pages, and a table of
large ones is short.

After its imports a fork host has some 45,000 small pages of its own. To copy their table, and to
take it down again when the child ends, costs more than the rest of a worker's start; in a virtual
machine several times as much. What is allocated later stays small: a kernel that looks for large
pages while a student's code waits may take seconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from pathlib import Path
from typing import Any

LARGE = 2 << 20
"""The size of a large page where there is one of this kind (x86_64, and aarch64 with small pages of
4 KiB).
"""
MADV_COLLAPSE = 25
"""Replace small pages by large ones, now (madvise(2), Linux 6.1 and later)."""


def use_huge_pages() -> int:
    """Lay this process's memory out in large pages; how many bytes of it now may be. Where the
    system has no such call, nothing is done.
    """
    if sys.platform != "linux":
        return 0
    madvise: Any = ctypes.CDLL(None).madvise
    done = 0
    with contextlib.suppress(OSError):
        for start, end in own_memory(Path("/proc/self/maps").read_text("utf-8")):
            first, last = -(-start // LARGE) * LARGE, end // LARGE * LARGE
            if (
                first < last
                and madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), MADV_COLLAPSE)
                == 0
            ):
                done += last - first
    return done


def own_memory(maps: str) -> list[tuple[int, int]]:
    """The mappings that can be written and are no file's, as ``proc(5)`` lists them: where each
    begins and ends.
    """
    found = []
    for words in (line.split() for line in maps.splitlines()):
        if words[1] == "rw-p" and words[5:] in ([], ["[heap]"]):
            start, end = (int(number, 16) for number in words[0].split("-"))
            found.append((start, end))
    return found
