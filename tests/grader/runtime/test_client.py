"""A fork server that gets or sends malformed data is a grader fault that names the field."""

from __future__ import annotations

import contextlib
import signal
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
from grader.runtime.server_process import TorchProcess
from grader.worker.wire.frames import Frame, pack

Patch = pytest.MonkeyPatch


def judge(server: ForkServerClient, course: Course) -> None:
    """Judge an empty file."""
    server.judge(course.lesson("tiny"), Task("", "tiny.py", Settings(1, "off")))


@pytest.mark.parametrize(
    ("owner", "name", "data", "said"),
    [
        (client, "read_frame", Frame({"judged": {"checks": [1]}}), r"JudgeResult: .*checks\[0\]`"),
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
    assert envelope.keys() == {"options", "lesson", "new", "finished"}
    assert "20261127" not in str(envelope)
    assert spec == {"course": str(small_course.root), "lesson": "tiny", "lang": "en"}


@pytest.mark.linux
def test_a_fork_server_without_a_task_is_not_waited_for(monkeypatch: Patch) -> None:
    """It ends while it imports torch, which takes longer than most mistakes of a user."""
    monkeypatch.setattr(TorchProcess, "current", None)  # other tests' goes on
    server = ForkServerClient()
    torch_process = TorchProcess.current
    assert torch_process is not None
    server.close()
    assert torch_process._process.returncode == -signal.SIGKILL
    assert TorchProcess.current is None


LOOP = "def double(x):\n    while True:\n        pass\n"
HOURS = replace(Limits(), call_seconds=9999.0, lesson_seconds=9999.0)


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def everything_below(pid: int) -> list[int]:
    """Return a fork server, its lesson starter, lesson server and judge, and its worker."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            found += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
    return found


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
        while process.pid is None or len(everything := everything_below(process.pid)) < 5:
            time.sleep(0.01)
        process.interrupt()
        until = time.monotonic() + 60
        while time.monotonic() < until and any(map(exists, everything)):
            time.sleep(0.01)
        assert not [pid for pid in everything if exists(pid)]
    finally:
        thread.join()
        server.close()


@pytest.mark.linux
def test_fork_servers_share_an_import_of_torch_and_nothing_else(small_course: Course) -> None:
    """Each judges by itself, also when another one is killed."""
    with ForkServerClient() as first, ForkServerClient() as second:
        for server in (first, second):
            judge(server, small_course)
        assert first._process is not None
        assert second._process is not None
        pids = first._process.greet(), second._process.greet()
        assert pids[0] != pids[1]
        assert parent_of(pids[0]) == parent_of(pids[1])
        first._process.kill()
        judge(second, small_course)
        judge(first, small_course)
        assert first._process.greet() not in pids
        assert parent_of(first._process.greet()) == parent_of(pids[1])


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.linux
def test_lesson_servers_that_nobody_needs_end(small_course: Course) -> None:
    """With ``most_lessons=1``, at most one is left, and an earlier lesson can come again."""
    with ForkServerClient(most_lessons=1) as server:
        for lang in ("en", "ko", "en"):
            task = Task("", "tiny.py", Settings(1, "off", lang=lang))
            server.judge(small_course.lesson("tiny"), task)
            assert len(server._lessons) == 1
        assert server._process is not None
        starter, *_ = everything_below(server._process.greet())[1:]
        until = time.monotonic() + 60
        while time.monotonic() < until and len(everything_below(starter)) > 5:
            time.sleep(0.01)
        running = [pid for pid in everything_below(starter) if state_of(pid) != "Z"]
        assert len(running) == 3  # the starter, a lesson server and its judge


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
