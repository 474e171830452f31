"""Find the variables of a function that have no effect on what it does."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from grader.course.source import FUNCTIONS

BUILTINS = frozenset(dir(builtins))
FRESH = re.compile(
    r"(new_)?(zeros|ones|empty|full|tensor|eye|arange|clone|deepcopy|rand\w*)(_like)?"
)
"""Functions and methods whose result shares no memory with what they are given."""
FILLS = frozenset("append appendleft extend insert add update setdefault".split())
"""Methods that change only the object itself; so do tensor methods that end in an underscore."""
COMPOUND_STATEMENTS = (ast.If, ast.For, ast.While, ast.With, ast.Try)
Function = ast.FunctionDef | ast.AsyncFunctionDef
NOTHING = (ast.Pass, ast.Break, ast.Continue, ast.Import, ast.ImportFrom, *FUNCTIONS)
"""Statements that have no effect themselves; a break decides about the other statements of its
loop.
"""


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
    """Yield, for each function or method, the variables and inner functions on which no result,
    condition or parameter depends.
    """
    for definition in tree.body:
        for node in [definition, *getattr(definition, "body", ())]:
            if isinstance(node, FUNCTIONS):
                yield (definition.name, node.name), _idle(node)  # type: ignore[attr-defined]


def names_in(*nodes: ast.AST) -> set[str]:
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}


def _idle(function: Function) -> set[str]:
    links = _links(function)
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
            return ({one.id for one in names} | _inner(function).keys()) - used
        used |= new


def _inner(function: ast.AST) -> dict[str, Function]:
    """Return the functions inside a function, by name."""
    return {
        one.name: one
        for one in ast.walk(function)
        if isinstance(one, FUNCTIONS) and one is not function
    }


def _links(function: Function) -> list[_Link]:
    """Return the statements of a function that only set variables, the compound statements that
    contain nothing else, and the inner functions, which have an effect only where they are used.
    """
    parameters = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    links = [link for link in _simple_links(function) if not link.targets & parameters]
    inner = _inner(function)
    comprehensions = (one for one in ast.walk(function) if isinstance(one, ast.comprehension))
    local = names_in(*(one.target for one in comprehensions))
    found = _Found(links, set(inner), local)
    sets = {name: found.targets(one.body, of_inner=True) for name, one in inner.items()}
    for node in ast.walk(function):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if sets.get(name) is not None:
                links.append(_Link(sets[name] or set(), names_in(node), node))
    found = _Found(links, set(), local)
    blocks = [function.body, *(one.body for one in inner.values())]
    compound = [
        _Link(targets, found.direct(node), node)
        for block in blocks
        for node, targets in found.compound(block)
    ]
    whole = [_Link({name}, found.direct(one), one) for name, one in inner.items()]
    return [*links, *compound, *whole]


class _Found:
    """The links that are found so far, the inner functions whose calls have none yet, and the
    variables of comprehensions, which a loop does not set.
    """

    def __init__(
        self, links: Sequence[_Link], uncalled: set[str], of_comprehensions: set[str]
    ) -> None:
        self.links = {id(link.node): link for link in links}
        self.inside = {id(one) for link in links for one in ast.walk(link.node)}
        self.uncalled = uncalled
        self.of_comprehensions = of_comprehensions

    def direct(self, node: ast.AST) -> set[str]:
        """Return the names that a node reads outside its links, such as in a condition."""
        return {
            one.id
            for one in ast.walk(node)
            if isinstance(one, ast.Name) and id(one) not in self.inside
        }

    def targets(self, block: Iterable[ast.stmt], *, of_inner: bool = False) -> set[str] | None:
        """Return what the statements set; None if one of them does something else. The return of
        an inner function is nothing else.
        """
        found: set[str] = set()
        for node in block:
            match node:
                case ast.Expr(value=ast.Constant()):
                    continue
                case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name in self.uncalled:
                    continue
                case ast.Return() if of_inner:
                    continue
            if id(node) in self.links:
                found |= self.links[id(node)].targets
            elif isinstance(node, COMPOUND_STATEMENTS):
                for one in _blocks(node):
                    targets = self.targets(one, of_inner=of_inner)
                    if targets is None:
                        return None
                    found |= targets
                if isinstance(node, ast.For):
                    found |= names_in(node.target) - self.of_comprehensions
            elif not isinstance(node, NOTHING):
                return None
        return found

    def compound(self, block: Iterable[ast.stmt]) -> Iterator[tuple[ast.stmt, set[str]]]:
        """Yield the outermost compound statements that only set variables, and which."""
        for node in block:
            if isinstance(node, COMPOUND_STATEMENTS):
                targets = self.targets([node])
                if targets is not None:
                    yield node, targets
                else:
                    for one in _blocks(node):
                        yield from self.compound(one)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    yield from (getattr(node, name, []) for name in ("body", "orelse", "finalbody"))
    yield from (one.body for one in getattr(node, "handlers", ()))


def _simple_links(function: ast.AST) -> Iterator[_Link]:
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
