"""The supervisor's handle on a fork host: start it early, give it jobs, read results. Imports ``workers`` and ``wire.frames``; no torch."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from typing import IO, Any, BinaryIO, cast

from grader.errors import EngineFault
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
        self._log: IO[bytes] = tempfile.TemporaryFile()
        self.start()

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._process is None:
            self._log.seek(0)
            self._log.truncate()
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
            frame = read_frame(results)
        except (OSError, BrokenFrame) as error:
            self.close()
            raise EngineFault(f"the fork host broke: {error}\n{self.log()}") from None
        if frame is None:
            self.close()
            raise EngineFault(f"the fork host ended without a result\n{self.log()}")
        result: dict[str, Any] = frame.body
        if "fault" in result:
            raise EngineFault(f"{result['fault']}\n{self.log()}")
        return result

    def log(self) -> str:
        """The last of what the host said on standard error."""
        self._log.seek(0)
        return self._log.read()[-4000:].decode("utf-8", "replace")

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: Iterable[Any]) -> None:
        self.close()
