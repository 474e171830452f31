"""The supervisor's handle on a fork host: start it early, give it jobs, read results. Imports ``workers`` and ``wire.frames``; no torch."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from typing import IO, Any, BinaryIO, cast

from grader.errors import EngineFault, SandboxRefused
from grader.wire.frames import BrokenFrame, pack, read_frame
from grader.workers import isolated_command, scrubbed_environment


def default_mode() -> str:
    """``fork`` where it is safe beside torch, else ``spawn``."""
    return "fork" if sys.platform.startswith("linux") and hasattr(os, "fork") else "spawn"


class Host:
    """One fork host. It is started at once and imports torch while the caller does something else; a dead one is replaced."""

    def __init__(self, mode: str | None = None) -> None:
        self._mode = mode or default_mode()
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._process is None:
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
            self._process = subprocess.Popen(
                isolated_command("grader.forkserver", self._mode),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=scrubbed_environment(),
            )

    def judge(self, envelope: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
        """The judge's result for a job; raises EngineFault where there is none."""
        self.start()
        assert self._process is not None
        jobs, results = cast(BinaryIO, self._process.stdin), cast(BinaryIO, self._process.stdout)
        try:
            jobs.write(pack(envelope) + pack(job))
            jobs.flush()
            frame, closing = read_frame(results), read_frame(results)
        except (OSError, BrokenFrame) as error:
            raise self._broken(str(error)) from None
        if frame is None or closing is None:
            raise self._broken("it ended without a result")
        result: dict[str, Any] = frame.body
        if "refused" in result:
            raise SandboxRefused(result["refused"])
        if "fault" in result:
            raise EngineFault(f"{result['fault']}\n{self.log()}")
        return result

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

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout, self._log):
                with contextlib.suppress(OSError):  # what a dead process can no longer take
                    if stream is not None:
                        stream.close()
            self._log = None
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: Iterable[Any]) -> None:
        self.close()
