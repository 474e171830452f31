"""Find the variables of a function that have no effect on what it does."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from typing import NamedTuple

from grader.course.analysis.scopes import FUNCTIONS

BUILTINS = frozenset(dir(builtins))
FRESH = re.compile(
    r"(new_)?(zeros|ones|empty|full|tensor|eye|arange|clone|deepcopy|rand\w*)(_like)?"
)
"""Functions and methods whose result shares no memory with what they are given."""
FILLS = frozenset("append appendleft extend insert add update setdefault".split())
"""Methods that change only the object itself; so do tensor methods that end in an underscore."""


class _Link(NamedTuple):
    """A statement that only sets or fills variables, such as ``row = a`` or ``rows[i] = row``.

    ``shares`` has the variables whose memory the value may share. A call such as ``y.backward()``
    may change (``reaches``) everything that the variable was made from.
    """

    targets: set[str]
    reads: set[str]
    node: ast.AST
    fills: bool = False
    shares: frozenset[str] = frozenset()
    reaches: bool = False


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
    reaching = {name for link in links if link.reaches for name in link.targets}
    linked = {id(one) for link in links for one in ast.walk(link.node)}
    names = [one for one in ast.walk(function) if isinstance(one, ast.Name)]
    used = {one.id for one in names if isinstance(one.ctx, ast.Load) and id(one) not in linked}
    while True:
        new: set[str] = set()
        for link in links:
            # Filling what shares a used variable's memory has an effect on that variable.
            shared = link.targets & filled and link.shares & used
            reached = link.targets & reaching and link.reads & used - BUILTINS
            if link.targets & used or (not link.fills and (shared or reached)):
                new |= link.targets | link.reads
        if new <= used:
            return {one.id for one in names} - used
        used |= new


def _links(function: ast.AST) -> Iterator[_Link]:
    for node in ast.walk(function):
        reads = names_in(node)
        match node:
            case ast.Assign(targets=targets, value=value) if all(map(is_plain, targets)):
                shares = frozenset(_shared(value))
                yield _Link(names_in(*targets), names_in(value), node, shares=shares)
            case ast.Assign(targets=[ast.Subscript(value=target)]) if name := _base(target):
                yield _Link({name}, reads, node, fills=True)
            case ast.AugAssign(target=target) if name := _base(target):
                yield _Link({name}, reads, node, fills=True)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=method))) if (
                name := _base(target)
            ):
                only = method in FILLS or (method.endswith("_") and method != "requires_grad_")
                yield _Link({name}, reads, node, fills=True, reaches=not only)


def _base(node: ast.expr) -> str | None:
    """Return the variable that is filled through ``node``: rows for ``rows.view(-1)[0]``."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Subscript(value=inner) | ast.Call(func=ast.Attribute(value=inner)):
            return _base(inner)
    return None


def _shared(value: ast.expr) -> Iterator[str]:
    """Yield the variables whose memory a value may share, such as x for ``x.view(-1)``."""
    match value:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
            yield from _shared(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=given):
            if not FRESH.fullmatch(name):
                for one in (inner, *given):
                    yield from _shared(one)
        case ast.Call(func=ast.Name(id=name), args=given) if name not in BUILTINS:
            for one in given:
                yield from _shared(one)
        case ast.IfExp(body=one, orelse=other):
            yield from (*_shared(one), *_shared(other))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for one in parts:
                yield from _shared(one)


def is_plain(target: ast.expr) -> bool:
    """Return whether a target of an assignment is a name, or a tuple or list of names."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return all(isinstance(part, ast.Name) for part in parts)
