"""Run the process that reads students' texts, so that a text which takes too long or too much
memory costs this process and not its caller.

It decodes lesson files, reads notebooks and cuts out definitions, one request after another, within
limits on processor time and memory. It runs nothing that it reads.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from grader.core.limits import MIB
from grader.course.source import Source
from grader.course.stubs import excerpt
from grader.course.submission import LessonFile, decode
from grader.worker.sandbox import address_space_bytes, set_limit
from grader.worker.wire.frames import BrokenFrame, Frame, read_frame, write_frame

if sys.platform != "win32":
    import resource

TEXT_SECONDS = 5
"""Processor time for one text. A long lesson takes a few milliseconds."""
MEMORY_BYTES = 512 * MIB
"""Address space beyond what the process has before it reads anything."""


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


def answer_to(frame: Frame) -> dict[str, Any]:
    try:
        return {"value": ACTIONS[frame.body["do"]](frame)}
    except MemoryError:
        return {"over": True}
    except Exception:
        return {"fault": traceback.format_exc()}


def read_file(frame: Frame) -> dict[str, Any]:
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
