"""A lesson teaches, and a check verifies, every program and example of the course's five source
documents.

``exercises/README.md`` has the table; these tests follow each of its rows to the check and look for
its numbers there.
"""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass

import pytest

from grader.course.course import Lesson, find_course, load_course
from grader.course.source import defined_names

COURSE = load_course(find_course())
PROGRAMS = [f"C{number}" for number in range(1, 23)]
DOCUMENTS = ["W", "G", "S", "F"]


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    source: str
    numbers: tuple[str, ...]
    lesson: str
    check: str


def rows() -> list[Row]:
    """Return the table of ``exercises/README.md``."""
    text = (find_course() / "exercises" / "README.md").read_text("utf-8")
    pattern = r"^\| (\w+) \| [^|]+ \| ([^|]*) \| \[(\w+)\]\(\w+/README\.md\) \| `(\w+)` \|$"
    found = re.findall(pattern, text, flags=re.MULTILINE)
    return [
        Row(source, tuple(n.strip() for n in numbers.split(",") if n.strip()), *where)
        for source, numbers, *where in found
    ]


ROWS = rows()


@functools.cache
def functions(lesson: Lesson) -> dict[str, set[float]]:
    """Return the numbers in each check and its docstring, in what it calls from its own file, and
    in that file's constants. A check that computes a document's program by torch says its numbers
    in the docstring.
    """
    found = {}
    for path in lesson.check_files:
        tree = ast.parse(path.read_text("utf-8"))
        top = {name: node for node in tree.body for name in defined_names(node)}
        constants: set[float] = set().union(
            *(numbers(node) for node in tree.body if isinstance(node, ast.Assign))
        )
        for name, node in top.items():
            called = {
                inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)
            } & top.keys()
            said = re.findall(r"\d+(?:\.\d+)?", docstring(node))
            found[name] = numbers(node).union(
                map(float, said), constants, *(numbers(top[other]) for other in called)
            )
    return found


def docstring(node: ast.AST) -> str:
    return ast.get_docstring(node) or "" if isinstance(node, ast.FunctionDef) else ""


def numbers(node: ast.AST) -> set[float]:
    """Return the numbers in a piece of code, without their sign."""
    values = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return {
        float(value)
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def rounded(known: float, like: str) -> float:
    """Return a number with as many decimals as another has."""
    return round(known, len(like.partition(".")[2]))


def test_every_program_and_every_document_is_in_the_table() -> None:
    assert {row.source for row in ROWS} == {*PROGRAMS, *DOCUMENTS}
    assert all(sum(row.source == document for row in ROWS) >= 2 for document in DOCUMENTS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.source}-{row.check}")
def test_a_row_leads_to_a_check_with_its_numbers(row: Row) -> None:
    checks = functions(COURSE.lesson(row.lesson))
    name = f"test_{row.check}"
    assert name in checks
    missing = [
        n
        for n in row.numbers
        if not any(rounded(known, n) == abs(float(n)) for known in checks[name])
    ]
    assert not missing, f"{name} holds {sorted(checks[name])}"


def test_every_lesson_has_a_row_of_its_own() -> None:
    """The table of lessons is in the order of the course."""
    text = (find_course() / "exercises" / "README.md").read_text("utf-8")
    listed = re.findall(
        r"^\| [^|]* \| \[(\w+)\]\(\1/README\.md\)(?: \(core\))? \|", text, flags=re.MULTILINE
    )
    assert listed == [lesson.id for lesson in COURSE.lessons]
