"""Call the C library: one handle for a fork server and all its workers, because making one takes
longer than most calls.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any


@functools.cache
def libc() -> Any:
    """Return the C library of this process, which keeps errno for ``ctypes.get_errno``."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *args: object) -> int:
    """Make a system call; raise OSError if it fails."""
    result = int(libc().syscall(ctypes.c_long(number), *args))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, *args: object) -> bool:
    """Call ``prctl(2)``; return whether it exists and returns 0."""
    call: Any = getattr(libc(), "prctl", None)
    return call is not None and call(option, *args, *[0] * (4 - len(args))) == 0
