"""Start fork servers and end them, as the supervisor sees them: ``forked`` or plain processes.

All forked ones of a supervisor are forks of one *torch process*. So torch is imported once, and is
in memory once, however many submissions are graded at a time. It has no connection of theirs, and
ends when the last of them does.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any, BinaryIO, Protocol, cast

from grader.core.processes import end_process, isolated_command, scrubbed_environment
from grader.runtime import FORK_SERVER, OWN_SESSION, SAME_SESSION
from grader.worker.sandbox import hide
from grader.worker.sandbox.scratch import remove_scratch_of
from grader.worker.wire.frames import read_frame

END_SECONDS = 5.0
"""How long a fork server may take to end before it is killed."""


class ServerProcess(Protocol):
    """A running fork server, its streams, and its log."""

    jobs: BinaryIO
    results: BinaryIO

    @property
    def pid(self) -> int | None:
        """The process; None while torch is imported."""

    def greet(self) -> int:
        """Wait until ``pid`` is known and return it; raise EOFError if the process ended first."""

    @property
    def ended(self) -> bool: ...

    def interrupt(self) -> None:
        """Let the process end, with its job. Another thread may be reading from it."""

    def kill(self) -> None:
        """Kill it, and wait until it is gone: until then it may take a job and never answer."""

    def close(self) -> None:
        """Wait for its end, and kill it if it takes too long."""

    def log(self) -> bytes:
        """Return the end of what it wrote to standard error."""


def start_server(mode: str, *, own_session: bool) -> ServerProcess:
    hide()
    kind = ForkedServer if mode == "fork" else SpawnedServer
    return kind(own_session=own_session)


def tail(log: IO[bytes]) -> bytes:
    log.seek(0)
    return log.read()[-4000:]


class SpawnedServer:
    """A fork server in a process of its own, on systems without fork. Its streams are one socket,
    except on Windows, where a process can't be started on a socket.
    """

    def __init__(self, *, own_session: bool) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process

        def start(**options: Any) -> subprocess.Popen[bytes]:
            command, environment = isolated_command(FORK_SERVER, "spawn"), scrubbed_environment()
            return subprocess.Popen(command, stderr=self._log, env=environment, **options)

        if sys.platform == "win32":
            self._process = start(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.jobs = cast(BinaryIO, self._process.stdin)
            self.results = cast(BinaryIO, self._process.stdout)
        else:
            ours, theirs = socket.socketpair()
            with ours, theirs:
                self._process = start(stdin=theirs, stdout=theirs, start_new_session=own_session)
                self.jobs = cast(BinaryIO, ours.makefile("wb"))
                self.results = cast(BinaryIO, ours.makefile("rb"))
        self.pid: int = self._process.pid

    def greet(self) -> int:
        return self.pid

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def interrupt(self) -> None:
        if sys.platform == "win32":  # no such signal; workers end with it
            self._process.terminate()
        else:
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(END_SECONDS)

    def close(self) -> None:
        end_process(self._process, (self.jobs, self.results), END_SECONDS)
        self._log.close()
        remove_scratch_of(self.pid)

    def log(self) -> bytes:
        return tail(self._log)


class TorchProcess:
    """The process that imports torch and forks fork servers."""

    lock = threading.Lock()
    current: TorchProcess | None = None

    def __init__(self) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self.users = 0
        self._connections, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                isolated_command(FORK_SERVER, "fork"),
                stdin=theirs.fileno(),
                stdout=self.log.fileno(),
                stderr=self.log.fileno(),
                env=scrubbed_environment(),
            )

    @classmethod
    def join(cls, connection: socket.socket, log: IO[bytes], *, own_session: bool) -> TorchProcess:
        """Have a fork server forked as soon as torch is imported, perhaps in a new process."""
        with cls.lock:
            if cls.current is None or cls.current._process.poll() is not None:
                cls.current = cls()
            found = cls.current
            found.users += 1
            with contextlib.suppress(OSError):  # it has just ended, which the connection shows
                kind = OWN_SESSION if own_session else SAME_SESSION
                socket.send_fds(found._connections, [kind], [connection.fileno(), log.fileno()])
        return found

    def leave(self, *, importing: bool) -> None:
        """End the process if nobody uses it any more. It has nothing to save."""
        with self.lock:
            self.users -= 1
            if self.users:
                return
            if TorchProcess.current is self:
                TorchProcess.current = None
        if importing:
            self._process.kill()
        self._connections.close()
        end_process(self._process, (self.log,), END_SECONDS)


class ForkedServer:
    """A fork server that is a fork of the torch process. Its streams are one socket, because a pipe
    could be opened again through /proc.
    """

    def __init__(self, *, own_session: bool) -> None:
        self.pid: int | None = None
        self._handle: int | None = None
        """What shows that the process ended, which is not a child."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._line, theirs = socket.socketpair()
        with theirs:
            self._torch = TorchProcess.join(theirs, self._log, own_session=own_session)
        self.jobs = cast(BinaryIO, self._line.makefile("wb"))
        self.results = cast(BinaryIO, self._line.makefile("rb"))

    def greet(self) -> int:
        if self.pid is None:
            frame = read_frame(self.results)
            if frame is None:
                raise EOFError
            self.pid = int(frame.body["pid"])
            with contextlib.suppress(OSError):  # some containers refuse it
                self._handle = os.pidfd_open(self.pid)
        return self.pid

    @property
    def ended(self) -> bool:
        return self._wait(0.0)

    def interrupt(self) -> None:
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.greet(), signal.SIGKILL)
        self._wait(END_SECONDS)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        if self.pid is not None and not self._wait(END_SECONDS):
            self.kill()
        for stream in (self.jobs, self.results, self._line):
            with contextlib.suppress(OSError):
                stream.close()
        if self._handle is not None:
            os.close(self._handle)
        if self.pid is not None:
            remove_scratch_of(self.pid)
        self._torch.leave(importing=self.pid is None)
        self._log.close()

    def _wait(self, seconds: float) -> bool:
        """Return whether the process ends in time, or, where that can't be seen, its connection."""
        poll = select.poll()
        if self._handle is None:
            poll.register(self._line, 0)
        else:
            poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(1000 * seconds))

    def log(self) -> bytes:
        return tail(self._torch.log) + tail(self._log)
