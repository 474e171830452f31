"""Run ``grade replay --show``: print a script that repeats a failed check without the grader."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click
from rich.text import Text

from grader.cli.commands.replay import (
    Replay,
    ReplayRequest,
    check_name,
    find_replay,
    one_wrong_check,
    own_file,
)
from grader.core.errors import ExitCode
from grader.core.report import CheckResult, Outcome
from grader.core.text import clean
from grader.course.course import Course, Lesson
from grader.course.notebook import cells_of, loading
from grader.course.source import Source, first_line
from grader.render.terminal import make_console, show_whole
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import LessonOutcome, grade_lesson


def show_script(course: Course, request: ReplayRequest) -> ExitCode:
    """Print a script that repeats a check without the engine; for a lesson, its one wrong check."""
    errors = make_console(stderr=True)
    with ForkServerClient() as client:
        what = one_wrong_check(client, errors, find_replay(course, request), request)
        if what is None:
            return ExitCode.NOT_FULL_MARKS
        path = own_file(request.place, what.file)
        settings = replace(what.settings, recorded=what.check_id)
        outcome = grade_lesson(client, what.lesson, what.file, settings) if what.check_id else None
    checks = outcome.result.checks if outcome else ()
    found = next((check for check in checks if check.id == what.check_id), None)
    if outcome is None or found is None or outcome.judged.script is None:
        message = "{name} is not wrong with this seed: there is nothing to reproduce"
        errors.print(Text(what.tr(message, name=what.check_id or what.lesson.id), "yellow"))
        if outcome is not None:
            shown = (found,) if found else ()
            show_whole(errors, outcome.result, shown, seed=settings.seed, tr=what.tr)
        if found is None or found.outcome is Outcome.PASSED:
            return ExitCode.OK
        return ExitCode.NOT_FULL_MARKS
    click.echo(script(outcome, found, path, what), nl=False)
    return ExitCode.NOT_FULL_MARKS


def script(outcome: LessonOutcome, check: CheckResult, path: Path, what: Replay) -> str:
    """Return the script: comments, code that loads the student's file, and the recorded steps.

    If the check can't be repeated in steps, return the reason and the check's source instead.
    """
    module = what.lesson.id
    head = [comment(f"{check.id}   {check.title}"), comment(check.message or "")]
    if isinstance(outcome.judged.script, tuple):
        file = what.file
        load = (
            loading(cells_of(file.text, file.cells), module, file.filename)
            if file.cells
            else loading_file(module, path)
        )
        return "\n".join([*head, *load, *outcome.judged.script]) + "\n"
    message = "This can't be done without the grader: {reason}. The check itself:"
    reason = what.tr(message, reason=str(outcome.judged.script))
    source = check_source(what.lesson, check_name(check))
    return "\n".join([*head, comment(reason), "", source]) + "\n"


def loading_file(module: str, path: Path) -> list[str]:
    return [
        "import importlib.util",
        "",
        "import torch",
        "",
        (
            f'spec = importlib.util.spec_from_file_location("{module}",'
            f" {json.dumps(str(path), ensure_ascii=False)})"
        ),
        f"{module} = importlib.util.module_from_spec(spec)",
        f"spec.loader.exec_module({module})",
    ]


def comment(text: str) -> str:
    return "\n".join(f"# {clean(line)}".rstrip() for line in text.splitlines() or [""])


def check_source(lesson: Lesson, name: str) -> str:
    for file in (*lesson.visible_checks, *lesson.hidden_checks):
        text = file.read_text("utf-8")
        node = Source(text, file.name).definitions.get(f"test_{name}")
        if node is not None:
            return "\n".join(text.splitlines()[first_line(node) - 1 : node.end_lineno])
    return ""
