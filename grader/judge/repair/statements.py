"""Make replacements for statements: without a guard, in another order, in another block."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from grader.course.source import DEFINING, is_docstring
from grader.judge.repair.edits import Edit
from grader.judge.repair.effects import is_plain
from grader.judge.repair.replacements import LIKELY, POSSIBLE, SWAPPED, UNLIKELY, USUAL
from grader.judge.repair.text_ranges import TextRanges

Block = list[ast.stmt]
LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
IN_TRY = 3
"""How many statements may become the try of a statement that becomes its finally."""
KEPT_DECORATORS = ("staticmethod", "classmethod", "property")


def statement_edits(node: ast.AST, ranges: TextRanges) -> Iterator[Edit]:
    """Yield edits of a statement, and of the order of those inside it."""
    if isinstance(node, ast.stmt):
        for rank, block in _instead(node):
            yield _written([node], block, ranges, rank)
        if isinstance(node, ast.Assign) and is_plain(node.targets[0]):
            yield Edit.of(*ranges.of(node.value), ast.unparse(node.targets[0]), USUAL)
    if isinstance(node, DEFINING):
        yield from _undecorated(node, ranges)
    for block in blocks_of(node):
        for first, second in itertools.pairwise(block):
            if not _is_simple(first) or not _is_simple(second):
                continue
            yield _written([first, second], [second, first], ranges, UNLIKELY)
        yield from _moved(block, ranges)
        yield from _in_finally(block, ranges)


def without_case(tree: ast.Module, edit: Edit, ranges: TextRanges) -> Iterator[Edit]:
    """Yield edits that leave out the ``if`` whose condition contains an edit, or the ``try`` whose
    body does.

    If such an edit also repairs the function, the case as a whole is wrong, not the place inside.
    """
    start, end = edit.main.shown
    around: list[ast.If | ast.IfExp | ast.Try] = []
    for node in ast.walk(tree):
        match node:
            case ast.If(test=part) | ast.IfExp(test=part) | ast.Try(body=[part]):
                first, last = ranges.of(part)
                around += [node] if first <= start and end <= last else []
    match around[-1:]:
        case [ast.If() as node]:
            for block in (node.orelse or [ast.Pass()], node.body):
                yield _written([node], block, ranges, edit.rank)
        case [ast.IfExp() as node]:
            for branch in (node.orelse, node.body):
                yield Edit.of(*ranges.of(node), f"({ast.unparse(branch)})", edit.rank)
        case [ast.Try() as node]:
            kept = [*node.orelse, *node.finalbody]
            yield _written([node], kept or [ast.Pass()], ranges, edit.rank)


def blocks_of(node: ast.AST) -> Iterator[Block]:
    """Yield the blocks of a compound statement, without a docstring."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield [one for one in block if isinstance(one, ast.stmt) and not is_docstring(one)]


def _written(
    old: Sequence[ast.stmt], new: Block, ranges: TextRanges, rank: int, *, beside: bool = False
) -> Edit:
    start, end = ranges.of(old[0])[0], ranges.of(old[-1])[1]
    code = "\n".join(ast.unparse(ast.fix_missing_locations(one)) for one in new)
    text = ranges.indented(code, start)
    return Edit.of(start, end, text, rank, beside=ranges.of(old[-1]) if beside else None)


def _instead(node: ast.stmt) -> Iterator[tuple[int, Block]]:
    match node:
        case ast.Assign(targets=[ast.Name() | ast.Attribute() | ast.Subscript() as target]):
            yield POSSIBLE, [ast.AugAssign(target, ast.Add(), node.value)]
            yield POSSIBLE, [ast.Pass()]
        case ast.AugAssign():
            for op in SWAPPED.get(type(node.op), ()):
                yield LIKELY, [ast.AugAssign(node.target, op(), node.value)]
            yield POSSIBLE, [_assigned(node.target, node.value)]
            value = ast.BinOp(node.target, node.op, node.value)
            yield POSSIBLE, [_assigned(node.target, value)]
            yield POSSIBLE, [ast.Pass()]
        case ast.Expr() | ast.Break() | ast.Continue() | ast.Delete():
            yield POSSIBLE, [ast.Pass()]
        case ast.If():
            guard = not node.orelse and isinstance(node.body[-1], LEAVING)
            yield USUAL if guard else POSSIBLE, [ast.Pass()]
            yield POSSIBLE, node.body
            yield POSSIBLE, node.orelse or [ast.Pass()]
        case ast.With() | ast.While() | ast.For():
            yield POSSIBLE, node.body
        case ast.Try():
            yield POSSIBLE, [*node.body, *node.finalbody]
            for index, handler in enumerate(node.handlers):
                again = ast.ExceptHandler(handler.type, handler.name, [ast.Raise()])
                handlers = [*node.handlers]
                handlers[index] = again
                yield POSSIBLE, [ast.Try(node.body, handlers, node.orelse, node.finalbody)]


def _assigned(target: ast.expr, value: ast.expr) -> ast.Assign:
    return ast.Assign([target], value, lineno=0)


def _is_simple(node: ast.stmt) -> bool:
    return not hasattr(node, "body")


def _undecorated(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, ranges: TextRanges
) -> Iterator[Edit]:
    for one in node.decorator_list:
        if isinstance(one, ast.Name) and one.id in KEPT_DECORATORS:
            continue
        start, end = ranges.of(one)
        yield Edit.of(ranges.text.rindex("@", 0, start), end, "", USUAL)


def _moved(block: Block, ranges: TextRanges) -> Iterator[Edit]:
    """Yield statements moved out of a block, before or behind it, and into a neighboring block."""
    for node in block:
        for inner in blocks_of(node):
            if isinstance(node, DEFINING) or len(inner) < 2:
                continue
            yield _written([node], [_with(node, inner, inner[:-1]), inner[-1]], ranges, UNLIKELY)
            yield _written([node], [inner[0], _with(node, inner, inner[1:])], ranges, UNLIKELY)
    for first, second in itertools.pairwise(block):
        if _is_simple(second) and isinstance(first, ast.With | ast.For | ast.While | ast.If):
            longer = _with(first, first.body, [*first.body, second])
            yield _written([first, second], [longer], ranges, UNLIKELY)
        if _is_simple(first) and isinstance(second, ast.With | ast.For | ast.While | ast.If):
            longer = _with(second, second.body, [first, *second.body])
            yield _written([first, second], [longer], ranges, UNLIKELY)


def _with(node: ast.stmt, old: Block, new: Block) -> ast.stmt:
    """Return a compound statement with one of its blocks replaced."""
    fields = dict(ast.iter_fields(node))
    for name, value in fields.items():
        if isinstance(value, list) and value and value[-1] is old[-1]:
            fields[name] = new
    return type(node)(**fields)


def _in_finally(block: Block, ranges: TextRanges) -> Iterator[Edit]:
    """Yield a statement as the finally block of the statements before it."""
    for index, last in enumerate(block):
        if not isinstance(last, ast.Expr | ast.Assign | ast.For):
            continue
        for count in range(1, min(index, IN_TRY) + 1):
            tried = block[index - count : index]
            new = ast.Try(tried, [], [], [last])
            yield _written([*tried, last], [new], ranges, UNLIKELY, beside=True)
