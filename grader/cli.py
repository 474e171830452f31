"""The command ``grade``. Options and their meaning; the work is done below. Imports click; everything else when it is needed."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click_default_group import DefaultGroup

from grader import __version__
from grader.errors import ExitCode, GraderError

if TYPE_CHECKING:
    from grader.course import Course

SANDBOX_HELP = "Confine your code with what there is; refuse where a guarantee is missing (the default in CI); not at all."
FOLDER = click.Path(path_type=Path)
LANG_OPTION = click.option("--lang", metavar="LANG", help="The language: en or ko; by default GRADE_LANG, or your locale's.")
COURSE_OPTION = click.option("--course", "course_root", type=FOLDER, help="Another course's folder, in place of the one that came along.")


def default_sandbox() -> str:
    """``require`` where continuous integration says that it is one, by the variable CI; else ``auto``."""
    return "auto" if os.environ.get("CI", "").lower() in ("", "0", "false") else "require"


class Commands(DefaultGroup):  # type: ignore[misc]
    """Commands; a first word that is none of them is a lesson for ``run``."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show how lessons are graded beside how commands are called."""
        formatter.write_usage("grade", "[LESSON]... [OPTIONS]\n       grade COMMAND [ARGS]...")


@click.group(cls=Commands, default="run", default_if_no_args=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gradlings")
def grade() -> None:
    """Grade the lessons in this folder: all of them, or those you name.

    \b
    grade                     grade every lesson that is here
    grade custom_sigmoid      grade one
    grade run --help          the options of grading
    """


cli = cast(click.Group, grade)


@cli.command()
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@click.option("--in", "place", type=FOLDER, default=Path(), help="The folder or zip with your lessons; this folder by default.")
@click.option("--json", "json_file", type=FOLDER, help="Write the report as JSON to this file.")
@click.option("--html", "html_file", type=FOLDER, help="Write the report as a page to this file; report.html by default.")
@click.option("--no-html", is_flag=True, help="Write no page.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="The seed of the random inputs, to repeat a run.")
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default=default_sandbox,
    help=SANDBOX_HELP,
)
@LANG_OPTION
@COURSE_OPTION
def run(
    lessons: tuple[str, ...], place: Path, json_file: Path | None, html_file: Path | None, no_html: bool, seed: int | None, sandbox: str,
    lang: str | None, course_root: Path | None,
) -> None:  # fmt: skip
    """Grade lessons: this is what `grade` alone does.

    Example: grade run custom_sigmoid --in my-work --seed 7
    """
    from grader.commands import Outputs, grade_here

    outputs = Outputs(json_file, None if no_html else html_file or Path("report.html"))
    sys.exit(grade_here(course_root, lessons, place, outputs=outputs, seed=seed, sandbox=sandbox, lang=lang))


@cli.command()
@click.argument("folder", type=FOLDER)
@COURSE_OPTION
def init(folder: Path, course_root: Path | None) -> None:
    """Make a folder with all lessons to work in.

    Example: grade init my-work
    """
    from grader.commands import make_workspace

    make_workspace(course(course_root), folder)


@cli.command("list")
@LANG_OPTION
@COURSE_OPTION
def list_lessons(lang: str | None, course_root: Path | None) -> None:
    """List the lessons, in the order to take them.

    Example: grade list
    """
    from grader.commands import show_lessons

    show_lessons(course(course_root), Path(), lang)


@cli.command()
@click.argument("lesson")
@click.argument("name", required=False)
@click.option("--step", type=click.IntRange(1, 3), default=1, show_default=True, help="1 a nudge, 2 the idea, 3 nearly the answer.")
@LANG_OPTION
@COURSE_OPTION
def hint(lesson: str, name: str | None, step: int, lang: str | None, course_root: Path | None) -> None:
    """Show a hint for a lesson, or for one function of it.

    Example: grade hint custom_sigmoid Sigmoid --step 2
    """
    from grader.commands import show_hint

    show_hint(course(course_root).lesson(lesson), name, step, lang)


@cli.command()
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="From how many seeds; the verdicts must agree.")
@click.option("--workers", type=click.IntRange(1), help="How many hosts at a time; the cores by default.")
@click.option("--table", is_flag=True, help="Print the proof as a table, in Markdown.")
@click.option("--write-stubs", is_flag=True, help="Write the stubs from the solutions first.")
@click.option("--lang", default="en", show_default=True, help="Grade in a language, and list what it has no words for.")
@COURSE_OPTION
def verify(
    lessons: tuple[str, ...], seeds: int, workers: int | None, table: bool, write_stubs: bool, lang: str, course_root: Path | None
) -> None:
    """For authors: references pass, stubs don't, mistakes are caught and named.

    Example: grade verify custom_sigmoid --seeds 5
    """
    from grader.commands import verify_course

    found = course(course_root)
    sys.exit(verify_course(found, lessons, seeds=seeds, workers=workers, table=table, write_stubs=write_stubs, lang=lang))


def course(root: Path | None) -> Course:
    """The course that was asked for, or ours."""
    from grader.course import find_course, load_course

    return load_course(find_course(root))


def main(args: list[str] | None = None) -> None:
    """The entry point: every error that we raise on purpose is one message and its exit code."""
    try:
        status: Any = cli.main(args, standalone_mode=False)
        sys.exit(status if isinstance(status, int) else ExitCode.OK)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(ExitCode.USAGE)
    except GraderError as error:
        click.echo(f"grade: {error}", err=True)
        sys.exit(error.exit_code)
    except Exception:
        click.echo(f"{traceback.format_exc()}\ngrade: this is the grader's own fault, not yours; please report it", err=True)
        sys.exit(ExitCode.ENGINE_FAULT)
