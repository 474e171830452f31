"""Where a worker is that does not answer: it is asked for its stack before it is ended."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time

from grader.judge.remote.worker_sources import WorkerProcess

STACK = re.compile(
    r"(?:Stack|Current thread 0x[^\n]*) \(most recent call first\):\n(?:  [^\n]*\n)+"
)
"""What faulthandler writes of one thread (``Worker`` registers it for SIGUSR1)."""
SECONDS = 0.3
"""How long a worker has for it."""


def line_where_it_is(worker: WorkerProcess, filename: str) -> tuple[int | None, str]:
    """Return the innermost line of a file, and what was printed beside the stack meanwhile.

    None if the worker can't say. It is the worker's own word, so it decides nothing.
    """
    if not hasattr(signal, "SIGUSR1") or worker.pid <= 0:  # 0 would be our own process group
        return None, ""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(worker.pid, signal.SIGUSR1)
    text, found, more = "", None, True
    deadline = time.monotonic() + SECONDS
    while (found is None or more) and time.monotonic() < deadline:
        more = worker.channel.settle()
        text += worker.channel.output.take()
        found = STACK.search(text)
        if not more:
            time.sleep(0.005)
    if found is None:
        return None, text
    named = rf'^  File "{re.escape(filename)}", line (\d{{1,6}}) in'
    line = re.search(named, found[0], re.MULTILINE)
    return int(line[1]) if line else None, text[: found.start()] + text[found.end() :]
