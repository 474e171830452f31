"""Map work over a few hosts, each driven by a thread of its own, with a bounded queue before them.

A host is a fork server on this machine or a slot in a cluster; it grades one submission at a time.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Generic, Protocol, TypeVar


class Closeable(Protocol):
    """A host."""

    def close(self) -> None: ...

    def abandon(self) -> None:
        """End its job from another thread, so that the job raises, and accept no further job."""


Host = TypeVar("Host", bound=Closeable)
Job = TypeVar("Job")
Result = TypeVar("Result")


class Cancelled(Exception):
    """A job that is no longer needed."""


JOBS_PER_HOST = 2
"""How many running or waiting jobs each host has. A bound keeps memory constant."""
POLL_SECONDS = 0.1
"""Polling interval while waiting for results. A signal that arrives just before a thread begins to
wait for a lock doesn't wake it, so without polling, Ctrl-C would wait for the next result.
"""


class HostPool(Generic[Host]):
    """A number of hosts, each lent to one thread at a time and started when first needed.

    ``finishing`` is set when no new job may begin, but running jobs still count. ``stopping`` is
    set when running jobs do not count either.
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
        """Do a job with a host that no other job uses; raise Cancelled if no new job may begin."""
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
        """End running jobs as if they had never begun."""
        self.stopping.set()
        for host in tuple(self._lent):
            host.abandon()

    def close(self) -> None:
        for _ in range(self.count):
            host = self._free.get()
            if host is not None:
                host.close()


def map_unordered(
    hosts: HostPool[Host],
    jobs: Iterable[Job],
    work: Callable[[Host, Job], Result],
    *,
    waiting: Callable[[], None] = lambda: None,
) -> Generator[Result, None, None]:
    """Yield the results of ``work(host, job)`` as they arrive, in any order.

    ``jobs`` is read in the caller's thread, as the queue has room. An exception of ``work`` is
    raised here, after the results that have arrived. After that, or when the pool is finishing, no
    further job begins. Otherwise the pool can be used again. ``waiting`` is called every
    ``POLL_SECONDS`` while there is no result.
    """
    running: set[Future[Result]] = set()
    pool = ThreadPoolExecutor(hosts.count, "grading")
    try:
        for job in jobs:
            running.add(pool.submit(hosts.lend, work, job))
            if len(running) >= JOBS_PER_HOST * hosts.count:
                done, running = _wait_for_some(running, waiting)
                yield from _results(done)
            if hosts.finishing.is_set():
                break
        while running:
            done, running = _wait_for_some(running, waiting)
            yield from _results(done)
    except BaseException:
        hosts.stopping.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _wait_for_some(
    running: set[Future[Result]], waiting: Callable[[], None]
) -> tuple[list[Future[Result]], set[Future[Result]]]:
    """Wait until some are done; return these, with those that raised at the end, and the rest."""
    done: set[Future[Result]] = set()
    while not done:
        done, running = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        if not done:
            waiting()
    return sorted(done, key=lambda future: future.exception() is not None), running


def _results(done: Iterable[Future[Result]]) -> Iterator[Result]:
    return (future.result() for future in done if not isinstance(future.exception(), Cancelled))
