"""Write a lesson as a notebook: its text, a cell for each function, cells to try them, ``%grade``.

The file is JSON of nbformat 4.5. ``reader.py`` turns it back into a submission.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from grader.core.i18n import Catalogue
from grader.course.analysis.definitions import is_docstring
from grader.course.analysis.scopes import DEFINING
from grader.course.notebook.reader import FORMAT
from grader.course.notebook.scratch import SCRATCH, SCRATCH_TAG

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
            cells.append(code(scratch_text(tr), tags=[SCRATCH_TAG]))
    cells.append(markdown_cell(tr("Save the notebook (Ctrl+S), then run this cell to grade it:")))
    cells.append(code(f"%grade {lesson}"))
    return as_json(cells)


def as_magics(readme: str, lesson: str) -> str:
    """Return a README with the grader's commands as magics.

    In a listing, the explanation after a command becomes a comment, so that the whole listing can
    be pasted.
    """
    listed = rf"^grade ((?:hint )?{lesson})(?: +(?:# *)?(.+))?$"

    def magic(found: re.Match[str]) -> str:
        command = f"%grade {found[1]}"
        return (
            f"{command:{len(lesson) + len('%grade hint ')}}  # {found[2]}" if found[2] else command
        )

    return QUOTED.sub("%grade ", re.sub(listed, magic, readme, flags=re.MULTILINE))


def scratch_text(tr: Catalogue) -> str:
    return f"# {SCRATCH}: " + tr("try it here; this cell is not graded") + "\n"


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
