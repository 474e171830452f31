"""The source of one scenario with what it uses, for a script."""

from __future__ import annotations

import ast

from grader.course.analysis.definitions import defined_names
from grader.judge.replay.literals import NoLiteral


def scenario_names(scenarios: str) -> set[str]:
    """What a scenarios file defines or imports at its top level."""
    tree = ast.parse(scenarios)
    imported = {
        a.asname or a.name.split(".")[0]
        for n in tree.body
        if isinstance(n, ast.Import | ast.ImportFrom)
        for a in n.names
    }
    return imported | {name for node in tree.body for name in defined_names(node)}


def reached_by(scenarios: str, name: str) -> str:
    """Return a scenario with the definitions and imports that it needs."""
    tree = ast.parse(scenarios)
    lines = scenarios.splitlines()
    defined = {defined: node for node in tree.body for defined in defined_names(node)}
    used, todo = set[str](), [name]
    while todo:
        word = todo.pop()
        if word in defined and word not in used:
            used.add(word)
            todo += [node.id for node in ast.walk(defined[word]) if isinstance(node, ast.Name)]
    if name not in used:
        raise NoLiteral(f"there is no scenario {name!r}")
    kept = [
        n
        for n in tree.body
        if isinstance(n, ast.Import | ast.ImportFrom) or used.intersection(defined_names(n))
    ]
    kept = [n for n in kept if ast.unparse(n) != "import torch"]
    pieces = []
    for node in kept:
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        space = "\n" if isinstance(node, ast.Import | ast.ImportFrom) else "\n\n\n"
        pieces.append(space + "\n".join(lines[start - 1 : node.end_lineno]))
    return "".join(pieces).lstrip("\n") + "\n"
