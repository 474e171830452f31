"""Sentences of stubs and READMEs, and the promises that quote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.core.errors import CourseError
from grader.course.lesson_texts import (
    compared_form,
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


def test_promises_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    path.write_text('[f.b]\nsays = ["B."]\nchecks = ["c"]\n[f.a]\nsays = []\n', "utf-8")
    first, second = read_contract(path)
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
    path = tmp_path / "contract.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(CourseError, match=said):
        read_contract(path)
