"""The judge's end of the line to a worker: frames with a deadline, and the student's output.

``SocketChannel`` polls a socket and a pipe in one thread. ``PipeChannel`` uses threads and works
everywhere. Both raise ``WorkerLost``: ``timeout`` after the deadline, ``crashed`` if the line ends
(``WorkerGone``) or a frame is malformed.
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
from typing import BinaryIO, Protocol

from grader.core.errors import WorkerGone, WorkerLost
from grader.judge.remote.output import Output
from grader.worker.wire.frames import HEADER, BrokenFrame, Frame, sizes, unpack

CHUNK = 1 << 16
MAX_CHUNKS = 64
"""How many chunks of what is printed are read in one turn."""
TURN_SECONDS = 0.005
"""How long to wait for an answer before looking again at what is printed."""


class Channel(Protocol):
    """One worker's line."""

    output: Output

    def send(self, data: bytes, deadline: float) -> None: ...

    def receive(self, deadline: float) -> Frame: ...

    def settle(self) -> None: ...

    def close(self) -> None: ...


def _crashed(reason: str) -> WorkerLost:
    return WorkerLost("crashed", "{reason}", reason=reason)


def _gone() -> WorkerGone:
    return WorkerGone("crashed", "{reason}", reason="the worker is gone")


def _early() -> WorkerLost:
    return _crashed("the worker answered before it was asked")


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
            raise _early()


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
        self._inbox.require_empty()
        with contextlib.suppress(OSError):  # nothing is there, or the line ended: receive says so
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

    def receive(self, deadline: float) -> Frame:
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
        poll = select.poll()
        poll.register(self._output_fd, select.POLLIN)
        for _ in range(64):
            if not self._printing or not poll.poll(0):
                return
            self._drain()

    def close(self) -> None:
        self._line.close()
        os.close(self._output_fd)


class PipeChannel:
    """Pipes to a worker that is a process of its own, on any system.

    One thread reads frames, one writes them. Bytes are read only while waiting for an answer: a
    worker that writes unasked fills its pipe and blocks. Output is read by whoever waits, so all
    that was printed before an answer is there with it.
    """

    def __init__(
        self, sink: BinaryIO, source: BinaryIO, printed: BinaryIO, *, output_bytes: int
    ) -> None:
        self.output = Output(output_bytes)
        self._sink = sink
        self._source = source
        self._printed = printed
        self._printing = True
        self._wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._inbox = _Inbox()
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

    def send(self, data: bytes, deadline: float) -> None:
        self._inbox.require_empty()
        if readable(self._source.fileno()):
            self._wanted.put(True)
            raise _early() if self._chunks.get() else _gone()
        self._outgoing.put(data)

    def receive(self, deadline: float) -> Frame:
        while True:
            self._wanted.put(True)
            chunk = self._next_chunk(deadline)
            if not chunk:
                raise _gone()
            self._inbox.add(chunk)
            if (frame := self._inbox.pop()) is not None:
                return frame

    def _next_chunk(self, deadline: float) -> bytes:
        while True:
            turn = 0 if self._drain() else TURN_SECONDS
            rest = deadline - time.monotonic()
            try:
                return self._chunks.get(timeout=max(0.0, min(rest, turn)))
            except queue.Empty:
                if rest <= 0:
                    raise _late() from None

    def _drain(self) -> bool:
        """Read what is printed by now, a bounded part of it; return whether there was any."""
        for count in range(MAX_CHUNKS):
            if not self._printing or not readable(self._printed.fileno()):
                return count > 0
            try:
                chunk = os.read(self._printed.fileno(), CHUNK)
            except OSError:
                chunk = b""
            self._printing = bool(chunk)
            self.output.add(chunk)
        return True

    def settle(self) -> None:
        self._drain()

    def close(self) -> None:
        self._wanted.put(False)
        self._outgoing.put(None)
        for stream in (self._sink, self._source, self._printed):
            with contextlib.suppress(OSError):
                stream.close()


def readable(descriptor: int) -> bool:
    """Return whether a read of a pipe would not wait: it holds bytes, or nobody writes any more."""
    try:  # as multiprocessing and asyncio do on Windows, where select() takes sockets only
        winapi, msvcrt = importlib.import_module("_winapi"), importlib.import_module("msvcrt")
    except ImportError:
        return bool(select.select([descriptor], [], [], 0)[0])
    try:
        return bool(winapi.PeekNamedPipe(msvcrt.get_osfhandle(descriptor), 0)[0])
    except OSError:
        return True
