"""The limits of a worker: the keys of ``[limits]`` in ``course.toml``."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

MIB = 1 << 20
MAX_STARVED = 45.0
"""By how many seconds a busy host extends a lesson's deadlines at most."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one worker. The comment at each says what a program sees when it exceeds it."""

    call_seconds: float = 10.0
    """Wall clock of one call; the worker is killed and the check ends as ``timeout``."""
    lesson_seconds: float = 60.0
    """Wall clock of a whole lesson; the remaining checks end as ``timeout``."""
    cpu_seconds: int = 60
    """Processor time of one worker; it is killed by SIGXCPU and the check ends as ``crashed``."""
    memory_bytes: int = 2048 * MIB
    """Address space beyond what the worker has when it is forked; allocations fail with
    MemoryError.
    """
    file_bytes: int = 16 * MIB
    """Size of one file; writes fail with EFBIG."""
    scratch_bytes: int = 64 * MIB
    """Size of all files in the scratch folder; the worker is killed soon after."""
    scratch_files: int = 256
    """Number of files and folders there; the worker is killed soon after."""
    threads: int = 64
    """Threads of the worker; it is killed soon after."""
    open_files: int = 64
    """Open descriptors; opening more fails with EMFILE."""
    output_bytes: int = 16 << 10
    """The output that is kept of a check; the rest is counted and dropped."""

    def lower_than(self, others: Limits) -> dict[str, int]:
        """Return the limits here that are lower than the others, by name."""
        mine, theirs = asdict(self), asdict(others)
        return {name: int(limit) for name, limit in mine.items() if limit < theirs[name]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Limits:
        """Read limits from plain data; raise ValueError that names an unknown or impossible one."""
        kinds = {f.name: float if f.type == "float" else int for f in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in data.items():
            if name not in kinds:
                raise ValueError(f"unknown limit {name!r}; there are: {', '.join(kinds)}")
            finite = type(value) in (int, float) and math.isfinite(value)
            if not finite or kinds[name](value) <= 0:
                raise ValueError(f"{name} = {value!r} is not a positive number")
            values[name] = kinds[name](value)
        return cls(**values)
