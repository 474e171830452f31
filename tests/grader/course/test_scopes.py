"""The names that we find bound in functions, lambdas and
classes agree with Python's own compiler.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

import pytest

from grader.course.course import find_course
from grader.course.lesson_texts import read_catalogue
from grader.course.source import DEFINING, bound_names, imports_in

ROOT = find_course()
ODDITIES = """
import math

def matches(command, *rest, key=None, **more):
    match command:
        case [first, *others]: return first, others
        case {"go": where, **options}: return where, options
        case str() as text if (length := len(text)): return length
        case _: pass

def catches(path):
    try:
        with open(path) as stream, open(path) as (one, two): pass
    except OSError as error: print(error)
    else: import os.path, sys as system
    try: pass
    except* ValueError as group: print(group)
    del path

def counts():
    global TOTAL
    TOTAL = found = 0
    def more():
        nonlocal found
        found += 1
        inner = [step for step in range(3) if (last := step)]
        flat = [own for own in inner for own, other in [(1, 2)]]
        return flat, lambda argument: (argument, (kept := 1))
    for turn, (left, *right) in []: pass
    return more

class Holder(dict, metaclass=type):
    size: int = 3
    unset: float
    from math import pi as half
    def method(self, /, only): self.size = only
    class Within: depth = 1

async def waits(things):
    async for thing in things:
        async with thing as held: yield held, {name async for name in thing}
"""


def by_python(table: symtable.SymbolTable) -> Iterator[tuple[str, int, set[str]]]:
    """Return name, line and bindings of each scope according to the compiler, except for class
    bodies.
    """
    for inner in table.get_children():
        names = {
            one.get_name()
            for one in inner.get_symbols()
            if (one.is_parameter() or one.is_assigned() or one.is_imported() or one.is_namespace())
            and not (one.is_declared_global() or one.is_nonlocal())
        }
        yield inner.get_name(), inner.get_lineno(), names
        yield from by_python(inner)


class WithoutInlining(ast.NodeTransformer):
    """Turn list, set and dict comprehensions into generators, which bind the same names.

    Since Python 3.12 the compiler inlines comprehensions: it lists their names with those of the
    function around them.
    """

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        self.generic_visit(node)
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return ast.GeneratorExp(pair, node.generators)


def compared(text: str) -> list[tuple[str, set[str], set[str]]]:
    """Return, for each scope alone on its line, its name and bindings: according to us and to
    Python.
    """
    text = ast.unparse(ast.parse(text))  # in which a comprehension is on one line
    generators = ast.unparse(WithoutInlining().visit(ast.parse(text)))
    theirs = [
        ((name, line), names)
        for name, line, names in by_python(symtable.symtable(generators, "lesson.py", "exec"))
    ]
    places = [place for place, _ in theirs]
    bound = {place: names for place, names in theirs if places.count(place) == 1}
    found = []
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, (*DEFINING, ast.Lambda))
            and (place := (getattr(node, "name", "lambda"), node.lineno)) in bound
        ):
            imports = imports_in([] if isinstance(node, ast.Lambda) else node.body)
            found.append((place[0], {*bound_names(node), *imports}, bound[place]))
    return found


def test_every_way_to_bind_a_name_is_known() -> None:
    scopes = compared(ODDITIES)
    assert len(scopes) == 9
    assert [(name, ours) for name, ours, _ in scopes] == [
        (name, theirs) for name, _, theirs in scopes
    ]


@pytest.mark.parametrize(
    "folder",
    [
        "grader/judge",
        pytest.param("grader", marks=pytest.mark.proof),
        "solutions",
        "tests/accepted",
        "tests/mistakes",
        "tests/near_misses",
    ],
)
def test_scopes_bind_what_python_says(folder: str) -> None:
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    for path in paths:
        cells = read_catalogue(path) if folder.startswith("tests/") else ()
        for text in [cell.source for cell in cells] or [path.read_text("utf-8")]:
            for name, ours, theirs in compared(text):
                assert ours == theirs, f"{name} in {path}"
