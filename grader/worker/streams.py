"""Open a worker's standard output and error."""

from __future__ import annotations

import os
import sys


def open_streams() -> None:
    """Open both again, in UTF-8, on the descriptors that they always have.

    A student's file may replace a stream, or wrap another around its buffer, which closes the
    buffer in the end. So ``sys.__stdout__`` and ``sys.__stderr__`` also refer to the streams, as in
    Python itself, and closing a stream leaves its descriptor open.
    """
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = os.fdopen(fd, "w", 1, "utf-8", "backslashreplace", newline="\n", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
