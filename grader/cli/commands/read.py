"""Run ``grade read``: show a lesson's README, with the answers folded unless asked for."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from grader.cli.commands.workspace import Learner, readme_path
from grader.core.errors import UsageError
from grader.course.course import Course, Lesson
from grader.course.progress import next_lesson
from grader.render.code import FOLDED
from grader.render.terminal import make_console

WIDTH = 80
PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n\n", re.MULTILINE)


def show_readme(
    course: Course,
    place: Path,
    name: str | None,
    *,
    answers: bool,
    lang: str | None,
    console: Console | None = None,
) -> None:
    """Print a lesson's README, by default that of the next lesson; through a pager on a terminal.

    Raise UsageError if the lesson has none here.
    """
    learner, console = Learner.at(course, place, lang), console or make_console()
    lesson = course.lesson(name) if name else next_lesson(course, learner.progress)
    lesson = lesson or course.lessons[-1]
    text = plain_readme(readme(learner, lesson), answers=answers)
    shown = Markdown(text, code_theme="ansi_dark")
    hint = learner.tr("The answers: {command}", command=f"grade read {lesson.id} --answers")
    console.width = min(console.width, WIDTH)
    if console.is_terminal:
        # Without R, less shows the colors as escape codes; F ends it if one screen is enough.
        os.environ["LESS"] = os.environ.get("LESS") or "FRX"
        with console.pager(styles=True):
            console.print(shown)
    else:
        console.print(shown)
    if not answers and FOLDED.search(readme(learner, lesson)):
        console.print(Text(hint, "dim"))


def readme(learner: Learner, lesson: Lesson) -> str:
    """Return the README in the learner's language, from the course or the learner's folder."""
    if path := readme_path(learner, lesson):
        return path.read_text("utf-8")
    message = "There is no README of {lesson} here. Go to the folder that has your lessons"
    raise UsageError(learner.tr(message, lesson=lesson.id))


def plain_readme(text: str, *, answers: bool) -> str:
    """Return a README without HTML and pictures; folded answers are left out or put under their
    heading.
    """
    return FOLDED.sub(r"**\g<head>**\n\n\g<answers>" if answers else "", PICTURE.sub("", text))
