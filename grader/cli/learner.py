"""Commands for learners and their options. Everything except click is imported when needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from grader.cli.debugging import graph, replay
from grader.cli.help import TranslatedCommand
from grader.cli.options import (
    PATH,
    course,
    course_option,
    lang_option,
    lesson_names,
    place_option,
    sandbox_option,
    seed_option,
)

FORMAT_HELP = (
    "github adds annotations and a job summary for GitHub Actions; plain prints lines for editors:"
    " path:line:column: error: cause."
)


@click.command(cls=TranslatedCommand)
@click.argument("lessons", nargs=-1, metavar="[LESSON]...", shell_complete=lesson_names)
@click.option(
    "--in",
    "place",
    type=PATH,
    default=Path(),
    help="The folder or zip with your lessons; this folder by default.",
)
@click.option("--json", "json_file", type=PATH, help="Write the report as JSON to this file.")
@click.option(
    "--html",
    "html_file",
    type=PATH,
    help="Write the report as a page to this file; report.html by default.",
)
@click.option("--no-html", is_flag=True, help="Write no page.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["terminal", "github", "plain"]),
    default="terminal",
    help=FORMAT_HELP,
)
@click.option(
    "--repair/--no-repair",
    default=None,
    help=(
        "If no mistake is recognized, search for the wrong expression after the verdict; "
        "by default only on a terminal."
    ),
)
@seed_option
@sandbox_option
@lang_option
@course_option
def run(
    lessons: tuple[str, ...],
    place: Path,
    json_file: Path | None,
    html_file: Path | None,
    no_html: bool,
    style: str,
    repair: bool | None,
    seed: int | None,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Grade lessons; `grade` alone does this too.

    Example: grade run custom_sigmoid --in my-work --seed 7
    """
    from grader.cli.commands.grade import Outputs, grade_here

    page = None if no_html else html_file or default_page()
    outputs = Outputs(json_file, page, style, repair)
    sys.exit(
        grade_here(
            course_root, lessons, place, outputs=outputs, seed=seed, sandbox=sandbox, lang=lang
        )
    )


def default_page() -> Path:
    """Return report.html in the work folder around the current folder, else in the current one."""
    from grader.course.progress import find_workspace

    work = find_workspace(Path())
    return Path(os.path.relpath(work / "report.html") if work else "report.html")


@click.command(cls=TranslatedCommand)
@click.argument("folder", type=PATH)
@click.option(
    "--notebook", is_flag=True, help="Make notebooks, for Jupyter, instead of Python files."
)
@click.option(
    "--vscode", is_flag=True, help="Add tasks for VS Code, which underline mistakes as you save."
)
@lang_option
@course_option
def init(
    folder: Path, notebook: bool, vscode: bool, lang: str | None, course_root: Path | None
) -> None:
    """Make a folder with all lessons to work in.

    Example: grade init my-work
    """
    from grader.cli.commands.workspace import make_workspace

    make_workspace(course(course_root), folder, lang, notebook=notebook, vscode=vscode)


@click.command("list", cls=TranslatedCommand)
@lang_option
@course_option
def list_lessons(lang: str | None, course_root: Path | None) -> None:
    """List the lessons: how far you are, and what is next.

    Example: grade list
    """
    from grader.cli.commands.lessons import show_lessons

    show_lessons(course(course_root), Path(), lang)


@click.command("next", cls=TranslatedCommand)
@lang_option
@course_option
def next_one(lang: str | None, course_root: Path | None) -> None:
    """Show the lesson to take next, and how to begin.

    Example: grade next
    """
    from grader.cli.commands.lessons import show_next

    show_next(course(course_root), Path(), lang)


@click.command(
    cls=TranslatedCommand, short_help="Read a lesson's README here; the answers stay folded."
)
@click.argument("lesson", required=False, shell_complete=lesson_names)
@click.option("--answers", is_flag=True, help="Show the answers to the questions too.")
@lang_option
@course_option
def read(lesson: str | None, answers: bool, lang: str | None, course_root: Path | None) -> None:
    """Read a lesson's README here, by default the next one's. The answers stay folded.

    Example: grade read custom_sigmoid
    """
    from grader.cli.commands.read import show_readme

    show_readme(course(course_root), Path(), lesson, answers=answers, lang=lang)


@click.command(cls=TranslatedCommand)
@click.argument("lesson", required=False, shell_complete=lesson_names)
@click.argument("name", required=False)
@click.option(
    "--step",
    type=click.IntRange(1, 3),
    metavar="N",
    help="1 is a nudge, 2 the idea, 3 nearly the answer; by default one step further each time.",
)
@lang_option
@course_option
def hint(
    lesson: str | None,
    name: str | None,
    step: int | None,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Show a hint for a lesson or one of its functions. Without a lesson, use the current one.

    Example: grade hint custom_sigmoid Sigmoid --step 2
    """
    from grader.cli.commands.hint import show_hint

    show_hint(course(course_root), Path(), lesson, name, step=step, lang=lang)


@click.command(cls=TranslatedCommand)
@click.argument("lessons", nargs=-1, metavar="[LESSON]...", shell_complete=lesson_names)
@place_option
@click.option(
    "--poll",
    is_flag=True,
    help="Poll for changes, where the system reports none: WSL, network folders.",
)
@click.option(
    "--plain", is_flag=True, help="Print lines for editors: path:line:column: error: cause."
)
@sandbox_option
@lang_option
@course_option
def watch(
    lessons: tuple[str, ...],
    place: Path,
    poll: bool,
    plain: bool,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Grade a lesson whenever you save it.

    Example: grade watch custom_sigmoid
    """
    from grader.cli.commands.watch import watch_lessons

    code = watch_lessons(
        course_root, lessons, place, poll=poll, plain=plain, sandbox=sandbox, lang=lang
    )
    sys.exit(code)


@click.command(cls=TranslatedCommand)
@click.argument(
    "lessons", nargs=-1, metavar="LESSON...", required=True, shell_complete=lesson_names
)
@click.option("--yes", is_flag=True, help="Don't ask.")
@lang_option
@course_option
def reset(lessons: tuple[str, ...], yes: bool, lang: str | None, course_root: Path | None) -> None:
    """Start a lesson again; a copy of your file is kept.

    Example: grade reset custom_sigmoid
    """
    from grader.cli.commands.reset import reset_lessons
    from grader.cli.commands.workspace import Learner

    found = course(course_root)
    reset_lessons(
        Learner.at(found, Path(), lang), [found.lesson(name) for name in lessons], sure=yes
    )


@click.command(cls=TranslatedCommand)
@click.argument("lesson", shell_complete=lesson_names)
@click.option("--give-up", is_flag=True, help="Show it before full marks.")
@lang_option
@course_option
def solution(lesson: str, give_up: bool, lang: str | None, course_root: Path | None) -> None:
    """Compare your code with the solution, once you have full marks.

    Example: grade solution custom_sigmoid
    """
    from grader.cli.commands.solution import show_solution

    show_solution(course(course_root), Path(), lesson, give_up=give_up, lang=lang)


COMMANDS: tuple[click.Command, ...] = (
    run,
    init,
    list_lessons,
    next_one,
    read,
    watch,
    hint,
    replay,
    reset,
    solution,
    graph,
)
