"""Repairs that a lesson names itself: a wrong expression and what to write instead."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from grader.course.lesson_texts import RepairPattern, read_repairs

Bound = dict[str, ast.expr]


@functools.lru_cache(maxsize=16)
def patterns_of(path: str | None) -> tuple[RepairPattern, ...]:
    """Return the repairs of a ``diagnosis.toml``."""
    return () if path is None else read_repairs(Path(path))


def rewritten(node: ast.expr, pattern: RepairPattern) -> ast.expr | None:
    """Return what a pattern makes of an expression, None if it does not match."""
    bound: Bound = {}
    if not _matches(ast.parse(pattern.wrong, mode="eval").body, node, bound):
        return None
    repaired: ast.expr = _Filled(bound).visit(ast.parse(pattern.right, mode="eval").body)
    return repaired


def _matches(pattern: ast.AST, node: ast.AST, bound: Bound) -> bool:
    """Return whether a pattern matches; record in ``bound`` what its capital letters stand for."""
    if isinstance(pattern, ast.Name) and _stands_for_any(pattern.id):
        if not isinstance(node, ast.expr):
            return False
        return ast.dump(bound.setdefault(pattern.id, node)) == ast.dump(node)
    if type(pattern) is not type(node):
        return False
    return all(
        _fields_match(getattr(pattern, field), getattr(node, field), bound)
        for field in pattern._fields
        if field not in ("ctx", "kind")
    )


def _fields_match(pattern: object, value: object, bound: Bound) -> bool:
    if isinstance(pattern, ast.AST) and isinstance(value, ast.AST):
        return _matches(pattern, value, bound)
    if isinstance(pattern, list) and isinstance(value, list):
        pairs: Iterator[tuple[object, object]] = zip(pattern, value, strict=False)
        return len(pattern) == len(value) and all(_fields_match(*pair, bound) for pair in pairs)
    return pattern == value


def _stands_for_any(name: str) -> bool:
    return len(name) == 1 and name.isupper()


class _Filled(ast.NodeTransformer):
    """Replaces the letters of a pattern by what they stand for."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.bound.get(node.id, node)
