"""What torch imports at the first use of a function transform (``torch.func.grad``, forward mode): more than a second for a fresh process.

So a host imports it once, before it forks the worker of a submission that uses one, and whoever comes later finds it there.

Imports ``source``; torch only in ``load``.
"""

from __future__ import annotations

import contextlib
import gc
import re
import sys

from grader.source import Source

MODULES = ("torch._decomp.decompositions_for_jvp", "torch._dynamo")
"""What ``torch._functorch.eager_transforms`` and ``torch.autograd.forward_ad`` import when they are first used."""
TRANSFORMS = ("grad", "grad_and_value", "vjp", "jvp", "linearize", "jacrev", "jacfwd", "hessian")
NAMES = frozenset(f"{package}.{name}" for package in ("torch.func", "functorch") for name in TRANSFORMS)
FORWARD_MODE = "torch.autograd.forward_ad."
SIGN = re.compile(r"\bfunc\b|\bfunctorch\b|\bforward_ad\b")
"""Without one of these words a file uses none, and need not be parsed to know it."""


def used(text: str) -> bool:
    """Whether a file's definitions use a function transform; what its docstrings and comments say doesn't count."""
    if not SIGN.search(text):
        return False
    source = Source(text, "")
    return any(name in NAMES or name.startswith(FORWARD_MODE) for name in source.names_used(*source.definitions))


def loaded() -> bool:
    """Whether this process has it all."""
    return all(name in sys.modules for name in MODULES)


def load() -> None:
    """Import it all and freeze it for the collector. No operation runs, no thread starts."""
    gc.disable()
    for name in MODULES:
        with contextlib.suppress(Exception):  # another torch may have it elsewhere; then a worker imports what it needs itself, as ever
            __import__(name)
    gc.freeze()
    gc.enable()
