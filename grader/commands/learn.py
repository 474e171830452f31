"""What a learner does beside grading: make a workspace, list the lessons, ask for a hint. Imports what lies below; no torch."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.course import Course, Lesson
from grader.errors import UsageError
from grader.render.terminal import make_console
from grader.submission import read_submission
from grader.translation import engine_catalogue, load, wanted_language


def make_workspace(course: Course, folder: Path) -> None:
    """Copy stubs and READMEs into a new folder; what is there already is never overwritten."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not empty. Choose another name; nothing was changed")
    try:
        for lesson in course.lessons:
            target = folder / lesson.id
            target.mkdir(parents=True, exist_ok=True)
            for source in (lesson.stub, *sorted(lesson.folder.glob("README*.md"))):
                (target / source.name).write_text(source.read_text("utf-8"), "utf-8")
    except OSError as error:
        raise UsageError(f"{folder} can't be made: {error.filename}: {error.strerror}. Choose another place") from None
    console = make_console()
    console.print(Text(f"{folder} holds {len(course.lessons)} lessons. Next:"))
    console.print(Text(f"\n  cd {shlex.quote(str(folder))}\n  grade list\n  grade {course.lessons[0].id}\n"))
    console.print(Text(f"Begin with {course.lessons[0].id}/README.md"))


def show_lessons(course: Course, place: Path, lang: str | None) -> None:
    """A table of the lessons, with whether each is here."""
    language = wanted_language(lang)
    say = engine_catalogue(language)
    files = read_submission(place, [lesson.id for lesson in course.lessons])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column(say("lesson"), no_wrap=True)
    table.add_column(say("what it is about"), overflow="fold")
    table.add_column(say("builds on"), no_wrap=True)
    for lesson in course.lessons:
        own = load(language, lesson.texts(language))
        here = lesson.id in files
        about = Text.assemble((own(lesson.title), "bold"), f"\n{own(lesson.summary)}", ("" if here else f"\n{say('not here')}", "yellow"))
        table.add_row(Text(lesson.id, style="bold" if here else "dim"), about, Text("\n".join(lesson.builds_on), style="dim"))
    make_console().print(table)


def show_hint(lesson: Lesson, name: str | None, step: int, lang: str | None) -> None:
    """Print one step of the hints, for one function or for each."""
    language = wanted_language(lang)
    hints, say = lesson.hints(), load(language, lesson.texts(language))
    if name is not None and name not in hints:
        raise UsageError(f"{lesson.id} has no hint for {name!r}. There are hints for: {', '.join(hints)}")
    shown = {key: hints[key] for key in ([name] if name else hints) if len(hints[key]) >= step}
    if not shown:
        raise UsageError(f"{lesson.id} has no hints of step {step} yet")
    console = make_console()
    for key, steps in shown.items():
        console.print(Text(key, style="bold"))
        console.print(Padding(Text(say(steps[step - 1])), (0, 0, 0, 2), expand=False))
    if step < max(map(len, shown.values())):
        command = f"grade hint {lesson.id} {next(iter(shown))} --step {step + 1}"
        console.print(Text(f"\n{say('One step further')}: {command}", style="dim"))
