"""A lesson as a notebook: read its code as one Python text, split that into cells again, and write
a lesson as a notebook.

A notebook is read as JSON and never run; outputs are ignored. nbformat would validate and copy
outputs, and its import takes longer than judging a lesson. What only IPython understands (magics,
shell commands, help) is left out with a note; line numbers stay right. Source: nbformat's schema of
version 4, IPython's input transformations.

*Scratch cells*, in which students try their functions, are not graded. A kernel runs them too, so
imports, functions, classes and literal values in them are kept if the other cells lack them.
Nothing that runs code is kept, so a scratch cell can neither cost points nor take time.
"""

from __future__ import annotations
import __future__ as futures

import ast
import builtins
import json
import linecache
import re
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grader.core.errors import SubmissionError
from grader.core.i18n import Catalogue
from grader.course.source import (
    DEFINING,
    FUNCTIONS,
    bound_names,
    defined_names,
    first_line,
    imported,
    imports_in,
    is_docstring,
)

SUFFIX = ".ipynb"
MAX_FILE_BYTES = 256 << 10
"""The limit for a lesson's Python: forty times the longest solution of the course."""
MAX_NOTEBOOK_BYTES = 20 << 20
"""The limit for a notebook's file, including pictures in its outputs."""
MAX_CELLS = 10_000
FORMAT = 4
REMEDY = (
    "Download or save it again: in Jupyter by File, Save; in Colab by File, Download, Download"
    " .ipynb"
)
TOO_LARGE = "{path} is larger than {kilobytes} KB. Keep what the lesson needs"
LEFT_OUT_TAGS = ("skip", "skip-execution", "raises-exception")
"""Tags of cells that tools don't run, or that are expected to raise."""
PYTHON_CELLS = frozenset({"time", "capture", "prun"})
"""Cell magics that run the cell as Python in the notebook's own namespace."""
GRADED_CELL = "grade"
"""The magic whose cell is a submission; in the notebook of that lesson it counts as code."""
MAGIC, SHELL, HELP, TAGGED, FOREIGN = (
    "a magic",
    "a line for the shell",
    "a question",
    "a tagged cell",
    "a cell of another kind",
)
"""The kinds of omissions; texts of the catalogue."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook's code; ``cells`` has each code cell's number and first line in ``text``."""

    text: str
    cells: tuple[tuple[int, int], ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was left out: the kind, the cell (None: the only one), the line (None: all)."""

    what: str
    cell: int | None
    line: int | None


def read_notebook(lesson: str, path: str, data: bytes) -> Notebook:
    """Return the code of a lesson's notebook; raise SubmissionError."""
    left_out: list[LeftOut] = []
    features: list[str] = []
    graded: dict[int, list[str]] = {}
    scratch: dict[int, list[str]] = {}
    for number, code, tags in _code_cells(path, _parsed(lesson, path, data)):
        if reason := _reason_to_leave_out(lesson, code, tags):
            left_out.append(LeftOut(reason, number, None))
            continue
        kept = without_magics(code)
        if is_scratch(code, tags):
            scratch[number] = kept.lines
            continue
        features += _taken_out(kept.lines)
        graded[number] = kept.lines
        left_out += [LeftOut(what, number, line) for line, what in kept.left_out]
    if scratch:
        graded |= kept_lines(list(graded.values()), scratch)
    text: list[str] = []
    cells: list[tuple[int, int]] = []
    for number, lines in sorted(graded.items()):
        cells.append((number, len(text) + 1))
        text += lines
    if not _any_code(text):
        raise SubmissionError(
            "{path} has no code in it: no cell of Python. Write the lesson in code cells, and save"
            " the notebook",
            path=path,
        )
    if prelude := _prelude(features, text):
        text.insert(0, prelude)
        cells = [(number, line + 1) for number, line in cells]
    return Notebook("".join(f"{line}\n" for line in text), tuple(cells), tuple(left_out))


def read_code(path: str, code: str) -> Notebook:
    """Return the code of a cell below its magic, like ``read_notebook``; raise SubmissionError."""
    text = _readable(path, code)
    if len(text.encode()) > MAX_FILE_BYTES:
        raise SubmissionError(TOO_LARGE, path=path, kilobytes=str(MAX_FILE_BYTES >> 10))
    kept = without_magics(text)
    features = _taken_out(kept.lines)
    if not _any_code(kept.lines):
        raise SubmissionError(
            "{path} has no code below it. Write the lesson in the same cell", path=path
        )
    lines = [_prelude(features, kept.lines), *kept.lines]
    return Notebook(
        "".join(f"{line}\n" for line in lines),
        (),
        tuple(LeftOut(what, None, line + 1) for line, what in kept.left_out),
    )


def _parsed(lesson: str, path: str, data: bytes) -> Any:
    """Return the notebook as JSON; raise SubmissionError if it is not a usable notebook."""
    try:
        notebook = json.loads(data)
    except json.JSONDecodeError as error:
        what = (
            "{place} is not JSON ({reason}), so it is not a notebook. "
            + REMEDY
            + ". Python text is named {file}"
        )
        raise SubmissionError(
            what, place=f"{path}:{error.lineno}", reason=error.msg, file=f"{lesson}.py"
        ) from None
    # not UTF-8; a number with thousands of digits; lists nested too deeply
    except (ValueError, RecursionError, MemoryError) as error:
        raise SubmissionError(
            "{path} is not a notebook that can be read ({reason}). " + REMEDY,
            path=path,
            reason=type(error).__name__,
        ) from None
    written = _at(notebook, "nbformat")
    if not isinstance(written, int) or not 0 < written < 100:
        raise SubmissionError(
            "{path} is JSON, but no notebook: it has no nbformat. " + REMEDY, path=path
        )
    if written < FORMAT:
        message = (
            "{path} is a notebook of the old format {format}. Open it in Jupyter and save it, which"
            " renews it"
        )
        raise SubmissionError(message, path=path, format=str(written))
    if written > FORMAT:
        message = (
            "{path} is a notebook of format {format}, which isn't known here. Save it as {file}"
            " instead"
        )
        raise SubmissionError(message, path=path, format=str(written), file=f"{lesson}.py")
    if language := _language(notebook):
        message = (
            "{path} is a notebook in {language}. Lessons are in Python: choose a Python kernel and"
            " save it"
        )
        raise SubmissionError(message, path=path, language=language)
    return notebook


def _at(data: Any, *keys: str) -> Any:
    """Return the value at nested keys; None if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _language(notebook: Any) -> str | None:
    """Return the notebook's language if it names one other than Python."""
    for where, key in (("language_info", "name"), ("kernelspec", "language")):
        name = _at(notebook, "metadata", where, key)
        if isinstance(name, str) and name:
            return None if "python" in name.lower() else name[:40]
    return None


def _code_cells(path: str, notebook: Any) -> Iterator[tuple[int, str, list[object]]]:
    """Yield (number, text, tags) of each code cell; raise SubmissionError."""
    cells, left = _at(notebook, "cells"), MAX_FILE_BYTES
    if not isinstance(cells, list):
        raise SubmissionError("{path} is a notebook without a list of cells. " + REMEDY, path=path)
    if len(cells) > MAX_CELLS:
        message = (
            "{path} has {count} cells; a lesson may have {most}. Keep those that the lesson needs"
        )
        raise SubmissionError(message, path=path, count=str(len(cells)), most=str(MAX_CELLS))
    for number, cell in enumerate(cells, 1):
        source = _at(cell, "source")
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        if not isinstance(source, str):
            message = "{path}, cell {number}: it has no text, so the notebook is damaged. " + REMEDY
            raise SubmissionError(message, path=path, number=str(number))
        if _at(cell, "cell_type") == "code" and source.strip():
            code = _readable(f"{path}, cell {number}", source)
            left -= len(code.encode()) + 1
            if left < 0:
                message = (
                    "{path} holds too much code, at cell {number}: more than {kilobytes} KB. Keep"
                    " the cells that the lesson needs"
                )
                kilobytes = str(MAX_FILE_BYTES >> 10)
                raise SubmissionError(message, path=path, kilobytes=kilobytes, number=str(number))
            tags = _at(cell, "metadata", "tags")
            yield number, code, tags if isinstance(tags, list) else []


SURROGATE = re.compile("[\ud800-\udfff]")


def _readable(place: str, source: str) -> str:
    """Return a cell's text with LF as line ends; raise SubmissionError."""
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    for sign in ("\0", *(found[0] for found in SURROGATE.finditer(text))):
        if sign in text:
            line = text[: text.index(sign)].count("\n") + 1
            message = (
                "{place}, line {number} holds a character that is not text ({sign}). Delete it"
            )
            raise SubmissionError(message, place=place, number=str(line), sign=repr(sign))
    return text


def _reason_to_leave_out(lesson: str, code: str, tags: list[object]) -> str | None:
    if any(tag in tags for tag in LEFT_OUT_TAGS):
        return TAGGED
    magic = CELL_MAGIC.match(code)
    if magic is None or magic["name"] in PYTHON_CELLS:
        return None
    if magic["name"] == GRADED_CELL and lesson in magic["rest"].split():
        return None
    return FOREIGN


FUTURE = re.compile(r"from\s+__future__\s+import\s(?P<names>[\w\s,]+)(?:#.*)?")


def _taken_out(lines: list[str]) -> list[str]:
    """Remove the ``__future__`` imports from the lines, because they must come first."""
    features = []
    for index, line in enumerate(lines):
        found = FUTURE.fullmatch(line)
        names = [name.strip() for name in found["names"].split(",")] if found else []
        if names and all(map(str.isidentifier, names)):
            features.append(", ".join(names))
            lines[index] = "pass"
    return features


def _any_code(lines: Iterable[str]) -> bool:
    return any(line.strip() not in ("", "pass") for line in lines)


DISPLAY = re.compile(r"(?<![\w.])display\s*\(")


def _prelude(features: list[str], text: list[str]) -> str:
    """Return a line to put before the cells: ``__future__`` imports and ``display``; empty if not
    needed.
    """
    parts = [f"from __future__ import {names}" for names in dict.fromkeys(features)]
    if any(DISPLAY.search(line) for line in text):
        parts.append("from builtins import print as display")
    return "; ".join(parts)


CELL_MAGIC = re.compile(r"\s*%%(?P<name>\S*)(?P<rest>[^\n]*)")
NOT_PYTHON = (
    (re.compile("[%/,;]"), MAGIC),
    (re.compile("!"), SHELL),
    (re.compile(r"\?"), HELP),
    (re.compile(r"(?:pip|conda|mamba)\s+(?:install|uninstall|list|show|freeze)\b"), SHELL),
    (re.compile(r"get_ipython\s*\("), MAGIC),
    (re.compile(r"[A-Za-z_][\w.,\s]*=\s*%\s*[A-Za-z_]"), MAGIC),
    (re.compile(r"[A-Za-z_][\w.,\s]*=\s*!"), SHELL),
    (re.compile(r"[A-Za-z_%][\w.*\[\]'\"]*\?{1,2}\s*$"), HELP),
)
"""Statements that only IPython accepts, each with its kind of omission."""
OURS = re.compile(r"\s*%(?:%?grade|(?:re)?load_ext\s+grader)\b")
"""Magics that are left out without a note."""


@dataclass(frozen=True, slots=True)
class StrippedCell:
    """A cell's lines with ``pass`` for each that was left out, and those lines."""

    lines: list[str]
    left_out: list[tuple[int, str]]


def without_magics(code: str) -> StrippedCell:
    """Leave out what only IPython understands, but nothing inside strings and statements."""
    lines = code.removesuffix("\n").split("\n")
    kept = StrippedCell(lines, [])
    state = _Lexer()
    dropping = False
    for index, line in enumerate(lines):
        what = MAGIC if dropping else _magic(line) if state.at_statement else None
        if what is None:
            state.read(line)
            continue
        if not dropping and not OURS.match(line):
            kept.left_out.append((index + 1, what))
        dropping = line.endswith("\\")
        lines[index] = f"{line[: len(line) - len(line.lstrip())]}pass"
    return kept


def _magic(line: str) -> str | None:
    """Return the kind of a line at the beginning of a statement, if it is not Python."""
    stripped = line.strip()
    return next((what for pattern, what in NOT_PYTHON if pattern.match(stripped)), None)


PIECE = re.compile(
    r"""\#.*|(?P<long>\"\"\"|''')|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|(?P<open>[(\[{])|(?P<close>[)\]}])"""
)
LONG_END = {'"""': re.compile(r'(?:\\.|[^\\])*?"""'), "'''": re.compile(r"(?:\\.|[^\\])*?'''")}


class _Lexer:
    """Track whether the next line begins a statement: no open bracket, string or backslash."""

    def __init__(self) -> None:
        self.quote = ""
        self.depth = 0
        self.continued = False

    @property
    def at_statement(self) -> bool:
        return not (self.quote or self.depth or self.continued)

    def read(self, line: str) -> None:
        position, commented = 0, False
        while True:
            if self.quote:
                end = LONG_END[self.quote].match(line, position)
                if end is None:
                    return
                self.quote, position = "", end.end()
            piece = PIECE.search(line, position)
            if piece is None:
                break
            position = piece.end()
            commented = piece[0].startswith("#")
            if piece["long"]:
                self.quote = piece["long"]
            elif piece["open"]:
                self.depth += 1
            elif piece["close"]:
                self.depth = max(0, self.depth - 1)
        self.continued = not commented and line.endswith("\\")


SCRATCH = "scratch"
"""The tag of a scratch cell, and how the comment on its first line begins."""
FIRST_LINE = re.compile(r"\s*#\s*scratch\b", re.IGNORECASE)


def is_scratch(code: str, tags: Sequence[object]) -> bool:
    return SCRATCH in tags or FIRST_LINE.match(code) is not None


def kept_lines(graded: list[list[str]], scratch: dict[int, list[str]]) -> dict[int, list[str]]:
    """Return the lines of scratch cells, empty except for statements that the others need."""
    body = [node for lines in graded for node in statements(lines)]
    written = set(imports_in(body)) | set(
        bound_names(ast.Module([node for node in body if not is_stub(node)], []))
    )
    used = names_in(body)
    candidates = [(cell, node) for cell, lines in scratch.items() for node in statements(lines)]
    offered = {name for _, node in candidates for name in names_bound(node)}
    known = written | offered | set(dir(builtins)) | set(bound_names(ast.Module(body, [])))
    kept: dict[ast.stmt, int] = {}
    # Only imports depend on what else is kept, and they use no names, so this ends in two rounds.
    while more := {
        node: cell
        for cell, node in candidates
        if node not in kept and wanted(node, written, used, known)
    }:
        kept |= more
        used |= names_in(more)
    result = {cell: [""] * len(lines) for cell, lines in scratch.items()}
    for node, cell in kept.items():
        lines = slice(first_line(node) - 1, node.end_lineno)
        result[cell][lines] = scratch[cell][lines]
    return result


def statements(lines: list[str]) -> list[ast.stmt]:
    """Return a cell's statements, each on separate lines; none if it is not Python."""
    try:
        body = ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    taken = [(first_line(node), node.end_lineno or 0) for node in body]
    return [
        node
        for number, node in enumerate(body)
        if (number == 0 or taken[number - 1][1] < taken[number][0])
        and (number + 1 == len(body) or taken[number][1] < taken[number + 1][0])
    ]


def names_bound(node: ast.stmt) -> list[str]:
    """Return the names that a statement binds if it may be kept; none for any other statement."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [name for name, _ in imported(node)]
    if isinstance(node, DEFINING) or (
        isinstance(node, ast.Assign | ast.AnnAssign) and is_literal(node.value)
    ):
        return defined_names(node)
    return []


def is_literal(node: ast.expr | None) -> bool:
    try:
        ast.literal_eval(node or ast.Name(""))
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def wanted(node: ast.stmt, written: set[str], used: set[str], known: set[str]) -> bool:
    """Return whether a scratch cell's statement is to be kept: nothing else defines its names, and
    it can't raise.
    """
    names = names_bound(node)
    if not names or written & set(names):
        return False
    if isinstance(node, ast.Import | ast.ImportFrom):
        return not used.isdisjoint(names)
    return names_in(evaluated_at_once(node)) <= known


def evaluated_at_once(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield what is evaluated when a definition is reached, without the bodies of functions."""
    if isinstance(node, FUNCTIONS):
        yield from (*node.decorator_list, node.args)
        yield from [node.returns] if node.returns else []
    elif isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *node.keywords)
        own = bound_names(node)
        for part in node.body:
            for inner in evaluated_at_once(part):
                if not (isinstance(inner, ast.Name) and inner.id in own):
                    yield inner
    else:
        yield node


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return every name that is read anywhere in the nodes."""
    return {
        part.id
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def is_stub(node: ast.stmt) -> bool:
    """Return whether a definition is still the stub's: it raises NotImplementedError, or is
    ``...``.
    """
    if isinstance(node, FUNCTIONS):
        return all(
            isinstance(part, ast.Raise) and names_in([part]) == {"NotImplementedError"}
            for part in node.body
            if not is_docstring(part)
        )
    if isinstance(node, ast.ClassDef):
        methods = [part for part in node.body if isinstance(part, FUNCTIONS)]
        return bool(methods) and all(map(is_stub, methods))
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        return any(
            isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(node.value)
        )
    return False


FEATURE = re.compile(r"from __future__ import ([\w, ]+)")


@dataclass(frozen=True, slots=True)
class Cells:
    """A notebook's code: the texts of its cells by number, ``features`` from ``__future__``, and
    ``shows`` if it calls ``display``.
    """

    texts: dict[int, str]
    features: tuple[str, ...]
    shows: bool


def cells_of(text: str, starts: Sequence[tuple[int, int]]) -> Cells:
    """Return the non-empty cells of a notebook's text; ``starts`` has numbers and first lines."""
    lines = text.split("\n")
    ends = [*(first for _, first in starts[1:]), len(lines)]
    texts = {}
    for (number, first), end in zip(starts, ends, strict=True):
        own = lines[first - 1 : end - 1]
        if _any_code(line for line in own if not line.lstrip().startswith("#")):
            texts[number] = "".join(f"{line}\n" for line in own)
    before = "\n".join(lines[: starts[0][1] - 1])
    named = [name.strip() for names in FEATURE.findall(before) for name in names.split(",")]
    features = dict.fromkeys(name for name in named if name in futures.all_feature_names)
    return Cells(texts, tuple(features), "as display" in before)


def cell_name(notebook: str, number: int) -> str:
    """Return the file name of a cell in a traceback: ``custom_sigmoid.ipynb, cell 4``."""
    return f"{notebook}, cell {number}"


def execute_cells(code: Cells, module: str, notebook: str) -> types.ModuleType:
    """Run the cells in order in a new module, each registered as a file for tracebacks."""
    made = types.ModuleType(module)
    made.__file__ = notebook
    if code.shows:
        vars(made)["display"] = print
    flags = 0
    for feature in code.features:
        flags |= getattr(futures, feature).compiler_flag
    for number, text in code.texts.items():
        name = cell_name(notebook, number)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec", flags=flags, dont_inherit=True), vars(made))
    return made


def loading(code: Cells, module: str, notebook: str) -> list[str]:
    """Return lines of Python that run the cells without the engine."""
    flags = " | ".join(f"__future__.{feature}.compiler_flag" for feature in code.features)
    return [
        *(["import __future__"] if flags else []),
        "import linecache",
        "import types",
        "",
        "import torch",
        "",
        f'{module} = types.ModuleType("{module}")',
        *([f"{module}.display = print"] if code.shows else []),
        "cells = {",
        *(f"    {number}: {literal(text)}," for number, text in code.texts.items()),
        "}",
        "for number, text in cells.items():",
        f'    name = f"{notebook}, cell {{number}}"',
        "    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)",
        f'    exec(compile(text, name, "exec"{f", {flags}" if flags else ""}), vars({module}))',
    ]


def literal(text: str) -> str:
    """Return a text as a Python literal, over several lines if nothing in it needs escaping."""
    if (
        "'''" not in text
        and "\\" not in text
        and all(line.isprintable() for line in text.split("\n"))
    ):
        return f"'''\\\n{text}'''"
    return repr(text)


QUOTED = re.compile(r"(?<=`)grade (?=\w)")
"""A command of the grader in backticks."""
SECTION = re.compile(r"\n(?=## )")


def lesson_notebook(lesson: str, stub: str, readme: str, tr: Catalogue) -> str:
    """Return a notebook that teaches a lesson: README, stub cell by cell, scratch cells, grade."""
    cells = [
        markdown_cell(part) for part in SECTION.split(as_magics(readme, lesson)) if part.strip()
    ]
    for number, (text, is_definition) in enumerate(pieces(stub)):
        cells.append(code(text if number else f"{text}\n\n%load_ext grader".lstrip()))
        if is_definition:
            scratch = tr("try it here; this cell is not graded")
            cells.append(code(f"# {SCRATCH}: {scratch}\n", tags=[SCRATCH]))
    cells.append(markdown_cell(tr("Save the notebook (Ctrl+S), then run this cell to grade it:")))
    cells.append(code(f"%grade {lesson}"))
    return as_json(cells)


def as_magics(readme: str, lesson: str) -> str:
    """Return a README with the grader's commands as magics, and the notebook for the file.

    In a listing, the explanation after a command becomes a comment, so that the whole listing can
    be pasted.
    """
    listed = rf"^grade ((?:hint )?{lesson}(?: [^ #]\S*)*)(?: +(?:# *)?(.+))?$"

    def magic(found: re.Match[str]) -> str:
        command = f"%grade {found[1]}"
        return (
            f"{command:{len(lesson) + len('%grade hint ')}}  # {found[2]}" if found[2] else command
        )

    readme = readme.replace(f"`{lesson}.py`", f"`{lesson}{SUFFIX}`")
    return QUOTED.sub("%grade ", re.sub(listed, magic, readme, flags=re.MULTILINE))


def pieces(stub: str) -> Iterator[tuple[str, bool]]:
    """Yield the stub's imports as one text, then each definition with the comments above it.

    Beside each text: whether it is a function or a class. The module's docstring is left out,
    because it names commands for a terminal and the README says more.
    """
    lines, body = stub.split("\n"), ast.parse(stub).body
    if body and is_docstring(body[0]):
        lines[: body[0].end_lineno] = [""] * (body[0].end_lineno or 0)
        body = body[1:]
    begun = 0
    while body and isinstance(body[0], ast.Import | ast.ImportFrom):
        begun = body.pop(0).end_lineno or begun
    yield "\n".join(lines[:begun]).strip("\n"), False
    for node in body:
        text = "\n".join(lines[begun : node.end_lineno]).strip("\n")
        begun = node.end_lineno or begun
        yield text, isinstance(node, DEFINING)


def markdown_cell(text: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip("\n")}


def code(text: str, *, tags: list[str] | None = None) -> dict[str, object]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": tags} if tags else {},
        "outputs": [],
        "source": text,
    }


def as_json(cells: list[dict[str, object]]) -> str:
    metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    numbered = [{**cell, "id": f"lesson-{number}"} for number, cell in enumerate(cells, 1)]
    notebook = {"cells": numbered, "metadata": metadata, "nbformat": FORMAT, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
