"""Run one check with a debugger in the student's code, as the child process of ``grade replay
--pdb``.

The file is the user's own and runs with the user's own rights: no sandbox, no judge, no verdict.
The check asks a ``LocalStudent`` instead of a worker. A notebook runs cell by cell.
"""

from __future__ import annotations

import ast
import bdb
import contextlib
import importlib.util
import json
import pdb
import sys
import types
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, cast

from grader.core.errors import CheckFailure
from grader.core.i18n import Catalogue, load_catalogue
from grader.core.messages import DebugRequest
from grader.course.course import Lesson, lesson_of
from grader.course.notebook import cell_name, cells_of, execute_cells
from grader.course.source import Source, is_docstring
from grader.judge.checks import CheckSpec, call_check, name_checks
from grader.judge.diagnosis import fill_text, in_cells
from grader.judge.local_student import LocalStudent, execute, reference_of
from grader.judge.random_inputs import Seeds


def main() -> None:
    """Run the ``DebugRequest`` in the JSON file ``argv[1]``, which ``grade replay`` wrote."""
    request = DebugRequest.from_json(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    lesson = lesson_of(request.spec)
    tr = load_catalogue(request.spec.lang, lesson.texts(request.spec.lang))
    with contextlib.suppress(bdb.BdbQuit):
        debug(request, lesson, tr)


def debug(request: DebugRequest, lesson: Lesson, tr: Catalogue) -> None:
    """Run the check and stop where the student's code raises. If the code is wrong without raising,
    or with ``stop``, stop at the first line of the function.
    """
    path, task = request.file, request.task
    check = find_check(lesson.check_files, request.check)
    source = Source(task.source, Path(path).name, task.cells)
    seed = Seeds(task.settings.seed, task.settings.seeds).of(f"{lesson.id}.{request.check}")

    def run() -> None:
        scenarios = lesson.scenarios_text
        student = LocalStudent(source, scenarios, module=executed(source, path))
        call_check(check, student=student, reference=reference_of(lesson), seed=seed)

    if not request.stop:
        try:
            run()
        except Exception as raised:
            error = raised
        else:
            text = (
                "This check passes with this seed. To step through your code all the same: --break"
            )
            print(tr(text))
            return
        print(error_text(error, source, tr))
        if own := trim_traceback(
            error.__traceback__, {path, *(cell_name(path, number) for number, _ in task.cells)}
        ):
            stopping = debugger()
            stopping.reset()
            stopping.interaction(None, own)
            return
        print(tr("Nothing was raised in your code: once more, stopping where it is called."))
    lines = first_lines(source, check.check.at)  # type: ignore[attr-defined]
    if not lines:
        print(tr("{name} is not a function: there is nothing to step through", name=check.check.at))  # type: ignore[attr-defined]
        return
    stopping = debugger()
    for line in lines:
        cell, line_there = source.in_cell(line)
        stopping.set_break(path if cell is None else cell_name(path, cell), line_there)
    stopping.rcLines.append("continue")
    with contextlib.suppress(CheckFailure):
        stopping.runcall(run)


def error_text(error: Exception, source: Source, tr: Catalogue) -> str:
    """Return the exception as text; a check's message is filled as in a report."""
    if isinstance(error, CheckFailure):
        return fill_text(error.message, {**error.inputs, **in_cells(error.facts, source)}, tr)
    return f"{type(error).__name__}: {error}"


def debugger() -> pdb.Pdb:
    """Return IPython's debugger if ipdb is installed, else the standard library's."""
    if importlib.util.find_spec("ipdb") is not None:
        from IPython.terminal.debugger import TerminalPdb

        return cast(pdb.Pdb, cast(Any, TerminalPdb)())
    return pdb.Pdb()


def find_check(files: Iterable[Path], name: str) -> Callable[..., Any]:
    """Return the check of that name, from the lesson's check files."""
    for file in files:
        module = execute(file.read_text("utf-8"), file.stem, str(file))
        name_checks(vars(module).items())
        found = getattr(module, f"test_{name}", None)
        if isinstance(getattr(found, "check", None), CheckSpec):
            return cast(Callable[..., Any], found)
    raise LookupError(name)


def executed(source: Source, path: str) -> types.ModuleType:
    """Return the executed module; its file name, or each cell's, leads a debugger to its lines."""
    if source.cells:
        return execute_cells(cells_of(source.text, source.cells), source.module, path)
    return execute(source.text, source.module, path)


def trim_traceback(
    where: types.TracebackType | None, files: Collection[str]
) -> types.TracebackType | None:
    """Return the traceback down to the last line in one of the files, or None."""
    steps: list[types.TracebackType] = []
    while where is not None:
        steps.append(where)
        where = where.tb_next
    while steps and steps[-1].tb_frame.f_code.co_filename not in files:
        steps.pop()
    if not steps:
        return None
    steps[-1].tb_next = None
    return steps[0]


def first_lines(source: Source, path: str) -> list[int]:
    """Return a function's first line; of a class, that of each method or of the one in ``path``."""
    head, _, member = path.partition(".")
    node = source.definitions.get(head)
    parts: list[ast.AST | None] = [node]
    if isinstance(node, ast.ClassDef):
        parts = [one for one in node.body if member in ("", getattr(one, "name", None))]
    return [
        next((line.lineno for line in one.body if not is_docstring(line)), one.body[0].lineno)
        for one in parts
        if isinstance(one, ast.FunctionDef)
    ]


if __name__ == "__main__":
    main()
