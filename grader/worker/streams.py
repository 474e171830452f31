"""Open a worker's standard output and error."""

from __future__ import annotations

import os
import sys


def open_streams() -> None:
    """Open both again, in UTF-8, on the descriptors that they always have.

    As in Python itself, each has a second reference, and none closes its descriptor, because a
    student's file may wrap a new stream around one's buffer.
    """
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = os.fdopen(fd, "w", 1, "utf-8", "backslashreplace", newline="\n", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
