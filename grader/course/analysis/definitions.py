"""Find out what a statement defines, and whether it is a docstring or an ellipsis."""

from __future__ import annotations

import ast
from typing import Any

from grader.course.analysis.scopes import is_stored

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def defined_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [
            name.id
            for target in node.targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and is_stored(name)
        ]
    if (
        isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.value is not None
    ):
        return [node.target.id]
    return []


def is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def is_ellipsis(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and node.value.value is ...
    )


def same_tree(mine: ast.AST, theirs: ast.AST) -> bool:
    """Return whether two trees are equal, ignoring docstrings and the annotations of functions."""
    todo: list[tuple[Any, Any]] = [(mine, theirs)]
    while todo:
        one, other = todo.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            todo += [(_written(one, field), _written(other, field)) for field in one._fields]
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif one != other or (isinstance(one, float | complex) and repr(one) != repr(other)):
            return False  # 0.0 differs from -0.0; and Python refuses to write very long integers
    return True


def _written(node: ast.AST, field: str) -> Any:
    """Return a field of a node without anything that does not change the node's behavior."""
    value = getattr(node, field, None)
    if field == "body" and isinstance(value, list) and value and is_docstring(value[0]):
        return value[1:]
    if (field == "returns" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)) or (
        field == "annotation" and isinstance(node, ast.arg)
    ):
        return None
    return value
