"""The judge's end of the line to a worker: frames out, frames in, each with a deadline, and what
the student prints.

Two kinds with one face. ``SocketChannel`` polls a socket and the pipe of the student's output in
one thread. ``PipeChannel`` reads two pipes with threads; it works wherever Python does.

Both raise ``WorkerLost``: ``timeout`` past the deadline, ``crashed`` where the line ends
(``WorkerGone``) or what comes is no frame.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import socket
import threading
import time
from typing import BinaryIO, Protocol

from grader.core.errors import WorkerGone, WorkerLost
from grader.worker.wire.frames import HEADER, BrokenFrame, Frame, sizes, unpack

CHUNK = 1 << 16


class Output:
    """What a student's code printed: the first part is kept, the rest is counted."""

    def __init__(self, cap_bytes: int) -> None:
        self.cap_bytes = cap_bytes
        self._kept = bytearray()
        self._cut = 0

    def add(self, chunk: bytes) -> None:
        """More output."""
        room = max(0, self.cap_bytes - len(self._kept))
        self._kept += chunk[:room]
        self._cut += max(0, len(chunk) - room)

    def take(self) -> str:
        """The output since the last call, with a note of how much was cut."""
        text = self._kept.decode("utf-8", "replace")
        if self._cut:
            text += f"\n[{self._cut:,} more bytes were cut]"
        self._kept.clear()
        self._cut = 0
        return text


class Channel(Protocol):
    """One worker's line."""

    output: Output

    def send(self, data: bytes, deadline: float) -> None:
        """Send a packed frame before ``deadline`` (``time.monotonic`` seconds)."""

    def receive(self, deadline: float) -> Frame:
        """The next frame before ``deadline``."""

    def settle(self) -> None:
        """Take in what was printed so far."""

    def close(self) -> None:
        """End the line."""


def _crashed(reason: str) -> WorkerLost:
    return WorkerLost("crashed", "{reason}", reason=reason)


def _gone() -> WorkerGone:
    return WorkerGone("crashed", "{reason}", reason="the worker is gone")


def _late() -> WorkerLost:
    return WorkerLost("timeout", "no answer in time")


class _Inbox:
    """Bytes on their way to be a frame."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, chunk: bytes) -> None:
        self._data += chunk

    def pop(self) -> Frame | None:
        """A whole frame, if one is there; raises WorkerLost where the bytes are none."""
        if len(self._data) < HEADER.size:
            return None
        try:
            text_bytes, blob_bytes = sizes(bytes(self._data[: HEADER.size]))
            end = HEADER.size + text_bytes + blob_bytes
            if len(self._data) < end:
                return None
            middle = HEADER.size + text_bytes
            frame = unpack(self._data[HEADER.size : middle], self._data[middle:end])
        except BrokenFrame as error:
            raise _crashed(str(error)) from None
        if len(self._data) > end:
            raise _crashed("the worker answered more than it was asked")
        self._data = bytearray()
        return frame

    def require_empty(self) -> None:
        if self._data:
            raise _crashed("the worker answered before it was asked")


class SocketChannel:
    """A Unix socket to a forked worker, and the pipe of its output, polled together."""

    def __init__(self, line: socket.socket, output_fd: int, *, output_bytes: int) -> None:
        self.output = Output(output_bytes)
        self._line = line
        self._line.setblocking(False)
        self._output_fd = output_fd
        os.set_blocking(output_fd, False)
        self._printing = True
        self._inbox = _Inbox()
        self._poll = select.poll()
        self._poll.register(output_fd, select.POLLIN)

    def _drain(self) -> None:
        try:
            chunk = os.read(self._output_fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        self._printing = bool(chunk)
        self.output.add(chunk)

    def _wait(self, event: int, deadline: float) -> None:
        """Return when the line is ready for ``event``; meanwhile take in what is printed."""
        poll, line = self._poll, self._line.fileno()
        poll.register(line, event)
        while True:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                raise _late()
            ready = dict(poll.poll(seconds * 1000 + 1))
            if self._output_fd in ready:
                self._drain()
                if not self._printing:
                    poll.unregister(self._output_fd)
            if line in ready:
                return

    def send(self, data: bytes, deadline: float) -> None:
        """Send a packed frame before ``deadline``."""
        self._inbox.require_empty()
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._line.send(rest) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
            except OSError:
                raise _gone() from None

    def receive(self, deadline: float) -> Frame:
        """The next frame before ``deadline``."""
        while True:
            self._wait(select.POLLIN, deadline)
            try:
                chunk = self._line.recv(CHUNK * 4)
            except BlockingIOError:
                continue
            except OSError:
                chunk = b""
            if not chunk:
                raise _gone()
            self._inbox.add(chunk)
            if (frame := self._inbox.pop()) is not None:
                return frame

    def settle(self) -> None:
        """Take in what was printed so far, a bounded part of it."""
        poll = select.poll()
        poll.register(self._output_fd, select.POLLIN)
        for _ in range(64):
            if not self._printing or not poll.poll(0):
                return
            self._drain()

    def close(self) -> None:
        """End the line."""
        self._line.close()
        os.close(self._output_fd)


class PipeChannel:
    """Pipes to a worker that is a process of its own; two threads read, so this needs nothing that
    only Unix has.
    """

    def __init__(
        self, sink: BinaryIO, source: BinaryIO, printed: BinaryIO, *, output_bytes: int
    ) -> None:
        self.output = Output(output_bytes)
        self._sink = sink
        self._source = source
        self._printed = printed
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._inbox = _Inbox()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._read, self._print, self._write)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._source.fileno(), CHUNK):
                self._chunks.put(chunk)
        self._chunks.put(b"")

    def _print(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._printed.fileno(), CHUNK):
                with self._lock:
                    self.output.add(chunk)

    def _write(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (data := self._outgoing.get()) is not None:
                self._sink.write(data)
                self._sink.flush()

    def send(self, data: bytes, deadline: float) -> None:
        """Hand a packed frame to the writing thread; a worker that doesn't read shows as a late
        answer.
        """
        self._inbox.require_empty()
        self._outgoing.put(data)

    def receive(self, deadline: float) -> Frame:
        """The next frame before ``deadline``."""
        while True:
            try:
                chunk = self._chunks.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise _late() from None
            if not chunk:
                raise _gone()
            self._inbox.add(chunk)
            if (frame := self._inbox.pop()) is not None:
                return frame

    def settle(self) -> None:
        """Give the printing thread a moment to take in what was printed."""
        time.sleep(0.02)

    def close(self) -> None:
        """End the line; the threads end with it."""
        self._outgoing.put(None)
        for stream in (self._sink, self._source, self._printed):
            with contextlib.suppress(OSError):
                stream.close()
