"""A worker's connection: no output is lost or accumulates, and no answer is accepted before its
request.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

import pytest

from grader.core.errors import WorkerLost
from grader.judge.remote.channel import Channel, Deadline, PipeChannel, SocketChannel
from grader.judge.remote.workers import WorkerProcess
from grader.worker.wire.frames import pack


class Pipes:
    """A PipeChannel, and the worker's ends of its pipes."""

    def __init__(self) -> None:
        requests, sink = os.pipe()
        source, self.answers = os.pipe()
        printed, self.prints = os.pipe()
        self.open = [requests, self.answers, self.prints]
        streams = (os.fdopen(sink, "wb"), os.fdopen(source, "rb"), os.fdopen(printed, "rb"))
        self.channel = PipeChannel(*cast(tuple[BinaryIO, ...], streams), output_bytes=1 << 30)

    def close(self) -> None:
        for descriptor in self.open:
            os.close(descriptor)
        self.channel.close()


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    made = Pipes()
    yield made
    made.close()


@contextlib.contextmanager
def beside(work: Callable[[], None]) -> Iterator[threading.Thread]:
    """Do ``work`` in a thread, to and from which Python switches all the time; wait for its end."""
    thread = threading.Thread(target=work)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        yield thread
    finally:
        sys.setswitchinterval(before)
        thread.join()


def test_nothing_that_is_printed_is_lost_between_threads(pipes: Pipes) -> None:
    pieces = 1200
    chunk = b"x" * 1000

    def write() -> None:
        for _ in range(pieces):
            os.write(pipes.prints, chunk)

    taken = 0
    with beside(write) as writer:
        while writer.is_alive():
            pipes.channel.settle()
            for _ in range(10_000):
                taken += len(pipes.channel.output.take())
    pipes.channel.settle()
    taken += len(pipes.channel.output.take())
    assert taken == pieces * len(chunk)


def test_what_was_printed_is_there_at_once(pipes: Pipes) -> None:
    for number in range(50):
        os.write(pipes.prints, b"%d" % number)
        pipes.channel.settle()
        assert pipes.channel.output.take() == str(number)


@pytest.mark.posix
def test_answers_that_nobody_reads_make_the_worker_wait(pipes: Pipes) -> None:
    os.set_blocking(pipes.answers, False)
    written, most = 0, 64 << 20
    while written < most:
        try:
            written += os.write(pipes.answers, bytes(1 << 16))
        except BlockingIOError:
            if not select.select([], [pipes.answers], [], 1.0)[1]:
                break
    assert written < most


def test_a_socket_takes_no_answer_before_its_question() -> None:
    """This includes an answer that is still in the kernel's buffer."""
    line, far_line = socket.socketpair()
    output, far_output = os.pipe()
    channel = SocketChannel(line, output, output_bytes=1 << 10)
    with far_line:
        far_line.sendall(pack({"id": 1, "value": 2}))
        with pytest.raises(WorkerLost, match="before it was asked"):
            channel.send(pack({"id": 1}), Deadline(float("inf")))
    channel.close()
    os.close(far_output)


def test_a_pipe_takes_no_answer_before_its_question() -> None:
    """This includes an answer in the kernel's buffer that no thread has read yet."""
    for _ in range(50):
        pipes = Pipes()
        os.write(pipes.answers, pack({"id": 1, "value": 2}))
        with pytest.raises(WorkerLost, match="before it was asked"):
            pipes.channel.send(pack({"id": 1}), Deadline(float("inf")))
        pipes.close()


def test_no_handle_is_lost_while_others_are_freed() -> None:
    worker = WorkerProcess(cast(Channel, None), 0)
    count = 20_000

    def free() -> None:
        for number in range(count):
            worker.freed.append(number)

    taken: list[int] = []
    with beside(free) as thread:
        while thread.is_alive():
            taken += worker.take_freed()
    taken += worker.take_freed()
    assert taken == list(range(count))
