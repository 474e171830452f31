"""The learner's commands and their options. Everything but click is imported when needed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.help import TranslatedCommand
from grader.cli.options import (
    PATH,
    check_names,
    course,
    course_option,
    lang_option,
    lesson_names,
    sandbox_option,
    seed_option,
)

FORMAT_HELP = (
    "For a terminal, or for GitHub Actions as well: annotations at the lines, and the step's"
    " summary."
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
    type=click.Choice(["terminal", "github"]),
    default="terminal",
    help=FORMAT_HELP,
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
    seed: int | None,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Grade lessons: this is what `grade` alone does.

    Example: grade run custom_sigmoid --in my-work --seed 7
    """
    from grader.cli.commands.grade import Outputs, grade_here

    outputs = Outputs(json_file, None if no_html else html_file or Path("report.html"), style)
    sys.exit(
        grade_here(
            course_root, lessons, place, outputs=outputs, seed=seed, sandbox=sandbox, lang=lang
        )
    )


@click.command(cls=TranslatedCommand)
@click.argument("folder", type=PATH)
@click.option("--notebook", is_flag=True, help="The stubs as notebooks, for Jupyter.")
@lang_option
@course_option
def init(folder: Path, notebook: bool, lang: str | None, course_root: Path | None) -> None:
    """Make a folder with all lessons to work in.

    Example: grade init my-work
    """
    from grader.cli.commands.workspace import make_workspace

    make_workspace(course(course_root), folder, lang, notebook=notebook)


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


@click.command(cls=TranslatedCommand)
@click.argument("lesson", required=False, shell_complete=lesson_names)
@click.argument("name", required=False)
@click.option(
    "--step",
    type=click.IntRange(1, 3),
    metavar="N",
    help="1 a nudge, 2 the idea, 3 nearly the answer; else one further each time.",
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
    """Show a hint for a lesson, or for one function of it. Without a lesson: for the one that you
    are at.

    Example: grade hint custom_sigmoid Sigmoid --step 2
    """
    from grader.cli.commands.lessons import show_hint

    show_hint(course(course_root), Path(), lesson, name, step=step, lang=lang)


@click.command(short_help="Run a check again from its seed, or debug it.", cls=TranslatedCommand)
@click.argument("target", metavar="[LESSON[.CHECK]]", default="", shell_complete=check_names)
@click.option(
    "--in",
    "place",
    type=PATH,
    default=Path(),
    help="The folder with your lessons; this folder by default.",
)
@seed_option
@click.option(
    "--check-seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    help="The check's own seed, from a report, in place of the run's.",
)
@click.option(
    "--show", "way", flag_value="show", help="Print a script that does the same without the grader."
)
@click.option(
    "--pdb",
    "way",
    flag_value="pdb",
    help="Debug your code, where it raises or is called. It runs with your rights.",
)
@click.option(
    "--break",
    "stop",
    is_flag=True,
    help="With --pdb: stop at the first line of the function in any case.",
)
@sandbox_option
@lang_option
@course_option
def replay(
    target: str,
    place: Path,
    seed: int | None,
    check_seed: int | None,
    way: str | None,
    stop: bool,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Run a check again from its seed: judged, as a script, or debugged. Of a lesson, the one that
    is wrong.

    Without a lesson: the one that is here, or that was wrong when it was graded last; of several,
    the commands to take one.

    Example: grade replay custom_sigmoid.gradcheck_agrees --seed 5 --show
    """
    from grader.cli.commands.replay import ReplayRequest, debug, show_script
    from grader.cli.commands.replay import replay as judge_again
    from grader.cli.commands.replay_target import resolve_target
    from grader.core.errors import ExitCode

    typed = [
        ("--in", place if place != Path() else None),
        ("--course", course_root),
        ("--lang", lang),
    ]
    flags = [
        word
        for word, given in (("--show", way == "show"), ("--pdb", way == "pdb"), ("--break", stop))
        if given
    ]
    options = (
        *flags,
        *(word for name, value in typed if value is not None for word in (name, str(value))),
    )
    asked = resolve_target(
        course(course_root), ReplayRequest(target, place, seed, check_seed, sandbox, lang, options)
    )
    if asked is None:
        sys.exit(ExitCode.NOT_FULL_MARKS)
    if way == "pdb" or stop:
        sys.exit(debug(course_root, asked, stop=stop))
    sys.exit(show_script(course_root, asked) if way == "show" else judge_again(course_root, asked))


@click.command(cls=TranslatedCommand)
@click.argument("target", metavar="FILE:FUNCTION")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NUMBERS",
    help="An argument, such as 2.0 or 2.0,3.0; once for each. [2, 3] by default.",
)
@click.option("--backward", is_flag=True, help="Run backward first: what was saved is freed then.")
@click.option("--svg", type=PATH, help="Write the drawing to this file.")
@click.option("--html", type=PATH, help="Write a page with the drawing to this file.")
@lang_option
def graph(
    target: str,
    inputs: tuple[str, ...],
    backward: bool,
    svg: Path | None,
    html: Path | None,
    lang: str | None,
) -> None:
    """Draw the graph that a function of yours builds. The file is run, with your rights.

    Example: grade graph model.py:loss --input 2.0,3.0 --svg loss.svg
    """
    from grader.cli.commands.graph import show_graph, wanted

    show_graph(wanted(target, inputs, backward=backward), svg=svg, html=html, lang=lang)


@click.command(cls=TranslatedCommand)
@click.argument("lessons", nargs=-1, metavar="[LESSON]...", shell_complete=lesson_names)
@click.option(
    "--in",
    "place",
    type=PATH,
    default=Path(),
    help="The folder with your lessons; this folder by default.",
)
@click.option(
    "--poll",
    is_flag=True,
    help="Look for changes again and again, where none are told: WSL, network folders.",
)
@sandbox_option
@lang_option
@course_option
def watch(
    lessons: tuple[str, ...],
    place: Path,
    poll: bool,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Grade a lesson whenever you save it.

    Example: grade watch custom_sigmoid
    """
    from grader.cli.commands.watch import watch_lessons

    sys.exit(watch_lessons(course_root, lessons, place, poll=poll, sandbox=sandbox, lang=lang))


@click.command(cls=TranslatedCommand)
@click.argument(
    "lessons", nargs=-1, metavar="LESSON...", required=True, shell_complete=lesson_names
)
@click.option("--yes", is_flag=True, help="Don't ask.")
@lang_option
@course_option
def reset(lessons: tuple[str, ...], yes: bool, lang: str | None, course_root: Path | None) -> None:
    """Begin a lesson anew; a copy of what you had is kept.

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
    from grader.cli.commands.lessons import show_solution

    show_solution(course(course_root), Path(), lesson, give_up=give_up, lang=lang)


COMMANDS: tuple[click.Command, ...] = (
    run,
    init,
    list_lessons,
    next_one,
    watch,
    hint,
    replay,
    reset,
    solution,
    graph,
)
