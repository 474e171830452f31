"""The main program of a worker that is a plain process, for systems without fork. Imports ``worker`` and ``sandbox``."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO, cast

from grader.wire.frames import write_frame

HELD = ("environment", "descriptors")


def main() -> None:
    """Serve one judge on standard input and output; what the student prints goes to standard error."""
    source = cast(BinaryIO, os.fdopen(os.dup(0), "rb"))
    sink = cast(BinaryIO, os.fdopen(os.dup(1), "wb"))
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(2, 1)

    import torch
    import torch.fx.experimental.symbolic_shapes

    from grader.sandbox import GUARANTEES
    from grader.worker import serve

    torch.set_num_threads(1)
    held = [name for name in GUARANTEES if name in HELD]
    write_frame(sink, {"guarantees": held, "missing": [name for name in GUARANTEES if name not in held]})
    serve(source, sink)
    sys.stdout.flush()
    os._exit(0)
