"""Enforce limits that the kernel does not: the fork server checks them and kills the worker."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from grader.core.limits import MIB, Limits

MONITOR_SECONDS = 0.02
"""How many seconds pass between two checks."""


def overuse(
    pid: int, scratch: Path | None, limits: Limits, *, mounted: bool = False
) -> tuple[str, int] | None:
    """Return the limit that a worker exceeds, as (template, limit), or None. Without /proc, threads
    are not counted.

    ``mounted`` says that the scratch folder is a separate file system, which also counts files that
    were unlinked while they are open.
    """
    if threads(pid) > limits.threads:
        return "it started more than {limit} threads", limits.threads
    if scratch is not None:
        files, size = 0, 0
        too_large = "it wrote more than {limit} MB of files", limits.scratch_bytes // MIB
        try:
            if mounted and used_bytes(scratch) > limits.scratch_bytes:
                return too_large
            for entry_size in sizes_below(scratch):
                files, size = files + 1, size + entry_size
                if files > limits.scratch_files:
                    return "it made more than {limit} files", limits.scratch_files
                if size > limits.scratch_bytes:
                    return too_large
        except OSError:
            return "it made folders that can't be looked into", 0
    return None


def threads(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(
                stat.read().rpartition(b")")[2].split()[17]
            )  # proc_pid_stat(5): num_threads is field 20
    except (OSError, IndexError, ValueError):
        return 0


def used_bytes(mounted: Path) -> int:
    """Return how many bytes the files of a file system take (statvfs(3)); may raise OSError."""
    found = os.statvfs(mounted)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def sizes_below(folder: Path) -> Iterator[int]:
    """Yield the size on disk of each file and folder below a folder, without following links.

    Raise OSError if a folder hides its contents. A running worker may remove an entry meanwhile;
    that does not count as hiding.
    """
    todo = [str(folder)]
    while todo:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
        except (FileNotFoundError, NotADirectoryError):
            continue
