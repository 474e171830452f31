"""The instructor's commands that make files to hand out or to upload."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.options import (
    PATH,
    course,
    course_option,
    hidden_option,
    lessons_option,
    listed,
    near_names_option,
    pages_lang_option,
)


@click.command(short_help="Make the folder to hand out, without solutions.")
@click.argument("folder", type=PATH)
@lessons_option
@click.option(
    "--hints",
    type=click.Choice(["none", "nudge", "all"]),
    default="nudge",
    show_default=True,
    help="How many of the three hints of each function to hand out: none, the first (nudge), all.",
)
@course_option
def release(folder: Path, lessons: str | None, hints: str, course_root: Path | None) -> None:
    """Make the folder to hand out: stubs, visible checks and the engine, without solutions.

    Example: grade release handout --lessons custom_sigmoid,hooks
    """
    from grader.cli.commands.release import make_release

    make_release(course(course_root), listed(lessons), folder, hints)


@click.command()
@click.argument("file", type=PATH, metavar="OUT.zip")
@lessons_option
@hidden_option
@near_names_option
@pages_lang_option
@course_option
def gradescope(
    file: Path,
    lessons: str | None,
    hidden_checks: str,
    accept_near_names: bool,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Make the autograder zip that Gradescope takes.

    Example: grade gradescope autograder.zip --lessons custom_sigmoid
    """
    from grader.cli.commands.gradescope import make_autograder

    make_autograder(
        course(course_root),
        listed(lessons),
        file,
        hidden_checks=hidden_checks,
        lang=lang,
        accept_near_names=accept_near_names,
    )


@click.command(short_help="Make the autograder that Classroom 50 takes.")
@click.argument("folder", type=PATH, metavar="DIR")
@click.option("--assignment", required=True, metavar="NAME", help="The assignment's short name.")
@lessons_option
@click.option(
    "--with-hidden-checks",
    "whole_course",
    is_flag=True,
    help="Include solutions and hidden checks, although Classroom 50 publishes the folder.",
)
@near_names_option
@pages_lang_option
@course_option
def classroom50(
    folder: Path,
    assignment: str,
    lessons: str | None,
    whole_course: bool,
    accept_near_names: bool,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Make the folder to commit as an autograder in Classroom 50.

    Example: grade classroom50 week-1 --assignment week-1 --lessons hooks
    """
    from grader.cli.commands.classroom50 import make_autograder

    make_autograder(
        course(course_root),
        listed(lessons),
        folder,
        assignment=assignment,
        lang=lang,
        accept_near_names=accept_near_names,
        whole_course=whole_course,
    )


COMMANDS: tuple[click.Command, ...] = (release, gradescope, classroom50)
