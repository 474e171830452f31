"""The supervisor's handle on a fork host: start it early, give it jobs, read results."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from grader.core.errors import EngineFault, SandboxRefused
from grader.core.subprocesses import isolated_command, scrubbed_environment
from grader.runtime import FORK_SERVER, lazy_imports
from grader.worker.wire.frames import BrokenFrame, pack, read_frame


def default_mode() -> str:
    """``fork`` where it is safe beside torch, else ``spawn``."""
    return "fork" if sys.platform.startswith("linux") and hasattr(os, "fork") else "spawn"


def lesson_key(spec: dict[str, Any]) -> str:
    """What tells one lesson from another, and from itself after an edit: its texts, and when its
    files were last changed.
    """
    folders = {Path(file).parent for file in (*spec["visible_checks"], *spec["hidden_checks"])}
    files = [
        *map(Path, spec["texts"]),
        *(file for folder in sorted(folders) for file in sorted(folder.glob("*.py"))),
    ]
    changed = [file.stat().st_mtime_ns if file.exists() else 0 for file in files]
    return hashlib.sha256(json.dumps([spec, changed], sort_keys=True).encode()).hexdigest()


class ForkServerClient:
    """One fork host. It is started at once and imports torch while the caller does something else;
    a dead one is replaced.

    With ``apart``, Ctrl-C on a terminal reaches the caller alone, who then says what becomes of a
    job under way.
    """

    def __init__(self, mode: str | None = None, *, apart: bool = False) -> None:
        self._arguments = [mode or default_mode()]
        self._apart = apart
        self._abandoned = False
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._lessons: set[str] = set()
        self._closing = False
        self.start()

    def start(self) -> None:
        """Start the process, unless it runs; raises EngineFault where it was abandoned."""
        if self._abandoned:
            raise EngineFault("the run was stopped")
        if self._process is None:
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
            self._process = subprocess.Popen(
                isolated_command(FORK_SERVER, *self._arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=scrubbed_environment(),
                start_new_session=self._apart,
            )

    def judge(
        self, terms: dict[str, Any], spec: dict[str, Any], task: dict[str, Any]
    ) -> dict[str, Any]:
        """The judge's result for a task; raises EngineFault where there is none, SandboxRefused
        where the host may not judge.

        ``terms`` say how workers are confined; ``spec`` is the lesson's, and crosses only when this
        host has not had it yet. The host cleans up behind the result; that it has is read before
        the next task, and where it could not, a new one takes that.
        """
        self.settle()
        self.start()
        assert self._process is not None
        jobs, results = cast(BinaryIO, self._process.stdin), cast(BinaryIO, self._process.stdout)
        key = lesson_key(spec)
        new = key not in self._lessons
        self._lessons.add(key)
        try:
            envelope = {
                **terms,
                "lesson": key,
                "new": new,
                "late_imports": lazy_imports.needed(task["source"]),
            }
            jobs.write(b"".join([pack(envelope), pack(spec) if new else b"", pack(task)]))
            jobs.flush()
            frame = read_frame(results)
        except (OSError, BrokenFrame) as error:
            raise self._broken(str(error)) from None
        if frame is None:
            raise self._broken("it ended without a result")
        self._closing = True
        result: dict[str, Any] = frame.body
        if "refused" in result:
            raise SandboxRefused(result["refused"]["template"], **result["refused"]["facts"])
        if "fault" in result:
            raise EngineFault(f"{result['fault']}\n{self.log()}")
        return result

    def settle(self) -> None:
        """Wait until nothing is left of the last task's processes; a host that ended, or is out of
        step, is closed.
        """
        if self._process is None:
            return
        clean: object = True
        if self._closing:
            self._closing = False
            try:
                clean = read_frame(cast(BinaryIO, self._process.stdout))
            except (OSError, BrokenFrame):
                clean = None
        if clean is None or self._process.poll() is not None:
            self.close()

    def _broken(self, reason: str) -> EngineFault:
        """The host is out of step or gone: end it; the next job gets a new one."""
        fault = EngineFault(f"the fork host broke: {reason}\n{self.log()}")
        self.close()
        return fault

    def log(self) -> str:
        """The last of what the host said on standard error."""
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read()[-4000:].decode("utf-8", "replace")

    def interrupt(self) -> None:
        """Have the process end what it is at and itself, from another thread than the one that
        waits in ``judge``: that raises.
        """
        process = self._process
        if process is not None and process.poll() is None:
            if (
                sys.platform == "win32"
            ):  # which knows no signal for another process; its workers end with it
                process.terminate()
            else:
                process.send_signal(signal.SIGINT)

    def abandon(self) -> None:
        """As ``interrupt``, for good: no other process takes its place."""
        self._abandoned = True
        self.interrupt()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout, self._log):
                with contextlib.suppress(OSError):  # what a dead process can no longer take
                    if stream is not None:
                        stream.close()
            self._log = None
            self._lessons.clear()
            self._closing = False
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def __enter__(self) -> ForkServerClient:
        return self

    def __exit__(self, *_: Iterable[Any]) -> None:
        self.close()
