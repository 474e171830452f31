"""Workers that are plain processes: one started ahead is used next, once, if it is alive."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from grader.core.messages import WorkerOptions
from grader.judge.remote.workers import ExitStatus, SpawnedWorkers

Processes = list[subprocess.Popen[bytes]]
HELLO = """
import sys
from grader.worker.wire.frames import write_frame
hello = {"guarantees": [], "missing": [], "mode": "off", "limits": {}}
write_frame(sys.stdout.buffer, hello)
sys.stdin.read()
"""


@pytest.fixture
def source() -> SpawnedWorkers:
    return SpawnedWorkers(WorkerOptions(sandbox="off"))


@pytest.fixture
def started(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    """Yield the processes that were started; they import no torch, send a hello, and wait."""
    processes: Processes = []
    program = getattr(request, "param", HELLO)
    popen = subprocess.Popen

    def start(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        environment = {**options.pop("env"), "PYTHONPATH": os.pathsep.join(sys.path)}  # type: ignore[dict-item]
        processes.append(popen([sys.executable, "-c", program], env=environment, **options))  # type: ignore[call-overload]
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    yield processes
    for process in processes:
        with process:
            process.kill()


def test_the_spare_worker_is_used_first(started: Processes, source: SpawnedWorkers) -> None:
    source.make_spare()
    source.make_spare()  # one is enough
    (spare,) = started
    first, second = source.start(), source.start()
    assert [first.pid, second.pid] == [process.pid for process in started]
    assert first.pid == spare.pid
    for worker in (first, second):
        source.end(worker, died=False)


def test_a_spare_worker_that_died_is_not_used(started: Processes, source: SpawnedWorkers) -> None:
    source.make_spare()
    started[0].kill()
    started[0].wait()
    worker = source.start()
    assert worker.pid == started[1].pid
    source.end(worker, died=False)


def test_a_dropped_spare_worker_is_ended(started: Processes, source: SpawnedWorkers) -> None:
    source.make_spare()
    source.drop_spare()
    assert started[0].returncode is not None


@pytest.mark.parametrize("started", [HELLO + "print('bye', file=sys.stderr)"], indirect=True)
def test_output_of_a_worker_that_died_is_kept(started: Processes, source: SpawnedWorkers) -> None:
    """Nobody waited for an answer when they were printed."""
    worker = source.start()
    assert started[0].stdin is not None
    started[0].stdin.close()
    assert source.end(worker, died=True) == ExitStatus.of_code(0)
    assert worker.channel.output.take().split() == ["bye"]
