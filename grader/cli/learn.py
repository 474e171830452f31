"""The learner's commands: options and what they mean. The work is done in ``commands``; everything but click is imported when needed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.options import PATH, course, course_option, lang_option, sandbox_option, seed_option

FORMAT_HELP = "For a terminal, or for GitHub Actions as well: annotations at the lines, and the step's summary."


@click.command()
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@click.option("--in", "place", type=PATH, default=Path(), help="The folder or zip with your lessons; this folder by default.")
@click.option("--json", "json_file", type=PATH, help="Write the report as JSON to this file.")
@click.option("--html", "html_file", type=PATH, help="Write the report as a page to this file; report.html by default.")
@click.option("--no-html", is_flag=True, help="Write no page.")
@click.option("--format", "style", type=click.Choice(["terminal", "github"]), default="terminal", help=FORMAT_HELP)
@seed_option
@sandbox_option
@lang_option
@course_option
def run(
    lessons: tuple[str, ...], place: Path, json_file: Path | None, html_file: Path | None, no_html: bool, style: str, seed: int | None,
    sandbox: str, lang: str | None, course_root: Path | None,
) -> None:  # fmt: skip
    """Grade lessons: this is what `grade` alone does.

    Example: grade run custom_sigmoid --in my-work --seed 7
    """
    from grader.commands.grade import Outputs, grade_here

    outputs = Outputs(json_file, None if no_html else html_file or Path("report.html"), style)
    sys.exit(grade_here(course_root, lessons, place, outputs=outputs, seed=seed, sandbox=sandbox, lang=lang))


@click.command()
@click.argument("folder", type=PATH)
@course_option
def init(folder: Path, course_root: Path | None) -> None:
    """Make a folder with all lessons to work in.

    Example: grade init my-work
    """
    from grader.commands.learn import make_workspace

    make_workspace(course(course_root), folder)


@click.command("list")
@lang_option
@course_option
def list_lessons(lang: str | None, course_root: Path | None) -> None:
    """List the lessons, in the order to take them.

    Example: grade list
    """
    from grader.commands.learn import show_lessons

    show_lessons(course(course_root), Path(), lang)


@click.command()
@click.argument("lesson")
@click.argument("name", required=False)
@click.option("--step", type=click.IntRange(1, 3), default=1, show_default=True, help="1 a nudge, 2 the idea, 3 nearly the answer.")
@lang_option
@course_option
def hint(lesson: str, name: str | None, step: int, lang: str | None, course_root: Path | None) -> None:
    """Show a hint for a lesson, or for one function of it.

    Example: grade hint custom_sigmoid Sigmoid --step 2
    """
    from grader.commands.learn import show_hint

    show_hint(course(course_root).lesson(lesson), name, step, lang)


@click.command()
@click.argument("target", metavar="FILE:FUNCTION")
@click.option(
    "--input", "inputs", multiple=True, metavar="NUMBERS", help="An argument, such as 2.0 or 2.0,3.0; once for each. [2, 3] by default."
)
@click.option("--backward", is_flag=True, help="Run backward first: what was saved is freed then.")
@click.option("--svg", type=PATH, help="Write the drawing to this file.")
@click.option("--html", type=PATH, help="Write a page with the drawing to this file.")
@lang_option
def graph(target: str, inputs: tuple[str, ...], backward: bool, svg: Path | None, html: Path | None, lang: str | None) -> None:
    """Draw the graph that a function of yours builds. The file is run, with your rights.

    Example: grade graph model.py:loss --input 2.0,3.0 --svg loss.svg
    """
    from grader.commands.graph import show_graph, wanted

    show_graph(wanted(target, inputs, backward=backward), svg=svg, html=html, lang=lang)


COMMANDS: tuple[click.Command, ...] = (run, init, list_lessons, hint, graph)
