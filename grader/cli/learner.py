"""The learner's commands about lessons: ``list``, ``next``, ``read``, ``hint``, ``reset`` and
``solution``.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from grader.cli.help import TranslatedCommand
from grader.cli.options import complete_lesson, course, course_option, lang_option
from grader.cli.selection import refuse_wrong_folder, wrong_folder
from grader.cli.workspace import (
    IN_NOTEBOOK,
    Learner,
    in_language,
    readme_beside,
    readme_path,
    show_end,
)
from grader.core.errors import UsageError
from grader.core.i18n import Catalogue
from grader.core.scoring import FULL_LESSON
from grader.core.text import clean, now
from grader.course.beginnings import fresh, readme_name
from grader.course.course import Lesson
from grader.course.progress import LAST_STEP, Progress, next_lesson, opened_by
from grader.course.stubs import without_markers
from grader.course.submission import LessonFile
from grader.render.code import FOLDED, compare, folded
from grader.render.terminal import labelled, lesson_table, make_console, paged, points, summary_line


def learner_command(name: str, run: Callable[..., None]) -> click.Command:
    """Return a command that calls ``run`` with the learner in this folder and a console."""

    @functools.wraps(run)
    def here(lang: str | None, course_root: Path | None, **values: Any) -> None:
        run(Learner.at(course(course_root), Path(), lang), make_console(), **values)

    return course_option(lang_option(click.command(name, cls=TranslatedCommand)(here)))


def refuse_no_work(learner: Learner) -> None:
    """Raise UsageError, as grading does, in a folder without any work."""
    refuse_wrong_folder(learner.folder, [lesson.id for lesson in learner.course.lessons])


def show_lessons(learner: Learner, console: Console) -> None:
    """List the lessons: how far you are, and what is next.

    Example: grade list
    """
    course, tr, progress = learner.course, learner.tr, learner.progress
    files = learner.files().values()
    here = {file.lesson for file in files if not file.ignored}
    console.print(lesson_table(course, progress, here=here, tr=tr, own=learner.words))
    for file in files:
        if file.ignored:
            console.print(Text(tr(file.template, **file.facts), "yellow"), soft_wrap=True)
    if not learner.keeps:
        if error := wrong_folder(learner.folder):
            console.print("", Text(tr(error.template, **error.facts), "yellow"), sep="\n")
            return
        message = "No progress is kept in this folder. A folder that keeps it: {command}"
        command = learner.command("grade init my-work")
        console.print(Text("\n" + tr(message, command=command), "dim"))
        return
    console.print(Text("\n").append_text(summary_line(course, progress, tr)))
    if next_lesson(course, progress) is not None:
        command = learner.command("grade next")
        console.print(Text(tr("What comes next: {command}", command=command), "dim"))
        console.print(Text(tr("The order is advice: any lesson can be graded at any time."), "dim"))


class WholeWidth(CodeBlock):
    """A block of code that may be as wide as the text."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(1, 0))


class ReadmeText(Markdown):
    """A README, in whose listings no line has to be broken."""

    elements = Markdown.elements | {"fence": WholeWidth, "code_block": WholeWidth}


README_CHARACTERS = 200
"""After this many characters, ``grade next`` shows no further paragraph of a README."""


def show_next(learner: Learner, console: Console) -> None:
    """Show the lesson to take next, and how to begin.

    Example: grade next
    """
    refuse_no_work(learner)
    course, tr, progress = learner.course, learner.tr, learner.progress
    lesson = next_lesson(course, progress)
    if lesson is None:
        show_end(learner, progress, console)
        return
    mine, file = progress.of(lesson.id), learner.files(lesson).get(lesson.id)
    head = Text.assemble((lesson.id, "bold"), f"  {learner.words(lesson)(lesson.title)}")
    if mine.attempts:
        best = f"{points(mine.best)} / {points(FULL_LESSON)}"
        head.append(f"  {tr('best {points}', points=best)}", "dim")
    console.print(head, "")
    if file is not None and file.ignored:
        console.print(Text(tr(file.template, **file.facts), "yellow"), soft_wrap=True)
        return
    taught_in = lesson.folder
    if file is not None and not (taught_in / "README.md").exists():
        # The course in a students' bundle has no READMEs.
        taught_in = (learner.folder / file.path).parent
    introduction = ReadmeText(first_lines(lesson, taught_in, tr.lang), code_theme="ansi_dark")
    console.print(Padding(introduction, (0, 0, 1, 2), expand=False))
    if file is None:
        message, reset = "{file} is not here. Get it: {command}", f"grade reset {lesson.id}"
        text = tr(message, file=lesson.filename, command=learner.command(reset))
        console.print(Text(f"  {text}", "yellow"))
        return
    readme, write = readme_beside(learner, lesson, file), learner.shown(file.path)
    reads = [f"grade read {lesson.id}", readme] if readme else []
    if learner.has_keys:
        rows = [(tr("read"), path) for path in reads[1:]] + [(tr("write"), write)]
    else:
        rows = [(tr("read") if one is reads[0] else "", one) for one in reads]
        run = f"{'%' if IN_NOTEBOOK in os.environ else ''}grade {lesson.id}"
        rows += [(tr("write"), write), (tr("grade"), run)]
        if IN_NOTEBOOK not in os.environ:
            rows.append((tr("at every save"), f"grade watch {lesson.id}"))
        rows.append((tr("a nudge"), f"grade hint {lesson.id}"))
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


WIDTH = 80
PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n\n", re.MULTILINE)


@click.argument("name", metavar="[LESSON]", required=False, shell_complete=complete_lesson)
@click.option("--answers", is_flag=True, help="Show the answers to the questions too.")
def show_readme(learner: Learner, console: Console, name: str | None, answers: bool) -> None:
    """Read a lesson's README here, by default the next one's. The answers stay folded.

    Example: grade read custom_sigmoid
    """
    course, tr = learner.course, learner.tr
    lesson = course.lesson(name) if name else next_lesson(course, learner.progress)
    lesson = lesson or course.lessons[-1]
    path = readme_path(learner, lesson)
    if path is None:
        message = "There is no README of {lesson} here. Go to the folder that has your lessons"
        raise UsageError(tr(message, lesson=lesson.id))
    text = path.read_text("utf-8")
    shown = ReadmeText(plain_readme(text, answers=answers), code_theme="ansi_dark")
    console.width = min(console.width, WIDTH)
    with paged(console, tr):
        console.print(shown)
    if not answers and FOLDED.search(text):
        command = f"grade read {lesson.id} --answers"
        console.print(Text(tr("The answers: {command}", command=command), "dim"))


def plain_readme(text: str, *, answers: bool) -> str:
    """Return a README without HTML and pictures; folded answers are left out or unfolded."""
    return FOLDED.sub(r"**\g<head>**\n\n\g<answers>" if answers else "", PICTURE.sub("", text))


@click.argument("lesson_id", metavar="[LESSON]", required=False, shell_complete=complete_lesson)
@click.argument("name", required=False)
@click.option(
    "--step",
    type=click.IntRange(1, 3),
    metavar="N",
    help="1 is a nudge, 2 the idea, 3 nearly the answer; by default one step further each time.",
)
def show_hint(
    learner: Learner,
    console: Console,
    lesson_id: str | None = None,
    name: str | None = None,
    step: int | None = None,
) -> None:
    """Show a hint for a lesson or one of its functions. Without a lesson, use the current one.

    Example: grade hint custom_sigmoid Sigmoid --step 2
    """
    tr, progress = learner.tr, learner.progress
    lesson = learner.course.lesson(lesson_id) if lesson_id else hint_lesson(learner, progress)
    hints = lesson.hints()
    if lesson_id is None:
        refuse_no_work(learner)
    if name is not None and name not in hints:
        message = "{lesson} has no hint for {name}. There are hints for: {names}"
        have = ", ".join(hints) or "-"
        raise UsageError(tr(message, lesson=lesson.id, name=repr(name), names=have))
    if name is None and learner.keeps:
        # The function that failed last, else the lesson's first.
        names = (progress.of(lesson.id).stuck_on, *lesson.names, *hints)
        name = next((one for one in names if one in hints), None)
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
        if mistake := in_language(progress.of(lesson.id), lesson, tr.lang).named.get(key):
            message = "Your mistake in the last run: {title}. The hint is about all of {name}."
            found = tr(message, title=clean(mistake), name=key)
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
        command = learner.command(f"grade hint {lesson.id} {name} --step {step + 1}")
        text = f"{tr('One step further')}: {command}"
    elif learner.keeps:
        mine = learner.progress.of(lesson.id)
        option = "" if mine.complete or mine.gave_up_at else " --give-up"
        command = learner.command(f"grade solution {lesson.id}{option}")
        text = tr("That was the last step. The solution: {command}", command=command)
        if others := [other for other in lesson.hints() if other != name]:
            names = ", ".join(others)
            text += "\n" + tr("There are hints for other functions too: {names}", names=names)
    else:
        return
    console.print(Text(f"\n{text}", "dim"))


@click.argument(
    "lessons", nargs=-1, metavar="LESSON...", required=True, shell_complete=complete_lesson
)
@click.option("--yes", is_flag=True, help="Don't ask.")
def reset_lessons(learner: Learner, console: Console, lessons: tuple[str, ...], yes: bool) -> None:
    """Start a lesson again; a copy of your file is kept.

    Example: grade reset custom_sigmoid
    """
    chosen = [learner.course.lesson(name) for name in lessons]
    refuse_no_work(learner)
    # A file that may be anything else than the lesson stays beside the stub.
    files = {id: one for id, one in learner.files(*chosen).items() if one.meant or not one.ignored}
    for lesson in chosen:
        found = files.get(lesson.id)
        if found is not None and (found.ignored or not (learner.folder / found.path).is_file()):
            raise UsageError(found.template or found.path, **found.facts)
        target = learner.folder / (found.path if found else f"{lesson.id}/{lesson.filename}")
        beginning = fresh(lesson, target, learner.tr)
        if found is not None and found.problem is None and same_text(target, beginning):
            console.print(Text(learner.tr("{file} is a fresh stub already.", file=found.path)))
            continue
        if found is not None and not yes:
            question = learner.tr("Begin {file} again? A copy is kept", file=found.path)
            if not agreed(question, lesson, learner.tr):
                console.print(Text(learner.tr("Nothing was changed.")))
                continue
        try:
            copy = set_aside(target) if found else None
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)  # the link is replaced; its target stays
            target.write_text(beginning, "utf-8", newline="\n")
        except OSError as error:
            why = {"file": error.filename, "reason": error.strerror}
            raise UsageError(
                learner.tr("{file} can't be written: {reason}. Nothing of yours was lost", **why)
            ) from None
        path = target.relative_to(learner.folder)
        message = learner.tr("{file} is a fresh stub.", file=path.as_posix())
        if copy:
            kept = path.with_name(copy.name).as_posix()
            message += " " + learner.tr("What you had is in {file}", file=kept)
        console.print(Text(message))


def same_text(path: Path, text: str) -> bool:
    try:
        return path.read_text("utf-8") == text
    except (OSError, ValueError):
        return False


def agreed(question: str, lesson: Lesson, tr: Catalogue) -> bool:
    """Ask a question; only yes is yes. Raise UsageError if nobody can answer, as in a notebook."""
    try:
        answer = click.prompt(f"{question} [{tr('y/N')}]", default="", show_default=False)
        return answer.strip().lower() in ("y", "yes", *tr("y yes").split())
    except click.Abort:
        if sys.stdin is not None and sys.stdin.isatty():
            raise
        click.echo()
        message = (
            "Nobody can answer here, so nothing was changed. To begin it again without a question:"
            " {command}"
        )
        raise UsageError(message, command=f"grade reset {lesson.id} --yes") from None


def set_aside(path: Path) -> Path:
    """Copy a file to the first free of ``<name>.1``, ``<name>.2``, …"""
    number = 1
    while (copy := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    copy.write_bytes(path.read_bytes())
    return copy


@click.argument("name", metavar="LESSON", shell_complete=complete_lesson)
@click.option("--give-up", is_flag=True, help="Show it before full marks.")
def show_solution(learner: Learner, console: Console, name: str, give_up: bool) -> None:
    """Compare your code with the solution, once you have full marks.

    Example: grade solution custom_sigmoid
    """
    lesson, tr = learner.course.lesson(name), learner.tr
    if not lesson.solution.is_file():
        message = (
            "This course came without its solutions, so {lesson} has none to show. Ask the person"
            " who gave it to you"
        )
        raise UsageError(tr(message, lesson=lesson.id))
    mine = learner.progress.of(lesson.id)
    if not (give_up or mine.complete or mine.gave_up_at):
        refuse_no_work(learner)
        command = f"grade solution {lesson.id} --give-up"
        message = (
            "The solution of {lesson} shows after full marks: grade {lesson}. To see it before:"
            " {command}"
        )
        raise UsageError(tr(message, lesson=lesson.id, command=command))
    reference = without_markers(lesson.solution.read_text("utf-8"))
    file = learner.files(lesson).get(lesson.id)
    with paged(console, tr):
        console.print(solution_text(file, reference, tr, console.width), end="")
    if give_up and not mine.complete:

        def given_up(progress: Progress) -> Progress:
            known = progress.of(lesson.id)
            return progress.having(lesson.id, replace(known, gave_up_at=known.gave_up_at or now()))

        learner.keep(given_up)


def solution_text(file: LessonFile | None, reference: str, tr: Catalogue, width: int) -> Text:
    """Return the comparison with a learner's file; without one, the solution."""
    if file is None or file.problem:
        lines = [Text(piece) for line in reference.split("\n") for piece in folded(line, width)]
    else:
        head = ((f"- {file.path}", "red"), "   ", (f"+ {tr('the solution')}", "green"))
        same = [Text(tr("Yours is the same, letter by letter."))]
        compared = list(compare(file.text, reference, width=width))
        lines = [Text.assemble(*head), Text(), *(compared or same)]
    return Text("\n").join([*lines, Text()])


@functools.wraps(show_lessons)
def page_lessons(learner: Learner, console: Console) -> None:
    with paged(console, learner.tr):
        show_lessons(learner, console)


list_command = learner_command("list", page_lessons)
next_command = learner_command("next", show_next)
read_command = learner_command("read", show_readme)
hint_command = learner_command("hint", show_hint)
reset_command = learner_command("reset", reset_lessons)
solution_command = learner_command("solution", show_solution)
