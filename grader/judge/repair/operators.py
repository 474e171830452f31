"""Make the small edits of a student's own code that may repair it, most plausible first.

An edit replaces a range of the text and leaves every other character as it is. ``edits_in`` makes
them from the syntax tree and never runs the code. Only ``donors`` bring in parts of right answers.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from grader.course.lesson_texts import RepairPattern
from grader.course.source import (
    DEFINING,
    FUNCTIONS,
    Source,
    arguments_of,
    bound_names,
    is_docstring,
)
from grader.judge.repair import replacements
from grader.judge.repair.alignment import size
from grader.judge.repair.donors import COMPOUND_EXPRESSIONS, donated_edits, makes_sense
from grader.judge.repair.edits import Change, Edit, parsed
from grader.judge.repair.patterns import rewritten
from grader.judge.repair.replacements import LESSONS_OWN, POSSIBLE, Replacement
from grader.judge.repair.statements import statement_edits
from grader.judge.repair.text_ranges import TextRanges

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
            yield from _of_expression(node, replacements.of_expression(node, names), ranges)
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
            if replacements.is_number(node):
                numbers.setdefault(ast.dump(node), []).append(ranges.of(node))
        for places in numbers.values():
            for pair in itertools.combinations(sorted(places[:MOST_EQUAL]), 2):
                for name in names:
                    changes = tuple(Change(start, end, name) for start, end in pair)
                    yield Edit(changes, POSSIBLE - 1)


def _of_raised(node: ast.Raise, ranges: TextRanges) -> Iterator[Edit]:
    """Yield another class for the exception; its message stays."""
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(raised, ast.Name):
        yield from _of_expression(raised, replacements.of_expression(raised, ()), ranges)


def _of_expression(
    node: ast.expr, replaced: Iterable[Replacement], ranges: TextRanges
) -> Iterator[Edit]:
    start, end = ranges.of(node)
    of_itself = OF_ITSELF.match(ranges.text, end)
    for rank, new in replaced:
        if of_itself and not isinstance(new, ast.Name | ast.Attribute | ast.Subscript):
            continue
        text = ast.unparse(new)
        yield Edit.of(
            start, end, f"({text})" if isinstance(new, COMPOUND_EXPRESSIONS) else text, rank
        )


def _nodes(node: ast.AST, names: Sequence[str]) -> Iterator[tuple[ast.AST, Sequence[str]]]:
    """Yield the nodes whose text may be edited, each with the names of its function."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        own = [argument.arg for argument in arguments_of(node.args)]
        names = list(dict.fromkeys([*own, *sorted(bound_names(node)), *names]))
    yield node, names
    if isinstance(node, ast.Raise):
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            # Python 3.11 does not know the positions of an f-string's parts
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.stmt) and is_docstring(child):
                continue
            if isinstance(child, ast.expr) and not isinstance(
                getattr(child, "ctx", ast.Load()), ast.Load
            ):
                continue
            yield from _nodes(child, names)
