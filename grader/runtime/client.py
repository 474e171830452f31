"""Control a fork server from the supervisor: start it early, send it jobs, read results."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from dataclasses import replace

from grader.core.errors import CourseError, EngineFault, HostOutOfMemory, SandboxRefused
from grader.core.messages import (
    Answer,
    BrokenCourse,
    Envelope,
    Fault,
    JudgeResult,
    Refused,
    Task,
    answer_from_json,
)
from grader.core.processes import OUT_OF_MEMORY, has_children, oom_kills
from grader.core.report import Outcome, Record
from grader.course.course import Lesson
from grader.runtime.server_process import ServerProcess, start_server
from grader.worker.wire.frames import BrokenFrame, pack, read_frame

LACKS_MEMORY = ("failed to map segment", "memoryerror", "std::bad_alloc", "cannot allocate memory")
"""Texts in a fork server's log, in small letters, that show that memory ran out."""


class ForkServerClient:
    """One fork server. It starts at once, imports torch meanwhile, and is replaced if it dies.

    With ``own_session``, Ctrl-C on a terminal reaches only the caller, which decides what to do
    with a running job. Lesson servers stay for later submissions, but only those of the last
    ``most_lessons``.
    """

    def __init__(
        self, mode: str | None = None, *, own_session: bool = False, most_lessons: int | None = None
    ) -> None:
        self.most_lessons = most_lessons
        self._mode = mode or default_mode()
        self._own_session = own_session
        self._abandoned = False
        self._process: ServerProcess | None = None
        self._lessons: list[str] = []
        self._unsettled = False
        self._oom_kills = 0
        self.start()

    def start(self) -> ServerProcess:
        """Return the process, started unless it runs; raise EngineFault if it was abandoned."""
        if self._abandoned:
            raise EngineFault("the run was stopped")
        if self._process is None:
            self._oom_kills = oom_kills()
            self._process = start_server(self._mode, own_session=self._own_session)
        return self._process

    def judge(self, lesson: Lesson, task: Task) -> JudgeResult:
        """Send a task and return its result.

        Raise EngineFault if there is none (HostOutOfMemory if the kernel killed the fork server for
        memory), SandboxRefused if the fork server may not judge, CourseError if a file of the
        lesson can't be used. The spec is sent only once to each fork server. The fork server cleans
        up after the result; before the next task, ``settle`` reads whether it succeeded.
        """
        self.settle()
        process = self.start()
        task = replace(task, nonce=secrets.token_hex(16))
        key = lesson_key(lesson, task.settings.lang)
        new = key not in self._lessons
        if new:
            self._lessons.append(key)
        kept = self.most_lessons or len(self._lessons)
        finished, self._lessons = self._lessons[:-kept], self._lessons[-kept:]
        envelope = Envelope(task.settings.of_workers, key, new, tuple(finished))
        messages: list[Record] = [envelope]
        if new:
            messages.append(lesson.spec(task.settings.lang))
        messages.append(task)
        try:
            process.jobs.write(b"".join(pack(message.as_json()) for message in messages))
            process.jobs.flush()
            process.greet()
            frame = read_frame(process.results)
            answer = None if frame is None else answer_from_json(frame.body)
        except EOFError:
            answer = None
        except (OSError, BrokenFrame, ValueError) as error:
            raise self._broken(str(error)) from None
        if answer is None:
            raise self._broken("it ended without a result")
        self._unsettled = True
        if has_faults(answer) and self._memory_ran_out():
            self.settle()
            if self._process is None:  # what the judge blames on a fork server that was killed
                raise self._out_of_memory()
        match answer:
            case Refused(template, facts):
                raise SandboxRefused(template, **facts)
            case BrokenCourse(template, facts):
                raise CourseError(template, **facts)
            case Fault(text):
                raise EngineFault(f"{text}\n{self.log()}")
        if answer.nonce != task.nonce:
            raise self._broken("it answered another task")
        return answer

    def settle(self) -> None:
        """Wait until all of the last task's processes are gone. Close a fork server that ended or
        is out of step.
        """
        if self._process is None:
            return
        ended = False
        if self._unsettled:
            self._unsettled = False
            try:
                ended = read_frame(self._process.results) is None
            except (OSError, BrokenFrame):
                ended = True
        if ended or self._process.ended:
            self.close()

    def _broken(self, reason: str) -> EngineFault:
        """End a fork server that is gone or out of step; return the error to raise."""
        if self._memory_ran_out():
            return self._out_of_memory()
        if any(sign in self.log().lower() for sign in LACKS_MEMORY):
            reason = f"{reason}. There is too little memory for torch: see ulimit -v"
        fault = EngineFault(f"{self.log()}\nthe fork server broke: {reason}".lstrip())
        self.close()
        return fault

    def _memory_ran_out(self) -> bool:
        """Return whether the kernel has killed any process for memory since this one started."""
        return oom_kills() > self._oom_kills

    def _out_of_memory(self) -> HostOutOfMemory:
        """End the fork server, whose successor needs less memory; return the error to raise."""
        self.close()
        return HostOutOfMemory(OUT_OF_MEMORY)

    @property
    def judging(self) -> bool | None:
        """Whether torch is imported and a task is being judged; None if unknown."""
        if self._process is None:
            return None
        return False if self._process.pid is None else has_children(self._process.pid)

    def log(self) -> str:
        """Return the end of what the process wrote to standard error."""
        return "" if self._process is None else self._process.log().decode("utf-8", "replace")

    def interrupt(self) -> None:
        """End the process and its job from another thread; ``judge`` then raises EngineFault."""
        process = self._process
        if process is not None and not process.ended:
            process.interrupt()

    def abandon(self) -> None:
        """Interrupt, and start no other process afterwards."""
        self._abandoned = True
        self.interrupt()

    def close(self) -> None:
        """End the process. One that has no task yet is not waited for until torch is imported."""
        if not self._lessons:
            self.interrupt()
        process, self._process = self._process, None
        if process is not None:
            process.close()
            self._lessons.clear()
            self._unsettled = False

    def __enter__(self) -> ForkServerClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def has_faults(answer: Answer) -> bool:
    """Return whether an answer blames the grader for anything."""
    if isinstance(answer, JudgeResult):
        return any(check.outcome is Outcome.GRADER_ERROR for check in answer.checks)
    return isinstance(answer, Fault)


def default_mode() -> str:
    """Return ``fork`` where that is safe beside torch, else ``spawn``."""
    return "fork" if sys.platform.startswith("linux") and hasattr(os, "fork") else "spawn"


def lesson_key(lesson: Lesson, lang: str) -> str:
    """Return a hash of a lesson, its language, and of when its files were last changed."""
    files = [lesson.stub_source, lesson.folder / "hints.toml", *lesson.texts(lang)]
    files += [lesson.mistakes_file, lesson.near_misses_file, lesson.accepted_file]
    files += [lesson.checks / "diagnosis.toml", lesson.checks / "contract.toml"]
    files += sorted(lesson.checks.glob("*.py"))
    states = [(str(file), file.stat()) for file in files if file.exists()]
    changed = [(name, state.st_mtime_ns, state.st_size) for name, state in states]
    return hashlib.sha256(repr((lesson, lang, changed)).encode()).hexdigest()
