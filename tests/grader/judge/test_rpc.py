"""Requests to a worker: what it may forget, and that a lost worker's answers are not used."""

from __future__ import annotations

from typing import Any, cast

import pytest

from grader.core.limits import Limits
from grader.course.source import Source
from grader.judge.remote.channel import Channel, Deadline, Output
from grader.judge.remote.proxies import GraphHandle
from grader.judge.remote.session import StudentSession
from grader.judge.remote.workers import ExitStatus, WorkerProcess
from grader.worker.wire import values
from grader.worker.wire.frames import HEADER, BrokenFrame, Frame, sizes, unpack


class Listener:
    """A worker, and its source, that gives every request the same answer and records what it may
    forget.
    """

    def __init__(self) -> None:
        self.output = Output(100)
        self.answer: dict[str, Any] = {"value": []}
        self.blob = b""
        self.forgotten: list[int] = []
        self.asked = 0

    def start(self) -> WorkerProcess:
        return WorkerProcess(cast(Channel, self), 0)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        return None

    def send(self, data: bytes, deadline: Deadline) -> None:
        text, _ = sizes(data[: HEADER.size])
        body = unpack(data[HEADER.size : HEADER.size + text], b"").body
        self.asked = body["id"]
        self.forgotten += body["free"]

    def receive(self, deadline: Deadline) -> Frame:
        return Frame({"id": self.asked, **self.answer}, self.blob)

    def settle(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def session(listener: Listener) -> StudentSession:
    """Return a session with that worker, which has loaded the file."""
    made = StudentSession(
        listener,
        source=Source("", "lesson.py"),
        scenarios="def f(student): ...",
        limits=Limits(lesson_seconds=600),
    )
    made.load()
    return made


def test_a_question_that_can_not_be_sent_loses_no_handle(
    session: StudentSession, listener: Listener
) -> None:
    GraphHandle(session.worker, 7)
    with pytest.raises(BrokenFrame, match="over the cap"):
        session.ask("describe", path="f" * (9 << 20))
    session.ask("describe", path="f")
    assert listener.forgotten == [7]


def test_memory_that_runs_out_while_an_answer_is_read_is_left_to_the_plugin(
    session: StudentSession, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plugin knows whether the judge's own limit was exceeded."""

    def no_memory(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(values, "unpacked", no_memory)
    listener.answer = {"value": {"tensor": ["float32", [2], None, 0, 8, False]}}
    listener.blob = bytes(8)
    with pytest.raises(MemoryError):
        session.observe("f", (), {})
