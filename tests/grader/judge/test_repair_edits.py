"""Edits are small, leave valid Python, and name exactly where they are."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path
from textwrap import indent

import pytest

from grader.core.errors import CourseError
from grader.course.lesson_texts import RepairPattern, read_repairs
from grader.course.source import Source
from grader.judge.repair.donors import edits_in
from grader.judge.repair.edits import Edit, TextRanges, without_case
from grader.judge.repair.trials import plain_text, search, wrong_expression

GIVEN_BACK = "class F:\n    def backward(ctx, grad_output):\n        return {}\n"


def files_from(text: str, name: str = "f") -> dict[str, Edit]:
    """Return every text that one edit makes of a file, without layout, and the edit."""
    edits = edits_in(Source(text, "lesson.py"), name)
    return {plain(edit.applied(text)): edit for edit in edits}


def plain(text: str) -> str:
    """Return a text without its layout."""
    return ast.unparse(ast.parse(text))


def function(body: str) -> str:
    return f"def f(x, y):\n{indent(body, '    ')}\n"


@pytest.mark.parametrize(
    ("wrong", "right", "place"),
    [
        ("x - y", "x + y", "x - y"),
        ("y * (1 + y)", "y * (1 - y)", "1 + y"),
        ("2 * x * y + x", "2 * x * (y + x)", "2 * x * y + x"),
        ("x > y", "x >= y", "x > y"),
        ("3 * x", "2 * x", "3"),
        ("-x", "x", "-x"),
        ("x.detach() * y", "x * y", "x.detach()"),
        ("float(x)", "x", "float(x)"),
        ("torch.log10(x)", "torch.log(x)", "torch.log10"),
        ("x.grad", "x.grad.clone()", "x.grad"),
        ("[x, y]", "(x, y)", "[x, y]"),
        ("g(y, x)", "g(x, y)", "g(y, x)"),
        ("g(x, dim=0)", "g(x)", "g(x, dim=0)"),
        ("x * x", "x * y", "x"),
        ("z.backward()", "z.backward(retain_graph=True)", "z.backward()"),
        ("x if y else 0", "0 if y else x", "x if y else 0"),
        ("1.0 * x", "y * x", "1.0"),
    ],
)
def test_slips_are_undone_at_their_place(wrong: str, right: str, place: str) -> None:
    text = function(f"return {wrong}")
    edit = files_from(text)[plain(function(f"return {right}"))]
    assert text[slice(*edit.main.shown)] == place


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
        ("0.1 * x", "1.0 * x"),
    ],
)
def test_expressions_are_changed(wrong: str, right: str) -> None:
    assert plain(function(f"return {right}")) in files_from(function(f"return {wrong}"))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("y += 1", "y = 1"),
        ("y = 1", "y += 1"),
        ("y.add(1)", "y.add_(1)"),
        ("y.zero_()", "pass"),
        ("a(y)\nb(y)", "b(y)\na(y)"),
        ("a = 1.0\nb = 1.0", "a = y\nb = y"),
        ("a, y = 0, int(y)", "a, y = (a, y)"),
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
def test_statements_are_changed_and_rearranged(wrong: str, right: str) -> None:
    assert plain(function(right)) in files_from(function(wrong))


@pytest.mark.parametrize(
    ("wrong", "right", "place"),
    [
        ("z = x + y\nreturn [y, z]", "z = x + y\nreturn [(x + y), z]", "y"),
        ("for i in x:\n    a(i)\n    return y", "for i in x:\n    a(i)\nreturn y", "return y"),
        ("with g():\n    a(x)\n    b(x)", "a(x)\nwith g():\n    b(x)", "a(x)"),
        ("for i in x:\n    a(i)\nb(x)", "for i in x:\n    a(i)\n    b(x)", "b(x)"),
    ],
)
def test_the_smallest_place_is_shown(wrong: str, right: str, place: str) -> None:
    text = function(wrong)
    edit = files_from(text)[plain(function(right))]
    assert text[slice(*edit.main.shown)] == place


def test_the_incoming_gradient_is_multiplied_in() -> None:
    wanted = GIVEN_BACK.format("grad_output * (2 * ctx.x)")
    assert plain(wanted) in files_from(GIVEN_BACK.format("2 * ctx.x"), "F")


def test_edits_come_by_rank_and_later_lines_first() -> None:
    edits = list(edits_in(Source("def f(x):\n    y = x + 1\n    return y - 2\n", "l.py"), "f"))
    assert [edit.rank for edit in edits] == sorted(edit.rank for edit in edits)
    assert all(a.start >= b.start for a, b in pairwise(edits) if a.rank == b.rank)


def test_what_cannot_be_a_repair_is_left_alone() -> None:
    """These are docstrings, exceptions' messages, f-strings, annotations, other functions,
    constants.
    """
    text = (
        'LIMIT = 3\n\n\ndef g(x):\n    return 1\n\n\ndef f(x: "1"):\n    """1"""\n'
        '    print(f"{x + 1}")\n    raise ValueError(1)\n'
    )
    touched = {text[slice(*edit.main.shown)] for edit in edits_in(Source(text, "l.py"), "f")}
    printed = 'print(f"{x + 1}")'
    assert touched == {printed, "ValueError", f"{printed}\n    raise ValueError(1)"}
    assert not list(edits_in(Source(text, "l.py"), "LIMIT"))


def test_helpers_are_edited_unless_they_are_sound() -> None:
    text = "def g(x):\n    return x + 1\n\n\ndef f(x):\n    return g(x)\n"
    source = Source(text, "l.py")
    assert any(edit.start < text.index("def f") for edit in edits_in(source, "f"))
    assert not any(edit.start < text.index("def f") for edit in edits_in(source, "f", sound={"g"}))


def test_a_place_counts_characters_not_bytes() -> None:
    source = Source('def f(x):\n    return "값" + x - 1\n', "l.py")
    places = [wrong_expression(edit, source) for edit in edits_in(source, "f")]
    wrong = next(place for place in places if place.text == '"값" + x')
    assert (wrong.line, wrong.column, wrong.end_line, wrong.end_column) == (2, 12, 2, 19)
    assert wrong.source_text == '    return "값" + x - 1'


def test_in_a_notebook_lines_count_in_the_cell() -> None:
    text = "import torch\n\n\ndef f(x):\n    return x - 1\n"
    source = Source(text, "l.ipynb", cells=((2, 1), (5, 4)))
    wrong = wrong_expression(next(iter(edits_in(source, "f"))), source)
    assert (wrong.cell, wrong.line, wrong.end_line) == (5, 2, 2)


def test_a_hint_shows_no_needless_parentheses() -> None:
    assert plain_text("(x + 1)") == "x + 1"
    assert plain_text("b()\n    a()") == "b()\n    a()"


ONE, INSIDE, ELSEWHERE, LATER = (
    Edit.of(10, 20, "a", 0),
    Edit.of(12, 15, "b", 0),
    Edit.of(30, 40, "c", 0),
    (Edit.of(12, 13, "d", 1)),
)


@pytest.mark.parametrize(
    ("repairs", "found"),
    [
        ([ONE], ONE),
        ([ONE, INSIDE], INSIDE),  # the same place, said more exactly
        ([ONE, ELSEWHERE], None),  # who knows which of them
        ([ONE, LATER], ONE),
        ([LATER], LATER),
        ([], None),
    ],
)
def test_one_place_is_claimed_or_none(repairs: list[Edit], found: Edit | None) -> None:
    edits = [ONE, INSIDE, ELSEWHERE, LATER]
    assert search(edits, lambda edit: edit in repairs).edit == found


def test_without_time_to_finish_a_rank_no_repair_is_reported() -> None:
    ticks = iter(range(100))
    found = search([ONE, ELSEWHERE], lambda _: True, seconds=1.5, clock=lambda: next(ticks))
    assert (found.edit, found.tried) == (None, 1)


def test_a_later_rank_is_not_tried_after_a_repair() -> None:
    found = search([ONE, LATER], lambda edit: True)
    assert (found.edit, found.tried) == (ONE, 1)


def test_a_lessons_own_repairs_come_first() -> None:
    text = "def f(x, y):\n    return torch.relu(x + y) * y - torch.relu(x + x) * y\n"
    own = RepairPattern("torch.relu(A + B) * B", "torch.where(A > B, A, B)")
    first, *others = edits_in(Source(text, "l.py"), "f", patterns=[own])
    assert "return torch.where(x > y, x, y) - torch.relu(x + x) * y" in first.applied(text).replace(
        "(torch.where(x > y, x, y))", "torch.where(x > y, x, y)"
    )
    assert others[0].rank > first.rank
    assert {edit.applied(text) for edit in others} <= {
        edit.applied(text) for edit in edits_in(Source(text, "l.py"), "f")
    }


def test_a_lessons_own_repairs_are_expressions(tmp_path: Path) -> None:
    file = tmp_path / "diagnosis.toml"
    file.write_text('[[repairs]]\nwrong = "A * A"\nright = "A ** 2"\n')
    assert read_repairs(file) == (RepairPattern("A * A", "A ** 2"),)
    file.write_text('[[repairs]]\nwrong = "x = A"\nright = "A"\n')
    with pytest.raises(CourseError, match="x = A"):
        read_repairs(file)


def test_what_a_copy_does_not_share_is_not_asked_of_a_copy() -> None:
    found = files_from("def f(x, y):\n    return x.grad + y.requires_grad_()\n")
    assert not [text for text in found if ".clone().grad" in text or ".detach().grad" in text]
    assert any("y.clone().requires_grad_()" in text for text in found)


def test_a_decorator_and_the_class_of_an_exception() -> None:
    made = files_from("@cache\ndef f(x):\n    raise ValueError(1)\n")
    assert "def f(x):\n    raise ValueError(1)" in made
    assert "@cache\ndef f(x):\n    raise TypeError(1)" in made


def test_a_guard_goes_before_other_statements() -> None:
    ranks = []
    for first in ("return 0", "x = 0"):
        edits = files_from(function(f"if x:\n    {first}\nreturn x"))
        ranks.append(edits[plain(function("pass\nreturn x"))].rank)
    assert ranks == sorted(set(ranks))


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
    source = Source(function(wrong), "l.py")
    start = source.text.index(place, 10)
    edit = Edit.of(start, start + len(place), "1", 0)
    found = [*without_case(source.tree, edit, TextRanges(source.text))]
    assert [plain(one.applied(source.text)) for one in found] == [*map(plain, map(function, left))]
