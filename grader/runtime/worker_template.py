"""Make the fork server a template: what is the same for all workers is done in it, once, before the
first is forked.

A fork shares the memory of its template until either writes to it. Each first write copies a page,
and a worker lives so briefly that this is a large part of what it costs. So the template also
avoids that its forks write to pages which have something else on them.

A worker applies its confinement itself (``worker.sandbox``). The template could not: it forks, and
a limit, a filter or a rule that workers shared would not keep one from another.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys

from grader.core.messages import BrokerRequest, Envelope
from grader.core.report import describe
from grader.worker.sandbox.c_library import libc


def become_template() -> None:
    """Open a worker's streams and remove the engine's modules, as each worker would."""
    from grader.worker.process import set_up  # with torch, which is loaded by then

    for record in (Envelope, BrokerRequest):
        describe(record)  # msgspec looks up the types of fields in modules that are removed here
    log, (reading, writing) = os.dup(2), os.pipe()
    for stream in (1, 2):
        os.dup2(writing, stream)  # a worker's output is a pipe, and a stream notes what it is
    set_up()
    for stream in (1, 2):
        os.dup2(log, stream)
    for descriptor in (log, reading, writing):
        os.close(descriptor)
    share_memory()


def share_memory() -> None:
    """Let later forks of this process write to as few of its pages as possible."""
    gc.collect()
    gc.freeze()
    if sys.version_info < (3, 12):
        # A new entry replaces one whose name may be anywhere, and counts its references. From 3.12
        # on, these names are immortal and are not counted.
        sys._clear_type_cache()
    fill_holes()


class Mallinfo2(ctypes.Structure):
    """struct mallinfo2 (mallinfo(3), glibc 2.33 and later)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def fill_holes() -> None:
    """Take the free pieces between what the C library has allocated, and never use them, so that
    what a fork allocates lies together: importing torch leaves a thousand pieces on as many pages.
    """
    if not hasattr(libc(), "mallinfo2"):
        return
    info, allocate = libc().mallinfo2, libc().malloc
    info.restype, allocate.restype = Mallinfo2, ctypes.c_void_p
    for size in (1 << bits for bits in range(16, 3, -1)):
        before = info()
        # the last piece, at the end of the heap, shrinks only if no other is large enough
        while (
            allocate(ctypes.c_size_t(size))
            and (now := info()).keepcost == before.keepcost
            and now.arena == before.arena
        ):
            pass
