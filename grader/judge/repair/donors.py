"""Make edits that bring a student's code nearer to a right answer (a donor).

The donors are the solution and the accepted answers. Each gets the student's variable names and is
aligned with the student's definition. Where they differ, the donor's code is tried: at one place,
then at two or three together. Edits from a more similar donor are more plausible.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core.messages import LessonSpec
from grader.course.lesson_texts import read_catalogue
from grader.course.source import DEFINING, Source, defined_names, imported
from grader.course.stubs import compose, without_markers
from grader.judge.repair.alignment import Difference, Unit, compare, size
from grader.judge.repair.edits import Change, Edit
from grader.judge.repair.effects import idle_variables, names_in
from grader.judge.repair.inlining import inlined
from grader.judge.repair.renaming import renamed
from grader.judge.repair.replacements import LIKELY, POSSIBLE, UNLIKELY
from grader.judge.repair.text_ranges import TextRanges

NEAREST = 8
"""How many donors are tried. A donor's number is added to a rank of ``replacements``, so it must be
less than 10, the distance between two ranks.
"""
NEAR_UNITS, MOST_UNITS, MOST_PLACES = 3, 6, 3
"""The most differing units of a near donor, and of a donor whose code is tried at several places
together; the most such places.
"""
LONG_CALL = 4
"""The fewest nodes of a call that is longer than f(x)."""
LARGE = 8
"""The most nodes that may replace a constant: an answer for one special case is not a slip."""
SMALL = 12
"""How many nodes one place may have even if the definition is small."""
COMPOUND_EXPRESSIONS = (
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Lambda,
    ast.NamedExpr,
    ast.UnaryOp,
)


def donors_of(spec: LessonSpec) -> tuple[Source, ...]:
    """Return a lesson's right answers, the solution first; none in a students' bundle."""
    return () if spec.solution is None else _donors(spec.solution, spec.accepted, spec.filename)


@functools.lru_cache(maxsize=16)
def _donors(solution: str, accepted: str | None, filename: str) -> tuple[Source, ...]:
    solution = without_markers(solution)
    cells = read_catalogue(Path(accepted)) if accepted else ()
    texts = (compose(solution, one.source, name=one.label) for one in cells if one.applies())
    return tuple(Source(text, filename) for text in (solution, *texts))


@dataclass(frozen=True, slots=True)
class Aligned:
    """The differences between a student's definitions and a donor's."""

    units: tuple[Unit, ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[ast.stmt, ast.stmt]]) -> Aligned:
        return cls(tuple(unit for mine, theirs in pairs for unit in compare(mine, theirs)))

    @property
    def cost(self) -> int:
        return sum(unit.cost for unit in self.units)


def donated_edits(
    source: Source, definitions: Sequence[ast.stmt], donors: Sequence[Source]
) -> Iterator[Edit]:
    """Yield edits of a student's definitions towards the nearest donors."""
    found: dict[str, Aligned] = {}
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
            found[key] = Aligned.of(alike)
            short = [(inlined(mine), inlined(theirs)) for mine, theirs in alike]
            if any(one is not None for pair in short for one in pair):
                ways = zip(alike, short, strict=True)
                found[f"inlined {key}"] = Aligned.of(
                    [(a or mine, b or theirs) for (mine, theirs), (a, b) in ways]
                )
    nearest = sorted(found.values(), key=lambda one: one.cost)[:NEAREST]
    most = sum(map(size, definitions)) // 2
    helpers = {name for one in definitions[1:] for name in defined_names(one)}
    writer = _Writer(source, most, calls_in(*definitions), helpers)
    for number, aligned in enumerate(nearest, 1):
        yield from writer.edits(aligned, number)


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

    def edits(self, aligned: Aligned, number: int) -> Iterator[Edit]:
        units = aligned.units
        near = len(units) <= NEAR_UNITS
        for unit in units:
            parts = [*unit.parts, unit.whole] if len(unit.parts) > 1 else unit.parts
            for part in parts:
                if change := self.change(part):
                    yield Edit((change,), self.rank(part, near=near) + number, donated=True)
        if len(units) > MOST_UNITS:
            return
        for places in range(2, MOST_PLACES + 1):
            for chosen in itertools.combinations(units, places):
                if sum(size(one) for unit in chosen for one in unit.whole.mine) > self.most:
                    continue
                changes = [self.change(unit.whole) for unit in chosen]
                written = sorted(filter(None, changes), key=lambda one: one.start)
                if len(written) == places and not any(
                    one.overlaps(two) for one, two in itertools.pairwise(written)
                ):
                    rank = UNLIKELY + 10 * (places - 1) + number
                    yield Edit(tuple(written), rank, donated=True)

    def rank(self, part: Difference, *, near: bool) -> int:
        """Return the rank of one place, before the donor's number is added."""
        if self.computes_again(part):
            return UNLIKELY
        return LIKELY if near and part.mine and not part.adds_a_step else POSSIBLE

    def computes_again(self, difference: Difference) -> bool:
        """Return whether the donor's code contains a long call that the student makes at another
        place. The mistake may be there instead.
        """
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
            text = ast.unparse(theirs[0])
            return Change(
                start, end, f"({text})" if isinstance(theirs[0], COMPOUND_EXPRESSIONS) else text
            )
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
