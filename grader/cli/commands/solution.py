"""Run ``grade solution``: show the learner's code beside the reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.text import Text

from grader.cli.commands.workspace import Learner, now
from grader.core.errors import UsageError
from grader.course.course import Course
from grader.course.progress import Progress
from grader.course.stubs import without_markers
from grader.render.code import compare
from grader.render.terminal import make_console


def show_solution(
    course: Course, place: Path, lesson_id: str, *, give_up: bool, lang: str | None
) -> None:
    """Show the reference beside the learner's file, after full marks or giving up."""
    learner, console = Learner.at(course, place, lang), make_console()
    lesson, tr = course.lesson(lesson_id), learner.tr
    if not lesson.solution.is_file():
        message = (
            "This course came without its solutions, so {lesson} has none to show. Ask the person"
            " who gave it to you"
        )
        raise UsageError(tr(message, lesson=lesson.id))
    mine = learner.progress.of(lesson.id)
    if not (give_up or mine.complete or mine.gave_up_at):
        command = f"grade solution {lesson.id} --give-up"
        message = (
            "The solution of {lesson} shows after full marks: grade {lesson}. To see it before:"
            " {command}"
        )
        raise UsageError(tr(message, lesson=lesson.id, command=command))
    reference = without_markers(lesson.solution.read_text("utf-8"))
    file = learner.files(lesson).get(lesson.id)
    if file is None or file.problem:
        console.print(Text(reference))
    else:
        console.print(
            Text.assemble((f"- {file.path}", "red"), "   ", (f"+ {tr('the solution')}", "green")),
            "",
        )
        lines = list(compare(file.text, reference, width=console.width))
        console.print(*lines or [Text(tr("Yours is the same, letter by letter."))], sep="\n")
    if give_up and not mine.complete:

        def given_up(progress: Progress) -> Progress:
            known = progress.of(lesson.id)
            return progress.having(lesson.id, replace(known, gave_up_at=known.gave_up_at or now()))

        learner.keep(given_up)
