"""A loop that can't end is told from one that may, from the text alone."""

from __future__ import annotations

import pytest

from grader.course.endless_loops import names_in_endless_loop, running_loop
from grader.course.source import Source


@pytest.mark.parametrize(
    ("condition", "body", "names"),
    [
        ("True", "y = x", ()),
        ("1", "pass", ()),
        ("True", "for k in x: break", ()),
        ("i < 10", "y = x", ("i",)),
        ("i < n and not done", "y = x[i] + i * n", ("i", "n", "done")),
        ("0 < 1", "y = x", None),  # not looked at
        ("False", "y = x", None),
        ("True", "if y: break", None),
        ("True", "return 1", None),
        ("True", "yield 1", None),
        ("True", "raise ValueError", None),
        ("True", "for k in x: return k", None),
        ("i < 10", "i += 1", None),
        ("i < 10", "i = i + 1", None),
        ("i < 10", "for i in x: pass", None),
        ("i < 10", "(i := 3)", None),
        ("i < 10", "i.add_(1)", None),
        ("i < 10", "f(i)", None),
        ("i < 10", "j = i", None),
        ("i[0] < 10", "y = x", None),
        ("todo", "todo.pop()", None),
        ("todo", "y = x", ("todo",)),
        ("f(i)", "y = x", None),
        ("next(i)", "y = x", None),
        ("shared < 10", "g()", None),
    ],
)
def test_only_a_loop_that_surely_never_ends_is_found(
    condition: str, body: str, names: tuple[str, ...] | None
) -> None:
    text = (
        f"def f(x, i, n):\n    y = 0\n    while {condition}:\n        {body}\n    return y\n"
        "def g():\n    global shared\n    shared += 1\n"
    )
    found = names_in_endless_loop(Source(text, "lesson.py"), 4)
    assert found == (None if names is None else (3, names))
    assert names_in_endless_loop(Source(text, "lesson.py"), 2) is None


RUNNING = """\
def helper(n):
    for k in range(n):
        k += 1
    return k
def deep(n):
    while n:
        n = helper(n)
def top(n):
    for k in deep(n):
        k = helper(k)
    while n.any():
        n = helper(n)
    return helper(n)
"""


@pytest.mark.parametrize(
    ("lines", "loop"),
    [
        ([3, 12], 11),  # the helper's loop ends
        ([3, 7, 10], 6),  # a while rather than a for
        ([3, 10], 9),
        ([7, 9], 6),  # what the for goes through is not inside of it
        ([2, 13], None),
        ([3, 13], 2),
        ([11], 11),
    ],
)
def test_the_loop_that_is_running_is_found(lines: list[int], loop: int | None) -> None:
    assert running_loop(Source(RUNNING, "lesson.py"), lines) == loop
