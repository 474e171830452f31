"""What a lesson's authors write: sentences and the promises that quote them, catalogues of answers,
and errors in both.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.core.errors import CourseError
from grader.course.lesson_texts import (
    compared_form,
    read_catalogue,
    read_contract,
    sentences_in,
    stub_sentences,
    task_sentences,
)

STUB = '''"""A lesson. This is not part of the contract."""


class Twice:
    """Twice x. It takes inputs up to
    1e4. x stays.
    """

    def forward(x):
        """Return 2x."""


# A number, e.g. 3.5. Work it out first:
#     not a sentence
LIMIT: float = ...


def helper():
    """Not a name of the lesson."""
'''
README = """# Title

## Your tasks

**`f(x)`**: returns `x`. It is
**also when it raised**.

* One item (of
  64. A number ends its line).
- Another item

```
code. More code.
```

## Predict, then run

Not a task.
"""


def written(tmp_path: Path, text: str, name: str = "tiny.py") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def test_sentences_of_docstrings_and_of_the_comment_above_a_constant() -> None:
    assert list(stub_sentences(STUB, ("Twice", "LIMIT"))) == [
        ("Twice", "Twice x."),
        ("Twice", "It takes inputs up to 1e4."),
        ("Twice", "x stays."),
        ("Twice", "Return 2x."),
        ("LIMIT", "A number, e.g. 3.5."),
        ("LIMIT", "Work it out first: not a sentence"),
    ]


def test_sentences_of_the_tasks_alone() -> None:
    assert [compared_form(text) for text in task_sentences(README)] == [
        "f(x): returns x.",
        "It is also when it raised.",
        "One item (of 64.",
        "A number ends its line).",
        "Another item",
    ]


def test_indented_code_is_no_sentence() -> None:
    assert list(sentences_in("One.\n\n    x = 1\n\nTwo.")) == ["One.", "Two."]


def test_a_wrapped_formula_is_no_list() -> None:
    assert list(sentences_in("Return x\n- 1. Done.\n\n* One.\n* Two.")) == [
        "Return x - 1.",
        "Done.",
        "One.",
        "Two.",
    ]


def test_a_bold_line_heads_a_list() -> None:
    assert list(sentences_in("**Inputs**\n\n* One.\n* **Two** is.")) == ["One.", "Two** is."]


def test_promises_are_read_in_order(tmp_path: Path) -> None:
    text = '[f.b]\nsays = ["B."]\nchecks = ["c"]\n[f.a]\nsays = []\n'
    first, second = read_contract(written(tmp_path, text, "contract.toml"))
    assert (first.name, first.terms.says, first.terms.checks) == ("f.b", ("B.",), ("c",))
    assert second.name == "f.a"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('f = "x"', "f is not a table"),
        ('[f.a]\nsays = "B."', r"\[f.a\].*says"),
        ("[f.a\n", "contract.toml"),
    ],
)
def test_a_malformed_contract_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CourseError, match=said):
        read_contract(written(tmp_path, text, "contract.toml"))


# --------------------------------------------------------------------------------------- catalogues

CATALOGUE = '''"""tiny: wrong answers."""


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


def test_cells_have_a_label_a_description_and_code(tmp_path: Path) -> None:
    cells = read_catalogue(written(tmp_path, CATALOGUE))
    assert [(cell.label, cell.name, cell.line) for cell in cells] == [
        ("squares", "squares", 4),
        ("halves", "halves", 14),
        ("squares 2", "squares", 22),
    ]
    squares, halves, _ = cells
    assert squares.description == "x is multiplied by itself."
    assert squares.source == "import torch\n\n\ndef double(x):\n    return x * x\n"
    assert halves.source.startswith("# a comment of the answer's own\n")


@pytest.mark.parametrize(("condition", "applies"), [("pytest>=8", True), ("pytest<8", False)])
def test_a_cell_applies_to_the_versions_it_names(
    condition: str, applies: bool, tmp_path: Path
) -> None:
    (cell,) = read_catalogue(written(tmp_path, f"# %% a [{condition}]\n# What.\nA = 1\n"))
    assert cell.label == "a"
    assert cell.applies() == applies


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
        read_catalogue(written(tmp_path, CATALOGUE), unique=True)


def test_without_a_file_there_are_no_cells_but_a_folder_is_an_error(tmp_path: Path) -> None:
    assert read_catalogue(tmp_path / "tiny.py") == ()
    assert read_catalogue(written(tmp_path, '"""Right answers."""\n')) == ()
    (tmp_path / "tiny").mkdir()
    with pytest.raises(CourseError, match=r"tiny is a folder\. Put each of its files as a cell"):
        read_catalogue(tmp_path / "tiny.py")
