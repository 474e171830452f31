"""Limit the judge's own memory, so that a student's values can't exhaust the host's.

A worker's messages are capped, but what a check computes from them may be far larger, such as an
outer product. Beyond the limit an allocation fails in the judge. That ends the check, and a new
judge takes over after the submission.
"""

from __future__ import annotations

import sys
import traceback

from grader.core.limits import MIB
from grader.worker.sandbox import address_space_bytes, set_limit
from grader.worker.wire.compat import CANNOT_ALLOCATE

if sys.platform != "win32":
    import resource

JUDGE_BYTES = 1024 * MIB
"""Address space beyond what a judge has when it is forked."""


class JudgeMemory:
    """The limit of this process. Without /proc there is none."""

    def __init__(self) -> None:
        self._baseline = 0
        self.limited = False

    def limit(self) -> None:
        """Limit this process permanently. If the host allows less, ``limited`` stays False."""
        self._baseline = address_space_bytes()
        if self._baseline:
            wanted = self._baseline + JUDGE_BYTES
            self.limited = set_limit(resource.RLIMIT_AS, wanted) == wanted

    @property
    def crowded(self) -> bool:
        """Whether more than half of the limit is in use. Read it between submissions."""
        return self.limited and address_space_bytes() - self._baseline > JUDGE_BYTES // 2


OF_THIS_PROCESS = JudgeMemory()


def is_shortage(error: BaseException) -> bool:
    """Return whether an exception says that memory ran out in
    this process, in Python or in torch.
    """
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and CANNOT_ALLOCATE in str(error)


def free_frames(error: BaseException) -> None:
    """Release the values in the frames that an exception passed through."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            traceback.clear_frames(one.__traceback__)
            todo += [one.__cause__, one.__context__]
