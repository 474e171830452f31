"""Find the variables of a function that have no effect on what it does."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import NamedTuple

from grader.course.analysis.scopes import FUNCTIONS

BUILTINS = frozenset(dir(builtins))


class _Link(NamedTuple):
    """A statement that only sets or fills variables, such as ``row = a`` or ``rows[i] = row``."""

    targets: set[str]
    reads: set[str]
    fills: bool
    node: ast.AST


def idle_variables(tree: ast.Module) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Yield, for each function or method, the variables on which no result, condition or parameter
    depends.
    """
    for definition in tree.body:
        for node in [definition, *getattr(definition, "body", ())]:
            if isinstance(node, FUNCTIONS):
                yield (definition.name, node.name), _idle(node)  # type: ignore[attr-defined]


def names_in(*nodes: ast.AST) -> set[str]:
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}


def _idle(function: ast.AST) -> set[str]:
    parameters = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    links = [link for link in _links(function) if not link.targets & parameters]
    filled = {name for link in links if link.fills for name in link.targets}
    linked = {id(one) for link in links for one in ast.walk(link.node)}
    names = [one for one in ast.walk(function) if isinstance(one, ast.Name)]
    used = {one.id for one in names if isinstance(one.ctx, ast.Load) and id(one) not in linked}
    while True:
        new: set[str] = set()
        for link in links:
            # What is made from a used variable may share its memory, so filling it has an effect.
            sources = link.reads & used - BUILTINS
            shares = not link.fills and link.targets & filled and sources
            if link.targets & used or shares:
                new |= link.targets | link.reads
        if new <= used:
            return {one.id for one in names} - used
        used |= new


def _links(function: ast.AST) -> Iterator[_Link]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets) if all(map(_is_plain, targets)):
                yield _Link(names_in(*targets), names_in(node.value), False, node)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
                yield _Link({name}, names_in(node), True, node)
            case ast.AugAssign(target=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name))):
                yield _Link({name}, names_in(node), True, node)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                yield _Link({name}, names_in(node), True, node)


def _is_plain(target: ast.expr) -> bool:
    """Return whether a target of an assignment is a name, or a tuple or list of names."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return all(isinstance(part, ast.Name) for part in parts)
