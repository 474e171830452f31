"""Scratch cells of a notebook are not graded, but definitions that other cells need are kept."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from nbformat import v4, writes

from grader.course.submission import LessonFile, read_submission

STUB = "def double(x):\n    raise NotImplementedError\n"
RIGHT = "def double(x):\n    return 2 * x\n"
MARK = "# scratch: try it here\n"


def read(folder: Path, *cells: str | tuple[str, ...]) -> LessonFile:
    """Return the lesson in a notebook with these cells; a tuple is a text and its tags."""
    made = []
    for one in cells:
        text, *tags = (one,) if isinstance(one, str) else one
        made.append(v4.new_code_cell(text, metadata={"tags": tags} if tags else {}))
    (folder / "tiny.ipynb").write_text(writes(v4.new_notebook(cells=made)))
    return read_submission(folder, ["tiny"])["tiny"]


def kept(file: LessonFile) -> list[str]:
    """Return the statements of a lesson, without those that have no effect."""
    return [
        ast.unparse(node) for node in ast.parse(file.text).body if not isinstance(node, ast.Pass)
    ]


@pytest.mark.parametrize(
    "scratch",
    [
        MARK + "double(2)",
        MARK + "while True:\n    pass",
        MARK + "raise ValueError",
        MARK + "this is no Python",
        MARK + "%timeit double(3)\n!ls",
        MARK + "import matplotlib.pyplot as plt\nplt.plot([1])",
        MARK + "def double(x):\n    return 3 * x\ndouble(1)",
        MARK + "double = None",
        MARK + "double = 3; x = double",
        MARK + "@decorate\ndef show(x=unknown): ...",
        MARK + "class Shown(unknown.Base):\n    y = unknown",
        ("double(2)", "scratch"),
        "  #Scratch\ndouble(2)",
    ],
)
def test_what_is_tried_in_a_scratch_cell_is_not_graded(scratch: str, tmp_path: Path) -> None:
    file = read(tmp_path, RIGHT, scratch)
    assert kept(file) == [RIGHT.rstrip()]
    assert (file.problem, file.left_out) == (None, ())


@pytest.mark.parametrize(
    ("code", "scratch", "needed"),
    [
        ("def double(x):\n    return math.fsum([x, x])", "import math\nimport os", "import math"),
        ("def double(x):\n    return F * x", "F = 2\nprint(F)", "F = 2"),
        (
            "def double(x):\n    return twice(x)",
            "def twice(x):\n    return 2 * x\ntwice(3)",
            "def twice(x):\n    return 2 * x",
        ),
        (STUB, RIGHT + "double(2)", RIGHT.rstrip()),
        ("import torch", RIGHT, RIGHT.rstrip()),
        ("LIMIT: float = ...", "LIMIT = 20.0", "LIMIT = 20.0"),
    ],
)
def test_what_the_other_cells_need_counts_because_the_kernel_has_it(
    code: str, scratch: str, needed: str, tmp_path: Path
) -> None:
    file = read(tmp_path, code, MARK + scratch)
    assert kept(file) == [ast.unparse(ast.parse(code)), needed]
    in_cell = file.text.split("\n")[file.cells[1][1] - 1 :]
    first = needed.split("\n")[0]
    assert in_cell.index(first) == (MARK + scratch).split("\n").index(first)


def test_what_a_needed_helper_needs_is_kept_too(tmp_path: Path) -> None:
    helper = "def twice(x):\n    return math.fsum([x, x])"
    file = read(
        tmp_path, MARK + "import math", "def double(x):\n    return twice(x)", MARK + helper
    )
    assert kept(file)[0] == "import math"
    assert kept(file)[2] == helper
    assert [number for number, _ in file.cells] == [1, 2, 3]
