"""Replace a variable that is read once by its value.

Some people name intermediate results and others do not; without the names, two answers are easier
to align. Nodes keep their positions in the text, so a difference is still reported where it was
written.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter

from grader.course.source import FUNCTIONS


def inlined(definition: ast.stmt) -> ast.stmt | None:
    """Return a copy of a definition without variables that are read once; None if it has none."""
    definition = copy.deepcopy(definition)
    functions = [one for one in ast.walk(definition) if isinstance(one, FUNCTIONS)]
    changed = [_inline(one) for one in functions]
    return definition if any(changed) else None


def _inline(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = [one for one in ast.walk(function) if isinstance(one, ast.Name)]
    loads = Counter(one.id for one in names if isinstance(one.ctx, ast.Load))
    stores = Counter(one.id for one in names if not isinstance(one.ctx, ast.Load))
    once = {name for name in stores if stores[name] == 1 and loads[name] == 1}
    values: dict[str, ast.expr] = {}
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in once:
                values[name] = value
    read = _Reader(values)
    for name in values:
        values[name] = read.visit(values[name])
    kept = [one for one in function.body if not _is_one_of(one, values)]
    if not kept or not values:
        return False
    function.body = [read.visit(one) for one in kept]
    return True


def _is_one_of(statement: ast.stmt, values: dict[str, ast.expr]) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in values
    return False


class _Reader(ast.NodeTransformer):
    """Replaces names by the values that they stand for."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node) if isinstance(node.ctx, ast.Load) else node
