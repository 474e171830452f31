"""Read students' texts in another process, which is replaced if a text takes too much of it.

That process (``main``) decodes lesson files, reads notebooks and cuts out definitions, one request
after another, within limits on processor time and memory. It runs nothing that it reads.
"""

from __future__ import annotations

import atexit
import functools
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from grader.core.errors import EngineFault
from grader.core.limits import MIB
from grader.core.processes import (
    OUT_OF_MEMORY,
    end_process,
    isolated_command,
    oom_kills,
    scrubbed_environment,
)
from grader.course.source import Source
from grader.course.stubs import excerpt
from grader.course.submission import LessonFile, decode, writable
from grader.worker.sandbox import address_space_bytes, set_limit
from grader.worker.wire.frames import BrokenFrame, Frame, read_frame, write_frame

if sys.platform != "win32":
    import resource

TEXT_SECONDS = 5
"""Processor time for one text. A long lesson takes a few milliseconds."""
MEMORY_BYTES = 512 * MIB
"""Address space beyond what the process has before it reads anything."""
WALL_SECONDS = 10.0 if sys.platform == "win32" else 60.0
"""How long the process may take. Windows does not limit processor time; elsewhere a process that
takes so long has waited for a processor.
"""
END_SECONDS = 10.0
"""How long a process whose answer has ended may take to end."""
OVER_BUDGET = (
    "{path} takes more than {seconds} s or {megabytes} MB of memory to be read before it is run."
    " Keep what the lesson needs"
)
OF_THE_TEXT = [
    getattr(signal, name) for name in ("SIGXCPU", "SIGSEGV", "SIGABRT") if hasattr(signal, name)
]
"""Signals that end the process because of a text: too much time, or too deep for Python's parser.
Somebody else sends any other.
"""


class OverBudget(Exception):
    """A text took too much time or memory."""


class TextReader:
    """A process that reads texts, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._oom_kills = 0

    def decode(
        self, lesson: str, path: str, data: bytes | None, *, notebook: bool = False
    ) -> LessonFile:
        """Return a file like ``submission.decode``, with a problem if that takes too much."""
        asked = {"lesson": lesson, "path": path, "readable": data is not None}
        try:
            answer = self._ask({"do": "read", **asked, "notebook": notebook}, data or b"")
        except OverBudget:
            facts = {"seconds": str(TEXT_SECONDS), "megabytes": str(MEMORY_BYTES // MIB)}
            return LessonFile.wrong(lesson, writable(path), OVER_BUDGET, facts)
        return LessonFile.from_json(answer)

    def excerpt(self, text: str, name: str, *, imports: bool = False) -> str:
        """Cut out a definition like ``stubs.excerpt``; empty if that takes too much."""
        try:
            asked = {"do": "excerpt", "name": name, "imports": imports}
            return str(self._ask(asked, text.encode("utf-8")))
        except OverBudget:
            return ""

    def _ask(self, request: dict[str, object], blob: bytes) -> Any:
        """Return the process's answer; raise OverBudget, or EngineFault if the host is at fault.

        Only a new process decides that a text is over the budget: what earlier texts left in the
        memory of a process must not count.
        """
        is_new = self._process is None
        try:
            return self._answer(request, blob)
        except OverBudget:
            self.close()
            if is_new:
                raise
        return self._answer(request, blob)

    def _answer(self, request: dict[str, object], blob: bytes) -> Any:
        process = self._started()
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        watch = threading.Timer(WALL_SECONDS, end)
        watch.daemon = True
        watch.start()
        try:
            write_frame(cast(BinaryIO, process.stdin), request, blob)
            frame = read_frame(cast(BinaryIO, process.stdout))
        except (OSError, BrokenFrame):
            frame = None
        except BaseException:  # such as Ctrl-C: its answer would be taken for the next one's
            process.kill()
            self.close()
            raise
        finally:
            watch.cancel()
        if frame is None:
            raise self._ended(late=late.is_set())
        answer = frame.body
        if "fault" in answer:
            raise EngineFault(str(answer["fault"]))
        if "value" not in answer:
            raise OverBudget
        return answer["value"]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._oom_kills = oom_kills()
            self._process = subprocess.Popen(
                isolated_command(__name__),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=scrubbed_environment(),
                start_new_session=True,  # Ctrl-C reaches only the caller
            )
        return self._process

    def _ended(self, *, late: bool) -> Exception:
        """Return what it means that the process ended during a request."""
        assert self._process is not None
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:  # it answered what is no answer, and goes on
            self.close()
            return EngineFault("the process that reads texts is out of step")
        self.close()
        if -code in OF_THE_TEXT or (late and sys.platform == "win32"):
            return OverBudget()
        if late:
            return EngineFault(f"the computer was too busy to read a text in {WALL_SECONDS:g} s")
        if oom_kills() > self._oom_kills:
            return EngineFault(OUT_OF_MEMORY)
        return EngineFault(f"the process that reads texts ended with exit status {code}")

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end_process(process, (process.stdin, process.stdout), 1)


@functools.cache
def text_reader() -> TextReader:
    """Return the reader of this process, which is closed with it."""
    reader = TextReader()
    atexit.register(reader.close)
    return reader


def main() -> None:
    """Answer requests until standard input ends.

    An answer is ``{"value": …}``, ``{"over": true}`` if a limit was exceeded, or ``{"fault":
    traceback}``. Over the limit of time, the process ends instead (SIGXCPU).
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = cast(BinaryIO, os.fdopen(os.dup(0), "rb"))
    answers = cast(BinaryIO, os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    if sys.platform != "win32":
        set_limit(resource.RLIMIT_CORE, 0)
        if used := address_space_bytes():
            set_limit(resource.RLIMIT_AS, used + MEMORY_BYTES)
    while (frame := read_frame(requests)) is not None:
        limit_time()
        try:
            write_frame(answers, answer_to(frame))
        except BrokenFrame:  # an answer that is too long; nothing was written
            write_frame(answers, {"over": True})


def limit_time() -> None:
    """Let the next request take ``TEXT_SECONDS`` of processor time."""
    if sys.platform != "win32":
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        end = int(time.process_time()) + 1 + TEXT_SECONDS
        most = end if hard == resource.RLIM_INFINITY else min(end, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def answer_to(frame: Frame) -> dict[str, object]:
    try:
        return {"value": ACTIONS[frame.body["do"]](frame)}
    except MemoryError:
        return {"over": True}
    except Exception:
        return {"fault": traceback.format_exc()}


def read_file(frame: Frame) -> dict[str, object]:
    """Return a lesson's file. It is analyzed as the judge will do it, so the judge gets no text
    whose analysis is over a limit.
    """
    asked = frame.body
    data = bytes(frame.blob) if asked["readable"] else None
    file: LessonFile = decode(asked["lesson"], asked["path"], data, notebook=asked["notebook"])
    if file.problem is None:
        source = Source(file.text, file.filename, file.cells)
        source.names_used(*source.definitions)
        if source.unreadable:
            _ = source.error_column
    return file.as_json()


ACTIONS: dict[str, Callable[[Frame], object]] = {
    "read": read_file,
    "excerpt": lambda frame: excerpt(
        bytes(frame.blob).decode("utf-8"), frame.body["name"], imports=frame.body["imports"]
    ),
}
