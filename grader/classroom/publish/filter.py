"""Remove what may not be handed out from the text of a lesson's files.

Shared helpers and scenarios stay if a visible check or the diagnosis uses them. Texts that only
hidden checks have are removed, and so are hints that contain a solution. Names of hidden checks are
replaced.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from grader.course.stubs import BEGIN, END, STUB, first_line

HELD_BACK = "held_back"
"""The text that replaces a hidden check's name."""


def check_names(text: str) -> tuple[str, ...]:
    return tuple(
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def without_names(text: str, names: Iterable[str]) -> str:
    found = sorted(names, key=len, reverse=True)
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, found))})\b", HELD_BACK, text) if found else text


def words_in(text: str) -> frozenset[str]:
    """Return every name in a piece of code: variables, attributes, imports, and strings that could
    be names.
    """
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.add(node.name)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.isidentifier()
        ):
            found.add(node.value)
    return frozenset(found)


def reachable_definitions(text: str, words: Iterable[str]) -> str:
    """Return the text without the top-level definitions that nothing uses.

    A definition is used if ``words``, a used definition, or a statement that defines nothing names
    it.
    """
    lines = text.splitlines()
    body = ast.parse(text).body
    pieces = {
        name: "\n".join(lines[first_line(node) - 1 : node.end_lineno])
        for node in body
        for name in names_of(node)
    }
    kept: set[str] = set()
    todo = [
        *words,
        *(word for node in body if not names_of(node) for word in words_in(ast.unparse(node))),
    ]
    while todo:
        word = todo.pop()
        if word in pieces and word not in kept:
            kept.add(word)
            todo += words_in(pieces[word])
    dropped: set[int] = set()
    for node, after in zip(body, [*body[1:], None], strict=True):
        if names_of(node) and not kept.intersection(names_of(node)):
            end = first_line(after) if after else len(lines) + 1
            dropped |= set(range(first_line(node), end))
    return (
        "\n".join(line for number, line in enumerate(lines, 1) if number not in dropped).rstrip(
            "\n"
        )
        + "\n"
    )


def names_of(node: ast.stmt) -> tuple[str, ...]:
    """Return the names that a top-level statement defines; none for imports and the like."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (node.name,)
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return tuple(
        name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
    )


def texts_in(code: str) -> frozenset[str]:
    """Return every translatable text of Python code: constants, first lines of docstrings."""
    constants = {
        node.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return frozenset(
        constants | {text.strip().splitlines()[0] for text in constants if text.strip()}
    )


def copied_region(text: str, solution: str) -> str | None:
    """Return the first line of a region of the solution, if a text contains all of the region."""
    stripped = "\n".join(line.strip() for line in text.splitlines())
    return next((region[0] for region in regions(solution) if "\n".join(region) in stripped), None)


def hints_without(hints: Mapping[str, list[str]], secret: Iterable[str]) -> str:
    """Return ``hints.toml`` without the steps that are
    ``secret``. A JSON string is a TOML string.
    """
    left = set(secret)
    kept = {key: [step for step in steps if step not in left] for key, steps in hints.items()}
    tables = (
        f"{json.dumps(key)} = {json.dumps(steps, ensure_ascii=False, indent=1)}\n"
        for key, steps in kept.items()
        if steps
    )
    return "".join(tables)


def regions(solution: str) -> Iterator[tuple[str, ...]]:
    """Yield the lines of each region that students write,
    without indentation, comments and stub.
    """
    region: list[str] | None = None
    for line in solution.splitlines():
        text = line.strip()
        if text == BEGIN:
            region = []
        elif text == END:
            if region:
                yield tuple(region)
            region = None
        elif region is not None and text and not text.startswith((STUB, "#")):
            region.append(text)
