"""Find the line that an unresponsive worker is running: it writes its stack on SIGUSR1."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time

from grader.judge.remote.channel import CHUNK, MAX_CHUNKS, Output
from grader.judge.remote.worker_sources import WorkerProcess

STACK = re.compile(
    r"(?:Stack|Current thread 0x[^\n]*) \(most recent call first\):\n(?:  [^\n]*\n)+"
)
"""What faulthandler writes for one thread (``Worker`` registers it for SIGUSR1)."""
STACK_SECONDS = 1.0
"""How long a worker may take to write its stack. On a busy machine it may wait for a processor."""
LONGEST = 1 << 16
"""How many characters of the first and of the last output are kept meanwhile."""


def line_where_it_is(worker: WorkerProcess, filename: str) -> tuple[int | None, str]:
    """Return the innermost line of a file (None if unknown), and other output that arrived with the
    stack.

    The worker could lie about the line, so no verdict depends on it.
    """
    if not hasattr(signal, "SIGUSR1") or worker.pid <= 0:  # 0 would be our own process group
        return None, ""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(worker.pid, signal.SIGUSR1)
    channel = worker.channel
    kept, channel.output = channel.output, Output(CHUNK * MAX_CHUNKS)  # for one turn
    first, last, found = "", "", None
    deadline = time.monotonic() + STACK_SECONDS
    while time.monotonic() < deadline:
        channel.settle()
        new = channel.output.take()
        last += new
        found = STACK.search(last)
        if found and (not new or found.end() < len(last)):
            break  # nothing more came, or the stack is followed by other output
        first, last = (first + last[:-LONGEST])[:LONGEST], last[-LONGEST:]
        if not new:
            time.sleep(0.005)
    channel.output = kept
    if found is None:
        return None, first + last
    named = rf'^  File "{re.escape(filename)}", line (\d{{1,6}}) in'
    line = re.search(named, found[0], re.MULTILINE)
    beside = last[: found.start()] + last[found.end() :]
    return int(line[1]) if line else None, (first + beside)[: 2 * LONGEST]
