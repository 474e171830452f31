"""Ctrl-C during a batch: the first waits for running jobs and keeps them, the second does not.
Either way, the same command continues.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from batch_process import stable_files
from rich.console import Console

from grader.classroom.gradebook.store import Gradebook
from grader.cli.batch import BatchOptions, grade_class
from grader.cli.batch_screen import graceful_interrupt, stopping
from grader.core.errors import EngineFault, ExitCode
from grader.core.messages import JudgeResult, Task
from grader.course.course import Course, Lesson
from grader.course.stubs import without_markers
from grader.runtime import pool
from grader.runtime.client import ForkServerClient
from grader.runtime.pool import Cancelled, HostPool, map_unordered

pytestmark = pytest.mark.fork

NAMES = ("ada", "alan", "edsger", "grace")
WRONG = "def double(x): return x * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"
RESUMES = "run the same command to continue"
LONGEST_SECONDS = 60


@dataclass
class InterruptingHost:
    """The tests' host, which stays open. At the second submission, or ``at_reference``, it presses
    Ctrl-C ``times`` times, each after the previous one took effect.
    """

    host: ForkServerClient
    times: int = 0
    at_reference: bool = False
    graded: int = 0
    abandoned: threading.Event = field(default_factory=threading.Event)

    def judge(self, lesson: Lesson, task: Task) -> JudgeResult:
        is_reference = task.source == without_markers(lesson.solution.read_text("utf-8"))
        self.graded += not is_reference
        if is_reference if self.at_reference else self.graded == 2:
            self.press()
        if self.abandoned.is_set():
            raise EngineFault("the run was stopped")
        return self.host.judge(lesson, task)

    def press(self) -> None:
        main = threading.main_thread().ident
        assert main is not None
        for _ in range(self.times):
            before = signal.getsignal(signal.SIGINT)
            signal.pthread_kill(main, signal.SIGINT)
            looks = range(LONGEST_SECONDS * 1000)
            assert any(
                signal.getsignal(signal.SIGINT) is not before or self.abandoned.wait(0.001)
                for _ in looks
            ), "nobody heeded Ctrl-C"

    def abandon(self) -> None:
        self.abandoned.set()

    def close(self) -> None: ...


RunBatch = Callable[..., InterruptingHost]


@pytest.fixture
def run(tmp_path: Path, small_course: Course, host: ForkServerClient) -> RunBatch:
    """Return ``run(out, times)``, which grades four submissions with one host and presses Ctrl-C
    ``times`` times at the second.
    """
    for number, name in enumerate(NAMES):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "tiny.py").write_text(f"# {number}\n{WRONG}")

    def grade(out: str, times: int = 0, *, at_reference: bool = False) -> InterruptingHost:
        pressing: Any = InterruptingHost(host, times, at_reference)
        wanted = BatchOptions(tmp_path / "class", tmp_path / out, seed=5, sandbox="auto", lang="en")
        with pytest.raises(KeyboardInterrupt) if times else contextlib.nullcontext():
            assert grade_class(small_course, wanted, make_host=lambda: pressing) is ExitCode.OK
        assert isinstance(pressing, InterruptingHost)
        return pressing

    return grade


def finished(out: Path) -> list[str]:
    """Return the submissions that have a report; each must have its page."""
    with Gradebook.open(out) as book:
        names = [entry.name for entry in book.entries() if entry.report]
    assert {f"{name}.html" for name in names} <= {path.name for path in out.glob("reports/*")}
    return names


def test_the_first_ctrl_c_keeps_what_is_under_way_and_begins_nothing_new(
    tmp_path: Path, run: RunBatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says at once what it waits for. The next run grades only the rest, and the bytes equal
    those of an uninterrupted run.
    """
    first = run("out", times=1)
    said = capsys.readouterr().err
    assert "stopping: waiting for 1 submission; press Ctrl-C again to stop at once\n" in said
    assert said.count(RESUMES) == 2
    assert (first.graded, first.abandoned.is_set()) == (2, False)
    assert finished(tmp_path / "out") == ["ada", "alan"]
    assert run("out").graded == 2
    run("whole")
    assert stable_files(tmp_path / "out") == stable_files(tmp_path / "whole")


def test_the_second_ctrl_c_ends_at_once_and_what_was_kept_stays(
    tmp_path: Path, run: RunBatch
) -> None:
    """Running jobs count as never begun: no zero, no fault. The first submission may just be being
    committed.
    """
    first = run("out", times=2)
    assert (first.graded, first.abandoned.is_set()) == (2, True)
    already = finished(tmp_path / "out")
    assert already in ([], ["ada"])
    assert run("out").graded == len(NAMES) - len(already)
    run("whole")
    assert stable_files(tmp_path / "out") == stable_files(tmp_path / "whole")


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_while_a_reference_is_graded_begins_nothing(
    times: int, tmp_path: Path, run: RunBatch
) -> None:
    """The next run proves the references again before it grades."""
    first = run("out", times=times, at_reference=True)
    assert (first.graded, finished(tmp_path / "out")) == (0, [])
    assert run("out").graded == len(NAMES)


def test_waiting_for_results_uses_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal just before a thread waits for a lock doesn't wake it; without a timeout, Ctrl-C
    would be ignored.
    """
    waits = []

    def wait(
        running: set[Any], *, timeout: float | None = None, return_when: str
    ) -> tuple[set[Any], set[Any]]:
        waits.append(timeout)
        return (
            (set(), running) if len(waits) % 2 else futures.wait(running, return_when=return_when)
        )

    monkeypatch.setattr(pool, "wait", wait)
    hosts: HostPool[Any] = HostPool(1, lambda: SimpleNamespace(close=lambda: None))
    assert sorted(map_unordered(hosts, range(5), lambda _, job: job)) == [0, 1, 2, 3, 4]
    assert waits and all(timeout is not None and timeout < 1 for timeout in waits)


def test_a_job_that_waits_for_a_host_is_never_begun_once_they_finish() -> None:
    """This holds for jobs that threads already have and for jobs not yet drawn."""
    hosts: HostPool[Any] = HostPool(1, ForkServerClient)
    hosts.finishing.set()
    with pytest.raises(Cancelled):
        hosts.lend(lambda host, job: job, 1)
    assert list(map_unordered(hosts, range(3), lambda host, job: job)) == []
    assert hosts.busy == 0


def test_ctrl_c_means_afterwards_what_it_meant_before(run: RunBatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    run("out", times=1)
    assert signal.getsignal(signal.SIGINT) is before


def test_where_ctrl_c_is_ignored_it_stays_so() -> None:
    """An example is nohup."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with graceful_interrupt(Console(), HostPool(1, ForkServerClient)):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_nothing_is_waited_for_where_nothing_is_under_way() -> None:
    assert stopping(0).startswith("stopping: one moment\n")
    assert stopping(2).startswith("stopping: waiting for 2 submissions;")


@pytest.mark.skipif(not hasattr(os, "getsid"), reason="sessions are Unix's")
def test_a_host_apart_has_its_own_session_and_takes_nothing_once_abandoned() -> None:
    with ForkServerClient(own_session=True) as apart:
        assert apart._process is not None
        assert os.getsid(apart._process.greet()) != os.getsid(0)
        apart.abandon()
        apart.close()
        with pytest.raises(EngineFault, match="the run was stopped"):
            apart.start()
