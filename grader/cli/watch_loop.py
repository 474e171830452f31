"""Grade a lesson at every save: the loop between file system and verdict.

One thread reports saves, one reports keys, one grades; only the loop (``Watcher.run``) decides, one
event at a time::

    saves ──▶ │        │ ──▶ jobs ──▶ grade ──┐
    keys  ──▶ │ events │                      │
       ▲      │        │ ◀──── done ──────────┘ ──▶ shown(verdict)

The newest save of a lesson wins: the result of an older one is not shown, and a run that delays it
is ended. A file that is empty or not valid Python just after a save may be half written, so the
loop waits a moment for the next event.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from grader.core.report import LessonResult, Report
from grader.course.source import Source
from grader.course.submission import LessonFile

HALF_WRITTEN_SECONDS = 0.15
"""How long to wait for the rest of a file that looks incomplete."""
ECHO_SECONDS = 0.3
"""A further event for the same text within this time belongs to the same save."""
PATIENCE_SECONDS = 0.4
"""How long an obsolete run may continue."""

Saves = Callable[[threading.Event], Iterable[Iterable[str]]]
"""Reports saves, as lessons' ids, until the event is set."""


@dataclass(frozen=True, slots=True)
class WatchResult:
    """A graded lesson: its report, the previous result, the seconds since it was saved."""

    lesson: str
    report: Report
    before: LessonResult | None
    seconds: float

    @property
    def result(self) -> LessonResult:
        return self.report.lessons[0]


@dataclass(slots=True)
class WatchJob:
    """One run: its text, when it was requested, whether a newer save made it obsolete."""

    lesson: str
    file: LessonFile | None
    wanted_at: float
    began_at: float = field(default_factory=time.monotonic)
    obsolete: bool = False
    ended: bool = False


@dataclass(kw_only=True, eq=False)
class Watcher:
    """The loop. ``grade`` runs in a separate thread, and ``end`` makes it return early. ``shown``
    gets results, ``pressed`` keys. ``slow`` gets a lesson and how many seconds it has been graded
    for: first after ``slow_seconds``, then once a second.
    """

    saves: Saves
    read: Callable[[str], LessonFile | None]
    grade: Callable[[str, LessonFile | None], Report]
    end: Callable[[], None]
    shown: Callable[[WatchResult], None]
    pressed: Callable[[str], None] = lambda _: None
    slow: Callable[[str, int], None] = lambda *_: None
    slow_seconds: float = 0.3

    def __post_init__(self) -> None:
        self.results: dict[str, LessonResult] = {}
        self._events: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._jobs: SimpleQueue[WatchJob | None] = SimpleQueue()
        self._stopped = threading.Event()
        self._status: int | None = None
        self._running: WatchJob | None = None
        self._waiting: dict[str, WatchJob] = {}
        self._held: dict[str, WatchJob] = {}
        self._last: WatchJob | None = None
        self._tell_at = 0.0

    # Methods that other threads, keys and signals may call.

    def press(self, key: str) -> None:
        self._events.put(("key", key))

    def stop(self, status: int = 0) -> None:
        self._events.put(("stop", status))

    def again(self, lesson: str) -> None:
        """Grade a lesson now, whether saved or not. Call this
        from within the loop, or before it.
        """
        self._want(WatchJob(lesson, self.read(lesson), time.monotonic()))

    def run(self) -> int:
        """Watch until ``stop``; return its status. Raise here what a thread raised."""
        threads = [
            threading.Thread(target=self._guarded, args=(body,), daemon=True)
            for body in (self._queue_saves, self._work)
        ]
        for thread in threads:
            thread.start()
        try:
            while self._status is None:
                self._step()
            return self._status
        finally:
            self._stopped.set()
            self._jobs.put(None)
            if self._running:
                self.end()
            for thread in threads:
                thread.join(5)

    # The other threads.

    def _guarded(self, body: Callable[[], None]) -> None:
        try:
            body()
        except BaseException as error:
            self._events.put(("raised", error))

    def _queue_saves(self) -> None:
        for lessons in self.saves(self._stopped):
            self._events.put(("saved", (tuple(lessons), time.monotonic())))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._events.put(("done", (job, self.grade(job.lesson, job.file))))

    # The loop.

    def _step(self) -> None:
        try:
            kind, what = self._events.get(timeout=self._until())
        except Empty:
            self._on_time()
            return
        if kind == "stop":
            self._status = what
        elif kind == "raised":
            raise what
        elif kind == "key":
            self.pressed(what)
        elif kind == "saved":
            lessons, at = what
            for lesson in lessons:
                self._saved(WatchJob(lesson, self.read(lesson), at))
        else:
            self._done(*what)

    def _until(self) -> float | None:
        """Return how long until something is due without an event."""
        due = [job.began_at + HALF_WRITTEN_SECONDS for job in self._held.values()]
        if self._running and self._running.obsolete and not self._running.ended:
            due.append(self._running.began_at + PATIENCE_SECONDS)
        if self._running:
            due.append(self._tell_at)
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _on_time(self) -> None:
        now, running = time.monotonic(), self._running
        for job in list(self._held.values()):
            if now >= job.began_at + HALF_WRITTEN_SECONDS:
                self._want(job)
        if running and now >= self._tell_at:
            taken = int(now - running.began_at)
            self._tell_at = running.began_at + taken + 1
            self.slow(running.lesson, taken)
        if (
            running
            and running.obsolete
            and not running.ended
            and now >= running.began_at + PATIENCE_SECONDS
        ):
            running.ended = True
            self.end()

    def _saved(self, job: WatchJob) -> None:
        """Handle a save, unless it is the echo of an earlier one."""
        newest = self._waiting.get(job.lesson) or self._running or self._last
        if (
            newest
            and (newest.lesson, newest.file) == (job.lesson, job.file)
            and job.wanted_at - newest.wanted_at < ECHO_SECONDS
        ):
            self._held.pop(job.lesson, None)
            return
        if half_written(job.file):
            if held := self._held.get(job.lesson):
                job.began_at = held.began_at if held.file == job.file else job.began_at
            self._held[job.lesson] = job
            return
        self._want(job)

    def _want(self, job: WatchJob) -> None:
        self._held.pop(job.lesson, None)
        if self._running is None:
            self._begin(job)
            return
        self._waiting[job.lesson] = job
        if self._running.lesson == job.lesson:
            self._running.obsolete = True

    def _begin(self, job: WatchJob) -> None:
        job.began_at, self._running = time.monotonic(), job
        self._tell_at = job.began_at + self.slow_seconds
        self._jobs.put(job)

    def _done(self, job: WatchJob, report: Report) -> None:
        self._running, self._last = None, job
        if not job.obsolete:
            verdict = WatchResult(
                job.lesson, report, self.results.get(job.lesson), time.monotonic() - job.wanted_at
            )
            self.results[job.lesson] = verdict.result
            self.shown(verdict)
        if self._waiting and self._running is None:
            self._begin(self._waiting.pop(next(iter(self._waiting))))


def half_written(file: LessonFile | None) -> bool:
    """Return whether a file may be incomplete after a save: missing, empty, unreadable or not
    Python.
    """
    return file is None or file.problem is not None or Source(file.text, file.path).unreadable
