"""Run a worker as a plain process, on systems without fork."""

from __future__ import annotations

import io
import json
import os
import queue
import sys
import threading
from typing import TYPE_CHECKING, BinaryIO, cast

from grader.worker.process import open_streams
from grader.worker.wire.compat import import_for_gradcheck
from grader.worker.wire.frames import write_frame

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

CHUNK = 1 << 16


def main() -> None:
    """Serve one judge on stdin and stdout; the student's prints go to stderr."""
    source = cast(BinaryIO, io.BufferedReader(StdinWatchdog(os.dup(0))))
    sink = cast(BinaryIO, os.fdopen(os.dup(1), "wb"))
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(2, 1)
    open_streams()
    import torch

    from grader.core.messages import WorkerHello, WorkerOptions
    from grader.worker.process import remove_engine_modules, serve
    from grader.worker.sandbox import GUARANTEES, set_limits

    import_for_gradcheck()
    torch.set_num_threads(1)
    options = WorkerOptions.from_json(json.loads(sys.argv[1]))
    held, limits = ["environment", "descriptors"], options.limits
    if options.sandbox != "off" and sys.platform != "win32":
        limits = set_limits(limits)
        held += ["time", "memory"] if sys.platform.startswith("linux") else ["time"]
    missing = tuple(name for name in GUARANTEES if name not in held)
    write_frame(sink, WorkerHello(options.sandbox, tuple(held), missing, limits).as_json())
    remove_engine_modules()
    serve(source, sink)
    sys.stdout.flush()
    os._exit(0)


class StdinWatchdog(io.RawIOBase):
    """A stream of the judge's requests, read by a thread.

    When the judge is gone, this process ends at once, even if a student's code loops in it. On
    systems other than Linux, nothing else would end it.
    """

    def __init__(self, judge: int) -> None:
        self._judge = judge
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._rest = b""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while chunk := os.read(self._judge, CHUNK):
            self._chunks.put(chunk)
        os._exit(0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Read some bytes, waiting for them."""
        view = memoryview(buffer)
        self._rest = self._rest or self._chunks.get()
        count = min(len(view), len(self._rest))
        view[:count], self._rest = self._rest[:count], self._rest[count:]
        return count
