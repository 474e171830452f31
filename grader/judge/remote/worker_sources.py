"""Where the judge gets its workers from, and how they end.

``ForkedWorkers`` asks the fork host, which forks a process that never held a check.
``SpawnedWorkers`` starts a plain process, for systems without fork; it costs a torch import. A
worker that was lost is replaced, so that one endless loop costs one check.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, Protocol, cast

from grader.core.errors import EngineFault, SandboxRefused, WorkerLost
from grader.core.limits import Limits
from grader.core.paths import PACKAGE
from grader.judge.remote.channel import Channel, PipeChannel, SocketChannel
from grader.worker.wire.frames import pack, read_frame

START_SECONDS = 60.0
"""How long a worker may take to say that it is there; a plain process imports torch in that time.
"""

REFUSED = (
    "This host can't guarantee: {missing}. That takes Linux 5.13 or later with Landlock and"
    " seccomp. Grade there, or without these guarantees: --sandbox auto"
)

LARGE_STATUS = 1 << 16
"""From here on an exit status is known by its hexadecimal digits."""

ALLOWED_ENVIRONMENT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "WINDIR",
)
"""What a host or a worker keeps of the environment; the rest is dropped."""


@dataclass(slots=True)
class WorkerProcess:
    """A living worker: its line, its process, and the guarantees that it said it runs under."""

    channel: Channel
    pid: int
    guarantees: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class WorkerSource(Protocol):
    """Starts and ends workers."""

    def start(self) -> WorkerProcess:
        """A new worker."""

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        """End a worker and all that it started, at the latest before the next one; where it
        ``died`` before that, how.
        """


def scrubbed_environment() -> dict[str, str]:
    """The environment for a host: the allow-list, one thread, no accelerator."""
    kept = {name: os.environ[name] for name in ALLOWED_ENVIRONMENT if name in os.environ}
    single = dict.fromkeys(
        ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
    )
    hidden = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "PYTHONHASHSEED": "0"}
    return {**kept, **single, **hidden}


def users_environment() -> dict[str, str]:
    """The environment for a file that users run with their own rights: theirs, and what their
    terminal can't show is replaced.
    """
    encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    return {**os.environ, "PYTHONIOENCODING": f"{encoding}:replace"}


def isolated_command(module: str, *args: str) -> list[str]:
    """A command line that runs ``module.main()`` in an interpreter with this package and nothing
    else added to its path.

    It is for ``scrubbed_environment``, from which it takes ``PYTHONHASHSEED``, as with ``-I`` it
    would not: what a student takes out of a set of texts comes in the same order each time. Text is
    UTF-8 in it, whatever the system's habit: a student's ``print`` works on Windows as it does
    elsewhere.
    """
    home = str(PACKAGE.parent)
    code = f"import sys; sys.path.insert(0, {home!r}); from {module} import main; main()"
    return [sys.executable, "-s", "-P", "-X", "utf8", "-c", code, *args]


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a worker ended: a template, and what fills it."""

    template: str
    facts: dict[str, Any]

    @classmethod
    def of_code(cls, code: int) -> ExitStatus:
        """A process's death, from its exit code; minus the signal's number where one killed it
        (``subprocess.Popen.returncode``).

        Windows has no signals but statuses such as 0xC0000005, an access violation.
        """
        if code >= 0:
            return cls(
                "ended with exit status {status}",
                {"status": code if code < LARGE_STATUS else f"0x{code:08X}"},
            )
        name = str(-code)
        with contextlib.suppress(ValueError):
            name = signal.Signals(-code).name
        return cls("killed by {signal}", {"signal": name})

    @classmethod
    def of_status(cls, status: int) -> ExitStatus:
        """The same from ``os.waitpid``'s status."""
        return cls.of_code(os.waitstatus_to_exitcode(status))


def read_hello(channel: Channel, pid: int) -> WorkerProcess:
    """Wait for a worker's first frame, which says under what it runs. No student code has run at
    that time: a fault is ours.
    """
    try:
        hello = channel.receive(time.monotonic() + START_SECONDS).body
    except WorkerLost as lost:
        channel.settle()
        raise EngineFault(
            f"a worker did not start: {lost.reason}\n{channel.output.take()[-4000:]}"
        ) from None
    if hello["mode"] == "require" and hello["missing"]:
        raise SandboxRefused(REFUSED, missing=", ".join(hello["missing"]))
    return WorkerProcess(channel, pid, tuple(hello["guarantees"]), tuple(hello["missing"]))


class ForkedWorkers:
    """Workers forked by the host at the other end of ``control``."""

    def __init__(self, control: socket.socket, *, output_bytes: int) -> None:
        self._control = control
        self._replies = cast(BinaryIO, control.makefile("rb"))
        self._output_bytes = output_bytes

    def _ask(self, **request: Any) -> Any:
        self._control.sendall(pack(request))
        frame = read_frame(self._replies)
        if frame is None:
            raise EngineFault("the fork host is gone")
        return frame.body

    def start(self) -> WorkerProcess:
        """A fresh fork."""
        self._control.sendall(pack({"do": "start"}))
        _, fds, _, _ = socket.recv_fds(self._control, 1, 2)
        pid = read_frame(self._replies)
        if pid is None or len(fds) != 2:
            raise EngineFault("the fork host is gone")
        channel = SocketChannel(
            socket.socket(fileno=fds[0]), fds[1], output_bytes=self._output_bytes
        )
        return read_hello(channel, pid.body)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        """Have the host kill it; how it had died before, if it had. Where it had not, nobody waits:
        there is nothing to be told.
        """
        worker.channel.settle()
        worker.channel.close()
        if not died:
            self._control.sendall(pack({"do": "end", "pid": worker.pid, "died": False}))
            return None
        answer = self._ask(do="end", pid=worker.pid, died=True)
        if answer["overuse"] is not None:
            template, limit = answer["overuse"]
            return ExitStatus(template, {"limit": limit})
        return None if answer["status"] is None else ExitStatus.of_status(answer["status"])


class SpawnedWorkers:
    """Workers that are plain processes of their own. One that was started ahead (``make_spare``)
    has imported torch when it is wanted.
    """

    def __init__(self, limits: Limits, sandbox: str) -> None:
        self._limits = limits
        self._sandbox = sandbox
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._spare: subprocess.Popen[bytes] | None = None

    def _process(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            isolated_command(
                "grader.worker.spawned", self._sandbox, json.dumps(asdict(self._limits))
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=scrubbed_environment(),
        )

    def make_spare(self) -> None:
        """Start the process that the next ``start`` takes, unless there is one."""
        self._spare = self._spare or self._process()

    def drop_spare(self) -> None:
        """End that process."""
        spare, self._spare = self._spare, None
        if spare is not None:
            with spare:  # closes its pipes and waits for it
                spare.kill()

    def start(self) -> WorkerProcess:
        """A process that has imported torch: the spare one, or a new one."""
        spare, self._spare = self._spare, None
        process = spare if spare is not None and spare.poll() is None else self._process()
        self._processes[process.pid] = process
        streams = cast(
            tuple[BinaryIO, BinaryIO, BinaryIO], (process.stdin, process.stdout, process.stderr)
        )
        channel = PipeChannel(*streams, output_bytes=self._limits.output_bytes)
        return read_hello(channel, process.pid)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        """Kill it; how it had died before, if it had."""
        process = self._processes.pop(worker.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0 if died else 0)
        code = process.poll()
        process.kill()
        process.wait()
        worker.channel.settle()
        worker.channel.close()
        return None if code is None else ExitStatus.of_code(code)
