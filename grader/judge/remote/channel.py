"""The judge's end of the connection to a worker: frames with a deadline, and the student's output.

``SocketChannel`` reads a socket and a pipe in one thread. ``PipeChannel`` uses threads and works
everywhere. Both raise ``WorkerLost``: ``timeout`` after the deadline, ``crashed`` if the connection
ends (``WorkerGone``) or a frame is malformed. ``Clock`` has the deadlines. It is looked at only
when an answer does not come at once.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import queue
import select
import socket
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from typing import BinaryIO

from grader.core.errors import HostBusy, WorkerGone, WorkerLost
from grader.core.limits import MAX_STARVED
from grader.core.processes import cpu_seconds, run_delay
from grader.worker.wire.frames import HEADER, MAX_VALUES, BrokenFrame, Frame, limit_values, sizes

WORTH_WAITING = 0.005
"""A shorter wait does not extend a deadline."""
BUSY = (
    "the computer was too busy: your code and the grader waited {seconds} s for a processor. Stop"
    " other programs, or grade fewer submissions at once (--workers), and grade again"
)
BUSY_HERE = f"{BUSY}. If your code is on this line again, look for a loop that does not end"


def both(starved: float) -> tuple[float, float]:
    """Put off an answer's limit and the lesson's by the time that a busy host took."""
    return starved, starved


class Clock:
    """The time that a worker has: for each answer, and for the whole lesson.

    ``put_off`` is called when a limit has passed, with the seconds for which worker and judge have
    waited for a processor; it returns by how much to put off the answer's limit and the lesson's.
    With None, limits are not put off. It is called for the first time after ``patience`` seconds.
    """

    def __init__(
        self,
        call_seconds: float,
        lesson_seconds: float = math.inf,
        *,
        put_off: Callable[[float], tuple[float, float]] | None = both,
    ) -> None:
        self.call_seconds = call_seconds
        self.patience = math.inf
        self.starved = 0.0
        """By how many seconds limits were put off."""
        self._put_off = put_off
        self._rest = 0.0
        self._lesson_end = time.monotonic() + lesson_seconds
        self._call_end = math.inf
        self._pid: int | None = None
        self._mark = (0.0, 0.0, 0.0)

    def watch(self, pid: int) -> None:
        """Measure a new worker from now on."""
        self._pid = pid
        self._mark = self._now()

    def begin(self) -> None:
        """Begin to wait for an answer."""
        first = min(self.call_seconds, self.patience)
        self._rest = self.call_seconds - first
        self._call_end = time.monotonic() + first

    def take_rest(self, most: float) -> float:
        """Return what is left of an answer's time after the first look, in portions; at last 0."""
        portion = min(self._rest, most)
        self._rest -= portion
        return portion

    def extend(self, seconds: float) -> None:
        """Give the lesson more time."""
        self._lesson_end += seconds

    def left(self) -> float:
        """Return the seconds that are left; 0 or less once a limit has passed."""
        left = min(self._call_end, self._lesson_end) - time.monotonic()
        if left <= 0 and self._put_off is not None:
            call, lesson = self._put_off(self._starved_since())
            self._call_end += call
            self._lesson_end += lesson
            left = min(self._call_end, self._lesson_end) - time.monotonic()
        return left

    @property
    def lesson_is_over(self) -> bool:
        return time.monotonic() >= self._lesson_end

    def fault(self, line: int | None) -> HostBusy | None:
        """Return the error for a limit that passed although it was put off by the maximum, with the
        line if known; None if it was not.
        """
        if self.starved < MAX_STARVED:
            return None
        return HostBusy(BUSY_HERE if line else BUSY, line=line, seconds=f"{self.starved:.0f}")

    def _starved_since(self) -> float:
        """Return how long both have waited for a processor since the last call.

        Waiting does not count while one of the two uses a processor: a worker that prints without
        end and the judge that reads it wait for each other, not for the host. The sum over a lesson
        is at most ``MAX_STARVED``.
        """
        now, mark = self._now(), self._mark
        clock, waited, used = (after - before for after, before in zip(now, mark, strict=True))
        self._mark = now
        seconds = min(waited, clock - used, MAX_STARVED - self.starved)
        if seconds < WORTH_WAITING:
            return 0.0
        self.starved += seconds
        return seconds

    def _now(self) -> tuple[float, float, float]:
        if self._pid is None:
            return time.monotonic(), 0.0, 0.0
        waited = run_delay(self._pid) + run_delay("self")
        return time.monotonic(), waited, cpu_seconds(self._pid) + time.process_time()


CHUNK = 1 << 16
MAX_CHUNKS = 64
"""How many chunks of output are read in one turn."""
TURN_SECONDS = 0.005
"""How long to wait for an answer before clock and output are looked at."""


def crashed(reason: str) -> WorkerLost:
    """Return the error for a worker that broke the protocol; ``reason`` may be its own text."""
    return WorkerLost("crashed", "{reason}", reason=reason)


def _gone() -> WorkerGone:
    return WorkerGone("crashed", "{reason}", reason="the worker is gone")


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
    """One worker's connection, and the pipe with its output.

    Nobody can guess the number of a question, so no answer can come before it.
    """

    def __init__(self, output_fd: int, output_bytes: int) -> None:
        self.output = Output(output_bytes)
        self.awaited: deque[int] = deque()
        """The numbers of the frames that were sent and not answered."""
        self._output_fd = output_fd
        self._printing = True
        self._received: bytes | bytearray = b""
        """What has arrived and was not returned as a frame."""

    @abstractmethod
    def send(self, numbers: Iterable[int], data: bytes, clock: Clock) -> None:
        """Send frames that have these numbers; raise WorkerLost if the worker is gone or late."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _first_chunk(self) -> bytes:
        """Return the bytes of an answer that come within one turn; none at the end either."""

    @abstractmethod
    def _next_chunk(self, clock: Clock) -> bytes:
        """Return the next bytes of an answer, empty at the end; meanwhile read the output."""

    def receive(self, clock: Clock) -> Frame:
        """Return the next frame; raise WorkerLost if it is malformed, does not answer the question
        that is due, or does not come in time.
        """
        if not self._received:
            self._received = self._first_chunk()
        frame = self._complete_frame()
        if frame is None:
            frame = self._awaited_frame(clock)
        due = (
            self.awaited.popleft() if self.awaited else 0
        )  # a worker's first frame has no question
        if frame.number != due:
            raise crashed("the worker answered another question than it was asked")
        if self._received and not self.awaited:
            raise crashed("the worker answered more than it was asked")
        return frame

    def _awaited_frame(self, clock: Clock) -> Frame:
        clock.begin()
        data = self._received = bytearray(self._received)
        while (frame := self._complete_frame()) is None:
            chunk = self._next_chunk(clock)
            if not chunk:
                raise _gone()
            data += chunk
        return frame

    def _complete_frame(self) -> Frame | None:
        """Return a complete frame, if there is one; raise WorkerLost if the bytes are malformed."""
        data = self._received
        if len(data) < HEADER.size:
            return None
        try:
            message_bytes, blob_bytes, number = sizes(data)
            middle = HEADER.size + message_bytes
            end = middle + blob_bytes
            if len(data) < end:
                return None
            message = bytes(data[HEADER.size : middle])
            limit_values(message, MAX_VALUES)
        except BrokenFrame as error:
            raise crashed(str(error)) from None
        self._received = data[end:]
        return Frame(message, memoryview(data)[middle:end], number)

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
    """A Unix socket to a forked worker, and the pipe of its output.

    The kernel ends a read or a write of the socket after one turn. Only then are both polled.
    """

    def __init__(self, line: socket.socket, output_fd: int, *, output_bytes: int) -> None:
        super().__init__(output_fd, output_bytes)
        self._line = line
        turn = struct.pack("@ll", 0, int(TURN_SECONDS * 1e6))  # a timeval of C
        line.setblocking(True)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, turn)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, turn)

    def send(self, numbers: Iterable[int], data: bytes, clock: Clock) -> None:
        self.awaited.extend(numbers)
        sent = self._send(data)
        if sent < len(data):
            clock.begin()
            rest = memoryview(data)[sent:]
            while rest:
                self._wait(select.POLLOUT, clock)
                rest = rest[self._send(rest) :]

    def _send(self, data: bytes | memoryview) -> int:
        """Send what fits within one turn; return how many bytes."""
        try:
            return self._line.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            raise _gone() from None

    def _first_chunk(self) -> bytes:
        with contextlib.suppress(OSError):
            return self._line.recv(CHUNK)
        return b""

    def _next_chunk(self, clock: Clock) -> bytes:
        self._wait(select.POLLIN, clock)
        with contextlib.suppress(OSError):
            return self._line.recv(CHUNK)
        return b""

    def _wait(self, event: int, clock: Clock) -> None:
        """Wait until the connection is ready for ``event``; meanwhile read the output."""
        line, poll = self._line.fileno(), select.poll()
        poll.register(line, event)
        if self._printing:
            poll.register(self._output_fd, select.POLLIN)
        while True:
            seconds = clock.left()
            if seconds <= 0:
                raise _late()
            ready = dict(poll.poll(seconds * 1000 + 1))
            if self._output_fd in ready:
                self._read_output()
                if not self._printing:
                    poll.unregister(self._output_fd)
            if line in ready:
                return

    def close(self) -> None:
        self._line.close()
        os.close(self._output_fd)


class PipeChannel(Channel):
    """Pipes to a worker that is a process of its own.

    One thread reads frames and one writes them, so this works without Unix features. The reader
    takes a chunk only while ``receive`` waits for one, so a worker that writes without a request
    fills its pipe and blocks. The thread that waits for an answer also reads the student's output,
    so everything printed before an answer arrives with it.

    Each thread closes its pipe itself. If a process that the student's code started keeps the other
    end open, one of them may wait for ever, but nobody waits for it.
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
        with contextlib.suppress(OSError), self._source:
            while self._wanted.get():
                self._chunks.put(os.read(self._source.fileno(), CHUNK))
        self._chunks.put(b"")

    def _write(self) -> None:
        with contextlib.suppress(OSError), self._sink:
            while (data := self._outgoing.get()) is not None:
                self._sink.write(data)
                self._sink.flush()

    def send(self, numbers: Iterable[int], data: bytes, clock: Clock) -> None:
        """Pass frames to the writing thread. ``receive`` times out if nobody reads them."""
        self.awaited.extend(numbers)
        self._outgoing.put(data)

    def _first_chunk(self) -> bytes:
        return b""

    def _next_chunk(self, clock: Clock) -> bytes:
        self._wanted.put(True)
        while True:
            turn = 0 if self.settle() else TURN_SECONDS
            rest = clock.left()
            try:
                return self._chunks.get(timeout=max(0.0, min(rest, turn)))
            except queue.Empty:
                if rest <= 0:
                    raise _late() from None

    def close(self) -> None:
        self._wanted.put(False)
        self._outgoing.put(None)
        self._printed.close()


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
