"""Read a lesson's notebook: its code cells as one Python text, with the line of each cell.

A notebook is read as JSON and never run; outputs are ignored. nbformat is not used: it would
validate and copy outputs, and its import takes longer than judging a lesson. What only IPython
understands is left out with a note; line numbers stay right. Source: nbformat's schema of version
4, IPython's input transformations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grader.core.errors import SubmissionError
from grader.course.notebook.magics import CELL_MAGIC, FOREIGN, TAGGED, without_magics
from grader.course.notebook.scratch import is_scratch, kept_lines

SUFFIX = ".ipynb"
MAX_NOTEBOOK_BYTES = 20 << 20
"""The limit for the file, including pictures in its outputs; the code alone has the same limit as
any lesson.
"""
MAX_CELLS = 10_000
FORMAT = 4
REMEDY = (
    "Download or save it again: in Jupyter by File, Save; in Colab by File, Download, Download"
    " .ipynb"
)
TOO_LARGE = "{path} is larger than {kilobytes} KB. Keep what the lesson needs"
LEFT_OUT_TAGS = frozenset({"skip", "skip-execution", "raises-exception"})
"""Tags of cells that tools don't run, or that are expected to raise."""
PYTHON_CELLS = frozenset({"time", "capture", "prun"})
"""Cell magics that run the cell as Python in the notebook's own namespace."""
GRADED_CELL = "grade"
"""The magic whose cell is a submission; in the notebook of that lesson it counts as code."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was left out: the kind, the cell (None: the only one), the line (None: all)."""

    what: str
    cell: int | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook's code; ``cells`` has each code cell's number and first line in ``text``."""

    text: str
    cells: tuple[tuple[int, int], ...]
    left_out: tuple[LeftOut, ...]


def read_notebook(lesson: str, path: str, data: bytes, *, code_bytes: int) -> Notebook:
    """Return the code of a lesson's notebook; raise SubmissionError."""
    left_out: list[LeftOut] = []
    features: list[str] = []
    graded: list[tuple[int, list[str]]] = []
    scratch: list[tuple[int, list[str]]] = []
    for number, code, tags in _code_cells(path, _parsed(lesson, path, data), code_bytes):
        if reason := _reason_to_leave_out(lesson, code, tags):
            left_out.append(LeftOut(reason, number, None))
            continue
        kept = without_magics(code)
        if is_scratch(code, tags):
            scratch.append((number, kept.lines))
            continue
        features += _taken_out(kept.lines)
        graded.append((number, kept.lines))
        left_out += [LeftOut(what, number, line) for line, what in kept.left_out]
    if scratch:
        needed = kept_lines([lines for _, lines in graded], [lines for _, lines in scratch])
        graded += [(number, lines) for (number, _), lines in zip(scratch, needed, strict=True)]
    text: list[str] = []
    cells: list[tuple[int, int]] = []
    for number, lines in sorted(graded):
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


def read_code(path: str, code: str, *, code_bytes: int) -> Notebook:
    """Return the code of a cell below its magic, like ``read_notebook``; raise SubmissionError."""
    text = _readable(path, code)
    if len(text.encode()) > code_bytes:
        raise SubmissionError(TOO_LARGE, path=path, kilobytes=str(code_bytes >> 10))
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


def _parsed(lesson: str, path: str, data: bytes) -> dict[str, Any]:
    """Return the notebook as JSON; raise SubmissionError if it is not a usable notebook."""
    try:
        notebook: Any = json.loads(data)
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
    written = notebook.get("nbformat") if isinstance(notebook, dict) else None
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
    if language := _language(notebook.get("metadata")):
        message = (
            "{path} is a notebook in {language}. Lessons are in Python: choose a Python kernel and"
            " save it"
        )
        raise SubmissionError(message, path=path, language=language)
    assert isinstance(notebook, dict)
    return notebook


def _language(metadata: Any) -> str | None:
    """Return the notebook's language if it names one other than Python."""
    for where, key in (("language_info", "name"), ("kernelspec", "language")):
        inner = metadata.get(where) if isinstance(metadata, dict) else None
        name = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(name, str) and name:
            return None if "python" in name.lower() else name[:40]
    return None


def _code_cells(
    path: str, notebook: dict[str, Any], code_bytes: int
) -> Iterator[tuple[int, str, frozenset[str]]]:
    """Yield (number, text, tags) of each code cell; raise SubmissionError."""
    cells, most = notebook.get("cells"), code_bytes
    if not isinstance(cells, list):
        raise SubmissionError("{path} is a notebook without a list of cells. " + REMEDY, path=path)
    if len(cells) > MAX_CELLS:
        message = (
            "{path} has {count} cells; a lesson may have {most}. Keep those that the lesson needs"
        )
        raise SubmissionError(message, path=path, count=str(len(cells)), most=str(MAX_CELLS))
    for number, cell in enumerate(cells, 1):
        source = cell.get("source") if isinstance(cell, dict) else None
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        if not isinstance(source, str):
            message = "{path}, cell {number}: it has no text, so the notebook is damaged. " + REMEDY
            raise SubmissionError(message, path=path, number=str(number))
        if cell.get("cell_type") == "code" and source.strip():
            code = _readable(f"{path}, cell {number}", source)
            code_bytes -= len(code.encode()) + 1
            if code_bytes < 0:
                message = (
                    "{path} holds too much code, at cell {number}: more than {kilobytes} KB. Keep"
                    " the cells that the lesson needs"
                )
                kilobytes = str(most >> 10)
                raise SubmissionError(message, path=path, kilobytes=kilobytes, number=str(number))
            yield number, code, _tags(cell.get("metadata"))


def _tags(metadata: Any) -> frozenset[str]:
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    if isinstance(tags, list):
        return frozenset(tag for tag in tags if isinstance(tag, str))
    return frozenset()


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


SURROGATE = re.compile("[\ud800-\udfff]")
FUTURE = re.compile(r"from\s+__future__\s+import\s(?P<names>[\w\s,]+)(?:#.*)?")
DISPLAY = re.compile(r"(?<![\w.])display\s*\(")


def _reason_to_leave_out(lesson: str, code: str, tags: frozenset[str]) -> str | None:
    if tags & LEFT_OUT_TAGS:
        return TAGGED
    magic = CELL_MAGIC.match(code)
    if magic is None or magic["name"] in PYTHON_CELLS:
        return None
    if magic["name"] == GRADED_CELL and lesson in magic["rest"].split():
        return None
    return FOREIGN


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


def _any_code(lines: list[str]) -> bool:
    return any(line.strip() not in ("", "pass") for line in lines)


def _prelude(features: list[str], text: list[str]) -> str:
    """Return a line to put before the cells: ``__future__`` imports and ``display``; empty if not
    needed.
    """
    parts = [f"from __future__ import {names}" for names in dict.fromkeys(features)]
    if any(DISPLAY.search(line) for line in text):
        parts.append("from builtins import print as display")
    return "; ".join(parts)
