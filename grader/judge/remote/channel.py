"""The judge's end of the connection to a worker: frames with a deadline, and the student's output.

``SocketChannel`` polls a socket and a pipe in one thread. ``PipeChannel`` uses threads and works
everywhere. Both raise ``WorkerLost``: ``timeout`` after the deadline, ``crashed`` if the connection
ends (``WorkerGone``) or a frame is malformed. Time during which a busy host kept the worker or the
judge from running does not count.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import queue
import select
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import BinaryIO

from grader.core.errors import HostBusy, WorkerGone, WorkerLost
from grader.core.limits import MAX_STARVED
from grader.core.processes import cpu_seconds, run_delay
from grader.worker.wire.frames import HEADER, MAX_VALUES, BrokenFrame, Frame, sizes, unpack

WORTH_WAITING = 0.005
"""A shorter wait does not extend a deadline."""
BUSY = (
    "the computer was too busy: your code and the grader waited {seconds} s for a processor. Stop"
    " other programs, or grade fewer submissions at once (--workers), and grade again"
)
BUSY_HERE = f"{BUSY}. If your code is on this line again, look for a loop that does not end"


class Starvation:
    """How long a worker, and the judge that waits for it, have waited for a processor."""

    def __init__(self) -> None:
        self.total = 0.0
        self._pid: int | None = None
        self._mark = (0.0, 0.0, 0.0)

    @property
    def extreme(self) -> bool:
        """Whether deadlines have been extended by the maximum."""
        return self.total >= MAX_STARVED

    def fault(self, line: int | None) -> HostBusy:
        """Return the error for a deadline that passed on a busy host, with the line if known."""
        return HostBusy(BUSY_HERE if line else BUSY, line=line, seconds=f"{self.total:.0f}")

    def watch(self, pid: int) -> None:
        """Measure a new worker from now on."""
        self._pid = pid
        self._mark = self._now()

    def seconds_since(self) -> float:
        """Return how long both have waited for a processor since the last call.

        Waiting does not count while one of the two uses a processor: a worker that prints without
        end and the judge that reads it wait for each other, not for the host. The sum over a lesson
        is at most ``MAX_STARVED``.
        """
        now, mark = self._now(), self._mark
        clock, waited, used = (after - before for after, before in zip(now, mark, strict=True))
        self._mark = now
        seconds = min(waited, clock - used, MAX_STARVED - self.total)
        if seconds < WORTH_WAITING:
            return 0.0
        self.total += seconds
        return seconds

    def _now(self) -> tuple[float, float, float]:
        if self._pid is None:
            return time.monotonic(), 0.0, 0.0
        waited = run_delay(self._pid) + run_delay("self")
        return time.monotonic(), waited, cpu_seconds(self._pid) + time.process_time()


class Deadline:
    """A time limit. When it is reached, it is extended by the seconds that ``more`` returns."""

    def __init__(self, seconds: float, more: Callable[[], float] = lambda: 0.0) -> None:
        self._at = time.monotonic() + seconds
        self._more = more

    def left(self) -> float:
        """Return the seconds that are left; 0 or less once the limit has passed."""
        left = self._at - time.monotonic()
        if left <= 0:
            more = self._more()
            self._at += more
            left += more
        return left


CHUNK = 1 << 16
MAX_CHUNKS = 64
"""How many chunks of output are read in one turn."""
TURN_SECONDS = 0.005
"""How long to wait for an answer before the output is read again."""


def crashed(reason: str) -> WorkerLost:
    """Return the error for a worker that broke the protocol; ``reason`` may be its own text."""
    return WorkerLost("crashed", "{reason}", reason=reason)


def _gone() -> WorkerGone:
    return WorkerGone("crashed", "{reason}", reason="the worker is gone")


def _early() -> WorkerLost:
    return crashed("the worker answered before it was asked")


def _late() -> WorkerLost:
    return WorkerLost("timeout", "no answer in time")


class Output:
    """Output of a student's code: the first part is kept, the rest is only counted."""

    def __init__(self, cap_bytes: int) -> None:
        self.cap_bytes = cap_bytes
        self._kept = bytearray()
        self._cut = 0

    def add(self, chunk: bytes) -> None:
        room = max(0, self.cap_bytes - len(self._kept))
        self._kept += chunk[:room]
        self._cut += max(0, len(chunk) - room)

    def take(self) -> str:
        """Return the output since the last call, with a note of how much was cut."""
        text = self._kept.decode("utf-8", "replace")
        if self._cut:
            text += f"\n[{self._cut:,} more bytes were cut]"
        self._kept.clear()
        self._cut = 0
        return text


class Channel(ABC):
    """One worker's connection, and the pipe with its output."""

    def __init__(self, output_fd: int, output_bytes: int) -> None:
        self.output = Output(output_bytes)
        self._output_fd = output_fd
        self._printing = True
        self._received = bytearray()
        """The part of the next frame that has arrived."""

    @abstractmethod
    def send(self, data: bytes, deadline: Deadline) -> None:
        """Send a packed frame before ``deadline``.

        Raise WorkerLost if the worker has sent something without a request, is gone, or is late.
        """

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _next_chunk(self, deadline: Deadline) -> bytes:
        """Return the next bytes of an answer, empty at the end; meanwhile read the output."""

    def receive(self, deadline: Deadline) -> Frame:
        """Return the next frame; raise WorkerLost if it is malformed or does not come in time."""
        while chunk := self._next_chunk(deadline):
            self._received += chunk
            if (frame := self._complete_frame()) is not None:
                return frame
        raise _gone()

    def _complete_frame(self) -> Frame | None:
        """Return a complete frame, if there is one; raise WorkerLost if the bytes are malformed."""
        data = self._received
        if len(data) < HEADER.size:
            return None
        try:
            text_bytes, blob_bytes = sizes(bytes(data[: HEADER.size]))
            middle = HEADER.size + text_bytes
            end = middle + blob_bytes
            if len(data) < end:
                return None
            frame = unpack(data[HEADER.size : middle], data[middle:end], most=MAX_VALUES)
        except BrokenFrame as error:
            raise crashed(str(error)) from None
        if len(data) > end:
            raise crashed("the worker answered more than it was asked")
        self._received = bytearray()
        return frame

    def settle(self) -> bool:
        """Read the output so far, up to a limit; return whether there was any."""
        for count in range(MAX_CHUNKS):
            if not self._printing or not readable(self._output_fd):
                return count > 0
            self._read_output()
        return True

    def _read_output(self) -> None:
        try:
            chunk = os.read(self._output_fd, CHUNK)
        except OSError:
            chunk = b""
        self._printing = bool(chunk)
        self.output.add(chunk)


class SocketChannel(Channel):
    """A Unix socket to a forked worker, and the pipe of its output, polled together."""

    def __init__(self, line: socket.socket, output_fd: int, *, output_bytes: int) -> None:
        super().__init__(output_fd, output_bytes)
        self._line = line
        self._line.setblocking(False)
        self._poll = select.poll()
        self._poll.register(output_fd, select.POLLIN)

    def _wait(self, event: int, deadline: Deadline) -> None:
        """Wait until the connection is ready for ``event``; meanwhile read the output."""
        poll, line = self._poll, self._line.fileno()
        poll.register(line, event)
        while True:
            seconds = deadline.left()
            if seconds <= 0:
                raise _late()
            ready = dict(poll.poll(seconds * 1000 + 1))
            if self._output_fd in ready:
                self._read_output()
                if not self._printing:
                    poll.unregister(self._output_fd)
            if line in ready:
                return

    def send(self, data: bytes, deadline: Deadline) -> None:
        if self._received:
            raise _early()
        with contextlib.suppress(OSError):  # receive reports an ended connection
            if self._line.recv(1, socket.MSG_PEEK):
                raise _early()
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._line.send(rest) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
            except OSError:
                raise _gone() from None

    def _next_chunk(self, deadline: Deadline) -> bytes:
        while True:
            self._wait(select.POLLIN, deadline)
            try:
                return self._line.recv(CHUNK * 4)
            except BlockingIOError:
                continue
            except OSError:
                return b""

    def close(self) -> None:
        self._line.close()
        os.close(self._output_fd)


class PipeChannel(Channel):
    """Pipes to a worker that is a process of its own.

    One thread reads frames and one writes them, so this works without Unix features. The reader
    takes a chunk only while ``receive`` waits for one. A worker that writes without a request fills
    its pipe and blocks, and the next ``send`` finds what it wrote. The thread that waits for an
    answer also reads the student's output, so everything printed before an answer arrives with it.
    """

    def __init__(
        self, sink: BinaryIO, source: BinaryIO, printed: BinaryIO, *, output_bytes: int
    ) -> None:
        super().__init__(printed.fileno(), output_bytes)
        self._sink = sink
        self._source = source
        self._printed = printed
        self._wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while self._wanted.get():
                self._chunks.put(os.read(self._source.fileno(), CHUNK))
        self._chunks.put(b"")

    def _write(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (data := self._outgoing.get()) is not None:
                self._sink.write(data)
                self._sink.flush()

    def send(self, data: bytes, deadline: Deadline) -> None:
        """Pass a packed frame to the writing thread. ``receive`` times out if nobody reads it."""
        if self._received:
            raise _early()
        if readable(self._source.fileno()):
            self._wanted.put(True)
            raise _early() if self._chunks.get() else _gone()
        self._outgoing.put(data)

    def _next_chunk(self, deadline: Deadline) -> bytes:
        self._wanted.put(True)
        while True:
            turn = 0 if self.settle() else TURN_SECONDS
            rest = deadline.left()
            try:
                return self._chunks.get(timeout=max(0.0, min(rest, turn)))
            except queue.Empty:
                if rest <= 0:
                    raise _late() from None

    def close(self) -> None:
        self._wanted.put(False)
        self._outgoing.put(None)
        for stream in (self._sink, self._source, self._printed):
            with contextlib.suppress(OSError):
                stream.close()


def readable(descriptor: int) -> bool:
    """Return whether a read of a pipe would not block: it has bytes, or its other end is closed."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(0))
    try:  # like multiprocessing and asyncio on Windows, where select() takes only sockets
        winapi, msvcrt = importlib.import_module("_winapi"), importlib.import_module("msvcrt")
    except ImportError:
        return bool(select.select([descriptor], [], [], 0)[0])
    try:
        return bool(winapi.PeekNamedPipe(msvcrt.get_osfhandle(descriptor), 0)[0])
    except OSError:
        return True
