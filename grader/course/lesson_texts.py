"""Read what a lesson's authors write about its checks and answers: contract, mistakes, catalogues.
``grader/docs/authors.md`` describes the files.

A **catalogue** has one file for each lesson and kind, one cell for each answer::

    # %% clamped_at_its_bounds [torch>=2.14]
    # The result is clamped to [0, 1], which cuts the gradient at the bounds.
    class Sigmoid(torch.autograd.Function):
        ...

A cell begins with ``# %%`` and its name; if its verdict depends on the version of torch, the
versions for which it holds follow in brackets. The comment below says what is wrong or different.
The rest is a fragment (``stubs.compose``).
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from grader.core.errors import CourseError
from grader.core.files import line_with, read_toml
from grader.core.report import read
from grader.course.source import defined_names, is_docstring

ASKING = ("## Your tasks", "## What the checks ask")
"""The sections of a README that ask for something."""
DOCUMENTED = ast.FunctionDef | ast.ClassDef
SENTENCE = re.compile(r"\S.*?(?:(?<!e\.g)(?<!i\.e)[.?!][)*`\"]*(?=\s|$)|$)", re.DOTALL)
BULLET = re.compile(r"\s*[*-] ")
NO_SENTENCE = re.compile(r"^```.*?^```$|^\*\*[^*\n]+\*\*$", re.DOTALL | re.MULTILINE)
"""Code, and a line that is bold as a whole, which heads a list."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What ``contract.toml`` says about one promise: sentences of the stub, the README, or what
    holds in every lesson; the checks that hold it, wrong answers that break it alone (needed
    where a check holds several promises), accepted answers that it allows, or why no check holds
    it. A failed check quotes one sentence of each promise (``judge.results.quoted``), unless it is
    not to be ``quoted``.
    """

    says: tuple[str, ...]
    checks: tuple[str, ...] = ()
    broken_by: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    unchecked: str = ""
    quoted: bool = True


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
            where = line_with(path, about)
            raise CourseError(f"{where}: {about} is not a table. Write: [{about}.anchor]")
        for anchor, terms in anchors.items():
            try:
                promises.append(Promise(about, anchor, read(Terms, terms)))
            except ValueError as error:
                table = f"[{about}.{anchor}]"
                raise CourseError(f"{line_with(path, table)}: {table}: {_said(error)}") from None
    return tuple(promises)


def compared_form(sentence: str) -> str:
    """Return a sentence in the form in which it is compared: without Markdown, on one line."""
    return " ".join(re.sub(r"[*`]", "", sentence).split())


def stub_sentences(text: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a stub with the name that it is about."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        for name in (name for name in defined_names(node) if name in names):
            if isinstance(node, DOCUMENTED):
                documented = [one for one in ast.walk(node) if isinstance(one, DOCUMENTED)]
                texts = [ast.get_docstring(one) or "" for one in documented]
            else:
                texts = [_comment_above(lines, node.lineno)]
            yield from ((name, sentence) for text in texts for sentence in sentences_in(text))


def task_sentences(readme: str) -> Iterator[str]:
    """Yield the sentences of the README's sections that ask for something."""
    for heading in ASKING:
        _, _, rest = readme.partition(f"\n{heading}\n")
        yield from sentences_in(re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0])


def sentences_in(text: str) -> Iterator[str]:
    """Yield the sentences of a text, block by block; code, tables and bold lines are left out.

    A list begins after a blank line: inside a paragraph, ``- 1`` at the beginning of a line is a
    formula that was wrapped.
    """
    text = NO_SENTENCE.sub("", inspect.cleandoc(text))
    block: list[str] = []
    in_list = False
    for line in [*text.splitlines(), ""]:
        is_item = bool(BULLET.match(line)) and (in_list or not block)
        if not line.strip() or is_item:
            yield from SENTENCE.findall(" ".join(block))
            block, in_list = [], is_item
        if block or not line.startswith(("    ", "|", "!")):
            block += line.lstrip("*- ").split() if is_item else line.split()


def _comment_above(lines: Sequence[str], line: int) -> str:
    """Return the text of the comment that ends above a line, without indented code."""
    start = line - 1
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return "\n".join(text.removeprefix("#").removeprefix(" ") for text in lines[start : line - 1])


@dataclass(frozen=True, slots=True)
class MistakeText:
    """One mistake. ``about`` has the definitions in which it can occur; empty means all of the
    lesson's. Texts are templates: ``{name}`` is filled from the failure.

    The rest recognizes a mistake that has no rule in ``diagnosis.py``. What the student's code
    raised, as ``Type: message``: ``patterns``, whose named groups are facts, or ``raised``, all of
    these fragments and none of ``unless``. ``says``: the fragments of the check's message.
    ``facts``: names of facts of the check. ``value`` and ``gradient``: formulas, of which the
    student's code computes one (``judge/rule_keys.py``). ``rule``: the names of rules of the
    engine's (``judge/function_rules.py``). ``in_check`` names the only check in which it occurs.
    """

    id: str
    title: str
    explanation: str
    about: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    gradient: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()
    in_check: str = ""

    @property
    def has_keys(self) -> bool:
        """Whether something else than patterns recognizes it."""
        return bool(
            self.raised or self.says or self.facts or self.value or self.gradient or self.rule
        )


@dataclass(frozen=True, slots=True)
class RepairPattern:
    """An expression that is often written for another one. A capital letter stands for any
    expression: ``wrong = "A * (1 + A)"``, ``right = "A * (1 - A)"``.
    """

    wrong: str
    right: str


REPAIRS = "repairs"


def read_repairs(path: Path) -> tuple[RepairPattern, ...]:
    """Return the tables ``[[repairs]]``, the most plausible first; raise CourseError for a
    malformed one.
    """
    found = []
    for entry in read_toml(path).get(REPAIRS, []):
        try:
            one = read(RepairPattern, entry)
            ast.parse(one.wrong, mode="eval"), ast.parse(one.right, mode="eval")
        except (ValueError, SyntaxError) as error:
            where = line_with(path, f"[[{REPAIRS}]]")
            raise CourseError(f"{where}: [[{REPAIRS}]]: {entry}: {error}") from None
        found.append(one)
    return tuple(found)


def read_mistakes(path: Path) -> tuple[MistakeText, ...]:
    """Return the mistakes in the order of the file; raise CourseError for a malformed one."""
    found = []
    for id, entry in read_toml(path).items():
        if id == REPAIRS:
            continue
        if not isinstance(entry, dict):
            raise CourseError(f"{line_with(path, id)}: {id} is not a table. Write: [{id}]")
        where, known = line_with(path, f"[{id}]"), [one.name for one in fields(MistakeText)][1:]
        if unknown := entry.keys() - set(known):
            keys = ", ".join(known)
            raise CourseError(f"{where}: [{id}]: there is no key {min(unknown)}. Keys: {keys}")
        try:
            found.append(read(MistakeText, {**entry, "id": id}))
            for pattern in found[-1].patterns:
                re.compile(pattern)
        except (ValueError, re.error) as error:
            raise CourseError(f"{where}: [{id}]: {_said(error)}") from None
    return tuple(found)


def _said(error: Exception) -> str:
    """Return an error's text without the name of our record."""
    return re.sub(r"^(?:Terms|MistakeText): ", "", str(error))


def translatable(path: Path) -> Iterator[str]:
    """Yield the texts that people read."""
    for mistake in read_mistakes(path):
        yield mistake.title
        yield mistake.explanation


def texts_in(code: str) -> frozenset[str]:
    """Return every translatable text of Python code: constants, first lines of docstrings."""
    constants = {
        node.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    first_lines = {text.strip().splitlines()[0] for text in constants if text.strip()}
    return frozenset(constants | first_lines)


CELL = re.compile(r"# %%(.*)")
HEADER = re.compile(r"(\w+)(?: \[(.+)\])?")


@dataclass(frozen=True, slots=True)
class CatalogueCell:
    """One answer. ``name`` is the mistake's name or the answer's own, ``number`` counts cells of
    one name from 1, ``line`` is that of the cell's first line in ``path``. ``holds_for`` is the
    condition in brackets.
    """

    path: Path
    name: str
    number: int
    line: int
    description: str
    source: str
    holds_for: str = ""

    def applies(self, version_of: Callable[[str], str] = version) -> bool:
        """Return whether the condition holds for the installed versions, or for others."""
        if not self.holds_for:
            return True
        requirement = Requirement(self.holds_for)
        return requirement.specifier.contains(version_of(requirement.name), prereleases=True)

    @property
    def label(self) -> str:
        """The name, with its number from the second cell of that name on."""
        return self.name if self.number == 1 else f"{self.name} {self.number}"


def read_catalogue(path: Path, *, unique: bool = False) -> tuple[CatalogueCell, ...]:
    """Return the cells of a catalogue, in order; none if there is no such file.

    Raise CourseError, with the line, for a cell without a name, a description or code, for code
    that is not Python, and for a name that comes twice where names are ``unique``.
    """
    if path.with_suffix("").is_dir():
        raise CourseError(
            f"{path.with_suffix('')} is a folder. Put each of its files as a cell into {path}:"
            " a line `# %% name`, a comment that says what is wrong, the code"
        )
    if not path.exists():
        return ()
    lines = path.read_text("utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if CELL.fullmatch(line)]
    _check_head(path, lines[: starts[0] if starts else len(lines)])
    seen: Counter[str] = Counter()
    cells = []
    for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
        cell = _cell(path, lines, start, end, seen)
        if unique and cell.number > 1:
            raise CourseError(f"{path}:{cell.line}: the name {cell.name} is taken. Choose another")
        cells.append(cell)
    return tuple(cells)


def _check_head(path: Path, head: list[str]) -> None:
    """Raise CourseError if there is code before the first cell, because it belongs to no answer."""
    try:
        body = ast.parse("\n".join(head)).body
    except SyntaxError as error:
        raise CourseError(f"{path}:{error.lineno}: {error.msg}") from None
    code = [node for node in body if not is_docstring(node)]
    if code:
        raise CourseError(
            f"{path}:{code[0].lineno}: code before the first cell. Begin one: # %% name"
        )


def _cell(path: Path, lines: list[str], start: int, end: int, seen: Counter[str]) -> CatalogueCell:
    """Return the cell of the lines from ``start`` to ``end``, counted from 0."""
    line = start + 1
    header = HEADER.fullmatch(lines[start].removeprefix("# %%").strip())
    if not header:
        raise CourseError(f"{path}:{line}: a cell has no name. Write: # %% name")
    name, holds_for = header[1], header[2] or ""
    if holds_for:
        _check_condition(f"{path}:{line}", holds_for)
    code = start + 1
    while code < end and lines[code].startswith("#"):
        code += 1
    description = " ".join(text.lstrip("# ") for text in lines[start + 1 : code]).strip()
    if not description:
        raise CourseError(
            f"{path}:{line}: the cell {name} does not say what is special about it."
            " Add a comment below its first line"
        )
    source = "\n".join(lines[code:end]).strip("\n") + "\n"
    try:
        body = ast.parse("\n" * code + "\n".join(lines[code:end])).body
    except SyntaxError as error:
        raise CourseError(f"{path}:{error.lineno}: {error.msg}") from None
    if not body:
        raise CourseError(f"{path}:{line}: the cell {name} has no code")
    seen[name] += 1
    return CatalogueCell(path, name, seen[name], line, description, source, holds_for)


def _check_condition(place: str, condition: str) -> None:
    """Raise CourseError for a condition that is not a requirement like ``torch>=2.14``."""
    try:
        specified = Requirement(condition).specifier
    except InvalidRequirement:
        specified = None
    if not specified:
        raise CourseError(
            f"{place}: [{condition}] is not a condition. Write: # %% name [torch>=2.14]"
        )
