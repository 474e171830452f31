"""Start and end workers for a judge, and find the line that an unresponsive worker is running.

``ForkedWorkers`` asks the fork server. ``SpawnedWorkers`` starts plain processes, for systems
without fork, at the cost of importing torch. A lost worker is replaced, so one endless loop costs
one check.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol, cast

from grader.core.errors import EngineFault, HostFault, SandboxRefused, WorkerLost
from grader.core.limits import Limits
from grader.core.messages import BrokerRequest, WorkerEnd, WorkerHello, WorkerOptions
from grader.core.processes import isolated_command, scrubbed_environment
from grader.judge.remote.channel import (
    CHUNK,
    MAX_CHUNKS,
    Channel,
    Clock,
    Output,
    PipeChannel,
    SocketChannel,
)
from grader.worker import SPAWNED_WORKER
from grader.worker.wire.frames import BrokenFrame, pack, read_body

START_SECONDS = 60.0
"""How long a worker may take until its first frame; a plain process imports torch in that time."""

REFUSED = (
    "This host can't guarantee: {missing}. That takes Linux 5.13 or later with Landlock and"
    " seccomp. Grade there, or without these guarantees: --sandbox auto"
)


@dataclass(slots=True)
class WorkerProcess:
    """A living worker: its connection, its process, the guarantees that it reported, and the limits
    in force if they differ from the requested ones.
    """

    channel: Channel
    pid: int
    guarantees: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    limits: Limits | None = None
    freed: deque[int] = field(default_factory=deque)
    """The handles that the judge no longer uses; ``__del__`` may add to it at any moment."""
    scenarios: set[str] = field(default_factory=set)
    """The scenarios that were sent to this worker."""

    def take_freed(self) -> list[int]:
        """Return the freed handles, each once, even while others are added."""
        taken = []
        while self.freed:
            taken.append(self.freed.popleft())
        return taken

    def require_same(self, worker: WorkerProcess) -> None:
        """Raise WorkerLost if something that this worker kept is requested from another worker."""
        if worker is not self:
            raise WorkerLost("crashed", "the worker that held this graph is gone")


class WorkerSource(Protocol):
    """Starts and ends workers."""

    def start(self) -> WorkerProcess: ...

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        """End a worker and everything that it started, at the latest before the next one starts. If
        it ``died`` before that, return how.
        """


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a worker ended: a template and its facts."""

    template: str
    facts: dict[str, object]

    @classmethod
    def of_code(cls, code: int) -> ExitStatus:
        """Return how a process ended, from ``subprocess.Popen.returncode``."""
        if code >= 0:
            # Windows has statuses such as 0xC0000005, an access violation, instead of signals
            status = code if code < 1 << 16 else f"0x{code:08X}"
            return cls("ended with exit status {status}", {"status": status})
        name = str(-code)
        with contextlib.suppress(ValueError):
            name = signal.Signals(-code).name
        return cls("killed by {signal}", {"signal": name})


def read_hello(channel: Channel, pid: int) -> WorkerProcess:
    """Wait for a worker's first frame, which reports its guarantees and limits. No student's code
    has run yet, so a failure is a grader fault.
    """
    try:
        frame = channel.receive(Clock(START_SECONDS))
    except WorkerLost as lost:
        channel.settle()
        raise EngineFault(
            f"a worker did not start: {lost}\n{channel.output.take()[-4000:]}"
        ) from None
    hello = WorkerHello.from_json(frame.body)
    if hello.mode == "require" and hello.missing:
        raise SandboxRefused(REFUSED, missing=", ".join(hello.missing))
    return WorkerProcess(channel, pid, hello.guarantees, hello.missing, hello.limits)


GONE = "the fork server is gone. If the kernel killed it, the host ran out of memory"


@contextlib.contextmanager
def fork_server_expected() -> Iterator[None]:
    """Raise HostFault if the fork server is gone when a block talks to it."""
    try:
        yield
    except (OSError, EOFError, BrokenFrame):
        raise HostFault(GONE) from None


class ForkedWorkers:
    """Workers forked by the fork server at ``control``, perhaps with torch's late imports."""

    def __init__(
        self, control: socket.socket, *, output_bytes: int, lazy_imports: bool = False
    ) -> None:
        self._control = control
        self._start = BrokerRequest("start", lazy_imports=lazy_imports)
        self._replies = cast(BinaryIO, control.makefile("rb"))
        self._output_bytes = output_bytes

    def _ask(self, request: BrokerRequest) -> None:
        with fork_server_expected():
            self._control.sendall(pack(request.as_json()))

    def start(self) -> WorkerProcess:
        self._ask(self._start)
        with fork_server_expected():
            _, fds, _, _ = socket.recv_fds(self._control, 1, 2)
            pid = read_body(self._replies)
            if len(fds) != 2:
                raise EOFError
        line = socket.socket(fileno=fds[0])
        channel = SocketChannel(line, fds[1], output_bytes=self._output_bytes)
        return read_hello(channel, pid)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        """Let the fork server kill it. Wait only if it ``died``, to learn how."""
        worker.channel.settle()
        worker.channel.close()
        self._ask(BrokerRequest("end", worker.pid, died))
        if not died:
            return None
        with fork_server_expected():
            end = WorkerEnd.from_json(read_body(self._replies))
        if end.overuse is not None:
            template, limit = end.overuse
            return ExitStatus(template, {"limit": limit})
        if end.status is None:
            return None
        return ExitStatus.of_code(os.waitstatus_to_exitcode(end.status))


class SpawnedWorkers:
    """Workers that are plain processes. A spare one has imported torch when it is needed."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._spare: subprocess.Popen[bytes] | None = None

    def _process(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            isolated_command(SPAWNED_WORKER, json.dumps(self._options.as_json())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=scrubbed_environment(),
        )

    def make_spare(self) -> None:
        """Start the process that the next ``start`` takes, unless there is one."""
        self._spare = self._spare or self._process()

    def drop_spare(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            with spare:  # closes its pipes and waits for it
                spare.kill()

    def start(self) -> WorkerProcess:
        """Return the spare process, or a new one, once it has imported torch."""
        spare, self._spare = self._spare, None
        process = spare if spare is not None and spare.poll() is None else self._process()
        self._processes[process.pid] = process
        streams = cast(
            tuple[BinaryIO, BinaryIO, BinaryIO], (process.stdin, process.stdout, process.stderr)
        )
        channel = PipeChannel(*streams, output_bytes=self._options.limits.output_bytes)
        return read_hello(channel, process.pid)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        """Kill it; if it had already died, return how."""
        process = self._processes.pop(worker.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0 if died else 0)
        code = process.poll()
        process.kill()
        process.wait()
        worker.channel.settle()
        worker.channel.close()
        return None if code is None else ExitStatus.of_code(code)


STACK = re.compile(
    r"(?:Stack|Current thread 0x[0-9a-f]{1,16}(?: \[[^\]\n]{0,64}\])?)"
    r" \(most recent call first\):\n(?:  [^\n]*\n)+"
)
"""What faulthandler writes for one thread (``Worker`` registers it for SIGUSR1). Each line is read
once, whatever a student's code prints.
"""
PIECE_OF_STACK = re.compile(
    r"(?:Stack|Current thread 0x[^\n]{1,99}) \(most recent call first\):\n"
    r'|^  File "[^"\n]*", line \d+ in [^\n]*(?:\n|\Z)|^  (?:\.\.\.\n|File "[^"\n]*\Z)',
    re.MULTILINE,
)
"""A line of a stack, which may arrive in pieces if the machine is busy. Tracebacks differ: they
have a comma before ``in``.
"""
STACK_SECONDS = 1.0
"""How long a worker may take to write its stack. On a busy machine it may wait for a processor."""
LONGEST = 1 << 16
"""How many characters of the first and of the last output are kept meanwhile."""


def without_stack(output: str) -> str:
    """Return output without what a worker wrote because it was asked where it is."""
    return PIECE_OF_STACK.sub("", output)


def lines_where_it_is(worker: WorkerProcess, filename: str) -> tuple[list[int], str]:
    """Return the lines of a file that are running, the innermost first (none if unknown), and other
    output that arrived with the stack. The worker, which goes on, could lie about the lines, so no
    points depend on them.
    """
    if not hasattr(signal, "SIGUSR1") or worker.pid <= 0:  # 0 would be our own process group
        return [], ""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(worker.pid, signal.SIGUSR1)
    channel = worker.channel
    kept, channel.output = channel.output, Output(CHUNK * MAX_CHUNKS)  # for one turn
    first, last, found = "", "", None
    deadline = time.monotonic() + STACK_SECONDS
    while time.monotonic() < deadline:
        channel.settle()
        new = channel.output.take()
        last += new
        found = STACK.search(last)
        if found and (not new or found.end() < len(last)):
            break  # nothing more came, or the stack is followed by other output
        first, last = (first + last[:-LONGEST])[:LONGEST], last[-LONGEST:]
        if not new:
            time.sleep(0.005)
    channel.output = kept
    if found is None:
        return [], first + last
    named = rf'^  File "{re.escape(filename)}", line (\d{{1,6}}) in'
    lines = [int(line) for line in re.findall(named, found[0], re.MULTILINE)]
    beside = last[: found.start()] + last[found.end() :]
    return lines, (first + beside)[: 2 * LONGEST]
