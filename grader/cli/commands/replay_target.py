"""Decide what ``grade replay`` takes if no lesson is named: the one here, or what failed last."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.cli.commands.replay import ReplayRequest
from grader.cli.commands.selection import is_there, nothing_in
from grader.cli.commands.workspace import Learner
from grader.core.errors import UsageError
from grader.core.text import clean
from grader.course.course import Course, Lesson
from grader.course.progress import Progress
from grader.course.submission import lesson_names, read_submission
from grader.render.terminal import make_console

SHOWN = 5
"""How many checks of a lesson are listed one by one."""


def resolve_target(course: Course, request: ReplayRequest) -> ReplayRequest | None:
    """Return the request with a lesson or a check; None after listing several candidates.

    Raise UsageError if nothing is known to be wrong.
    """
    request = with_path_resolved(course, request)
    if request.target:
        return request
    learner = Learner.at(course, request.place, request.lang)
    files = read_submission(request.place, [lesson.id for lesson in course.lessons])
    here = [lesson for lesson in course.lessons if lesson.id in files]
    if not here:
        raise nothing_in(request.place, [lesson.id for lesson in course.lessons])
    wrong = wrong_last(here, learner.progress)
    if len(here) == 1 or len(wrong) == 1:
        return replace(request, target=next(iter(wrong), here[0].id))
    if not wrong:
        message = (
            "No check is known to be wrong in {folder}. Grade first: grade. Or name a lesson, such"
            " as {command}"
        )
        raise UsageError(
            message, folder=str(request.place.resolve()), command=f"grade replay {here[0].id}"
        )
    show_wrong(make_console(stderr="--show" in request.options), learner, request, wrong)
    return None


def with_path_resolved(course: Course, request: ReplayRequest) -> ReplayRequest:
    """Turn a path to a lesson's file or a folder into that lesson, at that place."""
    path = request.place / request.target
    if len(Path(request.target).parts) < 2 or not is_there(path):
        return request
    lesson = lesson_names(one.id for one in course.lessons).get(path.name, "")
    options = list(request.options)
    if "--in" in options:
        at = options.index("--in")
        del options[at : at + 2]
    return replace(request, target=lesson, place=path, options=(*options, "--in", str(path)))


def wrong_last(lessons: list[Lesson], progress: Progress) -> dict[str, Mapping[str, int]]:
    """Return, by lesson, the checks that were wrong in the last grading, with their seeds."""
    own = {
        lesson.id: {
            check: seed
            for check, seed in progress.of(lesson.id).wrong.items()
            if check.startswith(f"{lesson.id}.")
        }
        for lesson in lessons
    }
    return {lesson: wrong for lesson, wrong in own.items() if wrong}


def show_wrong(
    console: Console,
    learner: Learner,
    request: ReplayRequest,
    wrong: Mapping[str, Mapping[str, int]],
) -> None:
    """Print the checks that were wrong, each with a command for it, ready to paste."""
    tr = learner.tr
    message = "{count} lessons had something wrong when they were graded last. Take one:"
    console.print(Text(tr(message, count=len(wrong))))
    for lesson, checks in wrong.items():
        console.print("", Text(lesson, "bold"), sep="\n")
        for check, own in list(checks.items())[:SHOWN]:
            seed = (
                ["--check-seed", str(own)]
                if request.seed is None
                else ["--seed", str(request.seed)]
            )
            words = ["grade", "replay", clean(check), *seed, *request.options]
            console.print(Text(f"    {shlex.join(words)}", "dim"), soft_wrap=True)
        if (more := len(checks) - SHOWN) > 0:
            command = shlex.join(["grade", "replay", lesson, *request.options])
            rest = tr("… and {count} more: {command}", count=more, command=command)
            console.print(Text(f"    {rest}", "dim"), soft_wrap=True)
