"""Execute a student's file as a module, and detect what it replaces outside of itself."""

from __future__ import annotations

import builtins
import linecache
import sys
import types
from typing import Any

import torch

WATCHED: tuple[Any, ...] = (
    builtins,
    torch,
    torch.Tensor,
    torch.autograd,
    torch.nn.functional,
    torch.autograd.Function,
)
"""Namespaces in which a student's file might replace something. A replacement is reported; a file
could hide it.
"""


def execute(
    source: str, module: types.ModuleType, words: set[str], *, optional_after: int | None = None
) -> list[str]:
    """Execute a file's text in ``module``; return the names that it replaced in ``WATCHED``.

    An exception from a line below ``optional_after`` ends the execution and is not raised: in a
    notebook, everything that counts has been defined by then.

    Only names that the text or ``words`` mention are compared. Reading an object changes its
    reference count, so reading all of torch's objects would copy hundreds of memory pages into each
    worker.
    """
    filename = str(module.__file__)
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[filename] = (len(source), None, lines, filename)
    sys.argv = [filename]  # the file may parse a script's arguments, and must not see ours
    code = compile(source, filename, "exec", dont_inherit=True)
    names = words_in(code) | words
    before = {
        owner: {name: vars(owner)[name] for name in names if name in vars(owner)}
        for owner in WATCHED
    }
    try:
        exec(code, module.__dict__)
    except SystemExit as stop:  # a file that ends like a script has still defined its answers
        if stop.code:
            raise
    except Exception as error:
        if optional_after is None or line_reached(error, filename) <= optional_after:
            raise
    return replaced_since(before)


def line_reached(error: Exception, filename: str) -> int:
    """Return the line of the statement that raised, at the top level of the file; 0 if unknown."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name == "<module>" and code.co_filename == filename:
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


def words_in(code: types.CodeType) -> set[str]:
    """Return the names and texts in code, including those of its functions."""
    words = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            words |= words_in(constant)
        elif isinstance(constant, str):
            words.add(constant)
        elif isinstance(constant, tuple | frozenset):
            words |= {item for item in constant if isinstance(item, str)}
    return words


def replaced_since(before: dict[Any, dict[str, Any]]) -> list[str]:
    """Return changed names in order; new names (late submodules) do not count."""
    return sorted(
        f"{owner.__name__}.{name}"
        for owner, names in before.items()
        for name, value in names.items()
        if vars(owner).get(name) is not value and not name.startswith("__")
    )[:20]
