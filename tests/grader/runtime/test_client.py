"""A fork server that gets or sends malformed data is a grader fault that names the field."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.core.errors import EngineFault
from grader.core.limits import Limits
from grader.core.messages import Envelope, Settings, Task
from grader.course.course import Course
from grader.runtime import client
from grader.runtime.client import ForkServerClient
from grader.worker.wire.frames import Frame, encode, pack

Patch = pytest.MonkeyPatch


def judge(server: ForkServerClient, course: Course) -> None:
    """Judge an empty file."""
    server.judge(course.lesson("tiny"), Task("", "tiny.py", Settings(1, "off")))


MALFORMED = Frame(encode({"judged": {"checks": [1]}}))


@pytest.mark.parametrize(
    ("owner", "name", "data", "said"),
    [
        (client, "read_frame", MALFORMED, r"JudgeResult: .*checks\[0\]`"),
        (Envelope, "as_json", {"options": {"sandbox": 1}}, r"Envelope: .*options\.sandbox`"),
    ],
)
def test_malformed_data_ends_the_fork_server_and_names_the_field(
    owner: Any, name: str, data: Any, said: str, small_course: Course, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(owner, name, lambda _: data)
    with ForkServerClient() as server:
        with pytest.raises(EngineFault, match=said):
            judge(server, small_course)
        assert server._process is None


def test_what_the_fork_server_can_read_has_no_seed_and_no_solution(
    small_course: Course, monkeypatch: Patch
) -> None:
    """A worker is its copy. It reads the envelope, and the spec passes through its socket."""
    sent: list[Any] = []

    def record(message: Any) -> bytes:
        sent.append(message)
        return pack(message)

    monkeypatch.setattr(client, "pack", record)
    monkeypatch.setattr(client, "read_frame", lambda _: None)
    task = Task("", "tiny.py", Settings(20261127, "off"))
    with ForkServerClient() as server, pytest.raises(EngineFault):
        server.judge(small_course.lesson("tiny"), task)
    envelope, spec, _ = sent
    assert envelope.keys() == {"options", "lesson", "new"}
    assert "20261127" not in str(envelope)
    assert spec == {"course": str(small_course.root), "lesson": "tiny", "lang": "en"}


@pytest.mark.posix
def test_a_fork_server_without_a_task_is_not_waited_for() -> None:
    """It ends while it imports torch, which takes longer than most mistakes of a user."""
    server = ForkServerClient()
    process = server._process
    assert process is not None
    server.close()
    assert process.returncode


LOOP = "def double(x):\n    while True:\n        pass\n"
HOURS = replace(Limits(), call_seconds=9999.0, lesson_seconds=9999.0)


def children_of(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


@pytest.mark.linux
def test_nothing_outlives_the_supervisor(small_course: Course) -> None:
    """The fork server and a worker that would run for hours end when the supervisor's connection
    does, as if it had been killed.
    """
    server = ForkServerClient()
    process = server._process
    assert process is not None
    task = Task(LOOP, "tiny.py", Settings(1, "off", HOURS))

    def judge_loop() -> None:
        with contextlib.suppress(EngineFault):
            server.judge(small_course.lesson("tiny"), task)

    thread = threading.Thread(target=judge_loop)
    thread.start()
    try:
        while len(children := children_of(process.pid)) < 2:  # a lesson server and a worker
            time.sleep(0.01)
        with socket.fromfd(server._jobs.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.shutdown(socket.SHUT_RDWR)
        process.wait(60)
        assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
    finally:
        process.kill()
        thread.join()
