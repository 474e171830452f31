"""Edit a file's text, and make the edits of one expression or statement that may repair it.

An edit replaces a range of the text and leaves every other character as it is. Each has a rank:
``LESSONS_OWN`` is a repair that the lesson's ``diagnosis.toml`` names. ``LIKELY`` is a slip in one
token. ``USUAL`` is a call, an argument or a name that is wrong. ``POSSIBLE`` adds or removes a
step. ``UNLIKELY`` reorders steps, or may hide the cause rather than remove it, as
``create_graph=True`` does where ``.grad`` is kept by reference.

``idle_variables`` finds the variables of a function that have no effect on what it does.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from grader.course.lesson_texts import RepairPattern, read_repairs
from grader.course.source import DEFINING, FUNCTIONS, Function, is_docstring


@dataclass(frozen=True, slots=True)
class Change:
    """The text from ``start`` to ``end`` becomes ``new``. If the change only adds something, no
    text there is wrong, and ``beside`` is the range of the adjacent statement. If it only moves a
    statement, ``moved`` is that statement's range.
    """

    start: int
    end: int
    new: str
    beside: tuple[int, int] | None = None
    moved: tuple[int, int] | None = None

    @property
    def shown(self) -> tuple[int, int]:
        """The range that a report shows."""
        return self.beside or self.moved or (self.start, self.end)

    def overlaps(self, other: Change) -> bool:
        return self.start < other.end and other.start < self.end

    def related(self, other: Change) -> bool:
        (start, end), (begin, stop) = self.shown, other.shown
        return start < stop and begin < end


@dataclass(frozen=True, slots=True)
class Edit:
    """One change, or two that only help together, in the order of the text.

    A lower ``rank`` is more plausible; fewer changes come first.
    """

    changes: tuple[Change, ...]
    rank: int
    donated: bool = False
    """Whether it contains code of another answer."""

    @classmethod
    def of(
        cls, start: int, end: int, new: str, rank: int, beside: tuple[int, int] | None = None
    ) -> Edit:
        """Return an edit of one change."""
        return cls((Change(start, end, new, beside),), rank)

    @property
    def main(self) -> Change:
        """The change that a report shows: the last one; earlier ones may only prepare it."""
        return self.changes[-1]

    @property
    def start(self) -> int:
        return self.changes[0].start

    @property
    def extent(self) -> tuple[int, int]:
        """The number of characters that are replaced, and the number of new ones."""
        shown = (change.shown for change in self.changes)
        replaced = sum(end - start for start, end in shown)
        return replaced, sum(len(change.new) for change in self.changes)

    def applied(self, text: str) -> str:
        for one in sorted(self.changes, key=lambda change: -change.start):
            text = f"{text[: one.start]}{one.new}{text[one.end :]}"
        return text

    def related(self, other: Edit) -> bool:
        """Return whether ranges overlap, so that both edits blame the same place."""
        return any(one.related(two) for one in self.changes for two in other.changes)


def parsed(text: str) -> ast.Module | None:
    """Return the tree of an edited text; None if it is no longer Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


class TextRanges:
    """The ranges of nodes of one text, as offsets of characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        # not splitlines, which also splits at form feeds and Unicode separators
        self._lines = text.split("\n")
        lengths = (len(line) + 1 for line in self._lines)
        self._starts = [0, *itertools.accumulate(lengths)]

    def of(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self._offset(node.lineno, node.col_offset)
        return start, self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        before = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a character, both counted from 1."""
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - self._starts[line - 1] + 1

    def indentation(self, offset: int) -> str:
        """Return the text between the start of a character's line and the character."""
        return self.text[self.text.rfind("\n", 0, offset) + 1 : offset]

    def indented(self, code: str, offset: int) -> str:
        """Return code with all lines after the first indented to a character's column."""
        return code.replace("\n", f"\n{self.indentation(offset)}")


Bound = dict[str, ast.expr]
T = TypeVar("T")


@functools.lru_cache(maxsize=16)
def patterns_of(path: Path | None) -> tuple[RepairPattern, ...]:
    """Return the repairs of a ``diagnosis.toml``."""
    return () if path is None else read_repairs(path)


def rewritten(node: ast.expr, pattern: RepairPattern) -> ast.expr | None:
    """Return what a pattern makes of an expression, None if it does not match."""
    bound: Bound = {}
    if not _matches(ast.parse(pattern.wrong, mode="eval").body, node, bound):
        return None
    repaired: ast.expr = Filled(bound).visit(ast.parse(pattern.right, mode="eval").body)
    return repaired


def _matches(pattern: ast.AST, node: ast.AST, bound: Bound) -> bool:
    """Return whether a pattern matches; record in ``bound`` what its capital letters stand for."""
    if isinstance(pattern, ast.Name) and len(pattern.id) == 1 and pattern.id.isupper():
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


class Filled(ast.NodeTransformer):
    """Replaces names that are read by what they stand for."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.bound.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


LESSONS_OWN, LIKELY, USUAL, POSSIBLE, UNLIKELY = range(-10, 40, 10)
RENAMED = POSSIBLE + 9
"""Other names of the same function come late, because there are many."""
Replacement = tuple[int, ast.AST]
COMPOUND_EXPRESSIONS = (
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Lambda,
    ast.NamedExpr,
    ast.UnaryOp,
)

SWAPPED: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Div),
    ast.Mult: (ast.Div, ast.Add, ast.Pow, ast.MatMult),
    ast.Div: (ast.Mult, ast.Sub, ast.FloorDiv),
    ast.FloorDiv: (ast.Div,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
}
ORDERED: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
EQUAL: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq, ast.Is),
    ast.NotEq: (ast.Eq, ast.IsNot),
    ast.Is: (ast.IsNot, ast.Eq),
    ast.IsNot: (ast.Is, ast.NotEq),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
FAMILIES = tuple(
    family.split()
    for family in """
        log log10 log2 log1p; exp exp2 expm1; sin cos tan; sum mean prod; max min amax amin;
        zeros_like ones_like empty_like rand_like; zeros ones empty; list tuple;
        sigmoid tanh relu; mul matmul; add sub; detach clone detach_;
        no_grad enable_grad inference_mode; register_hook register_post_accumulate_grad_hook;
        clamp_min clamp_max; float double; float32 float64; append extend appendleft insert;
        pop popleft; view reshape; any all; floor ceil round trunc; ge gt; le lt; T mT;
        is_leaf requires_grad retains_grad; keys values items; unsqueeze squeeze;
        ValueError TypeError RuntimeError KeyError IndexError Exception;
        save_for_backward mark_non_differentiable
    """.split(";")
)
"""Names that are easily mistaken for each other."""
IN_PLACE = "add sub mul div zero fill clamp copy exp log neg sqrt abs relu".split()
REMOVABLE = frozenset(
    "detach clone sum mean item float double abs view reshape flatten squeeze unsqueeze contiguous"
    " tolist numpy t sqrt exp log neg requires_grad_ retain_grad sign round long int to".split()
)
SAFE_STEPS, STEPS = ("clone", "detach"), ("sum", "mean", "item")
MAKERS = frozenset("tensor zeros ones full empty arange linspace eye rand randn as_tensor".split())
"""Functions of torch whose result has the default dtype."""
REDUCTIONS = frozenset("sum mean prod amax amin max min norm".split())
WITHOUT = frozenset("data T mT".split())
PARAMETERS = 3
"""From how many of the function's names a new tensor takes its dtype; the parameters come first."""
DIFFERENTIATES = {
    "grad": ("create_graph", "retain_graph", "allow_unused"),
    "backward": ("create_graph", "retain_graph"),
}


def of_expression(node: ast.expr, names: Sequence[str]) -> Iterator[Replacement]:
    """Yield replacements for an expression; ``names`` are those of its function."""
    match node:
        case ast.Constant():
            yield from ((LIKELY, ast.Constant(value)) for value in _constants(node.value))
            if is_number(node):
                yield from ((RENAMED, ast.Name(name)) for name in names)
        case ast.BinOp():
            yield from _of_operation(node)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield LIKELY, operand
        case ast.Compare(ops=[op], comparators=[right]):
            for other in _comparisons(op):
                yield LIKELY, ast.Compare(node.left, [other()], [right])
            yield USUAL, ast.Compare(right, [op], [node.left])
        case ast.BoolOp(op=op, values=values):
            other_op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield LIKELY, ast.BoolOp(other_op, values)
            yield from ((USUAL, value) for value in values)
        case ast.IfExp():
            yield USUAL, ast.IfExp(node.test, node.orelse, node.body)
            yield POSSIBLE, node.body
            yield POSSIBLE, node.orelse
        case ast.Call():
            yield from _of_call(node)
            yield from _keywords_added(node, names)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from _of_sequence(node, parts)
        case ast.Attribute():
            yield from ((USUAL, _named(node, name)) for name in _family(node.attr))
            if node.attr in WITHOUT:
                yield USUAL, node.value
        case ast.Subscript():
            yield from _of_subscript(node)
        case ast.Name():
            yield from ((USUAL, ast.Name(name)) for name in _family(node.id))
            if node.id in names:  # not a module, not a function that is called
                yield from ((RENAMED, ast.Name(name)) for name in names if name != node.id)
    yield from _steps_added(node, names)


def expression_text(node: ast.AST) -> str:
    """Return an expression as text, in parentheses if its surroundings could take it apart."""
    text = ast.unparse(node)
    return f"({text})" if isinstance(node, COMPOUND_EXPRESSIONS) else text


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _constants(value: object) -> Iterator[bool | int | float]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        others = [value + 1, value - 1, -value, 2 * value, value / 2]
        if isinstance(value, float):
            others += [value / 10, value * 10]
        yield from dict.fromkeys(others)


def _comparisons(op: ast.cmpop) -> Iterator[type[ast.cmpop]]:
    if type(op) in ORDERED:
        yield from (other for other in ORDERED if not isinstance(op, other))
    elif type(op) in EQUAL:
        yield from EQUAL[type(op)]


def _of_operation(node: ast.BinOp) -> Iterator[Replacement]:
    for other in SWAPPED.get(type(node.op), ()):
        yield LIKELY, ast.BinOp(node.left, other(), node.right)
    yield USUAL, ast.BinOp(node.right, node.op, node.left)
    yield USUAL, node.left
    yield USUAL, node.right
    if isinstance(node.left, ast.BinOp):  # (a + b) * c as a + b * c
        inner = node.left
        regrouped = ast.BinOp(inner.right, node.op, node.right)
        yield USUAL, ast.BinOp(inner.left, inner.op, regrouped)
    if isinstance(node.right, ast.BinOp):
        inner = node.right
        regrouped = ast.BinOp(node.left, node.op, inner.left)
        yield USUAL, ast.BinOp(regrouped, inner.op, inner.right)


def _of_call(node: ast.Call) -> Iterator[Replacement]:
    arguments, keywords = node.args, node.keywords
    yield from ((USUAL, ast.Call(node.func, one, keywords)) for one in _swapped(arguments))
    yield from ((POSSIBLE, ast.Call(node.func, one, keywords)) for one in _shortened(arguments))
    yield from ((USUAL, ast.Call(node.func, arguments, one)) for one in _shortened(keywords))
    if len(arguments) == 1:  # a wrapper: float(x), torch.abs(x)
        yield USUAL, arguments[0]
    for index, one in enumerate(arguments):
        toggled = one.value if isinstance(one, ast.Starred) else ast.Starred(one, ast.Load())
        if isinstance(one, ast.Name | ast.Starred):
            starred = [*arguments[:index], toggled, *arguments[index + 1 :]]
            yield POSSIBLE, ast.Call(node.func, starred, keywords)
    if isinstance(node.func, ast.Name) and node.func.id == "range" and arguments:
        for last in _shifted(arguments[-1]):
            yield USUAL, ast.Call(node.func, [*arguments[:-1], last], keywords)
    if not isinstance(node.func, ast.Attribute):
        return
    name, inner = node.func.attr, node.func.value
    if name in REMOVABLE:
        yield USUAL, inner
    if name in IN_PLACE or name.removesuffix("_") in IN_PLACE:
        other = name.removesuffix("_") if name.endswith("_") else f"{name}_"
        yield POSSIBLE, ast.Call(_named(node.func, other), arguments, keywords)


def _swapped(parts: Sequence[T]) -> Iterator[list[T]]:
    """Yield the parts with two neighbors in the other order."""
    for index in range(len(parts) - 1):
        yield [*parts[:index], parts[index + 1], parts[index], *parts[index + 2 :]]


def _shortened(parts: Sequence[T]) -> Iterator[list[T]]:
    """Yield the parts without one of them."""
    for index in range(len(parts)):
        yield [*parts[:index], *parts[index + 1 :]]


def _keywords_added(node: ast.Call, names: Sequence[str]) -> Iterator[Replacement]:
    """Yield a call with an additional keyword: a flag, or a dtype taken from another variable."""
    if not isinstance(node.func, ast.Attribute):
        return
    name, given = node.func.attr, {keyword.arg for keyword in node.keywords}
    true = ast.Constant(True)
    added: list[tuple[int, str, ast.expr]] = [
        (UNLIKELY, flag, true) for flag in DIFFERENTIATES.get(name, ())
    ]
    if name in REDUCTIONS and (len(node.args) or "dim" in given):
        added.append((POSSIBLE, "keepdim", true))
    if name in MAKERS:
        likes = [ast.Attribute(ast.Name(one), "dtype") for one in names[:PARAMETERS]]
        added += [(USUAL, "dtype", like) for like in likes]
    for rank, flag, value in added:
        if flag not in given:
            keywords = [*node.keywords, ast.keyword(flag, value)]
            yield rank, ast.Call(node.func, node.args, keywords)


def _of_subscript(node: ast.Subscript) -> Iterator[Replacement]:
    """Yield another index or bound, and the value without an index."""
    match node.slice:
        case ast.Slice(lower, upper, step):
            slices: list[ast.expr] = [ast.Slice(None, upper, step), ast.Slice(lower, None, step)]
            slices += [ast.Slice(other, upper, step) for other in _shifted(lower)]
            slices += [ast.Slice(lower, other, step) for other in _shifted(upper)]
        case index:
            slices = [*_shifted(index)]
    yield from ((USUAL, ast.Subscript(node.value, one, node.ctx)) for one in slices)
    yield USUAL, node.value


def _shifted(index: ast.expr | None) -> Iterator[ast.expr]:
    if index is None or isinstance(index, ast.Constant | ast.Slice | ast.Tuple):
        return
    yield from (ast.BinOp(index, op, ast.Constant(1)) for op in (ast.Add(), ast.Sub()))


def _of_sequence(node: ast.Tuple | ast.List, parts: list[ast.expr]) -> Iterator[Replacement]:
    other = ast.List if isinstance(node, ast.Tuple) else ast.Tuple
    yield USUAL, other(parts, ast.Load())
    if len(parts) > 1:
        for rest in _shortened(parts):
            yield USUAL, rest[0] if len(rest) == 1 else type(node)(rest, ast.Load())
    elif parts:
        yield USUAL, parts[0]
    for swapped in _swapped(parts):
        yield USUAL, type(node)(swapped, ast.Load())


def _steps_added(node: ast.expr, names: Sequence[str]) -> Iterator[Replacement]:
    """Yield the value with one more step after it: a method call, a factor, a sign."""
    match node:
        case ast.Name(id=name) if name in names:
            pass
        case ast.Attribute(attr="grad" | "data") | ast.Call() | ast.BinOp() | ast.Subscript():
            pass
        case _:  # a module, a function that is called
            return
    if "grad_output" in names and not isinstance(node, ast.Attribute | ast.Subscript):
        yield POSSIBLE, ast.BinOp(ast.Name("grad_output"), ast.Mult(), node)
    for method in SAFE_STEPS:
        yield POSSIBLE, ast.Call(ast.Attribute(node, method), [], [])
    for method in STEPS:
        yield UNLIKELY, ast.Call(ast.Attribute(node, method), [], [])
    yield UNLIKELY, ast.UnaryOp(ast.USub(), node)


def _named(node: ast.Attribute, name: str) -> ast.Attribute:
    return ast.Attribute(node.value, name, node.ctx)


def _family(name: str) -> Iterator[str]:
    for family in FAMILIES:
        if name in family:
            yield from (other for other in family if other != name)


BUILTINS = frozenset(dir(builtins))
FRESH = re.compile(
    r"(new_)?(zeros|ones|empty|full|tensor|eye|arange|clone|deepcopy|rand\w*)(_like)?"
)
"""Functions and methods whose result shares no memory with what they are given."""
FILLS = frozenset("append appendleft extend insert add update setdefault".split())
"""Methods that change only the object itself; so do tensor methods that end in an underscore."""
COMPOUND_STATEMENTS = (ast.If, ast.For, ast.While, ast.With, ast.Try)
NOTHING = (ast.Pass, ast.Break, ast.Continue, ast.Import, ast.ImportFrom, *FUNCTIONS)
"""Statements without an effect of their own; a break decides about the others in its loop."""


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
    """Yield, by function, variables and inner functions that no result or condition needs."""
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
    old: Sequence[ast.stmt],
    new: Block,
    ranges: TextRanges,
    rank: int,
    *,
    beside: bool = False,
    moved: ast.stmt | None = None,
) -> Edit:
    start, end = ranges.of(old[0])[0], ranges.of(old[-1])[1]
    code = "\n".join(ast.unparse(ast.fix_missing_locations(one)) for one in new)
    change = Change(
        start,
        end,
        ranges.indented(code, start),
        ranges.of(old[-1]) if beside else None,
        ranges.of(moved) if moved else None,
    )
    return Edit((change,), rank)


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
                handlers = [*node.handlers]
                handlers[index] = ast.ExceptHandler(handler.type, handler.name, [ast.Raise()])
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
            behind = [_with(node, inner, inner[:-1]), inner[-1]]
            before = [inner[0], _with(node, inner, inner[1:])]
            slip = isinstance(node, ast.For | ast.While) and isinstance(inner[-1], ast.Return)
            rank = USUAL if slip else UNLIKELY
            yield _written([node], behind, ranges, rank, moved=inner[-1])
            yield _written([node], before, ranges, UNLIKELY, moved=inner[0])
    for first, second in itertools.pairwise(block):
        if _is_simple(second) and isinstance(first, ast.With | ast.For | ast.While | ast.If):
            longer = _with(first, first.body, [*first.body, second])
            yield _written([first, second], [longer], ranges, UNLIKELY, moved=second)
        if _is_simple(first) and isinstance(second, ast.With | ast.For | ast.While | ast.If):
            longer = _with(second, second.body, [first, *second.body])
            yield _written([first, second], [longer], ranges, UNLIKELY, moved=first)


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
