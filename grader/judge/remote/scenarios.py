"""The text of scenarios: what a worker, or a script, gets of a lesson's file and of the library.

A lesson's ``scenarios.py`` and the library, ``worker/scenarios.py``, are never imported in a
worker. It gets one scenario with the definitions that this one uses, when a check first
asks for it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection

from grader.core.errors import CourseError, EngineFault
from grader.core.files import PACKAGE
from grader.course.source import defined_names, first_line, imports_in
from grader.worker.process import WATCHED, words_in

LIBRARY = "grader.worker.scenarios"
"""The module from which a lesson's scenarios import definitions of the library."""


@functools.cache
def scenario_library() -> str:
    """Return the scenarios that every lesson has, as text."""
    return (PACKAGE / "worker" / "scenarios.py").read_text("utf-8")


@functools.lru_cache(maxsize=32)
def parsed_scenarios(text: str) -> tuple[dict[str, ast.stmt], frozenset[str], list[ast.stmt]]:
    """Return the definitions of a file of scenarios by name, the names that it takes from the
    library, and its other statements that count: imports.
    """
    body = ast.parse(text).body
    taken = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == LIBRARY]
    names = frozenset(alias.name for node in taken for alias in node.names)
    defined = {name: node for node in body for name in defined_names(node)}
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    return defined, names, [node for node in imports if node not in taken]


def scenario_names(scenarios: str) -> set[str]:
    """Return the names that scenarios define or import at the top level, the library's included."""
    return {
        name
        for text in (scenarios, scenario_library())
        for node in ast.parse(text).body
        for name in (*defined_names(node), *imports_in([node]))
    }


@functools.lru_cache(maxsize=512)
def scenario_with_definitions(scenarios: str, name: str) -> str:
    """Return one scenario, of a lesson's or else the library's, with the definitions that it uses
    and all imports, so that a worker or a script gets it without the others.

    Raise EngineFault if neither defines it, CourseError if the lesson's definitions would replace
    some that the library uses.
    """
    own, taken, _ = parsed_scenarios(scenarios)
    shared, *_ = parsed_scenarios(scenario_library())
    if name not in own and name not in shared:
        raise EngineFault(f"there is no scenario {name!r}")
    used: dict[str, set[str]] = {"own": set(), "shared": set()}
    todo = [("own" if name in own else "shared", name)]
    while todo:
        where, word = todo.pop()
        if where == "own" and word in taken:
            where = "shared"
        found = (own if where == "own" else shared).get(word)
        if found is not None and word not in used[where]:
            used[where].add(word)
            todo += [(where, node.id) for node in ast.walk(found) if isinstance(node, ast.Name)]
    if twice := used["own"] & used["shared"]:
        raise CourseError(
            f"scenarios.py defines {min(twice)}, and so does {LIBRARY}, from which {name} uses it."
            " Rename the lesson's"
        )
    pieces = []
    for text, wanted in ((scenario_library(), used["shared"]), (scenarios, used["own"])):
        if wanted:
            pieces += pieces_of(text, wanted)
    return "".join(pieces).lstrip("\n") + "\n"


def pieces_of(text: str, names: Collection[str]) -> list[str]:
    """Return the text of these definitions of a file of scenarios and of its imports, in order."""
    lines, pieces = text.splitlines(), []
    defined, _, imports = parsed_scenarios(text)
    wanted = {node for name, node in defined.items() if name in names}
    for node in sorted({*imports, *wanted}, key=lambda node: node.lineno):
        space = "\n\n\n" if node in wanted else "\n"
        pieces.append(space + "\n".join(lines[first_line(node) - 1 : node.end_lineno]))
    return pieces


@functools.lru_cache(maxsize=32)
def watched_words(scenarios: str) -> tuple[str, ...]:
    """Return the names of torch and Python that any scenario uses, because a student's file might
    replace them (``execute`` in the worker).
    """
    words = {
        word
        for text in (scenarios, scenario_library())
        for word in words_in(compile(text, "<scenarios>", "exec", dont_inherit=True))
    }
    return tuple(sorted(word for word in words if any(word in vars(owner) for owner in WATCHED)))
