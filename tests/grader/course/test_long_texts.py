"""Reading a text of twice the size takes at most about twice the operations, and stays within
limits.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import re._constants as constants  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from factories.long_texts import notebook, repeated

import grader.course
from grader.course.notebook import MAX_FILE_BYTES, cells_of
from grader.course.source import MAX_SYNTAX_NODES, Source
from grader.course.submission import decode
from grader.course.syntax_errors import MAX_LINE, RULES, explain

TEXTS = {
    "passes": "    pass\n",
    "functions that call each other": "    def f{0}(): f{1}()\n",
    "methods": "    def f{0}(self): self.f{1}()\n",
    "attributes": ".a",
    "lambdas": "    lambda: 0\n",
    "entries": "    T['a']\n",
}
TOP = {
    "classes with bases": "class A{0}(A{1}): pass\ndef f{0}(): A{0}\n",
    "imports and functions": "import b{0}\ndef f{0}(): b{0}\n",
    "functions": "def f{0}(): f{1}()\n",
    "entries of a table": "T = {'a': 1}\ndef f{0}(): T['a']\n",
}
LEAST = 4_000
"""The bytes of a smaller text."""
HEADS = {"methods": "class A:\n", "attributes": "def f(): a"}


@pytest.fixture(autouse=True)
def _comparisons_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a comparison of two nodes be a call, so that a search in a list of nodes counts."""
    monkeypatch.setattr(ast.AST, "__eq__", lambda one, other: one is other)


def operations(run: Callable[[], object]) -> int:
    """Count the calls, of Python and of C, while a function runs."""
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def growth(run: Callable[[int], Callable[[], object]], size: int) -> float:
    return operations(run(2 * size)) / operations(run(size))


@pytest.mark.parametrize("name", [*TEXTS, *TOP])
def test_names_are_found_in_linear_time(name: str) -> None:
    def analysis(size: int) -> Callable[[], object]:
        head = "" if name in TOP else HEADS.get(name, "def f():\n")
        source = Source(head + repeated({**TEXTS, **TOP}[name], size), "a.py")
        names = [one for one in source.definitions if one == "A" or one[0] == "f"]
        assert names
        return lambda: source.names_used(*reversed(names))

    # Python's parser refuses a chain of thousands of attributes.
    assert growth(analysis, LEAST // 4 if name == "attributes" else LEAST) < 2.5


def test_scratch_cells_are_read_in_linear_time() -> None:
    def reading(size: int) -> Callable[[], object]:
        text = "# scratch\n" + repeated("b{0} = 1\n", size)
        data = notebook("def f(): return b1", text).encode()
        return lambda: decode("tiny", "tiny.ipynb", data, notebook=True)

    assert growth(reading, LEAST) < 2.5


def test_a_long_line_with_a_syntax_error_is_not_searched() -> None:
    """The patterns take the square of a line's length or more; 5,000 blanks took minutes."""
    assert explain("invalid syntax", "else if " + " " * 100_000 + "y") is None
    assert explain("invalid syntax", "else if " + "y" * (MAX_LINE - 8)) is not None


def test_lines_of_blanks_in_a_cell_are_read_in_linear_time() -> None:
    """A pattern for empty lines took the square of a line's length."""
    text = " " * 200_000 + "x\n"
    assert cells_of(text, [(1, 1)]).texts == {1: text}


def test_a_file_has_limits_on_its_bytes_and_on_its_tree() -> None:
    assert decode("tiny", "tiny.py", b"1" + b"#" * (MAX_FILE_BYTES - 1)).problem is None
    assert decode("tiny", "tiny.py", b"#" * (MAX_FILE_BYTES + 1)).problem
    assert not Source("a\n" * (MAX_SYNTAX_NODES // 3 - 1), "tiny.py").unreadable
    assert Source("a\n" * MAX_SYNTAX_NODES, "tiny.py").unreadable


def patterns() -> Iterator[tuple[str, str]]:
    """Yield every pattern that reads a student's text, with its place."""
    for module in pkgutil.walk_packages(grader.course.__path__, "grader.course."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                yield f"{module.name}.{name}", value.pattern
    for rule in RULES:
        yield "a rule for lines", rule.line
        yield "a rule for messages", rule.message


def nested(tree: Any, inside: bool = False) -> bool:
    """Return whether a pattern repeats without bound what repeats without bound."""
    for operation, argument in tree:
        repeats = operation in (constants.MAX_REPEAT, constants.MIN_REPEAT)
        endless = repeats and argument[1] == constants.MAXREPEAT
        if endless and inside:
            return True
        parts = [argument[2]] if repeats else list(_parts(operation, argument))
        if any(nested(part, inside or endless) for part in parts):
            return True
    return False


def _parts(operation: Any, argument: Any) -> Iterator[Any]:
    if operation is constants.BRANCH:
        yield from argument[1]
    elif operation is constants.SUBPATTERN:
        yield argument[-1]
    elif operation in (constants.ASSERT, constants.ASSERT_NOT):
        yield argument[1]


def test_no_pattern_has_nested_repetition() -> None:
    assert nested(parser.parse(r"(\w+(,\w+)*)"))
    found = {place for place, pattern in patterns() if nested(parser.parse(pattern))}
    assert found <= {"grader.course.lesson_texts.SENTENCE"}  # which reads the course's own texts
