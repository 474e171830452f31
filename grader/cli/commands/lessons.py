"""Run ``grade list`` and ``grade next``."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from grader.cli.commands.selection import refuse_wrong_folder, wrong_folder
from grader.cli.commands.workspace import IN_NOTEBOOK, Learner, readme_name, show_end
from grader.core.report import FULL_LESSON
from grader.course.course import Course, Lesson
from grader.course.progress import next_lesson, opened_by
from grader.render.terminal import labelled, lesson_table, make_console, points, summary_line

README_CHARACTERS = 200
"""After this many characters, ``grade next`` shows no further paragraph of a README."""


def show_lessons(
    course: Course, place: Path, lang: str | None, console: Console | None = None
) -> None:
    """Print a table of the lessons: status, points, which is next, and what each waits for."""
    learner, console = Learner.at(course, place, lang), console or make_console()
    tr, progress = learner.tr, learner.progress
    files = learner.files().values()
    here = {file.lesson for file in files if not file.ignored}
    console.print(lesson_table(course, progress, here=here, tr=tr, own=learner.words))
    for file in files:
        if file.ignored:
            console.print(Text(tr(file.template, **file.facts), "yellow"), soft_wrap=True)
    if not learner.keeps:
        if error := wrong_folder(place):
            console.print("", Text(tr(error.template, **error.facts), "yellow"), sep="\n")
            return
        message = "No progress is kept in this folder. A folder that keeps it: {command}"
        console.print(Text("\n" + tr(message, command="grade init my-work"), "dim"))
        return
    console.print(Text("\n").append_text(summary_line(course, progress, tr)))
    if next_lesson(course, progress) is not None:
        console.print(Text(tr("What comes next: {command}", command="grade next"), "dim"))
        console.print(Text(tr("The order is advice: any lesson can be graded at any time."), "dim"))


def show_next(
    course: Course, place: Path, lang: str | None, console: Console | None = None
) -> None:
    """Show the first lines of the next lesson and what to type, or that all is complete."""
    refuse_wrong_folder(place)
    learner, console = Learner.at(course, place, lang), console or make_console()
    tr, progress = learner.tr, learner.progress
    lesson = next_lesson(course, progress)
    if lesson is None:
        show_end(learner, progress, console)
        return
    mine, file = progress.of(lesson.id), learner.files(lesson).get(lesson.id)
    head = Text.assemble((lesson.id, "bold"), f"  {learner.words(lesson)(lesson.title)}")
    if mine.attempts:
        head.append(f"  {points(mine.best)} / {points(FULL_LESSON)}", "dim")
    console.print(head, "")
    taught_in = lesson.folder
    # The course in a students' bundle has no READMEs.
    if file is not None and file.ignored:
        console.print(Text(tr(file.template, **file.facts), "yellow"), soft_wrap=True)
        return
    if file is not None and not (taught_in / "README.md").exists():
        taught_in = (learner.folder / file.path).parent
    introduction = Markdown(first_lines(lesson, taught_in, tr.lang), code_theme="ansi_dark")
    console.print(Padding(introduction, (0, 0, 1, 2), expand=False))
    if file is None:
        message, reset = "{file} is not here. Get it: {command}", f"grade reset {lesson.id}"
        text = tr(message, file=lesson.filename, command=reset)
        console.print(Text(f"  {text}", "yellow"))
        return
    in_notebook = IN_NOTEBOOK in os.environ
    readme = (Path(file.path).parent / readme_name(taught_in, tr.lang)).as_posix()
    rows = [
        *(
            [(tr("read"), f"grade read {lesson.id}"), ("", readme)]
            if (learner.folder / readme).exists()
            else []
        ),
        (tr("write"), file.path),
        (tr("grade"), f"grade {lesson.id}"),
        *([] if in_notebook else [(tr("at every save"), f"grade watch {lesson.id}")]),
        (tr("a nudge"), f"grade hint {lesson.id}"),
    ]
    if opens := opened_by(course, lesson, progress):
        rows.append((tr("prepares for"), ", ".join(other.id for other in opens)))
    console.print(labelled(rows))


def first_lines(lesson: Lesson, folder: Path, lang: str) -> str:
    """Return the first paragraphs of a README after its title, with their code, as Markdown."""
    path = folder / readme_name(folder, lang)
    text = path.read_text("utf-8") if path.exists() else lesson.summary
    paragraphs = [
        part for part in text.split("\n\n") if part.strip() and not part.startswith(("# ", "!["))
    ]
    shown: list[str] = []
    for part in paragraphs:
        if part.startswith(("#", "|")) or sum(map(len, shown)) > README_CHARACTERS:
            break
        shown.append(part)
    whole = "\n\n".join(shown)
    # A colon at the end would announce something that is only in the README.
    return whole.removesuffix(":") + " …" if whole.endswith(":") else whole
