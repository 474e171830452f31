"""A worker's connection: no output is lost or accumulates, and no answer is accepted that does not
answer the question that is due, in time.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

import pytest

from grader.core.errors import WorkerGone, WorkerLost
from grader.judge.remote.channel import Channel, Clock, PipeChannel, SocketChannel
from grader.judge.remote.workers import WorkerProcess
from grader.worker.wire.frames import encode, framed


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


def test_a_pipe_that_another_process_keeps_open_does_not_hold_the_judge(pipes: Pipes) -> None:
    """Such as a process that the student's code started, which outlives the worker."""
    pipes.channel.send([1], bytes(1 << 20), Clock(10))
    while not pipes.channel._outgoing.empty():
        time.sleep(0.01)
    closing = threading.Thread(target=pipes.channel.close, daemon=True)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()


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


class Socket:
    """A SocketChannel, and the worker's ends of its socket and its pipe."""

    def __init__(self) -> None:
        line, self.line = socket.socketpair()
        output, self.prints = os.pipe()
        self.channel = SocketChannel(line, output, output_bytes=1 << 30)

    def close(self) -> None:
        self.line.close()
        os.close(self.prints)
        self.channel.close()


@pytest.fixture
def connection() -> Iterator[Socket]:
    made = Socket()
    yield made
    made.close()


@pytest.fixture(params=["socket", "pipe"])
def answers(request: pytest.FixtureRequest) -> tuple[Channel, Callable[[bytes], object]]:
    """Return a channel, and a function that sends bytes from the worker's end."""
    if request.param == "socket":
        made: Socket = request.getfixturevalue("connection")
        return made.channel, made.line.sendall
    pipes: Pipes = request.getfixturevalue("pipes")
    return pipes.channel, lambda data: os.write(pipes.answers, data)


Answers = tuple[Channel, Callable[[bytes], object]]


def frame(number: int, blob: bytes = b"") -> bytes:
    return framed(b"\x01", (blob,), number=number)


def test_an_answer_has_the_number_of_its_question(answers: Answers) -> None:
    channel, send = answers
    channel.send([7], frame(7), Clock(10.0))
    send(frame(7, b"blob"))
    received = channel.receive(Clock(10.0))
    assert (received.number, received.body, bytes(received.blob)) == (7, 1, b"blob")
    assert not channel.awaited


@pytest.mark.parametrize("numbers", [[1], [0], [8, 7], [7, 7], [7, 8]])
def test_an_answer_to_another_question_is_refused(numbers: list[int], answers: Answers) -> None:
    """This includes one that was sent before the question, and one that is sent twice."""
    channel, send = answers
    send(b"".join(frame(number) for number in numbers))
    channel.send([7], frame(7), Clock(10.0))
    with pytest.raises(WorkerLost, match=r"another question|more than it was asked"):
        channel.receive(Clock(10.0))


def test_answers_come_in_the_order_of_their_questions(answers: Answers) -> None:
    channel, send = answers
    channel.send([3], frame(3), Clock(10.0))
    channel.send([5, 4], frame(5) + frame(4), Clock(10.0))
    send(b"".join(frame(number, bytes(number)) for number in (3, 5, 4)))
    got = [channel.receive(Clock(10.0)) for _ in range(3)]
    assert [(one.number, len(one.blob)) for one in got] == [(3, 3), (5, 5), (4, 4)]


def test_a_worker_that_drips_has_no_more_time_than_another(answers: Answers) -> None:
    """Each byte comes within the turn in which the clock is not looked at."""
    channel, send = answers
    channel.send([7], frame(7), Clock(10.0))
    done = threading.Event()

    def drip() -> None:
        for byte in frame(7, bytes(1 << 16)):
            if done.wait(0.001):
                return
            send(bytes([byte]))

    with beside(drip):
        with pytest.raises(WorkerLost, match="no answer in time"):
            channel.receive(Clock(0.2))
        done.set()


def test_a_worker_that_is_silent_is_late(answers: Answers) -> None:
    channel, _ = answers
    channel.send([7], frame(7), Clock(10.0))
    with pytest.raises(WorkerLost, match="no answer in time"):
        channel.receive(Clock(0.05))


def test_a_question_that_nobody_reads_is_late(connection: Socket) -> None:
    with pytest.raises(WorkerLost, match="no answer in time"):
        connection.channel.send([7], frame(7, bytes(8 << 20)), Clock(0.05))


def test_a_large_question_and_its_answer_cross_a_socket(connection: Socket) -> None:
    """Neither end waits for the other, whatever the worker prints meanwhile."""
    large = frame(7, bytes(8 << 20))

    def answer() -> None:
        count = len(large)
        while count:
            count -= len(connection.line.recv(count))
        for _ in range(100):
            os.write(connection.prints, bytes(1 << 16))
        connection.line.sendall(large)

    with beside(answer):
        connection.channel.send([7], large, Clock(60.0))
        assert len(connection.channel.receive(Clock(60.0)).blob) == 8 << 20
    connection.channel.settle()
    assert len(connection.channel.output.take()) == 100 << 16


@pytest.mark.parametrize(
    "data",
    [b"\xff" * 64, frame(7)[:4] + b"\xff" * 64, framed(encode([0] * 60_000), (), number=7)],
    ids=["no frame", "a huge size", "many values"],
)
def test_a_malformed_frame_loses_the_worker(data: bytes, answers: Answers) -> None:
    channel, send = answers
    channel.send([7], frame(7), Clock(10.0))
    send(data)
    with pytest.raises(WorkerLost) as raised:
        channel.receive(Clock(10.0))
    assert raised.value.outcome == "crashed"


def test_a_worker_that_ends_in_the_middle_of_an_answer_is_gone(connection: Socket) -> None:
    connection.channel.send([7], frame(7), Clock(10.0))
    connection.line.sendall(frame(7, bytes(100))[:50])
    connection.line.shutdown(socket.SHUT_RDWR)
    with pytest.raises(WorkerGone):
        connection.channel.receive(Clock(10.0))


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
