"""Confine a newly forked worker before it reads the student's file.

The fork server prepares a scratch folder and a Landlock ruleset once (``prepare``). Each worker
confines itself (``confine``) and only then listens to the judge. No student's code has run by then,
so the worker's report of its guarantees can be trusted. The layers, in the order in which they are
applied:

*hidden*
    The fork server, the judges and the worker itself are not dumpable. So another process of the
    same user can't read their memory or descriptors (proc(5), ``PR_SET_DUMPABLE``).
*descriptors*
    Standard input is empty, standard output and error are one pipe to the judge. All others are
    closed, except the connection to the judge. The worker leads a session and dies with its fork
    server.
*limits*
    rlimits: processor time, address space, file size, open files, no core dump. The judge keeps the
    wall clock. The fork server watches threads and the size of the scratch folder (``overuse``).
*mount*
    The scratch folder is a file system of its own (``scratch``), so deleted files that are
    still open count as well.
*landlock*
    Only the Python installation and packages can be read, only the scratch folder written.
*capabilities*
    All are dropped, even if the fork server runs as root.
*seccomp*
    An allow-list of system calls.

Each of ``GUARANTEES`` names the layers that it needs, and holds if all of them do. After a lesson
the fork server kills all remaining processes and empties the scratch folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader.core.files import PACKAGE
from grader.core.limits import MIB, Limits
from grader.worker.sandbox.c_library import libc, prctl
from grader.worker.sandbox.landlock import make_ruleset, own_trees, restrict_files
from grader.worker.sandbox.scratch import make_scratch
from grader.worker.sandbox.seccomp import has_tables, restrict_calls

if sys.platform != "win32":
    import resource

LAYERS = ("descriptors", "limits", "mount", "landlock", "capabilities", "seccomp")
GUARANTEES: dict[str, tuple[str, ...]] = {
    "environment": ("descriptors",),
    "descriptors": ("descriptors",),
    "time": ("limits",),
    "memory": ("limits", "proc"),
    "files": ("landlock", "capabilities", "seccomp"),
    "network": ("landlock", "seccomp"),
    "processes": ("capabilities", "seccomp", "proc"),
    "verdict": ("capabilities", "hidden"),
}
"""The guarantees, and the layers that each needs. ``proc`` is the host's /proc, which shows the
size of the address space and the processes that a worker left behind. ``verdict`` means that the
worker can't reach the processes that judge it, and so can't write a result.
"""

LINUX: bool = sys.platform.startswith("linux")
PR_SET_PDEATHSIG = 1
PR_GET_DUMPABLE, PR_SET_DUMPABLE = 3, 4
PR_SET_CHILD_SUBREAPER = 36
CAPSET = {"x86_64": 126, "aarch64": 91}
CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a fork server prepares for its workers: the scratch folder, the ruleset (none without
    Landlock), and whether the folder is a separate file system.
    """

    scratch: Path
    ruleset: int | None = None
    mounted: bool = False


def prepare(*, mount: bool = False) -> Prepared:
    """Make the scratch folder and the ruleset. ``mount`` says that this process may mount
    (``scratch.enter_namespace``).
    """
    folder, mounted = make_scratch(mount=mount)
    try:
        ruleset = make_ruleset(folder, own_trees(PACKAGE))
    except OSError:
        ruleset = None
    return Prepared(folder, ruleset, mounted)


def adopt_orphans() -> None:
    """Make this process the parent of all processes that its workers leave behind (Linux)."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def hide() -> None:
    """Refuse ptrace(2) of this process and its forks, and their descriptors in /proc."""
    if LINUX:
        prctl(PR_SET_DUMPABLE, 0)


def confine(
    limits: Limits, prepared: Prepared, *, mode: str, keep: set[int], without: Collection[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...], Limits]:
    """Confine this process permanently. Return the guarantees that hold, those that don't, and the
    limits in force.

    ``keep`` are the descriptors that stay open beside 0, 1 and 2. With ``mode`` ``off``, only
    *descriptors* is applied. ``without`` leaves layers out, to simulate a weaker host. A layer that
    the host refuses does not hold.
    """
    wanted = (
        {"descriptors"} if mode == "off" else {layer for layer in LAYERS if layer not in without}
    )
    move_to(prepared.scratch)
    held = {"descriptors"} | ({"proc"} if address_space_bytes() else set())
    held |= {"hidden"} if prctl(PR_GET_DUMPABLE, 0) else set()  # 0: not dumpable
    ruleset = {prepared.ruleset} if prepared.ruleset is not None else set()
    close_all_but(keep | {0, 1, 2} | ruleset)
    os.setsid()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if "limits" in wanted:
        limits = set_limits(limits)
        held.add("limits")
    if "landlock" in wanted and prepared.ruleset is not None:
        with contextlib.suppress(OSError):
            restrict_files(prepared.ruleset)
            held.add("landlock")
    if prepared.ruleset is not None:
        os.close(prepared.ruleset)
    if "capabilities" in wanted and drop_capabilities():
        held.add("capabilities")
    if "seccomp" in wanted and LINUX and has_tables():
        with contextlib.suppress(OSError):
            restrict_calls()
            held.add("seccomp")
    holds = tuple(name for name, layers in GUARANTEES.items() if held.issuperset(layers))
    return holds, tuple(name for name in GUARANTEES if name not in holds), limits


def move_to(scratch: Path) -> None:
    os.chdir(scratch)  # noqa: TID251 - the worker's own, and the only folder that it may write to
    os.environ["TMPDIR"] = os.environ["HOME"] = str(scratch)
    tempfile.tempdir = None


def close_all_but(keep: set[int]) -> None:
    """Close every descriptor except these, however high its number is."""
    try:
        highest = max(map(int, os.listdir("/proc/self/fd")))  # noqa: PTH208 - names, not paths
    except OSError:
        highest = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    start = 0
    for fd in sorted(keep):
        if start < fd:  # close_range(2) would take an empty range as one without an end
            os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, highest + 1)


def set_limits(limits: Limits) -> Limits:
    """Set the resource limits; return those in force, because the host's may be lower. The address
    space is limited if its size can be read (Linux).
    """
    set_limit(resource.RLIMIT_CORE, 0)
    in_force = {
        # SIGXCPU first, SIGKILL a second later
        "cpu_seconds": set_limit(resource.RLIMIT_CPU, limits.cpu_seconds, spare=1),
        "file_bytes": set_limit(resource.RLIMIT_FSIZE, limits.file_bytes),
        "open_files": set_limit(resource.RLIMIT_NOFILE, limits.open_files),
    }
    used = address_space_bytes()
    if used:
        in_force["memory_bytes"] = set_limit(resource.RLIMIT_AS, used + limits.memory_bytes) - used
    return replace(limits, **in_force)


def set_limit(which: int, value: int, *, spare: int = 0) -> int:
    """Set a resource's soft limit, and a hard limit that is higher by ``spare``; return the soft
    limit, which is the host's hard limit if that is lower.
    """
    _, hard = resource.getrlimit(which)
    most = value + spare if hard == resource.RLIM_INFINITY else min(value + spare, hard)
    value = min(value, most)
    resource.setrlimit(which, (value, most))
    return value


def address_space_bytes() -> int:
    """Return the size of this process's address space; 0 without /proc."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def drop_capabilities() -> bool:
    """Give up every capability (capset(2)); return False if that is impossible."""
    number = CAPSET.get(platform.machine())
    if number is None or not LINUX:
        return False
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    return bool(libc().syscall(ctypes.c_long(number), header, nothing) == 0)


MONITOR_SECONDS = 0.02
"""How many seconds pass between two checks."""


def overuse(
    pid: int, scratch: Path, limits: Limits, *, mounted: bool = False
) -> tuple[str, int] | None:
    """Return the limit that a worker exceeds, as (template, limit), or None. Without /proc, threads
    are not counted.

    ``mounted`` says that the scratch folder is a separate file system, which also counts files that
    were unlinked while they are open.
    """
    if threads(pid) > limits.threads:
        return "it started more than {limit} threads", limits.threads
    size = 0
    too_large = "it wrote more than {limit} MB of files", limits.scratch_bytes // MIB
    try:
        if mounted and used_bytes(scratch) > limits.scratch_bytes:
            return too_large
        for files, entry_size in enumerate(sizes_below(scratch), 1):
            size += entry_size
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
            # proc_pid_stat(5): num_threads is field 20
            return int(stat.read().rpartition(b")")[2].split()[17])
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
