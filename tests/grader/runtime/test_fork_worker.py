"""Forked workers: they end with their submission, and a fork server that ended is replaced."""

from __future__ import annotations

import os
import socket
from dataclasses import asdict

import pytest

from grader.core.limits import Limits
from grader.core.protocol import BrokerRequest, WorkerOptions
from grader.core.report import LessonResult, Outcome
from grader.course.course import Course
from grader.course.lesson_file import LessonFile
from grader.judge.remote.channel import SocketChannel
from grader.judge.remote.worker_sources import ForkedWorkers, read_hello
from grader.runtime import fork_server
from grader.runtime.client import ForkServerClient, default_mode
from grader.runtime.fork_server import WorkerBroker
from grader.runtime.fork_worker import fork_worker
from grader.runtime.grading import Settings, grade_lesson
from grader.worker.sandbox import Prepared
from grader.worker.wire.frames import pack

pytestmark = pytest.mark.skipif(default_mode() != "fork", reason="workers are forked on Linux only")


def has_ended(pid: int) -> bool:
    """Whether a process of that number is no child of ours any more."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def test_a_judge_that_needs_to_know_nothing_of_a_worker_waits_for_nothing() -> None:
    """The host ends it all the same, also where the judge's last words arrive together."""
    judge, host = socket.socketpair()
    worker = fork_worker(WorkerOptions(Limits(), "off", ()), Prepared())
    channel = SocketChannel(worker.line, worker.output, output_bytes=1 << 10)
    with judge, host:
        workers = ForkedWorkers(judge, output_bytes=1 << 10)
        assert workers.end(read_hello(channel, worker.pid), died=False) is None
        judge.sendall(pack(BrokerRequest("done").as_json()))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fork_server, "GRACE_SECONDS", 2.0)
            options = WorkerOptions(Limits(lesson_seconds=1), "off", ())
            assert WorkerBroker(host, options, Prepared()).serve_until_done()
    assert has_ended(worker.pid)


def graded(host: ForkServerClient, course: Course, source: str) -> LessonResult:
    """A result, times and seeds alike."""
    file = LessonFile("tiny", "tiny.py", source + "def triple(x): return 3 * x\nLIMIT = 20.0\n")
    return grade_lesson(host, course.lesson("tiny"), file, Settings(7, limits=course.limits)).result


def without_times(result: LessonResult) -> dict[str, object]:
    """A result as data, without what differs from run to run."""
    data = asdict(result)
    for part in (data, *data["checks"]):
        part["seconds"] = 0
    return data


def test_a_host_that_ended_in_between_is_replaced(small_course: Course) -> None:
    """Nobody's result is lost: the one before was there, and the next one is a new host's."""
    with ForkServerClient() as host:
        before = graded(host, small_course, "def double(x): return 2 * x\n")
        host.settle()
        assert host._process is not None
        host._process.kill()
        host._process.wait()
        after = graded(host, small_course, "def double(x): return 2 * x\n")
    assert without_times(after) == without_times(before)
    assert not any(check.outcome is Outcome.GRADER_ERROR for check in after.checks)
