"""Import what torch imports late (function transforms, optimizers, checkpoint: over a second).

The fork server does it once, before it forks a worker for a submission that uses one.
"""

from __future__ import annotations

import contextlib
import gc
import re

from grader.course.analysis.source import Source
from grader.worker.wire.compat import LATE_IMPORTS

TRANSFORMS = ("grad", "grad_and_value", "vjp", "jvp", "linearize", "jacrev", "jacfwd", "hessian")
NAMES = frozenset(
    f"{package}.{name}" for package in ("torch.func", "functorch") for name in TRANSFORMS
) | {"torch.autograd.graph.allow_mutation_on_saved_tensors"}
PACKAGES = ("torch.autograd.forward_ad.", "torch.optim.", "torch.utils.checkpoint.")
SIGN = re.compile(
    r"\b(func|functorch|forward_ad|optim|checkpoint|allow_mutation_on_saved_tensors)\b"
)
"""Without one of these words a file uses none, and need not be parsed to know it."""


def needed(text: str) -> bool:
    """Return whether a file's code uses one of them; docstrings do not count."""
    if not SIGN.search(text):
        return False
    source = Source(text, "")
    return any(
        name in NAMES or name.startswith(PACKAGES)
        for name in source.names_used(*source.definitions)
    )


_tried: set[str] = set()


def loaded() -> bool:
    """Whether this process has all of it that there is."""
    return _tried.issuperset(LATE_IMPORTS)


def load() -> None:
    """Import it all and freeze it for the collector. No operation runs, no thread starts."""
    gc.disable()
    for name in LATE_IMPORTS:
        _tried.add(name)
        with contextlib.suppress(
            Exception
            # another torch may have it elsewhere; then a worker imports what it needs itself, as
            # ever
        ):
            __import__(name)
    gc.freeze()
    gc.enable()
