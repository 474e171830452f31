"""Edits of statements remove a guard, move statements, or add a finally; the result is valid
Python.
"""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from grader.course.source import Source
from grader.judge.repair.donors import edits_in
from grader.judge.repair.edits import Edit, TextRanges, without_case


def texts(body: str) -> set[str]:
    source = Source(f"def f(x):\n{body}", "l.py")
    return {ast.unparse(ast.parse(edit.applied(source.text))) for edit in edits_in(source, "f")}


def indented(code: str) -> str:
    return "".join(f"    {line}\n" for line in dedent(code).strip().splitlines())


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("if x:\n    return 0\nreturn x", "pass\nreturn x"),
        ("if x:\n    x += 1\nreturn x", "x += 1\nreturn x"),
        ("with g():\n    a(x)\nreturn x", "a(x)\nreturn x"),
        ("for y in x:\n    a(y)\n    return x", "for y in x:\n    a(y)\nreturn x"),
        ("for y in x:\n    a(y)\nb(x)", "for y in x:\n    a(y)\n    b(x)"),
        ("with g():\n    a(x)\n    b(x)", "a(x)\nwith g():\n    b(x)"),
        ("a(x)\nwith g():\n    b(x)", "with g():\n    a(x)\n    b(x)"),
        ("y = a(x)\nb(x)\nreturn y", "try:\n    y = a(x)\nfinally:\n    b(x)\nreturn y"),
        ("try:\n    a(x)\nexcept E:\n    pass", "try:\n    a(x)\nexcept E:\n    raise"),
        ("try:\n    a(x)\nexcept E:\n    pass", "a(x)"),
        ("while x:\n    break", "while x:\n    pass"),
    ],
)
def test_statements_are_rearranged(wrong: str, right: str) -> None:
    assert ast.unparse(ast.parse(f"def f(x):\n{indented(right)}")) in texts(indented(wrong))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("x[0]", "x"),
        ("x[:n]", "x[:n + 1]"),
        ("x[i]", "x[i - 1]"),
        ("range(n)", "range(n + 1)"),
        ("torch.zeros(3)", "torch.zeros(3, dtype=x.dtype)"),
        ("x.sum(0)", "x.sum(0, keepdim=True)"),
        ("g(x)", "g(*x)"),
        ("x.data", "x"),
        ("x == y", "x is y"),
        ("x.view(3)", "x.reshape(3)"),
    ],
)
def test_expressions_that_statements_hold(wrong: str, right: str) -> None:
    assert ast.unparse(ast.parse(f"def f(x):\n    return {right}\n")) in texts(
        f"    return {wrong}\n"
    )


def test_a_decorator_and_the_class_of_an_exception() -> None:
    source = Source("@cache\ndef f(x):\n    raise ValueError(1)\n", "l.py")
    made = {edit.applied(source.text).strip() for edit in edits_in(source, "f")}
    assert "def f(x):\n    raise ValueError(1)" in made
    assert "@cache\ndef f(x):\n    raise TypeError(1)" in made


def test_a_guard_goes_before_other_statements() -> None:
    source = Source("def f(x):\n    if x:\n        return 0\n    return x\n", "l.py")
    edits = {edit.main.new: edit.rank for edit in edits_in(source, "f") if edit.main.new == "pass"}
    other = Source("def f(x):\n    if x:\n        x = 0\n    return x\n", "l.py")
    late = {edit.main.new: edit.rank for edit in edits_in(other, "f") if edit.main.new == "pass"}
    assert edits["pass"] < late["pass"]


@pytest.mark.parametrize(
    ("wrong", "place", "left"),
    [
        ("if x == 0:\n    a(x)\nelse:\n    b(x)", "0", ["b(x)", "a(x)"]),
        ("if x:\n    if x == 0:\n        a(x)", "0", ["if x:\n    pass", "if x:\n    a(x)"]),
        ("y = a(x) if x == 0 else b(x)", "0", ["y = b(x)", "y = a(x)"]),
        ("try:\n    a(x)\nexcept E:\n    return 0\nb(x)", "a(x)", ["pass\nb(x)"]),
        ("if x == 0:\n    a(x)", "a(x)", []),  # not in the condition
        ("a(x)", "x", []),
    ],
)
def test_a_case_is_left_out_as_a_whole(wrong: str, place: str, left: list[str]) -> None:
    source = Source(f"def f(x):\n{indented(wrong)}", "l.py")
    start = source.text.index(place, 10)
    edit = Edit.of(start, start + len(place), "1", 0)
    found = [*without_case(source.tree, edit, TextRanges(source.text))]
    texts = [ast.unparse(ast.parse(one.applied(source.text))) for one in found]
    assert texts == [ast.unparse(ast.parse(f"def f(x):\n{indented(one)}")) for one in left]
