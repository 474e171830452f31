"""Read a lesson's contract: what stub and README promise, sentence by sentence, and the checks.

``tests/checks/<lesson>/contract.toml`` has a table for each promise, below the definition that it
is about::

    [Sigmoid.any_shape]
    says = ["It takes a tensor of any shape.", "Any shape: vectors, matrices, a single number."]
    checks = ["every_shape", "empty_tensors"]
    broken_by = ["flattens_its_input"]

``says`` quotes sentences of the stub's docstrings (for a constant: of the comment above it) and of
the README's section "Your tasks". ``checks`` hold the promise. Of the wrong answers in
``broken_by``, at least one breaks this promise and nothing else: a cell of the mistakes, or of the
near misses (``"near miss NAME"``). A sentence that permits something names accepted answers instead
(``allows``). One that promises nothing says why (``unchecked``).
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.files import read_toml
from grader.core.report import read
from grader.course.analysis.definitions import defined_names

TASKS = "## Your tasks"
DOCUMENTED = ast.FunctionDef | ast.ClassDef
SENTENCE = re.compile(r"\S.*?(?:(?<!e\.g)(?<!i\.e)[.?!][)*`\"]*(?=\s|$)|$)", re.DOTALL)
BULLET = re.compile(r"\s*[*-] ")


@dataclass(frozen=True, slots=True)
class Terms:
    """What ``contract.toml`` says about one promise."""

    says: tuple[str, ...]
    checks: tuple[str, ...] = ()
    broken_by: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    unchecked: str = ""


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise: the definition that it is about, its anchor, its terms."""

    about: str
    anchor: str
    terms: Terms

    @property
    def name(self) -> str:
        return f"{self.about}.{self.anchor}"


def read_contract(path: Path) -> tuple[Promise, ...]:
    """Return the promises in the order of the file; raise CourseError for a malformed one."""
    promises = []
    for about, anchors in read_toml(path).items():
        if not isinstance(anchors, dict):
            raise CourseError(f"{path}: {about} is not a table. Write: [{about}.anchor]")
        for anchor, terms in anchors.items():
            try:
                promises.append(Promise(about, anchor, read(Terms, terms)))
            except ValueError as error:
                raise CourseError(f"{path}: [{about}.{anchor}]: {error}") from None
    return tuple(promises)


def compared_form(sentence: str) -> str:
    """Return a sentence in the form in which it is compared: without Markdown, on one line."""
    return " ".join(re.sub(r"[*`]", "", sentence).split())


def stub_sentences(text: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a stub with the name that it is about."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        for name in (name for name in defined_names(node) if name in names):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                documented = [one for one in ast.walk(node) if isinstance(one, DOCUMENTED)]
                texts = [ast.get_docstring(one) or "" for one in documented]
            else:
                texts = [_comment_above(lines, node.lineno)]
            yield from ((name, sentence) for text in texts for sentence in sentences_in(text))


def task_sentences(readme: str) -> Iterator[str]:
    """Yield the sentences of a README's section "Your tasks"."""
    _, _, rest = readme.partition(f"\n{TASKS}\n")
    yield from sentences_in(re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0])


def sentences_in(text: str) -> Iterator[str]:
    """Yield the sentences of a text, block by block; code and tables are left out."""
    text = re.sub(r"^```.*?^```$", "", inspect.cleandoc(text), flags=re.DOTALL | re.MULTILINE)
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        if not line.strip() or BULLET.match(line):
            yield from SENTENCE.findall(" ".join(block))
            block = []
        if block or not line.startswith(("    ", "|", "!")):
            block += line.lstrip("*- ").split() if BULLET.match(line) else line.split()


def _comment_above(lines: Sequence[str], line: int) -> str:
    """Return the text of the comment that ends above a line, without indented code."""
    start = line - 1
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return "\n".join(text.removeprefix("#").removeprefix(" ") for text in lines[start : line - 1])
