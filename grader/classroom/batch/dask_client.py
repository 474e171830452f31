"""Grade submissions on a Dask cluster. Only this process writes the gradebook.

Dask's processes trust each other and pickle what they send: here one small function, and text. A
student's code runs only in a sandboxed worker. The scheduler gives the task of a lost worker to
another one; the seed is part of the task, so the result is the same.
"""

from __future__ import annotations

import contextlib
import json
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from grader.classroom.batch.dask_worker import REMEDY, graded_in, task_for
from grader.classroom.batch.records import Graded, PageOptions
from grader.core.engine_identity import engine_hash, torch_version
from grader.core.errors import EngineFault, UsageError
from grader.course.course import Course, Lesson
from grader.course.lesson_file import LessonFile
from grader.runtime.grading import Settings
from grader.runtime.pool import HostPool

if TYPE_CHECKING:
    from distributed import Client, Future

AHEAD = 2
"""How many submissions are under way for each thread of the cluster: the next is on its way when
one is done.
"""
UNKNOWN = 32
"""How many are where the cluster has no thread yet, as one that grows with its work."""
CONNECT_SECONDS = 15
LOOK_FOR_WORKERS_SECONDS = 2.0
NO_WORKER_SECONDS = 10.0
"""After how long without a worker that is said."""
LOOK_SECONDS = 1.0
"""How often one who waits for a submission looks whether the run was stopped."""


@dataclass(slots=True)
class Cluster:
    """A connection to a scheduler, for one run. ``say`` tells people what is waited for."""

    client: Client
    say: Callable[[str], None] = lambda text: None
    stopping: Event = field(default_factory=Event)
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _lock: Lock = field(default_factory=Lock)
    _looked_at: float = 0.0
    _empty_since: float | None = None
    _said: bool = False

    def threads(self) -> int:
        """How many submissions the cluster grades at a time, as of now."""
        return sum(self.client.nthreads().values())

    def look_for_workers(self) -> None:
        """Say so, once, if the cluster has had no worker for a while; look every few seconds."""
        with self._lock:
            now = time.monotonic()
            if now - self._looked_at < LOOK_FOR_WORKERS_SECONDS:
                return
            self._looked_at = now
            if self.threads():
                self._empty_since, self._said = None, False
                return
            self._empty_since = self._empty_since or now
            if not self._said and now - self._empty_since >= NO_WORKER_SECONDS:
                self._said = True
                self.say(
                    "the cluster has no worker, so nothing is graded. Start a worker, or stop with"
                    " Ctrl-C: what was graded is kept"
                )


@contextlib.contextmanager
def connected(scheduler: str, say: Callable[[str], None]) -> Iterator[Cluster]:
    """Connect to the scheduler at an address or in a scheduler file; raises UsageError.

    ``say`` is called where the run waits for something, from any thread.
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
        # What ends a run is a message of ours; Dask would put its traceback before it.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        address = (
            json.loads(Path(scheduler).read_text("utf-8"))["address"]
            if Path(scheduler).is_file()
            else scheduler
        )
        resolve_address(address)  # a client that was given a wrong one takes half a minute to end
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, KeyError) as error:
        remedy = (
            "Start one with `dask scheduler`, and name the address that it prints, or its scheduler"
            " file"
        )
        raise UsageError(
            f"No Dask scheduler answers at {scheduler}"
            f" ({str(error).strip() or type(error).__name__}). {remedy}"
        ) from None
    with client:
        yield Cluster(client, say)


@dataclass(frozen=True, slots=True)
class ClusterSlot:
    """One submission at a time, graded somewhere in the cluster."""

    cluster: Cluster

    def close(self) -> None:
        """Nothing is kept here: after a fault of ours a worker replaces its own host."""

    def abandon(self) -> None:
        """Who waits for an answer looks whether the run was stopped."""


def seats(cluster: Cluster, wanted: int, count: int) -> HostPool[ClusterSlot]:
    """Return ``wanted`` slots, or as many as keep the cluster busy if that is 0."""
    number = wanted or AHEAD * cluster.threads() or UNKNOWN
    return HostPool(
        min(number, max(1, count)), lambda: ClusterSlot(cluster), stopping=cluster.stopping
    )


def grade_in_cluster(
    seat: ClusterSlot,
    course: Course,
    lessons: Sequence[Lesson],
    files: dict[str, LessonFile],
    settings: Settings,
    *,
    name: str,
    page: PageOptions | None,
) -> Graded:
    """Grade a submission and render its page on the cluster.

    Raise UsageError if a worker refuses or the scheduler is gone, EngineFault for our own fault.
    """
    from distributed import KilledWorker

    cluster = seat.cluster
    ids = [lesson.id for lesson in lessons]
    task = task_for(cluster.run, course, ids, files, settings, name=name, page=page)
    future = cluster.client.submit(
        by_value(), json.dumps(task.as_json()), key=f"gradlings-{uuid.uuid4().hex}", pure=False
    )
    try:
        answered = json.loads(_result(future, cluster))
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
    if "refused" in answered:
        raise UsageError(f"A Dask worker refuses: {answered['refused']}")
    if "fault" in answered:
        raise EngineFault(answered["fault"])
    _require_same_engine(answered["report"])
    return graded_in(answered)


def _require_same_engine(report: dict[str, Any]) -> None:
    """Raise UsageError where the worker is too old to refuse by itself."""
    there = report.get("engine_hash"), report.get("torch_version")
    if there == (engine_hash(), torch_version()):
        return
    raise UsageError(
        f"A Dask worker graded with engine {there[0] or 'unknown'} and torch"
        f" {there[1] or 'unknown'}; the client has {engine_hash()} and"
        f" {torch_version()}. {REMEDY}"
    )


def by_value() -> Callable[[str], str]:
    """Return a function that Dask sends as code, not by its name.

    A worker that can't import a function by its name dies before it can say so.
    """

    def answer(text: str) -> str:
        from grader.classroom.batch import dask_worker

        return dask_worker.answer(text)

    return answer


def _result(future: Future[str], cluster: Cluster) -> str:
    while True:
        try:
            text: str = future.result(timeout=LOOK_SECONDS)
        except TimeoutError:
            if cluster.stopping.is_set():
                future.cancel()
                raise EngineFault("the run was stopped") from None
            with contextlib.suppress(OSError):  # no scheduler any more: the future says so
                cluster.look_for_workers()
        else:
            return text
