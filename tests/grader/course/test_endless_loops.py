"""A loop that can't end is told from one that may, from the text alone."""

from __future__ import annotations

import pytest

from grader.course.endless_loops import names_in_endless_loop
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
