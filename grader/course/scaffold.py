"""A new lesson as text: a complete, tiny one that passes its own proof, to be turned into yours
piece by piece.

What only a person can write stands there as ``TO WRITE: …``, and ``grade verify`` lists every such
place until it is gone. Imports ``stubs``; polib when a catalogue is made.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path

from grader.course.stubs import stub_of

MARK = "TO WRITE:"
"""What stands wherever a person has something to write."""

SOLUTION = '''"""$lesson: TO WRITE: one line that says what the file is about."""

from torch import Tensor


def $name(x: Tensor) -> Tensor:
    """Return twice x, of x's shape and dtype."""
    # solution
    return 2 * x
    # end solution
'''

VISIBLE = '''"""$lesson, the checks that students may read."""

from grader.authoring import RandomInputs, Student, assert_tensor, check


@check(points=4, about="$name")
def test_value(student: Student, draw: RandomInputs) -> None:
    """$name(x) is twice x"""
    x = draw.tensor(3)
    assert_tensor(student.$name(x.clone()), 2 * x, "$name(x) is wrong", inputs={"x": x})
'''

HIDDEN = '''"""$lesson, the checks that are not handed out."""

import torch

from grader.authoring import RandomInputs, Student, assert_equal, assert_gradient, check


@check(points=3, about="$name", needs="test_value")
def test_gradient(student: Student, draw: RandomInputs) -> None:
    """the gradient of $name(x) is twice the incoming one"""
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    (got,) = torch.autograd.grad(student.$name(x), x, v.clone(), allow_unused=True)
    assert_gradient(got, 2 * v, inputs={"x": x, "v": v})


@check(points=3, about="$name", needs="test_value")
def test_x_stays(student: Student, reference: Student, draw: RandomInputs) -> None:
    """$name leaves x as it was"""
    x = draw.tensor(3)
    kept, expected = student.observe("kept", x), reference.observe("kept", x)
    assert_equal(kept, expected, "$name wrote into x", inputs={"x": x})
'''

SCENARIOS = '''"""What has to be seen from inside for $lesson.

Runs beside the student's module; imports torch only.
"""


def kept(student, x):
    """What x holds after the call."""
    student.$name(x)
    return x
'''

DIAGNOSIS = '''"""$lesson, the mistakes that people make in it.

Each is told by what the student's code does.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from grader.authoring import Failure, Student, mistake, same


@mistake(
    "squares",
    about="$name",
    title="x is squared",
    explanation="For x = {x} you returned {actual}, which is x * x = {square}.",
)
def squares(failure: Failure, student: Student) -> dict[str, Any] | None:
    """What came back is x * x, which is not twice x."""
    x = failure.inputs.get("x")
    return {"square": x * x} if isinstance(x, Tensor) and same(failure.actual, x * x) else None
'''

README = """# TO WRITE: the title

TO WRITE: what one learns here, and why one would want to, in a few lines.

## The idea

TO WRITE: the one thing to understand, with the smallest example that shows it.

## Your tasks

TO WRITE: what to write in `$lesson.py`: for each function what it is given and what it returns.

## Predict, then run

TO WRITE: a few lines to run, and a question to answer before.

## How to run

```
grade $lesson
grade hint $lesson
```

## Common mistakes

TO WRITE: what people get wrong, and how it shows.
"""

HINTS = """# Three steps for each name: a nudge, the idea, nearly the answer.

$name = [
  "TO WRITE: a nudge: a question that points to the right place.",
  "TO WRITE: the idea, in words.",
  "TO WRITE: nearly the answer, without the line itself.",
]
"""

MISTAKES = '''"""$lesson: wrong answers. A cell shows the definitions that differ from the solution."""


# %% squares
# x is multiplied by itself.
def $name(x):
    return x * x
'''

ACCEPTED = '''"""$lesson: other right answers. A cell shows the definitions that differ from the solution."""


# %% adds
# x is added to itself.
def $name(x):
    return x + x
'''

FILES = {
    "solutions/$lesson.py": SOLUTION,
    "exercises/$lesson/README.md": README,
    "exercises/$lesson/hints.toml": HINTS,
    "tests/checks/$lesson/test_visible.py": VISIBLE,
    "tests/checks/$lesson/test_hidden.py": HIDDEN,
    "tests/checks/$lesson/scenarios.py": SCENARIOS,
    "tests/checks/$lesson/diagnosis.py": DIAGNOSIS,
    "tests/mistakes/$lesson.py": MISTAKES,
    "tests/accepted/$lesson.py": ACCEPTED,
}
"""A lesson's files below the course's root, but for those that are made from others."""

LEARNERS_TEXTS = (
    "$name(x) is twice x",
    "the gradient of $name(x) is twice the incoming one",
    "$name leaves x as it was",
    "$name(x) is wrong",
    "$name wrote into x",
    "x is squared",
    "For x = {x} you returned {actual}, which is x * x = {square}.",
)
"""What of those files a translation has to have, titles, hints and README apart."""


def lesson_files(lesson: str, name: str, *, lang: str) -> dict[str, str]:
    """Return the files of a new lesson, by path below the course's root."""
    words = {"lesson": lesson, "name": name}
    files = {filled(path, words): filled(text, words) for path, text in FILES.items()}
    folder = f"exercises/{lesson}"
    files[f"{folder}/{lesson}.py"] = stub_of(files[f"solutions/{lesson}.py"], name=lesson)
    files[f"{folder}/{lang}.po"] = catalogue(
        [filled(text, words) for text in LEARNERS_TEXTS], lesson, lang
    )
    return files


def filled(text: str, words: dict[str, str]) -> str:
    return string.Template(text).substitute(words)


def catalogue(texts: list[str], lesson: str, lang: str) -> str:
    """A message catalogue in which nothing is translated yet."""
    import polib

    file = polib.POFile(wrapwidth=140)
    file.header = (
        f"The lesson {lesson} in the language {lang}. Titles, summary and hints come here too, once"
        " they are written."
    )
    file.metadata = {
        "Language": lang,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    file.extend(polib.POEntry(msgid=text, msgstr="") for text in texts)
    return str(file) + "\n"


def placeholders_in(path: Path) -> Iterator[str]:
    """Yield each line with a placeholder: ``README.md:5: TO WRITE: …``."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        _, mark, wanted = line.partition(MARK)
        if mark:
            text = wanted.strip(' ",')
            yield f"{path.name}:{number} still holds its placeholder: {MARK} {text}"
