"""Run ``grade hint``: show one step more each time, for what failed last."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from grader.cli.commands.workspace import Learner
from grader.core.errors import UsageError
from grader.core.text import clean
from grader.course.course import Course, Lesson
from grader.course.progress import LAST_STEP, Progress, next_lesson
from grader.render.terminal import make_console


def show_hint(
    course: Course,
    place: Path,
    lesson_id: str | None,
    name: str | None,
    *,
    step: int | None,
    lang: str | None,
    console: Console | None = None,
) -> None:
    """Print the requested hint, or in a workspace the next one for what failed last."""
    learner, console = Learner.at(course, place, lang), console or make_console()
    tr, progress = learner.tr, learner.progress
    lesson = course.lesson(lesson_id) if lesson_id else hint_lesson(learner, progress)
    hints = lesson.hints()
    if name is not None and name not in hints:
        message = "{lesson} has no hint for {name}. There are hints for: {names}"
        names = ", ".join(hints) or "-"
        raise UsageError(tr(message, lesson=lesson.id, name=repr(name), names=names))
    if name is None and step is None and learner.keeps:
        name = hint_function(lesson, hints, progress)
    remembered = progress.of(lesson.id).hints.get(name, 0) if name else 0
    most = len(hints[name]) if name else LAST_STEP
    step = step or min(remembered + 1, most)
    shown = {
        key: hints[key] for key in ([name] if name else hints) if len(hints[key]) >= max(step, 1)
    }
    if not shown:
        message = "{lesson} has no hints of step {step} yet"
        raise UsageError(tr(message, lesson=lesson.id, step=step))
    own = learner.words(lesson)
    for key, steps in shown.items():
        # "1 / 3" would read as points.
        which = tr("hint {step} of {steps}", step=step, steps=len(steps))
        chosen = "" if lesson_id else f"{lesson.id}  "
        suffix = f"  {which}" if name else ""
        console.print(Text.assemble((chosen, "dim"), (key, "bold"), (suffix, "dim")))
        if mistake := progress.of(lesson.id).named.get(key):
            found = tr("Your mistake in the last run: {title}", title=clean(mistake))
            console.print(Padding(Text(found, "dim"), (0, 0, 0, 2), expand=False))
        console.print(Padding(Text(own(steps[step - 1])), (0, 0, 0, 2), expand=False))
        if step >= LAST_STEP and key in progress.of(lesson.id).repairs:
            edit = tr("Write instead: {code}", code=progress.of(lesson.id).repairs[key])
            console.print(Padding(Text(clean(edit)), (0, 0, 0, 2), expand=False))
        remember_hint(learner, lesson, key, step)
    most = max(map(len, shown.values()))
    show_further(learner, lesson, name or next(iter(shown)), step, most=most, console=console)


def hint_lesson(learner: Learner, progress: Progress) -> Lesson:
    """Return the only lesson here. Otherwise return the one graded last while it is wrong, else the
    first wrong one, else the next one.
    """
    files = learner.files()
    here = [lesson for lesson in learner.course.lessons if lesson.id in files]
    latest = [lesson for lesson in here if lesson.id in progress.latest]
    wrong = [lesson for lesson in (*latest, *here) if progress.of(lesson.id).wrong]
    following = next_lesson(learner.course, progress) or learner.course.lessons[0]
    return next(iter(here if len(here) == 1 else wrong), following)


def hint_function(lesson: Lesson, hints: dict[str, list[str]], progress: Progress) -> str | None:
    """Return the function that failed last, else the lesson's first; None if it has no hints."""
    names = (progress.of(lesson.id).stuck_on, *lesson.names, *hints)
    return next((name for name in names if name in hints), None)


def remember_hint(learner: Learner, lesson: Lesson, name: str, step: int) -> None:
    """Remember the step that was shown; ignore a file that can't be written."""

    def reached(progress: Progress) -> Progress:
        mine = progress.of(lesson.id)
        return progress.having(
            lesson.id, replace(mine, hints={**mine.hints, name: max(step, mine.hints.get(name, 0))})
        )

    learner.keep(reached)


def show_further(
    learner: Learner, lesson: Lesson, name: str, step: int, *, most: int, console: Console
) -> None:
    tr = learner.tr
    if step < most:
        text = f"{tr('One step further')}: grade hint {lesson.id} {name} --step {step + 1}"
    elif learner.keeps:
        command = f"grade solution {lesson.id} --give-up"
        text = tr("That was the last step. The solution: {command}", command=command)
        if others := [other for other in lesson.hints() if other != name]:
            names = ", ".join(others)
            text += "\n" + tr("There are hints for other functions too: {names}", names=names)
    else:
        return
    console.print(Text(f"\n{text}", "dim"))
