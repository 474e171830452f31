"""Judge one file with the judge in this process: to stop in a check, or to see the frames.

    python tests/one_process.py LESSON FILE [--seed N] [--frames]

``breakpoint()`` in a check, a lesson's helper or the judge opens the debugger here. The worker is a
plain process without a sandbox, so give it only files that you trust. ``--frames`` prints the
message in each frame: ``>`` to the worker, ``<`` from it.
"""

from __future__ import annotations

import argparse
import io
import pdb
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader.core.limits import Limits
from grader.core.messages import JudgeResult, Settings
from grader.course.course import find_course, load_course
from grader.course.submission import LessonFile
from grader.judge.remote.channel import Clock, PipeChannel
from grader.judge.remote.workers import SpawnedWorkers
from grader.judge.runner import judge_once
from grader.runtime.grading import task_for
from grader.worker.wire.frames import Frame, read_frame

WIDTH = 200


def main() -> None:
    asked = argparse.ArgumentParser(usage=__doc__)
    asked.add_argument("lesson")
    asked.add_argument("file", type=Path)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--frames", action="store_true")
    given = asked.parse_args()
    if given.frames:
        show_frames()
    lesson = load_course(find_course()).lesson(given.lesson)
    # nobody is hurried in a debugger
    limits = replace(Limits(), call_seconds=3600.0, lesson_seconds=3600.0)
    settings = Settings(given.seed, sandbox="off", limits=limits)
    file = LessonFile(lesson.id, str(given.file), given.file.read_text("utf-8"))
    sys.breakpointhook = stop
    workers = SpawnedWorkers(settings.of_workers)
    answer = judge_once(lesson.spec(settings.lang), task_for(file, settings), workers)
    if not isinstance(answer, JudgeResult):
        raise SystemExit(str(answer))
    for check in answer.checks:
        print(f"{check.outcome.value:12} {check.points:5g}  {check.id}  {check.message or ''}")
        if check.diagnosis:
            print(f"{'':20}{check.diagnosis}: {check.evidence}")


def stop() -> None:
    """Open the debugger at the caller of ``breakpoint()``, whatever stands for standard output."""
    pdb.Pdb(stdin=sys.__stdin__, stdout=sys.__stdout__).set_trace(sys._getframe(1))


def show_frames() -> None:
    """Print the message in each frame that crosses."""

    def show(sign: str, frame: Frame) -> None:
        text = repr(frame.body)
        cut = text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
        print(sign, cut, file=sys.__stdout__)  # pytest's output goes elsewhere

    def send(self: PipeChannel, numbers: Iterable[int], data: bytes, clock: Clock) -> None:
        stream = io.BytesIO(data)
        while (frame := read_frame(stream)) is not None:
            show(">", frame)
        sent(self, numbers, data, clock)

    def receive(self: PipeChannel, clock: Clock) -> Frame:
        frame = received(self, clock)
        show("<", frame)
        return frame

    sent, received = PipeChannel.send, PipeChannel.receive
    PipeChannel.send, PipeChannel.receive = send, receive  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    main()
