"""Split a lesson's scenarios into separate texts, each with the definitions that it uses.

So a worker gets a scenario with the first request that needs it and never sees the others, and a
script shows one scenario without the rest of the file.
"""

from __future__ import annotations

import ast
import functools

from grader.core.errors import EngineFault
from grader.course.source import defined_names
from grader.worker.process import WATCHED, words_in


def scenario_names(scenarios: str) -> set[str]:
    """Return the names that a scenarios file defines or imports at its top level."""
    names: set[str] = set()
    for node in ast.parse(scenarios).body:
        names.update(defined_names(node))
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update(one.asname or one.name.split(".")[0] for one in node.names)
    return names


@functools.lru_cache(maxsize=512)
def scenario_with_definitions(scenarios: str, name: str) -> str:
    """Return one scenario with the definitions that it uses and all imports of its file.

    Raise EngineFault if the file does not define it.
    """
    tree, lines = ast.parse(scenarios), scenarios.splitlines()
    defined = {defined: node for node in tree.body for defined in defined_names(node)}
    if name not in defined:
        raise EngineFault(f"there is no scenario {name!r}")
    used, todo = set[str](), [name]
    while todo:
        word = todo.pop()
        if word in defined and word not in used:
            used.add(word)
            todo += [node.id for node in ast.walk(defined[word]) if isinstance(node, ast.Name)]
    pieces = []
    for node in tree.body:
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        if not (is_import or used.intersection(defined_names(node))):
            continue
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        space = "\n" if is_import else "\n\n\n"
        pieces.append(space + "\n".join(lines[start - 1 : node.end_lineno]))
    return "".join(pieces).lstrip("\n") + "\n"


@functools.lru_cache(maxsize=32)
def watched_words(scenarios: str) -> tuple[str, ...]:
    """Return the names of torch and Python that any scenario uses, because a student's file might
    replace them (``execute`` in the worker).
    """
    words = words_in(compile(scenarios, "<scenarios>", "exec", dont_inherit=True))
    return tuple(sorted(word for word in words if any(word in vars(owner) for owner in WATCHED)))
