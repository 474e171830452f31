"""Remove the engine's modules from a worker, except its own and the wire.

A worker is a fork of a process that has the whole engine in memory. Before the student's file runs,
every other module of the engine is removed from ``sys.modules`` and from its package, and importing
one again fails. Objects that something still refers to stay in memory. So this keeps ``import
grader.judge.jacobians`` from solving an exercise, but it is not a security boundary.
"""

from __future__ import annotations

import importlib.abc
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec

from grader.worker.wire.trace import trace

PACKAGE = "grader"
KEPT = tuple(
    f"{PACKAGE}.worker.{name}"
    for name in ("imports", "loading", "objects", "process", "snapshots", "wire")
)


def remove_engine_modules() -> None:
    """Forget every module of the engine that a worker doesn't need. ``grader.authoring`` is
    replaced by a module with only what a scenario may import.
    """
    for name in [name for name in sys.modules if name.startswith(f"{PACKAGE}.")]:
        if not is_kept(name):
            parent, _, own = name.rpartition(".")
            del sys.modules[name]
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(own, None)
    authoring = types.ModuleType(f"{PACKAGE}.authoring")
    authoring.__dict__["trace"] = trace
    sys.modules[authoring.__name__] = sys.modules[PACKAGE].__dict__["authoring"] = authoring
    sys.meta_path.insert(0, Refuser())


def is_kept(name: str) -> bool:
    """Return whether a module is the worker's own, or a package that contains one of those."""
    return any(f"{name}.".startswith(f"{kept}.") or kept.startswith(f"{name}.") for kept in KEPT)


class Refuser(importlib.abc.MetaPathFinder):
    """An import finder that refuses modules of the engine."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname.startswith(f"{PACKAGE}."):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None
