"""Find out from the text alone that a loop can't end: then no waiting helps, however busy the
computer is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from grader.course.source import DEFINING, Source

LOOPS = (ast.While, ast.For, ast.AsyncFor)
CONDITION = (
    *(ast.Name, ast.Load, ast.Constant, ast.Compare, ast.cmpop),
    *(ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator),
)
"""What a condition may consist of: nothing in it changes by being evaluated."""


def names_in_endless_loop(source: Source, line: int) -> tuple[int, tuple[str, ...]] | None:
    """Return a loop around a line that only an exception can end: its first line, and the names in
    its condition, which nothing in it changes; None if no loop is surely like that.
    """
    shared = {
        name
        for node in source.nodes
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    for node in source.nodes:
        if (
            isinstance(node, ast.While)
            and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
            and not any(map(ends_loop, statements(node.body)))
        ):
            names = constant_names(node)
            if names is not None and shared.isdisjoint(names):
                return node.lineno, names
    return None


def running_loop(source: Source, lines: Sequence[int]) -> int | None:
    """Return the first line of a loop that is running at these lines, the innermost first: of the
    outermost ``while``, else of the outermost ``for``, which hardly ever is endless itself.
    """
    around = [loop for line in reversed(lines) for loop in loops_around(source, line)]
    endless = next((loop for loop in around if isinstance(loop, ast.While)), None)
    loop = endless or next(iter(around), None)
    return loop.lineno if loop else None


def loops_around(source: Source, line: int) -> list[ast.While | ast.For | ast.AsyncFor]:
    """Return the loops around a line in its function, the outermost first. What a ``for`` goes
    through is not inside of it.
    """
    function = source.function_at(line) or 0
    return [
        node
        for node in source.nodes
        if isinstance(node, LOOPS)
        and function <= node.lineno
        and (node if isinstance(node, ast.While) else node.body[0]).lineno <= line
        and line <= (node.body[-1].end_lineno or 0)
    ]


def statements(body: list[ast.stmt], *, nested: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Yield all nodes of a loop's body, except in definitions, and whether an inner loop is around
    each.
    """
    todo: list[tuple[ast.AST, bool]] = [(one, nested) for one in body]
    while todo:
        node, inside = todo.pop()
        yield node, inside
        if not isinstance(node, (*DEFINING, ast.Lambda)):
            inner = inside or isinstance(node, LOOPS)
            todo += [(child, inner) for child in ast.iter_child_nodes(node)]


def ends_loop(found: tuple[ast.AST, bool]) -> bool:
    node, in_inner_loop = found
    leaving = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)
    return isinstance(node, leaving) or (isinstance(node, ast.Break) and not in_inner_loop)


def constant_names(loop: ast.While) -> tuple[str, ...] | None:
    """Return the names in a loop's condition if none of them can change in the loop: it is not
    assigned there, and only used in arithmetic, in comparisons and as an index.
    """
    condition = list(ast.walk(loop.test))
    if not all(isinstance(node, CONDITION) for node in condition):
        return None
    names = tuple(dict.fromkeys(node.id for node in condition if isinstance(node, ast.Name)))
    if not names:
        constant = isinstance(loop.test, ast.Constant) and bool(loop.test.value)
        return () if constant else None
    for statement in loop.body:
        for parent in ast.walk(statement):
            for child in ast.iter_child_nodes(parent):
                if getattr(child, "id", None) in names and not leaves_alone(parent, child):
                    return None
            if (
                isinstance(parent, ast.ExceptHandler | ast.alias | ast.MatchAs)
                and parent.name in names
            ):
                return None
    return names


def leaves_alone(parent: ast.AST, name: ast.AST) -> bool:
    """Return whether an expression uses a name without any way to change its value."""
    if not isinstance(getattr(name, "ctx", None), ast.Load):
        return False
    if isinstance(parent, ast.Subscript):
        return name is parent.slice
    return isinstance(parent, ast.BinOp | ast.Compare | ast.BoolOp | ast.UnaryOp)
