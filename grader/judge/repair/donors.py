"""Make all edits of a student's code that may repair it, most plausible first (``edits_in``).

Some are small edits of the student's own syntax tree (``edits``). The others bring the code nearer
to a right answer, a donor: the solution or an accepted answer. No code runs here.

A donor gets the student's variable names (``renamed``) and is aligned with the student's definition
(``compare``): statements like the lines of a diff, expressions node by node, for the fewest and
smallest differences. Adjacent statements without a partner form one difference. Both are also
aligned without names for intermediate results (``inlined``); nodes keep their positions in the
text. Edits from a more similar donor are more plausible.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.course.course import Lesson
from grader.course.lesson_texts import RepairPattern
from grader.course.source import (
    DEFINING,
    FUNCTIONS,
    Function,
    Source,
    arguments_of,
    bound_names,
    defined_names,
    imported,
    is_docstring,
    is_stored,
)
from grader.course.stubs import compose, without_markers
from grader.judge.repair.edits import (
    LESSONS_OWN,
    LIKELY,
    POSSIBLE,
    UNLIKELY,
    Change,
    Edit,
    Filled,
    Replacement,
    TextRanges,
    expression_text,
    idle_variables,
    is_number,
    names_in,
    of_expression,
    parsed,
    rewritten,
    statement_edits,
)

MOST_NODES, MOST_CHARACTERS = 1500, 32 << 10
"""In longer definitions and files no edits are made: there are as many as variables times their
uses, and the whole file is parsed for each. The longest right answer has half as many nodes.
"""
OF_ITSELF = re.compile(r"\.(grad|grad_fn|is_leaf|requires_grad|retains_grad)\b")
"""What a tensor does not share with a copy: an edit before it would only hide a mistake."""
MOST_EQUAL = 4
"""Of how many equal numbers in a function two are replaced together."""


def edits_in(
    source: Source,
    name: str,
    *,
    sound: Collection[str] = frozenset(),
    donors: Sequence[Source] = (),
    patterns: Sequence[RepairPattern] = (),
) -> Iterator[Edit]:
    """Yield edits of a function or class and of the definitions in the file that it uses, except
    ``sound`` ones, whose own checks all pass.

    Yield them in the order in which to try them: by rank, and within a rank, later lines first.
    Leave out edits that do not change the file or that make it invalid Python.
    """
    ranges = TextRanges(source.text)
    definitions = definitions_of(source, name, sound)
    found: dict[tuple[Change, ...], Edit] = {}
    for edit in itertools.chain(
        donated_edits(source, definitions, donors),
        *(_edits_of(definition, ranges, patterns) for definition in definitions),
        *(_of_equal_numbers(definition, ranges) for definition in definitions),
        *(_of_operations(definition, definition, ranges) for definition in definitions),
    ):
        if edit.changes not in found or edit.rank < found[edit.changes].rank:
            found[edit.changes] = edit
    seen = {source.text}
    for edit in sorted(found.values(), key=lambda edit: (edit.rank, -edit.start)):
        text = edit.applied(source.text)
        if text in seen or (after := parsed(text)) is None:
            continue
        seen.add(text)
        if not edit.donated or makes_sense(source.tree, after):
            yield edit


def definitions_of(source: Source, name: str, sound: Collection[str]) -> list[ast.stmt]:
    """Return a function or class and those of the file that it uses; nothing if they are too long.
    A constant has no edits, because its value is itself the student's answer.
    """
    names = [name, *(one for one in source.names_used(name) if one not in sound)]
    found = (source.definitions.get(one) for one in dict.fromkeys(names))
    if not isinstance(source.definitions.get(name), DEFINING):
        return []
    definitions: list[ast.stmt] = [one for one in found if isinstance(one, DEFINING)]
    too_long = len(source.text) > MOST_CHARACTERS or sum(map(size, definitions)) > MOST_NODES
    return [] if too_long else definitions


def _edits_of(
    definition: ast.stmt, ranges: TextRanges, patterns: Sequence[RepairPattern]
) -> Iterator[Edit]:
    for node, names in _nodes(definition, ()):
        if isinstance(node, ast.expr):
            own = (rewritten(node, pattern) for pattern in patterns)
            yield from _of_expression(node, ((LESSONS_OWN, new) for new in own if new), ranges)
            yield from _of_expression(node, of_expression(node, names), ranges)
        yield from statement_edits(node, ranges)
        if isinstance(node, ast.Raise):
            yield from _of_raised(node, ranges)


def _of_equal_numbers(definition: ast.stmt, ranges: TextRanges) -> Iterator[Edit]:
    """Yield edits that replace a number by a variable at two places of a function."""
    for function, names in _nodes(definition, ()):
        if not isinstance(function, FUNCTIONS):
            continue
        numbers: dict[str, list[tuple[int, int]]] = {}
        for node, _ in _nodes(function, ()):
            if is_number(node):
                numbers.setdefault(ast.dump(node), []).append(ranges.of(node))
        for places in numbers.values():
            for pair in itertools.combinations(sorted(places[:MOST_EQUAL]), 2):
                for name in names:
                    changes = tuple(Change(start, end, name) for start, end in pair)
                    yield Edit(changes, POSSIBLE - 1)


def _of_operations(mine: ast.stmt, theirs: ast.stmt, ranges: TextRanges) -> Iterator[Edit]:
    """Yield edits that replace a variable by an operation on it and another variable: ``i`` by
    ``lead + i``. ``theirs`` has the operations; it may be the same definition.
    """
    operations: dict[str, set[str]] = {}
    for node in ast.walk(theirs):
        match node:
            case ast.BinOp(left=ast.Name(id=one), right=ast.Name(id=other)) if one != other:
                for name in (one, other):
                    operations.setdefault(name, set()).add(expression_text(node))
    for node, _ in _nodes(mine, ()):
        if isinstance(node, ast.Name):
            for new in sorted(operations.get(node.id, ())):
                yield Edit(
                    (Change(*ranges.of(node), new),), POSSIBLE - 1, donated=theirs is not mine
                )


def _of_raised(node: ast.Raise, ranges: TextRanges) -> Iterator[Edit]:
    """Yield another class for the exception; its message stays."""
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(raised, ast.Name):
        yield from _of_expression(raised, of_expression(raised, ()), ranges)


def _of_expression(
    node: ast.expr, replaced: Iterable[Replacement], ranges: TextRanges
) -> Iterator[Edit]:
    start, end = ranges.of(node)
    of_itself = OF_ITSELF.match(ranges.text, end)
    for rank, new in replaced:
        if of_itself and not isinstance(new, ast.Name | ast.Attribute | ast.Subscript):
            continue
        yield Edit.of(start, end, expression_text(new), rank)


def _nodes(node: ast.AST, names: Sequence[str]) -> Iterator[tuple[ast.AST, Sequence[str]]]:
    """Yield the nodes whose text may be edited, each with the names of its function."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        own = [argument.arg for argument in arguments_of(node.args)]
        names = list(dict.fromkeys([*own, *sorted(bound_names(node)), *names]))
    yield node, names
    if isinstance(node, ast.Raise):
        return
    for field, child in _children(node):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        if isinstance(child, ATOMIC) or (isinstance(child, ast.stmt) and is_docstring(child)):
            continue
        if isinstance(getattr(child, "ctx", ast.Load()), ast.Load):
            yield from _nodes(child, names)


NEAREST = 8
"""How many donors are tried. A donor's number is added to a rank of ``edits``, so it must be
less than 10, the distance between two ranks.
"""
NEAR_UNITS, MOST_UNITS = 3, 6
"""The most differing units of a near donor, and of a donor whose code is tried at two places
together. Three would replace the student's way by the donor's, with lines that are right.
"""
LONG_CALL = 4
"""The fewest nodes of a call that is longer than f(x)."""
LARGE = 8
"""The most nodes that may replace a constant: an answer for one special case is not a slip."""
SMALL = 12
"""How many nodes one place may have even if the definition is small."""


def donors_of(lesson: Lesson) -> tuple[Source, ...]:
    """Return a lesson's right answers, the solution first; none in a students' bundle."""
    return () if lesson.held else _donors(lesson, lesson.solution.read_text("utf-8"))


@functools.lru_cache(maxsize=16)
def _donors(lesson: Lesson, solution: str) -> tuple[Source, ...]:
    solution = without_markers(solution)
    cells = (cell for cell in lesson.accepted if cell.applies())
    texts = (compose(solution, one.source, name=one.label) for one in cells)
    return tuple(Source(text, lesson.filename) for text in (solution, *texts))


def donated_edits(
    source: Source, definitions: Sequence[ast.stmt], donors: Sequence[Source]
) -> Iterator[Edit]:
    """Yield edits of a student's definitions towards the nearest donors."""
    ranges = TextRanges(source.text)
    found: dict[str, list[Unit]] = {}
    for donor in donors:
        pairs = [
            (mine, theirs)
            for mine in definitions
            for name in defined_names(mine)[:1]
            if type(theirs := donor.definitions.get(name)) is type(mine) and theirs is not None
        ]
        key = "".join(ast.dump(theirs) for _, theirs in pairs)
        if pairs and key not in found:
            alike = [(mine, renamed(theirs, mine)) for mine, theirs in pairs]
            for own, other in alike:
                yield from _of_operations(own, other, ranges)
            found[key] = _differences(alike)
            short = [(inlined(mine), inlined(theirs)) for mine, theirs in alike]
            if any(one is not None for pair in short for one in pair):
                ways = zip(alike, short, strict=True)
                found[f"inlined {key}"] = _differences(
                    (a or mine, b or theirs) for (mine, theirs), (a, b) in ways
                )
    nearest = sorted(found.values(), key=_cost)[:NEAREST]
    most = sum(map(size, definitions)) // 2
    helpers = {name for one in definitions[1:] for name in defined_names(one)}
    writer = _Writer(source, most, calls_in(*definitions), helpers)
    for number, units in enumerate(nearest, 1):
        yield from writer.edits(units, number)


def _differences(pairs: Iterable[tuple[ast.stmt, ast.stmt]]) -> list[Unit]:
    return [unit for mine, theirs in pairs for unit in compare(mine, theirs)]


def calls_in(*nodes: ast.AST) -> Counter[str]:
    """Return the calls in some code that are long enough to be distinctive."""
    found = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Call))
    return Counter(ast.dump(one) for one in found if size(one) >= LONG_CALL)


class _Writer:
    """Turns differences into edits of one text.

    ``most`` is how many nodes an edit of several places may replace. ``calls`` are the long calls
    in the student's definitions, ``helpers`` the names of the helper functions among these.
    """

    def __init__(self, source: Source, most: int, calls: Counter[str], helpers: set[str]) -> None:
        self.ranges = TextRanges(source.text)
        self.most = most
        self.calls = calls
        self.helpers = helpers

    def edits(self, units: Sequence[Unit], number: int) -> Iterator[Edit]:
        """Yield edits with a donor's code at one place, then at two together."""
        near = len(units) <= NEAR_UNITS
        for unit in units:
            parts = [*unit.parts, unit.whole] if len(unit.parts) > 1 else unit.parts
            for part in parts:
                if change := self.change(part):
                    yield Edit((change,), self.rank(part, near=near) + number, donated=True)
        if len(units) > MOST_UNITS:
            return
        for pair in itertools.combinations([unit.whole for unit in units], 2):
            if sum(size(one) for whole in pair for one in whole.mine) > self.most:
                continue
            changes = [self.change(whole) for whole in pair if not whole.binds_anew]
            match sorted(filter(None, changes), key=lambda one: one.start):
                case [one, two] if not (one.beside or two.beside or one.overlaps(two)):
                    yield Edit((one, two), UNLIKELY + 10 + number, donated=True)

    def rank(self, part: Difference, *, near: bool) -> int:
        """Return the rank of one place, before the donor's number is added."""
        if self.computes_again(part):  # the mistake may be in the other call
            return UNLIKELY
        return LIKELY if near and part.mine and not part.adds_a_step else POSSIBLE

    def computes_again(self, difference: Difference) -> bool:
        """Return whether the donor makes a long call that the student makes elsewhere."""
        elsewhere = self.calls - calls_in(*difference.mine)
        return any(call in elsewhere for call in calls_in(*difference.theirs))

    def change(self, difference: Difference) -> Change | None:
        """Return a difference as a change; None if it is too large to show which place is wrong."""
        mine, theirs = difference.mine, difference.theirs
        replaced = sum(map(size, mine))
        if replaced > max(SMALL, self.most):
            return None
        if mine and isinstance(getattr(mine[0], "ctx", None), ast.Store):
            return None  # the value is wrong, not the variable that gets it
        if isinstance(next(iter(mine), None), ast.Constant) and size(theirs[0]) > LARGE:
            return None
        if (names_in(*mine) - names_in(*theirs)) & self.helpers:  # the mistake may be inside it
            return None
        if mine and self._is_saved(mine[0]) and not isinstance(next(iter(theirs), None), ast.Name):
            return None  # backward uses what is saved, so the mistake may be there
        if not mine:
            return self._added(difference)
        (start, _), (_, end) = self.ranges.of(mine[0]), self.ranges.of(mine[-1])
        if isinstance(mine[0], ast.expr):
            return Change(start, end, expression_text(theirs[0]))
        return Change(start, end, self._block(theirs, start) if theirs else "pass")

    def _is_saved(self, node: ast.AST) -> bool:
        """Return whether a node is a variable that is passed to ``save_for_backward``."""
        if not isinstance(node, ast.Name):
            return False
        start = self.ranges.of(node)[0]
        return "save_for_backward(" in self.ranges.indentation(start)

    def _added(self, difference: Difference) -> Change | None:
        """Return a change that adds statements after existing ones, or else before them."""
        place = difference.after or difference.before
        if place is None:
            return None
        start, end = self.ranges.of(place)
        if difference.theirs and isinstance(difference.theirs[0], ast.expr):
            lines = [f"@{ast.unparse(one)}" for one in difference.theirs]
            added = self.ranges.indented("\n".join(lines), start)
        else:
            added = self._block(difference.theirs, start)
        indent = self.ranges.indentation(start)
        if difference.after:
            return Change(end, end, f"\n{indent}{added}", beside=(start, end))
        return Change(start, start, f"{added}\n{indent}", beside=(start, end))

    def _block(self, statements: Sequence[ast.AST], start: int) -> str:
        return self.ranges.indented("\n".join(map(ast.unparse, statements)), start)


def makes_sense(before: ast.Module, after: ast.Module) -> bool:
    """Return whether code with parts of a donor is still the student's answer.

    All its names must be defined, and it must still use what the student computes: an edit that
    makes the rest of the definition useless does not show what is wrong there.
    """
    if _unknown(after) - _unknown(before) or _helpers_used(before) - _helpers_used(after):
        return False
    idle = dict(idle_variables(before))
    return all(names <= idle.get(function, set()) for function, names in idle_variables(after))


def _unknown(tree: ast.Module) -> set[str]:
    """Return the names that nothing in a file binds."""
    known, used = set(dir(builtins)), set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                known.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                known.add(name)
            case ast.Import() | ast.ImportFrom():
                known |= {name for name, _ in imported(node)}
    return used - known


def _helpers_used(tree: ast.Module) -> set[str]:
    """Return the functions and classes of a file that something in it uses."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return used & {node.name for node in tree.body if isinstance(node, DEFINING)}


IGNORED = frozenset({"ctx", "kind", "type_comment", "annotation", "returns", "simple"})
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

    @property
    def binds_anew(self) -> bool:
        """Return whether a variable is assigned that is not assigned now: it takes the place of the
        student's, and right lines that use this one have to change with it.
        """
        return not names_stored(*self.theirs) <= names_stored(*self.mine)


def names_stored(*nodes: ast.AST) -> set[str]:
    found = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))
    return {one.id for one in found if is_stored(one)}


@dataclass(frozen=True)
class Unit:
    """The differences in one statement: in ``parts``, or as a ``whole`` that has all of them."""

    parts: tuple[Difference, ...]
    whole: Difference

    @classmethod
    def of(cls, difference: Difference) -> Unit:
        return cls((difference,), difference)

    @cached_property
    def cost(self) -> int:
        return min(self.whole.cost, sum(part.cost for part in self.parts))


def compare(mine: ast.AST, theirs: ast.AST) -> list[Unit]:
    """Return the differences between two definitions, statements or expressions."""
    mine, theirs = _without_annotation(mine), _without_annotation(theirs)
    found = _fields(mine, theirs)
    return [Unit.of(Difference((mine,), (theirs,)))] if found is None else found


def _without_annotation(node: ast.AST) -> ast.AST:
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ast.copy_location(ast.Assign([node.target], node.value), node)
    return node


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
        units = _values(value, other)
        if units is None:
            return None
        found += units
    return _together(mine, theirs, found)


def _functions(mine: Function, theirs: ast.AST) -> list[Unit]:
    """Return the differences in defaults, decorators and bodies; parameters have to agree."""
    assert isinstance(theirs, FUNCTIONS)
    found = [
        unit
        for field in ("defaults", "kw_defaults")
        for unit in _lists(getattr(mine.args, field), getattr(theirs.args, field)) or ()
    ]
    decorators = _lists(list(mine.decorator_list), list(theirs.decorator_list))
    if decorators is None and not mine.decorator_list:
        decorators = [Unit.of(Difference((), tuple(theirs.decorator_list), None, mine))]
    return [*found, *(decorators or ()), *align(mine.body, theirs.body)]


def _values(mine: object, theirs: object) -> list[Unit] | None:
    if isinstance(mine, list) and isinstance(theirs, list):
        return _lists(mine, theirs)
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
    return min(ways, key=_cost)


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
    mine, theirs = tuple(rows[start[0] : end[0]]), tuple(columns[start[1] : end[1]])
    yield Unit.of(Difference(mine, theirs, after, before))


ALIKE = 0.25
"""From this similarity of their uses on, from 0 to 1, two variables count as the same."""
SAME_NAME = 0.3
"""How much an equal name adds to the similarity."""
NAMING_NODES = (*FUNCTIONS, ast.ExceptHandler)


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


def inlined(definition: ast.stmt) -> ast.stmt | None:
    """Return a copy of a definition without variables that are read once; None if it has none."""
    definition = copy.deepcopy(definition)
    functions = [one for one in ast.walk(definition) if isinstance(one, FUNCTIONS)]
    changed = [_inline(one) for one in functions]
    return definition if any(changed) else None


def _inline(function: Function) -> bool:
    names = [one for one in ast.walk(function) if isinstance(one, ast.Name)]
    loads = Counter(one.id for one in names if isinstance(one.ctx, ast.Load))
    stores = Counter(one.id for one in names if not isinstance(one.ctx, ast.Load))
    once = {name for name in stores if stores[name] == 1 and loads[name] == 1}
    values: dict[str, ast.expr] = {}
    kept: list[ast.stmt] = []
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in once:
                values[name] = value
            case _:
                kept.append(statement)
    read = Filled(values)
    for name in values:
        values[name] = read.visit(values[name])
    if not kept or not values:
        return False
    function.body = [read.visit(one) for one in kept]
    return True
