"""Run ``grade watch``: grade a lesson at every save, on a terminal that reacts to single keys.

One thread reports saves, one reports keys, one grades; only the loop (``Watcher.run``) decides, one
event at a time::

    saves ──▶ │        │ ──▶ jobs ──▶ grade ──┐
    keys  ──▶ │ events │                      │
       ▲      │        │ ◀──── done ──────────┘ ──▶ shown(report)

The newest save of a lesson wins: the result of an older one is not shown, and a run that delays it
is ended. A file that is empty or not valid Python just after a save may be half written, so the
loop waits a moment for the next event.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from grader.cli.help import TranslatedCommand
from grader.cli.options import (
    chosen_lessons,
    complete_lesson,
    course,
    course_option,
    lang_option,
    place_option,
    sandbox_option,
)
from grader.cli.selection import refuse_wrong_folder
from grader.core.errors import UsageError
from grader.core.report import LessonResult, Report
from grader.course.progress import next_lesson
from grader.course.source import Source
from grader.course.submission import LessonFile, lesson_names
from grader.runtime.client import ForkServerClient

if TYPE_CHECKING:
    from grader.cli.watch_screen import WatchSession

Saves = Callable[[threading.Event], Iterable[Iterable[str]]]
"""Reports saves, as lessons' ids, until the event is set."""


@click.command(cls=TranslatedCommand)
@click.argument("lessons", nargs=-1, metavar="[LESSON]...", shell_complete=complete_lesson)
@place_option
@click.option(
    "--poll",
    is_flag=True,
    help="Poll for changes, where the system reports none: WSL, network folders.",
)
@click.option(
    "--plain", is_flag=True, help="Print lines for editors: path:line:column: error: cause."
)
@sandbox_option
@lang_option
@course_option
def watch(
    lessons: tuple[str, ...],
    place: Path,
    poll: bool,
    plain: bool,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Grade a lesson whenever you save it.

    Example: grade watch custom_sigmoid
    """
    with ForkServerClient(most_lessons=2) as host:
        # The rest is imported while the server imports torch.
        from grader.cli.watch_screen import WatchSession
        from grader.cli.workspace import Learner

        found = course(course_root)
        learner = Learner.at(found, place, lang)
        refuse_wrong_folder(place)
        if not learner.folder.is_dir():
            message = (
                "{folder} is not a folder. Name the one with your lessons, or make one: grade init"
                " my-work"
            )
            raise UsageError(learner.tr(message, folder=learner.folder))
        watched = chosen_lessons(found, lessons)
        files = learner.files(*watched)
        if not files:
            message = (
                "There is no lesson file in {folder}. Make a folder with all lessons: grade init"
                " my-work"
            )
            raise UsageError(learner.tr(message, folder=learner.folder))
        kind = None if poll else remote_kind(learner.folder)
        session = WatchSession(learner, host, keeps=place == Path(), sandbox=sandbox, plain=plain)
        if kind:
            text = learner.tr(
                "This folder is on {kind}, which does not report saves, so it is polled for"
                " changes, as with --poll.",
                kind=kind,
            )
            session.notes.append(text)
        folders = {(learner.folder / file.path).parent for file in files.values()}
        names = lesson_names(lesson.id for lesson in watched)
        saves = folder_saves(folders, names, poll=poll or kind is not None)
        # Begin with the lesson to take next, if it is watched and exists here.
        here = [lesson for lesson in watched if lesson.id in files]
        following = next_lesson(found, learner.progress)
        first = following.id if following in here and following else here[0].id
        sys.exit(run_session(session, saves, first, files))


def run_session(session: WatchSession, saves: Saves, first: str, watched: Iterable[str]) -> int:
    """Grade at every save until a key or a signal ends it; return the exit code."""

    def pressed(key: str) -> None:
        if key.lower() in ("q", END_OF_INPUT):
            watcher.stop()
        elif key.lower() == "r":
            session.slow(session.current, 0)
            session.seeds.pop(session.current, None)  # with new inputs
            watcher.again(session.current)
        else:
            session.pressed(key)

    watcher = Watcher(
        saves=saves,
        read=session.read,
        grade=session.grade,
        end=session.end,
        shown=session.shown,
        pressed=pressed,
        slow=session.slow,
    )
    session.current = first
    with ended_by_signals(watcher.stop):
        if session.plain:
            for one in watched:
                watcher.again(one)
            return watcher.run()
        with single_keys(watcher.press) as has_keys, session.screen.cursor_hidden():
            session.begin(has_keys=has_keys)
            watcher.again(first)
            try:
                return watcher.run()
            except KeyboardInterrupt:
                return 130


HALF_WRITTEN_SECONDS = 0.15
"""How long to wait for the rest of a file that looks incomplete."""
ECHO_SECONDS = 0.3
"""A further event for the same text within this time belongs to the same save."""
SLOW_SECONDS = 0.3
"""A run that takes longer is shown as slow."""
PATIENCE_SECONDS = 0.4
"""How long an obsolete run may continue."""


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
    gets a lesson's report and its result before, ``pressed`` keys. ``slow`` gets a lesson and how
    many seconds it has been graded for: first after ``SLOW_SECONDS``, then once a second.
    """

    saves: Saves
    read: Callable[[str], LessonFile | None]
    grade: Callable[[str, LessonFile | None], Report]
    end: Callable[[], None]
    shown: Callable[[Report, LessonResult | None], None]
    pressed: Callable[[str], None] = lambda _: None
    slow: Callable[[str, int], None] = lambda *_: None

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
        """Grade a lesson now, saved or not. Call this from within the loop, or before it."""
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
        self._tell_at = job.began_at + SLOW_SECONDS
        self._jobs.put(job)

    def _done(self, job: WatchJob, report: Report) -> None:
        self._running, self._last = None, job
        if not job.obsolete:
            before = self.results.get(job.lesson)
            (self.results[job.lesson],) = report.lessons
            self.shown(report, before)
        if self._waiting and self._running is None:
            self._begin(self._waiting.pop(next(iter(self._waiting))))


def half_written(file: LessonFile | None) -> bool:
    """Return whether a file may be incomplete: missing, empty, unreadable or not Python."""
    return file is None or file.problem is not None or Source(file.text, file.path).unreadable


STEP_MS, DEBOUNCE_MS, POLL_MS = 2, 15, 200
"""Times in milliseconds. A save is reported after ``STEP_MS`` without a further event, but at the
latest after ``DEBOUNCE_MS``. Polling looks for changes every ``POLL_MS``.
"""


def folder_saves(folders: Iterable[Path], lessons: dict[str, str], *, poll: bool) -> Saves:
    """Return a source of saves in these folders.

    ``lessons`` maps file names to lessons; saves of other files are ignored.
    """
    watched = sorted(folders)

    def saves(stopped: threading.Event) -> Iterator[list[str]]:
        batches = save_batches(
            watched, lambda path: path.name in lessons, stopped, recursive=False, poll=poll
        )
        for batch in batches:
            yield sorted({lessons[path.name] for path in batch})

    return saves


def save_batches(
    folders: Iterable[Path],
    wanted: Callable[[Path], bool],
    stopped: threading.Event,
    *,
    recursive: bool = True,
    poll: bool = False,
) -> Iterator[set[Path]]:
    """Yield the wanted files that were saved in folders, until the event is set."""
    import watchfiles

    batches = watchfiles.watch(
        *folders,
        watch_filter=lambda _, path: wanted(Path(path)),
        stop_event=stopped,
        recursive=recursive,
        step=STEP_MS,
        debounce=DEBOUNCE_MS,
        rust_timeout=200,
        raise_interrupt=False,
        force_polling=poll or None,
        poll_delay_ms=POLL_MS,
    )
    for batch in batches:
        yield {Path(path) for _, path in batch}


REMOTE = frozenset(
    """
    nfs nfs4 cifs smb3 smbfs 9p drvfs vboxsf afs virtiofs
    fuse.sshfs fuse.vmhgfs-fuse fuse.grpcfuse
    """.split()
)
"""File systems that do not report saves made on another machine."""


def remote_kind(folder: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """Return the kind of the folder's file system if it is one of ``REMOTE``, else None."""
    try:
        lines = [
            line.split(" ") for line in mounts.read_text("utf-8", "surrogateescape").splitlines()
        ]
    except OSError:
        return None
    here = folder.resolve()
    points = [
        (Path(fields[1].replace("\\040", " ")), fields[2]) for fields in lines if len(fields) > 2
    ]
    above = [(len(point.parts), kind) for point, kind in points if here.is_relative_to(point)]
    kind = max(above, default=(0, ""))[1]
    return kind if kind in REMOTE else None


@contextlib.contextmanager
def ended_by_signals(stop: Callable[[int], None]) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP end the loop cleanly; a second signal acts as usual.

    ``stop`` is called with the exit status, 128 plus the signal's number.
    """
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(number, before[number])
        stop(128 + number)

    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


END_OF_INPUT = "\x04"


@contextlib.contextmanager
def single_keys(press: Callable[[str], None]) -> Iterator[bool]:
    """Pass every key to ``press`` while the block runs; yield whether there is a terminal."""
    if not (sys.stdin and sys.stdin.isatty()):
        yield False
    elif sys.platform == "win32":
        with _windows(press):
            yield True
    else:
        with _posix(press):
            yield True


@contextlib.contextmanager
def _posix(press: Callable[[str], None]) -> Iterator[None]:
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    wake, waker = os.pipe()

    def read() -> None:
        while True:
            ready, _, _ = select.select([fd, wake], [], [])
            if wake in ready:
                return
            for key in os.read(fd, 64).decode("utf-8", "replace") or END_OF_INPUT:
                press(key)
                if key == END_OF_INPUT:
                    return

    thread = threading.Thread(target=read, daemon=True)
    try:
        tty.setcbreak(fd, termios.TCSADRAIN)  # Ctrl-C stays a signal
        thread.start()
        yield
    finally:
        os.close(waker)
        if thread.ident:
            thread.join(2)
        os.close(wake)
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _windows(press: Callable[[str], None]) -> Iterator[None]:
    import msvcrt

    done = threading.Event()

    def read() -> None:
        while not done.wait(0.03):
            while msvcrt.kbhit():  # type: ignore[attr-defined,unused-ignore]
                press(msvcrt.getwch())  # type: ignore[attr-defined,unused-ignore]

    threading.Thread(target=read, daemon=True).start()
    try:
        yield
    finally:
        done.set()
