"""The supervisor's handle on a fork server: start it early, give it jobs, read results."""

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
from grader.core.protocol import (
    Envelope,
    Fault,
    JudgeResult,
    LessonSpec,
    Refused,
    Task,
    WorkerOptions,
    answer_from_json,
)
from grader.core.records import Record
from grader.core.subprocesses import isolated_command, scrubbed_environment
from grader.runtime import FORK_SERVER, lazy_imports
from grader.worker.wire.frames import BrokenFrame, pack, read_frame


def default_mode() -> str:
    """``fork`` where it is safe beside torch, else ``spawn``."""
    return "fork" if sys.platform.startswith("linux") and hasattr(os, "fork") else "spawn"


def lesson_key(spec: LessonSpec) -> str:
    """Return a key for a lesson's texts and the modification times of its files."""
    folders = {Path(file).parent for file in spec.check_files}
    files = [
        *map(Path, spec.texts),
        *(file for folder in sorted(folders) for file in sorted(folder.glob("*.py"))),
    ]
    changed = [file.stat().st_mtime_ns if file.exists() else 0 for file in files]
    return hashlib.sha256(
        json.dumps([spec.as_json(), changed], sort_keys=True).encode()
    ).hexdigest()


class ForkServerClient:
    """A fork server that starts at once, imports torch meanwhile, and is replaced if it dies.

    With ``own_session``, Ctrl-C on a terminal reaches only the caller.
    """

    def __init__(self, mode: str | None = None, *, own_session: bool = False) -> None:
        self._arguments = [mode or default_mode()]
        self._own_session = own_session
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
                start_new_session=self._own_session,
            )

    def judge(self, options: WorkerOptions, spec: LessonSpec, task: Task) -> JudgeResult:
        """Have a task judged; raise EngineFault if there is no result, SandboxRefused if refused.

        The spec is sent once. The server cleans up after the result, which is awaited before the
        next task; a server that can't is replaced.
        """
        self.settle()
        self.start()
        assert self._process is not None
        jobs, results = cast(BinaryIO, self._process.stdin), cast(BinaryIO, self._process.stdout)
        key = lesson_key(spec)
        new = key not in self._lessons
        self._lessons.add(key)
        envelope = Envelope(options, key, new, lazy_imports.needed(task.source))
        messages: list[Record] = [envelope, spec, task] if new else [envelope, task]
        try:
            jobs.write(b"".join(pack(message.as_json()) for message in messages))
            jobs.flush()
            frame = read_frame(results)
            answer = None if frame is None else answer_from_json(frame.body)
        except (OSError, BrokenFrame, ValueError) as error:
            raise self._broken(str(error)) from None
        if answer is None:
            raise self._broken("it ended without a result")
        self._closing = True
        match answer:
            case Refused(template, facts):
                raise SandboxRefused(template, **facts)
            case Fault(text):
                raise EngineFault(f"{text}\n{self.log()}")
        return answer

    def settle(self) -> None:
        """Wait until the last task's processes are gone; close a server that is out of step."""
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
        """The last of what the process said on standard error."""
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read()[-4000:].decode("utf-8", "replace")

    def interrupt(self) -> None:
        """End the process from another thread; ``judge`` then raises."""
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
