"""Find where two definitions differ, by aligning their trees for the fewest and smallest parts.

Statements are aligned like the lines of a diff, expressions node by node. Adjacent statements
without a partner form one difference.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.course.source import FUNCTIONS, is_docstring

IGNORED = frozenset({"ctx", "kind", "type_comment", "annotation", "returns", "simple"})
Function = ast.FunctionDef | ast.AsyncFunctionDef
ATOMIC = (ast.JoinedStr,)
"""Python 3.11 does not know the positions of an f-string's parts."""


def size(node: ast.AST) -> int:
    """Return how many nodes a tree has, not counting the contexts of names."""
    return sum(not isinstance(one, ast.expr_context) for one in ast.walk(node))


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """``mine`` is to become ``theirs``: one expression, or consecutive statements.

    If ``mine`` is empty, statements are missing between ``after`` and ``before``.
    """

    mine: tuple[ast.AST, ...]
    theirs: tuple[ast.AST, ...]
    after: ast.stmt | None = None
    before: ast.stmt | None = None

    @property
    def cost(self) -> int:
        return sum(map(size, self.mine)) + sum(map(size, self.theirs))

    @property
    def adds_a_step(self) -> bool:
        """Return whether the new expression contains the old one and does something with it."""
        if len(self.mine) != 1 or not isinstance(self.mine[0], ast.expr):
            return False
        dumped = ast.dump(self.mine[0])
        return any(ast.dump(one) == dumped for one in ast.walk(self.theirs[0]))


@dataclass(frozen=True)
class Unit:
    """The differences in one statement: in ``parts``, or as a
    ``whole`` that contains all of them.
    """

    parts: tuple[Difference, ...]
    whole: Difference

    @cached_property
    def cost(self) -> int:
        return min(self.whole.cost, sum(part.cost for part in self.parts))


def _one(mine: ast.AST, theirs: ast.AST) -> Unit:
    whole = Difference((mine,), (theirs,))
    return Unit((whole,), whole)


def compare(mine: ast.AST, theirs: ast.AST) -> list[Unit]:
    """Return the differences between two definitions, statements or expressions."""
    if isinstance(mine, ast.AnnAssign) and mine.value is not None:
        mine = ast.copy_location(ast.Assign([mine.target], mine.value), mine)
    if isinstance(theirs, ast.AnnAssign) and theirs.value is not None:
        theirs = ast.copy_location(ast.Assign([theirs.target], theirs.value), theirs)
    found = _fields(mine, theirs)
    return [_one(mine, theirs)] if found is None else found


def _fields(mine: ast.AST, theirs: ast.AST) -> list[Unit] | None:
    """Return the differences in two nodes' fields; None if the nodes themselves differ."""
    if type(mine) is not type(theirs):
        return None
    if isinstance(mine, FUNCTIONS):
        return _functions(mine, theirs)
    if isinstance(mine, ATOMIC):
        return [] if ast.dump(mine) == ast.dump(theirs) else None
    if isinstance(mine, ast.BinOp) and isinstance(mine.op, ast.Add | ast.Mult):
        return _commutative(mine, theirs)
    found: list[Unit] = []
    for name, value in ast.iter_fields(mine):
        other = getattr(theirs, name, None)
        if name in IGNORED or (name == "name" and isinstance(mine, ast.ClassDef)):
            continue
        units = (
            _lists(value, other)
            if isinstance(value, list) and isinstance(other, list)
            else _values(value, other)
        )
        if units is None:
            return None
        found += units
    return _together(mine, theirs, found)


def _functions(mine: Function, theirs: ast.AST) -> list[Unit]:
    """Return the differences in defaults, decorators and
    bodies; parameters are assumed to agree.
    """
    assert isinstance(theirs, FUNCTIONS)
    found = [
        unit
        for field in ("defaults", "kw_defaults")
        for unit in _lists(getattr(mine.args, field), getattr(theirs.args, field)) or ()
    ]
    decorators = _lists(list(mine.decorator_list), list(theirs.decorator_list))
    if decorators is None and not mine.decorator_list:
        missing = Difference((), tuple(theirs.decorator_list), None, mine)
        decorators = [Unit((missing,), missing)]
    return [*found, *(decorators or ()), *align(mine.body, theirs.body)]


def _values(mine: object, theirs: object) -> list[Unit] | None:
    if isinstance(mine, ast.expr) and isinstance(theirs, ast.expr):
        return compare(mine, theirs)
    if isinstance(mine, ast.AST) and isinstance(theirs, ast.AST):
        return _fields(mine, theirs)
    return [] if type(mine) is type(theirs) and mine == theirs else None


def _lists(mine: list[ast.AST], theirs: list[ast.AST]) -> list[Unit] | None:
    if any(isinstance(one, ast.stmt) for one in (*mine, *theirs)):
        return align(mine, theirs) if mine and theirs else None
    if len(mine) != len(theirs):
        return None
    found: list[Unit] = []
    for one, other in zip(mine, theirs, strict=True):
        units = _values(one, other)
        if units is None:
            return None
        found += units
    return found


def _together(mine: ast.AST, theirs: ast.AST, found: list[Unit]) -> list[Unit]:
    """Return the units of a node; an expression or a simple statement is a single unit."""
    if len(found) < 2 or hasattr(mine, "body") or not isinstance(mine, ast.expr | ast.stmt):
        return found
    parts = tuple(part for unit in found for part in unit.parts)
    return [Unit(parts, Difference((mine,), (theirs,)))]


def _commutative(mine: ast.BinOp, theirs: ast.AST) -> list[Unit] | None:
    if not isinstance(theirs, ast.BinOp) or type(theirs.op) is not type(mine.op):
        return None
    ways = []
    for left, right in ((theirs.left, theirs.right), (theirs.right, theirs.left)):
        units = [*compare(mine.left, left), *compare(mine.right, right)]
        ways.append(_together(mine, theirs, units))
    return min(ways, key=lambda units: sum(unit.cost for unit in units))


def align(mine: Sequence[ast.AST], theirs: Sequence[ast.AST]) -> list[Unit]:
    """Return the differences between two blocks, at the least cost."""
    rows, columns = (
        [one for one in block if not (isinstance(one, ast.stmt) and is_docstring(one))]
        for block in (mine, theirs)
    )
    pairs = {
        (i, j): compare(one, other)
        for i, one in enumerate(rows)
        for j, other in enumerate(columns)
        if _may_match(one, other)
    }
    best = _distances(rows, columns, pairs)
    found: list[Unit] = []
    i = j = 0
    gap: tuple[int, int] | None = None
    while i < len(rows) or j < len(columns):
        matched = (i, j) in pairs and best[i][j] == best[i + 1][j + 1] + _cost(pairs[i, j])
        if matched:
            found += _gap(rows, columns, gap, (i, j))
            found += pairs[i, j]
            gap, i, j = None, i + 1, j + 1
            continue
        gap = gap or (i, j)
        if i < len(rows) and best[i][j] == best[i + 1][j] + size(rows[i]):
            i += 1
        else:
            j += 1
    return [*found, *_gap(rows, columns, gap, (i, j))]


def _cost(units: list[Unit]) -> int:
    return sum(unit.cost for unit in units)


def _may_match(mine: ast.AST, theirs: ast.AST) -> bool:
    kinds = [ast.Assign if isinstance(one, ast.AnnAssign) else type(one) for one in (mine, theirs)]
    named = isinstance(mine, (*FUNCTIONS, ast.ClassDef))
    return kinds[0] is kinds[1] and (not named or getattr(mine, "name", "") == theirs.name)  # type: ignore[attr-defined]


def _distances(
    rows: Sequence[ast.AST], columns: Sequence[ast.AST], pairs: dict[tuple[int, int], list[Unit]]
) -> list[list[int]]:
    """Return, for each pair of positions, the cost of aligning the rest."""
    best = [[0] * (len(columns) + 1) for _ in range(len(rows) + 1)]
    for i in range(len(rows), -1, -1):
        for j in range(len(columns), -1, -1):
            ways = []
            if i < len(rows):
                ways.append(best[i + 1][j] + size(rows[i]))
            if j < len(columns):
                ways.append(best[i][j + 1] + size(columns[j]))
            if (i, j) in pairs:
                ways.append(best[i + 1][j + 1] + _cost(pairs[i, j]))
            best[i][j] = min(ways, default=0)
    return best


def _gap(
    rows: Sequence[ast.AST],
    columns: Sequence[ast.AST],
    start: tuple[int, int] | None,
    end: tuple[int, int],
) -> Iterator[Unit]:
    """Yield the statements without a partner between two pairs of positions, as one difference."""
    if start is None:
        return
    neighbours = [rows[at] if 0 <= at < len(rows) else None for at in (start[0] - 1, end[0])]
    after, before = (one if isinstance(one, ast.stmt) else None for one in neighbours)
    whole = Difference(
        tuple(rows[start[0] : end[0]]), tuple(columns[start[1] : end[1]]), after, before
    )
    yield Unit((whole,), whole)
