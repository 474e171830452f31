"""Read catalogues of answers: their cells, and errors in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.core.errors import CourseError
from grader.course.lesson_texts import read_catalogue

TEXT = '''"""tiny: wrong answers."""


# %% squares
# x is multiplied
# by itself.
import torch


def double(x):
    return x * x


# %% halves
# x is divided.

# a comment of the answer's own
def double(x):
    return x / 2


# %% squares
# The same, as a power.
def double(x):
    return x**2
'''


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tiny.py"
    path.write_text(text, "utf-8")
    return path


def test_cells_have_a_label_a_description_and_code(tmp_path: Path) -> None:
    squares, halves, power = read_catalogue(written(tmp_path, TEXT))
    assert [cell.label for cell in (squares, halves, power)] == ["squares", "halves", "squares 2"]
    assert [cell.name for cell in (squares, halves, power)] == ["squares", "halves", "squares"]
    assert squares.description == "x is multiplied by itself."
    assert squares.source == "import torch\n\n\ndef double(x):\n    return x * x\n"
    assert halves.source.startswith("# a comment of the answer's own\n")
    assert [cell.line for cell in (squares, halves, power)] == [4, 14, 22]


@pytest.mark.parametrize(("condition", "applies"), [("pytest>=8", True), ("pytest<8", False)])
def test_a_cell_applies_to_the_versions_it_names(
    condition: str, applies: bool, tmp_path: Path
) -> None:
    (cell,) = read_catalogue(written(tmp_path, f"# %% a [{condition}]\n# What.\nA = 1\n"))
    assert cell.label == "a"
    assert cell.applies() == applies


def test_without_a_file_there_are_no_cells(tmp_path: Path) -> None:
    assert read_catalogue(tmp_path / "tiny.py") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# %%\n# What.\nA = 1\n", r"tiny\.py:1: a cell has no name\. Write: # %% name"),
        ("# %% two words\n# What.\nA = 1\n", r"tiny\.py:1: a cell has no name"),
        ("# %% a [torch]\n# What.\nA = 1\n", r"tiny\.py:1: \[torch\] is not a condition"),
        ("# %% a [from 2]\n# What.\nA = 1\n", r"tiny\.py:1: \[from 2\] is not a condition"),
        ("# %% a\nA = 1\n", r"tiny\.py:1: the cell a does not say what is special about it"),
        ("# %% a\n# What.\n", r"tiny\.py:1: the cell a has no code"),
        ("# %% a\n# What.\nA = 1\n\n# %% b\n# What.\ndef f(:\n", r"tiny\.py:7: invalid syntax"),
        ("A = 1\n# %% a\n# What.\nA = 1\n", r"tiny\.py:1: code before the first cell"),
        ('"""Open\n# %% a\n', r"tiny\.py:1: unterminated"),
    ],
)
def test_what_is_no_catalogue_is_told_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=said):
        read_catalogue(written(tmp_path, text))


def test_where_names_are_unique_a_second_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"tiny\.py:22: the name squares is taken"):
        read_catalogue(written(tmp_path, TEXT), unique=True)


def test_a_folder_of_files_is_told_how_to_become_a_catalogue(tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    with pytest.raises(CourseError, match=r"tiny is a folder\. Put each of its files as a cell"):
        read_catalogue(tmp_path / "tiny.py")
