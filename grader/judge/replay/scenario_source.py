"""The source of one scenario with what it uses, for a script."""

from __future__ import annotations

import ast

from grader.course.analysis.definitions import defined_names
from grader.judge.replay.literals import NoLiteral


def scenario_names(scenarios: str) -> set[str]:
    """Return what a scenarios file defines or imports at its top level."""
    names: set[str] = set()
    for node in ast.parse(scenarios).body:
        names.update(defined_names(node))
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update(one.asname or one.name.split(".")[0] for one in node.names)
    return names


def reached_by(scenarios: str, name: str) -> str:
    """Return one scenario with the definitions that it uses, and its file's imports but torch."""
    tree, lines = ast.parse(scenarios), scenarios.splitlines()
    defined = {defined: node for node in tree.body for defined in defined_names(node)}
    if name not in defined:
        raise NoLiteral(f"there is no scenario {name!r}")
    used, todo = set[str](), [name]
    while todo:
        word = todo.pop()
        if word in defined and word not in used:
            used.add(word)
            todo += [node.id for node in ast.walk(defined[word]) if isinstance(node, ast.Name)]
    pieces = []
    for node in tree.body:
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        if ast.unparse(node) == "import torch" or not (
            is_import or used.intersection(defined_names(node))
        ):
            continue
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        space = "\n" if is_import else "\n\n\n"
        pieces.append(space + "\n".join(lines[start - 1 : node.end_lineno]))
    return "".join(pieces).lstrip("\n") + "\n"
