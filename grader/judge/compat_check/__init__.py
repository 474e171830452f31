"""Try what ``compat`` relies on, each with a small experiment on the installed versions.

``missing`` returns a sentence for each experiment that fails: what the version lacks, and what
breaks because of that. ``grade verify`` runs ``main`` in a process of its own.
"""

from __future__ import annotations

import json
import sys

from grader.judge.compat_check import autograd, gradcheck, pytest_plugins
from grader.judge.compat_check.reliance import Reliance


def reliances() -> list[Reliance]:
    """Return all that is tried. What gradcheck imports late has to be the first."""
    modules = (gradcheck, autograd, pytest_plugins)
    return [one for each in modules for one in vars(each).values() if isinstance(one, Reliance)]


def missing() -> list[str]:
    """Return a sentence for each thing that an installed version lacks."""
    return [one.sentence() for one in reliances() if not one.holds()]


def main() -> None:
    json.dump(missing(), sys.stdout)
