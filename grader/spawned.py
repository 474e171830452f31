"""The main program of a worker that is a plain process, for systems without fork. Imports ``worker`` and ``sandbox``."""

from __future__ import annotations

import json
import os
import sys
from typing import BinaryIO, cast

from grader.wire.frames import write_frame


def main() -> None:
    """Serve one judge on standard input and output; what the student prints goes to standard error."""
    source = cast(BinaryIO, os.fdopen(os.dup(0), "rb"))
    sink = cast(BinaryIO, os.fdopen(os.dup(1), "wb"))
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(2, 1)

    import torch
    import torch.fx.experimental.symbolic_shapes

    from grader.sandbox import GUARANTEES, set_limits
    from grader.sandbox.limits import Limits
    from grader.worker import serve

    torch.set_num_threads(1)
    mode, limits = sys.argv[1], Limits.from_dict(json.loads(sys.argv[2]))
    held = ["environment", "descriptors"]
    if mode != "off" and sys.platform != "win32":
        set_limits(limits)
        held += ["time", "memory"] if sys.platform.startswith("linux") else ["time"]
    write_frame(sink, {"guarantees": held, "missing": [name for name in GUARANTEES if name not in held], "mode": mode})
    serve(source, sink)
    sys.stdout.flush()
    os._exit(0)
