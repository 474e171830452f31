"""Import what torch imports at the first use of a function transform, an optimizer or a checkpoint.

That takes up to a second in a new process. So a fork server imports it once, before it forks the
worker of the first submission that needs it. A judge reads in the text whether it does.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import re

from grader.course.source import Source
from grader.worker.wire.compat import LATE_IMPORTS

TRANSFORMS = ("grad", "grad_and_value", "vjp", "jvp", "linearize", "jacrev", "jacfwd", "hessian")
NAMES = frozenset(
    f"{package}.{name}" for package in ("torch.func", "functorch") for name in TRANSFORMS
) | {"torch.autograd.graph.allow_mutation_on_saved_tensors"}
PACKAGES = ("torch.autograd.forward_ad.", "torch.optim.", "torch.utils.checkpoint.")
SIGN = re.compile(
    r"\b(func|functorch|forward_ad|optim|checkpoint|allow_mutation_on_saved_tensors)\b"
)
"""A file without any of these words needs no late import, and is not parsed."""


def needed(text: str) -> bool:
    """Return whether a file's definitions use one of these; docstrings and comments don't count.

    These are function transforms, forward mode, optimizers and checkpoints.
    """
    if not SIGN.search(text):
        return False
    source = Source(text, "")
    return any(
        name in NAMES or name.startswith(PACKAGES)
        for name in source.names_used(*source.definitions)
    )


_tried: set[str] = set()


def loaded() -> bool:
    """Return whether this process has tried to import these modules."""
    return _tried.issuperset(LATE_IMPORTS)


def import_early() -> None:
    """Import these modules and exclude them from garbage collection. No operation runs and no
    thread starts.
    """
    gc.disable()
    for name in LATE_IMPORTS:
        _tried.add(name)
        # in another torch it may be elsewhere; then each worker imports what it needs itself
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()
    gc.enable()
