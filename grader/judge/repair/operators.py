"""The small edits of a student's own code that may repair it, the most plausible first.

An edit replaces a range of the text and leaves every other character as it is. ``edits_in`` makes
them from the syntax tree. It never runs the code, and it knows nothing of the solution.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.course.analysis.definitions import is_docstring
from grader.course.analysis.scopes import DEFINING, arguments_of, bound_names
from grader.course.analysis.source import Source
from grader.judge.repair import replacements
from grader.judge.repair.replacements import Replacement
from grader.judge.repair.text_ranges import TextRanges

COMPOUND = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.UnaryOp)


@dataclass(frozen=True, slots=True)
class Edit:
    """The text from ``start`` to ``end`` becomes ``new``; a lower ``rank`` is more plausible."""

    start: int
    end: int
    new: str
    rank: int

    def applied(self, text: str) -> str:
        return f"{text[: self.start]}{self.new}{text[self.end :]}"

    def related(self, other: Edit) -> bool:
        """Return whether the ranges overlap: both edits say that the same place is wrong."""
        return self.start < other.end and other.start < self.end


def edits_in(source: Source, name: str, *, sound: Collection[str] = frozenset()) -> Iterator[Edit]:
    """Yield edits of a function or class and of what it uses of the same file, except ``sound``
    definitions, all of whose own checks pass.

    They come in the order in which to try them: by rank, and in one rank the latest line first.
    Only edits that leave the file valid Python, and differ from it, are among them.
    """
    ranges = TextRanges(source.text)
    found: dict[tuple[int, int, str], Edit] = {}
    for definition in definitions_of(source, name, sound):
        for edit in _edits_of(definition, ranges):
            key = (edit.start, edit.end, edit.new)
            if key not in found or edit.rank < found[key].rank:
                found[key] = edit
    before = ast.dump(source.tree)
    for edit in sorted(found.values(), key=lambda edit: (edit.rank, -edit.start)):
        try:
            after = ast.dump(ast.parse(edit.applied(source.text)))
        except (SyntaxError, ValueError, RecursionError):
            continue
        if after != before:
            yield edit


def definitions_of(source: Source, name: str, sound: Collection[str]) -> list[ast.stmt]:
    """Return a function or class and those of the file that it uses. A constant has no edits: what
    is wrong there is the student's answer itself.
    """
    names = [name, *(one for one in source.names_used(name) if one not in sound)]
    found = (source.definitions.get(one) for one in dict.fromkeys(names))
    first = source.definitions.get(name)
    return (
        [one for one in found if isinstance(one, DEFINING)] if isinstance(first, DEFINING) else []
    )


def _edits_of(definition: ast.stmt, ranges: TextRanges) -> Iterator[Edit]:
    for node, names in _nodes(definition, ()):
        if isinstance(node, ast.expr):
            yield from _of_expression(node, replacements.of_expression(node, names), ranges)
        elif isinstance(node, ast.stmt):
            start, end = ranges.of(node)
            for rank, new in replacements.of_statement(node):
                yield Edit(start, end, ast.unparse(new), rank)
        yield from _swapped(node, ranges)


def _of_expression(
    node: ast.expr, replaced: Iterable[Replacement], ranges: TextRanges
) -> Iterator[Edit]:
    start, end = ranges.of(node)
    for rank, new in replaced:
        text = ast.unparse(new)
        yield Edit(start, end, f"({text})" if isinstance(new, COMPOUND) else text, rank)


def _swapped(node: ast.AST, ranges: TextRanges) -> Iterator[Edit]:
    """Yield two neighbouring simple statements in the other order."""
    body = (
        [one for one in getattr(node, "body", ()) or () if isinstance(one, ast.stmt)]
        if (isinstance(getattr(node, "body", None), list))
        else []
    )
    for first, second in itertools.pairwise(body):
        if hasattr(first, "body") or hasattr(second, "body") or is_docstring(first):
            continue
        (start, middle), (after, end) = ranges.of(first), ranges.of(second)
        between = ranges.text[middle:after]
        text = f"{ranges.text[after:end]}{between}{ranges.text[start:middle]}"
        yield Edit(start, end, text, replacements.UNLIKELY)


def _nodes(node: ast.AST, names: Sequence[str]) -> Iterator[tuple[ast.AST, Sequence[str]]]:
    """Yield the nodes whose text may be edited, each with the names of its function."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        own = [argument.arg for argument in arguments_of(node.args)]
        names = list(dict.fromkeys([*own, *sorted(bound_names(node)), *names]))
    yield node, names
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            # Python 3.11 does not say where the parts of an f-string are
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Raise):
                continue
            if isinstance(child, ast.stmt) and is_docstring(child):
                continue
            if isinstance(child, ast.expr) and not isinstance(
                getattr(child, "ctx", ast.Load()), ast.Load
            ):
                continue
            yield from _nodes(child, names)
