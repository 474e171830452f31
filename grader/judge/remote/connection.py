"""A living worker, and the handles that the judge no longer needs."""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass, field

from grader.core.errors import WorkerLost
from grader.judge.remote.worker_sources import WorkerProcess


@dataclass(slots=True)
class Connection:
    """One living worker with the module loaded."""

    worker: WorkerProcess
    freed: deque[int] = field(default_factory=deque)
    """The handles that the judge no longer uses; ``__del__`` may add to it at any moment."""
    scenarios: set[str] = field(default_factory=set)
    """The scenarios that were sent to this worker."""

    def take_freed(self) -> list[int]:
        """Return the freed handles, each once, even while others are added."""
        taken = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self.freed.popleft())
        return taken

    def require_same(self, line: Connection) -> None:
        """Raise WorkerLost if something that this worker kept is requested from another worker."""
        if line is not self:
            raise WorkerLost("crashed", "the worker that held this graph is gone")
