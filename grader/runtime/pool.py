"""Map work over a few graders, each driven by a thread, with a bounded queue before them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Generic, Protocol, TypeVar


class Closeable(Protocol):
    """What can be lent and, in the end, closed."""

    def close(self) -> None: ...

    def abandon(self) -> None:
        """End the current work from another thread, for good; the worker raises."""


Host = TypeVar("Host", bound=Closeable)
Job = TypeVar("Job")
Result = TypeVar("Result")


class Cancelled(Exception):
    """A job that nobody wants any more."""


AHEAD = 2
"""How many jobs a worker has under way or before it: the next is there when one is done, and memory
doesn't grow with the class.
"""
LOOK_SECONDS = 0.1
"""How often who waits for results looks up. A signal that comes in the moment before a thread
begins to wait for a lock doesn't wake it, so that a Ctrl-C would be heeded only when the next
result is there."""


class HostPool(Generic[Host]):
    """So many hosts, lent to one thread at a time; each is started when it is first needed.

    ``finishing`` is set when nothing new is to be begun; what is under way still counts.
    ``stopping`` is set when that doesn't either.
    """

    def __init__(
        self, count: int, make: Callable[[], Host], *, stopping: threading.Event | None = None
    ) -> None:
        self.count = count
        self.finishing = threading.Event()
        self.stopping = stopping or threading.Event()
        self._lent: list[Host] = []
        self._make = make
        self._free: queue.LifoQueue[Host | None] = queue.LifoQueue()
        for _ in range(count):
            self._free.put(None)

    def lend(self, work: Callable[[Host, Job], Result], job: Job) -> Result:
        """Run ``work`` with an idle server; raises NotBegun after ``abandon``."""
        host = self._free.get()
        try:
            if self.finishing.is_set() or self.stopping.is_set():
                raise Cancelled
            host = host or self._make()
            self._lent.append(host)
            try:
                return work(host, job)
            finally:
                self._lent.remove(host)
        finally:
            self._free.put(host)

    @property
    def busy(self) -> int:
        return len(self._lent)

    def abandon(self) -> None:
        """End what is under way; it is as if it had never been begun."""
        self.stopping.set()
        for host in tuple(self._lent):
            host.abandon()

    def close(self) -> None:
        for _ in range(self.count):
            host = self._free.get()
            if host is not None:
                host.close()


def map_unordered(
    hosts: HostPool[Host], jobs: Iterable[Job], work: Callable[[Host, Job], Result]
) -> Generator[Result, None, None]:
    """The results of ``work(host, job)`` as they come, in no order. ``jobs`` is drawn from as there
    is room, in the caller's thread.

    What ``work`` raises is raised here, after the results that were there with it; jobs that were
    not begun by then, or when the hosts are told to finish, never are.
    """
    running: set[Future[Result]] = set()
    pool = ThreadPoolExecutor(hosts.count, "grading")
    try:
        for job in jobs:
            running.add(pool.submit(hosts.lend, work, job))
            if len(running) >= AHEAD * hosts.count:
                done, running = _some(running)
                yield from _results(done)
            if hosts.finishing.is_set():
                break
        while running:
            done, running = _some(running)
            yield from _results(done)
    finally:
        hosts.stopping.set()
        pool.shutdown(cancel_futures=True)


def _some(running: set[Future[Result]]) -> tuple[set[Future[Result]], set[Future[Result]]]:
    """Wait until some are done; these, and the rest."""
    done: set[Future[Result]] = set()
    while not done:
        done, running = wait(running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
    return done, running


def _results(done: Iterable[Future[Result]]) -> Iterator[Result]:
    return (
        future.result()
        for future in sorted(done, key=_raised)
        if not isinstance(future.exception(), Cancelled)
    )


def _raised(future: Future[Result]) -> bool:
    return future.exception() is not None
