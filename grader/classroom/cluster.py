"""Grade submissions on a Dask cluster: the worker's side (``answer``), then the client's.

Only the client writes the gradebook. Dask's processes trust each other and pickle what they
exchange, which here is one small function and text: task and answer are JSON. A student's code runs
only in a sandboxed worker. The scheduler gives the task of a lost worker to another one; the run's
seed is in the task, so the result is the same.

The worker loads the course that is installed there, and refuses if course, engine or torch differ
from the client's. It keeps a warm fork server for each of its threads.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import socket
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from grader.classroom.batch import Graded, PageOptions, render
from grader.core.errors import EngineFault, UsageError
from grader.core.files import engine_hash, torch_version
from grader.core.messages import Settings
from grader.core.report import Record, Report
from grader.course.course import Course, Lesson, find_course, load_course
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_and_repair
from grader.runtime.pool import HostPool

if TYPE_CHECKING:
    from distributed import Client, Future


REMEDY = "Install on all workers what the client has, and start them again"
_warm = threading.local()


@dataclass(frozen=True, slots=True)
class ClusterTask(Record):
    """Everything that a worker needs for one submission.

    ``run`` identifies a batch; for a new one the worker reads the course again. ``course_path`` is
    None for the course that is installed with the engine. Without ``page``, it renders no page.
    """

    run: str
    engine_hash: str
    torch_version: str
    course_path: str | None
    course_hash: str
    lessons: tuple[str, ...]
    files: tuple[LessonFile, ...]
    settings: Settings
    name: str
    page: PageOptions | None = None


@dataclass(frozen=True, slots=True)
class ClusterAnswer(Record):
    """A worker's report, and its page, compressed, if there is one; or why there is no report."""

    report: Report | None = None
    page: bytes | None = None
    refused: str = ""
    fault: str = ""

    def graded(self) -> Graded:
        """Return report and page; raise UsageError if the worker refuses or should have, and
        EngineFault for a grader fault.
        """
        if self.refused:
            raise UsageError(f"A Dask worker refuses: {self.refused}")
        if self.report is None:
            raise EngineFault(self.fault)
        there = self.report.engine_hash, self.report.torch_version
        if there != (engine_hash(), torch_version()):  # a worker too old to refuse by itself
            raise UsageError(
                f"A Dask worker graded with engine {there[0] or 'unknown'} and torch"
                f" {there[1] or 'unknown'}; the client has {engine_hash()} and"
                f" {torch_version()}. {REMEDY}"
            )
        return Graded(self.report, self.page and zlib.decompress(self.page))


def task_for(
    run: str,
    course: Course,
    lessons: Sequence[str],
    files: dict[str, LessonFile],
    settings: Settings,
    *,
    name: str,
    page: PageOptions | None,
) -> ClusterTask:
    """Return a task that only a worker with this engine and torch accepts."""
    path = course.root.resolve()
    return ClusterTask(
        run=run,
        engine_hash=engine_hash(),
        torch_version=torch_version(),
        course_path=None if find_course() == path else str(path),
        course_hash=course.hash,
        lessons=tuple(lessons),
        files=tuple(files.values()),
        settings=settings,
        name=name,
        page=page,
    )


def answer(text: str) -> str:
    """Grade a ``ClusterTask`` in JSON and return a ``ClusterAnswer`` in JSON."""
    try:
        answered = _grade(json.loads(text))
    except UsageError as error:
        answered = ClusterAnswer(refused=f"{socket.gethostname()}: {error}")
    except Exception as error:  # as data: an exception would be pickled on its way back
        answered = ClusterAnswer(fault=f"{socket.gethostname()}: {error!r}")
    return json.dumps(answered.as_json())


def _grade(question: dict[str, object]) -> ClusterAnswer:
    for key, here in (("engine_hash", engine_hash()), ("torch_version", torch_version())):
        if here != (there := question.get(key, "an older one")):
            what = key.replace("_", " ")
            raise UsageError(f"its {what} is {here}, the client has {there}. {REMEDY}")
    task = ClusterTask.from_json(question)
    course = same_course(task.course_path, task.course_hash, task.run)
    files = {file.lesson: file for file in task.files}
    lessons = [course.lesson(name) for name in task.lessons]
    host = warm_host()
    report = grade_and_repair(host, course, lessons, files, task.settings, name=task.name)
    if report.grader_faults:
        host.close()  # the next task, and another try of this one, gets a new fork server
    page = zlib.compress(render(report, task.page), 1) if task.page else None
    return ClusterAnswer(report, page)


@functools.lru_cache(maxsize=4)
def same_course(path: str | None, wanted: str, run: str) -> Course:
    """Return the course installed here, read once a run; raise UsageError for another hash."""
    course = load_course(find_course(Path(path) if path else None))
    if course.hash != wanted:
        raise UsageError(
            f"the course in {course.root} has the hash {course.hash}, the client's has {wanted}."
            f" {REMEDY}"
        )
    return course


def warm_host() -> ForkServerClient:
    """Return this thread's fork server, starting it if needed; it ends with this process."""
    if not hasattr(_warm, "host"):
        _warm.host = ForkServerClient()
    host: ForkServerClient = _warm.host
    return host


AHEAD = 2
"""The number of submissions in progress for each thread of the cluster, so that the next one is
already there when one is done.
"""
UNKNOWN = 32
"""The number in progress while the cluster has no thread yet, because it starts some on demand."""
CONNECT_SECONDS = 15
LOOK_FOR_WORKERS_SECONDS = 2.0
NO_WORKER_SECONDS = 10.0
"""Report that there is no worker after this time."""
LOOK_SECONDS = 1.0
"""How often a thread that waits for a submission checks whether the run was stopped."""


@dataclass(slots=True)
class Cluster:
    """A connection to a scheduler, for one run. ``say`` reports what the run is waiting for."""

    client: Client
    say: Callable[[str], None] = lambda text: None
    stopping: Event = field(default_factory=Event)
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _lock: Lock = field(default_factory=Lock)
    _looked_at: float = 0.0
    _empty_since: float | None = None
    _reported: bool = False

    def threads(self) -> int:
        """Return how many submissions the cluster's present workers can grade at once."""
        return sum(self.client.nthreads().values())

    def look_for_workers(self) -> None:
        """Report once if the cluster has had no worker for a while; check every few seconds."""
        with self._lock:
            now = time.monotonic()
            if now - self._looked_at < LOOK_FOR_WORKERS_SECONDS:
                return
            self._looked_at = now
            if self.threads():
                self._empty_since, self._reported = None, False
                return
            self._empty_since = self._empty_since or now
            if not self._reported and now - self._empty_since >= NO_WORKER_SECONDS:
                self._reported = True
                self.say(
                    "the cluster has no worker, so nothing is graded. Start a worker, or stop with"
                    " Ctrl-C: what was graded is kept"
                )


@contextlib.contextmanager
def connected(scheduler: str, say: Callable[[str], None]) -> Iterator[Cluster]:
    """Connect to the scheduler at an address or in a scheduler file; raise UsageError.

    Call ``say`` from any thread when the run has to wait.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import resolve_address
    except ImportError:
        raise UsageError(
            "Dask is not installed here. Install it, here and on all workers: pip install"
            " 'gradlings[cluster]'"
        ) from None
    for name in ("distributed", "distributed.client"):
        # Our own message ends the run; Dask would put its traceback before it.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        address = (
            json.loads(Path(scheduler).read_text("utf-8"))["address"]
            if Path(scheduler).is_file()
            else scheduler
        )
        resolve_address(address)  # with a wrong address, closing the client takes half a minute
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = str(error).strip() or type(error).__name__
        raise UsageError(
            f"No Dask scheduler answers at {scheduler} ({reason}). Start one with `dask scheduler`,"
            " and name the address that it prints, or its scheduler file"
        ) from None
    with client:
        yield Cluster(client, say)


@dataclass(frozen=True, slots=True)
class ClusterSlot:
    """One submission at a time, graded somewhere in the cluster."""

    cluster: Cluster

    def close(self) -> None:
        """Do nothing: after a grader fault, the Dask worker replaces its own fork server."""

    def abandon(self) -> None:
        """Do nothing: the thread that waits for an answer checks whether the run was stopped."""


def cluster_slots(cluster: Cluster, wanted: int, count: int) -> HostPool[ClusterSlot]:
    """Return ``wanted`` slots, or as many as keep the cluster busy if that is 0."""
    number = wanted or AHEAD * cluster.threads() or UNKNOWN
    return HostPool(
        min(number, max(1, count)), lambda: ClusterSlot(cluster), stopping=cluster.stopping
    )


def grade_in_cluster(
    slot: ClusterSlot,
    course: Course,
    lessons: Sequence[Lesson],
    files: dict[str, LessonFile],
    settings: Settings,
    *,
    name: str,
    page: PageOptions | None,
) -> Graded:
    """Grade a submission and render its page on the cluster.

    Raise UsageError if a worker refuses or the scheduler is gone, EngineFault for a grader fault.
    """
    from distributed import KilledWorker

    cluster, ids = slot.cluster, [lesson.id for lesson in lessons]
    task = task_for(cluster.run, course, ids, files, settings, name=name, page=page)
    future = cluster.client.submit(
        by_value(), json.dumps(task.as_json()), key=f"gradlings-{uuid.uuid4().hex}", pure=False
    )
    try:
        answered = _result(future, cluster)
    except KilledWorker as error:
        raise EngineFault(
            "every Dask worker that had this submission was lost, the last of them"
            f" {error.last_worker.address}"
        ) from None
    except CancelledError:
        raise UsageError(
            "The Dask scheduler is gone. What was graded is kept. Start a scheduler, then run the"
            " same command to continue"
        ) from None
    except ModuleNotFoundError as error:
        raise UsageError(
            f"A Dask worker has no module {error.name}. Install the same on all workers as here:"
            " gradlings[cluster]"
        ) from None
    return ClusterAnswer.from_json(json.loads(answered)).graded()


def by_value() -> Callable[[str], str]:
    """Return a function that Dask sends as code instead of by its name.

    A worker that can't import a function by its name dies before it can say so.
    """

    def ask(text: str) -> str:
        from grader.classroom.cluster import answer

        return answer(text)

    return ask


def _result(future: Future[str], cluster: Cluster) -> str:
    while True:
        try:
            text: str = future.result(timeout=LOOK_SECONDS)
        except TimeoutError:
            if cluster.stopping.is_set():
                future.cancel()
                raise EngineFault("the run was stopped") from None
            with contextlib.suppress(OSError):  # the scheduler is gone; the future raises why
                cluster.look_for_workers()
        else:
            return text
