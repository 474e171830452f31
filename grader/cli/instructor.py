"""The instructor's commands and their options. All but click is imported when needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from grader.cli import publishing
from grader.cli.options import (
    PATH,
    course,
    course_option,
    hidden_option,
    lang_option,
    listed,
    near_names_option,
)
from grader.core.errors import UsageError

FORMATS = ("csv", "canvas", "moodle", "gradescope", "junit", "json")


@click.command()
@click.argument("place", type=PATH, metavar="DIR")
@click.option(
    "--out",
    type=PATH,
    required=True,
    help="The folder for gradebook, pages and tables; made if need be.",
)
@click.option(
    "--lessons", metavar="A,B", help="The lessons that were set; all of the course by default."
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="How many submissions at a time; by default the cores, or twice a cluster's.",
)
@click.option(
    "--executor",
    type=click.Choice(["local", "dask"]),
    default="local",
    show_default=True,
    help="This machine, or a cluster.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="With --executor dask: the scheduler's address, or its scheduler file.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    help="Make the class's secret from a number, for a run that can be repeated.",
)
@click.option(
    "--from",
    "layout",
    metavar="LAYOUT",
    help="Where the download is from; recognised by its names by default.",
)
@click.option(
    "--roster", type=PATH, help="The class list as CSV: who handed nothing in, and everybody's ids."
)
@click.option(
    "--regrade", is_flag=True, help="Grade again what was graded, and show old beside new."
)
@click.option("--check", metavar="ID", help="With --regrade: grade only this check again.")
@click.option("--reveal", is_flag=True, help="Let students' pages show what hidden checks asked.")
@near_names_option
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default="require",
    show_default=True,
    help="How to confine code.",
)
@lang_option
@course_option
def batch(
    place: Path,
    out: Path,
    lessons: str | None,
    workers: int | None,
    executor: str,
    scheduler: str | None,
    seed: int | None,
    layout: str | None,
    roster: Path | None,
    regrade: bool,
    check: str | None,
    reveal: bool,
    accept_near_names: bool,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Grade a class: a gradebook, a page for each student, tables.

    Stopped at any moment, the same command goes on where it was.

    Example: grade batch submissions --out grades --lessons custom_sigmoid --roster class.csv
    """
    from grader.cli.commands.batch import BatchOptions, grade_class

    if (executor == "dask") is not bool(scheduler):
        raise UsageError(
            "--executor dask and --scheduler ADDRESS go together: a cluster is told by its"
            " scheduler"
        )
    workers = workers or (0 if scheduler else os.cpu_count() or 1)
    wanted = BatchOptions(
        place,
        out,
        listed(lessons),
        layout,
        roster,
        workers,
        scheduler,
        seed,
        sandbox,
        lang,
        regrade,
        check,
        reveal,
        accept_near_names,
    )
    sys.exit(grade_class(course(course_root), wanted))


@click.command(short_help="Change a score by hand, with a reason.")
@click.argument("out", type=PATH)
@click.argument("submission")
@click.option("--points", type=float, help="By how many points: +2, -0.5.")
@click.option("--reason", help="Why; the student reads it.")
@click.option("--lesson", help="The lesson whose points change; the total's by default.")
@click.option("--author", help="Who changes it; your login name by default.")
def adjust(
    out: Path,
    submission: str,
    points: float | None,
    reason: str | None,
    lesson: str | None,
    author: str | None,
) -> None:
    """Change a score by hand, with a reason; without --points list what was changed.

    SUBMISSION is its name in grades.csv, or whose it is where that can only be one.

    Example: grade adjust grades alice --points +2 --reason "handed in on paper"
    """
    from grader.cli.commands.adjust import adjust as change
    from grader.cli.commands.adjust import list_adjustments

    if points is None and (reason or lesson or author):
        raise UsageError("--points is missing: by how much should the score change?")
    if points is None:
        list_adjustments(out, submission)
    else:
        change(out, submission, lesson=lesson, points=points, reason=reason or "", author=author)


@click.command()
@click.argument("out", type=PATH)
@click.option("--to", "name", required=True, type=click.Choice(FORMATS), help="Whose format.")
@click.option(
    "--template",
    type=PATH,
    help="For canvas and moodle: the file that they gave you, to be filled in.",
)
@click.option("--output", type=PATH, help="Where to write it; beside the gradebook by default.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="TITLE",
    help="The total's column, or LESSON=TITLE for a lesson's; repeatable.",
)
@click.option(
    "--scale", type=click.FloatRange(0, min_open=True), help="What full marks are worth there."
)
@click.option(
    "--missing-as-zero",
    is_flag=True,
    help="Give who handed nothing in a zero, in place of leaving them as they were.",
)
@hidden_option
def export(
    out: Path,
    name: str,
    template: Path | None,
    output: Path | None,
    columns: tuple[str, ...],
    scale: float | None,
    missing_as_zero: bool,
    hidden_checks: str,
) -> None:
    """Write a gradebook as another system reads it.

    Example: grade export grades --to canvas --template gradebook.csv
    """
    from grader.classroom.exports.records import ExportRequest
    from grader.cli.commands.export import export_gradebook

    export_gradebook(
        out,
        name,
        request=ExportRequest(template, columns, scale, missing_as_zero, hidden_checks),
        output=output,
    )


@click.command(short_help="Show which submissions share code, side by side.")
@click.argument("out", type=PATH)
@click.option(
    "--against",
    type=PATH,
    metavar="OLD_OUT",
    help="Compare with an earlier class too: the folder of its gradebook.",
)
@click.option("--lesson", help="Only this lesson.")
@click.option(
    "--threshold",
    type=click.FloatRange(0.1, 1.0),
    default=0.6,
    show_default=True,
    help="The share of own code from which on.",
)
@course_option
def similar(
    out: Path, against: Path | None, lesson: str | None, threshold: float, course_root: Path | None
) -> None:
    """Show which submissions share code, side by side: a place to look, no verdict.

    Example: grade similar grades --against grades-last-year
    """
    from grader.cli.commands.similar import show_similar

    show_similar(course(course_root), out, against=against, lesson=lesson, threshold=threshold)


COMMANDS: tuple[click.Command, ...] = (batch, adjust, export, similar, *publishing.COMMANDS)
