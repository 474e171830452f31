"""Measure two costs that every grading has on this machine: copying a page after a fork, and a
round trip between two processes.

    python tests/benchmarks/machine.py

It prints one JSON object, in seconds: the minimum of several tries. A physical machine copies a
page in well under a microsecond; where memory is translated twice, as in a virtual machine inside
another, it takes ten times as long and more.
"""

from __future__ import annotations

import json
import mmap
import os
import socket
import time
from collections.abc import Callable

PAGES = 4096
TRIPS = 2000
TRIES = 5


def in_child(work: Callable[[], float]) -> float:
    """Run ``work`` in a fork of this process; return its result."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, json.dumps(work()).encode())
        os._exit(0)
    found = os.read(reading, 100)
    os.waitpid(pid, 0)
    os.close(reading)
    os.close(writing)
    return float(found)


def copied_page() -> float:
    """Return the extra seconds of the first write to a page that parent and child share."""
    size = mmap.PAGESIZE
    with mmap.mmap(-1, PAGES * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        places = range(0, PAGES * size, size)

        def write() -> float:
            began = time.perf_counter()
            for place in places:
                memory[place] = 1
            return (time.perf_counter() - began) / PAGES

        write()
        again = write()
        return in_child(write) - again


def round_trip() -> float:
    """Return the seconds for one byte to a process on the same processor and back."""
    ours, theirs = socket.socketpair()
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})  # the child inherits it
    with ours, theirs:
        pid = os.fork()
        if pid == 0:
            ours.close()
            while theirs.recv(1):
                theirs.send(b"a")
            os._exit(0)
        began = time.perf_counter()
        for _ in range(TRIPS):
            ours.send(b"q")
            ours.recv(1)
        took = (time.perf_counter() - began) / TRIPS
        theirs.close()
        ours.shutdown(socket.SHUT_RDWR)
        os.waitpid(pid, 0)
    return took


def main() -> None:
    """Measure, and print the minima."""
    print(
        json.dumps(
            {
                "a page copied": min(copied_page() for _ in range(TRIES)),
                "a round trip": min(round_trip() for _ in range(TRIES)),
            }
        )
    )


if __name__ == "__main__":
    main()
