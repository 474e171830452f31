"""Rename the variables of one definition to those that hold the same values in another."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator

from grader.course.source import FUNCTIONS, arguments_of

ALIKE = 0.25
"""How similar the uses of two variables must be, from 0 to 1, for the variables to count as the
same.
"""
SAME_NAME = 0.3
"""How much an equal name adds to the similarity."""
NAMING_NODES = (*FUNCTIONS, ast.ExceptHandler)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def renamed(theirs: ast.stmt, mine: ast.stmt) -> ast.stmt:
    """Return a copy of ``theirs`` with the variable names of ``mine``; in a class, per method."""
    theirs = copy.deepcopy(theirs)
    for other, own in _function_pairs(theirs, mine):
        names = _names_for(other, own)
        for node in ast.walk(other):
            if isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
            elif isinstance(node, ast.arg):
                node.arg = names.get(node.arg, node.arg)
            elif isinstance(node, NAMING_NODES) and node is not other and node.name:
                node.name = names.get(node.name, node.name)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                node.names = [names.get(name, name) for name in node.names]
    return theirs


def _function_pairs(theirs: ast.stmt, mine: ast.stmt) -> Iterator[tuple[Function, Function]]:
    if isinstance(theirs, FUNCTIONS) and isinstance(mine, FUNCTIONS):
        yield theirs, mine
    elif isinstance(theirs, ast.ClassDef) and isinstance(mine, ast.ClassDef):
        own = {one.name: one for one in mine.body if isinstance(one, FUNCTIONS)}
        for one in theirs.body:
            if isinstance(one, FUNCTIONS) and one.name in own:
                yield one, own[one.name]


def _names_for(theirs: Function, mine: Function) -> dict[str, str]:
    """Return the name in ``mine`` for each variable of ``theirs``."""
    parameters = [[one.arg for one in arguments_of(function.args)] for function in (theirs, mine)]
    names = dict(zip(*parameters, strict=False))
    others, own = uses_of(theirs), uses_of(mine)
    scored = sorted(
        (
            (_alike(uses, own[name]) + SAME_NAME * (name == other), other, name)
            for other, uses in others.items()
            for name in own
            if other not in names and name not in parameters[1]
        ),
        key=lambda entry: -entry[0],
    )
    for score, other, name in scored:
        if score >= ALIKE and other not in names and name not in names.values():
            names[other] = name
    for other in others:
        if other not in names and other in own:  # the name has another meaning there
            names[other] = f"{other}_"
    return names


def uses_of(function: Function) -> dict[str, Counter[object]]:
    """Return how each variable of a function, nested functions included, is used."""
    bound = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, NAMING_NODES) and node is not function and node.name:
            bound.add(node.name)
    uses: dict[str, Counter[object]] = {name: Counter() for name in bound}
    for parent in ast.walk(function):
        for field, child in _children(parent):
            if isinstance(child, ast.Name) and child.id in uses:
                uses[child.id][_context(parent, field)] += 1
        for name, value in _bindings(parent):
            if name in uses:
                uses[name].update(_words(value, bound))
    return uses


def _children(parent: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for field, value in ast.iter_fields(parent):
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST):
                yield field, child


def _context(parent: ast.AST, field: str) -> object:
    match parent:
        case ast.Attribute(attr=attr):
            return "attribute", attr
        case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)):
            return "argument", called
        case ast.BinOp(op=op):
            return "operand", type(op), field
    return type(parent), field


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that a statement binds, each with the value that it comes from."""
    match node:
        case ast.Assign(targets=targets, value=value):
            pass
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            targets = [target]
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            targets = [target]
        case ast.NamedExpr(target=target, value=value):
            targets = [target]
        case ast.FunctionDef(name=name):
            yield name, node
            return
        case _:
            return
    for target in targets:
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                yield one.id, value


def _words(value: ast.AST, bound: set[str]) -> Iterator[object]:
    for node in ast.walk(value):
        match node:
            case ast.Attribute(attr=word):
                yield "made of", word
            case ast.Name(id=word) if word not in bound:
                yield "made of", word
            case ast.Constant(value=word):
                yield "made of", repr(word)
            case ast.operator() | ast.expr():
                yield "made of", type(node)


def _alike(one: Counter[object], other: Counter[object]) -> float:
    return (one & other).total() / max(1, (one | other).total())
