"""The command that grades a class. Everything except click is imported when needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from grader.cli import gradebook, publishing
from grader.cli.options import (
    PATH,
    course,
    course_option,
    listed,
    near_names_option,
    pages_lang_option,
)
from grader.core.errors import UsageError


@click.command()
@click.argument("place", type=PATH, metavar="DIR")
@click.option(
    "--out",
    type=PATH,
    required=True,
    help="The folder for gradebook, pages and tables; created if necessary.",
)
@click.option("--lessons", metavar="A,B", help="The lessons that were assigned; by default all.")
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="How many submissions to grade at a time; by default one for each core, on a cluster two"
    " for each thread.",
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
    help="Derive all random inputs from this number, so that another gradebook can repeat the run.",
)
@click.option(
    "--from",
    "layout",
    metavar="LAYOUT",
    help="The layout of the download: gradescope, moodle, canvas, github or plain; by default"
    " recognized by the file names.",
)
@click.option(
    "--roster",
    type=PATH,
    help="The class list as CSV, to show who handed in nothing and to match ids.",
)
@click.option(
    "--due", metavar="TIME", help="The due date: 2026-12-01T23:59+09:00. 'none' removes it."
)
@click.option(
    "--late",
    metavar="RULE",
    help="The late penalty, with --due: 10%/day,grace=15m,cap=50%,until=7d.",
)
@click.option(
    "--regrade",
    is_flag=True,
    help="Grade every submission again, and show the old score beside the new one.",
)
@click.option(
    "--repair",
    is_flag=True,
    help="If no mistake is recognized, search for the wrong expression: up to 5 s for each lesson.",
)
@click.option(
    "--check",
    metavar="ID",
    help="With --regrade: grade only this check again. The first line of grades.csv has all ids.",
)
@click.option("--reveal", is_flag=True, help="Show the inputs of hidden checks on students' pages.")
@near_names_option
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default="require",
    show_default=True,
    help="require: refuse to grade unless this machine can confine students' code fully. auto:"
    " confine it as far as the machine can. off: don't confine it.",
)
@pages_lang_option
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
    due: str | None,
    late: str | None,
    regrade: bool,
    repair: bool,
    check: str | None,
    reveal: bool,
    accept_near_names: bool,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Grade a class: a gradebook, a page for each student, tables.

    You can stop it at any time. Run the same command again to continue.

    Example: grade batch submissions --out grades --lessons custom_sigmoid --roster class.csv
    """
    from grader.cli.commands.batch import BatchOptions, grade_class

    if (executor == "dask") is not bool(scheduler):
        raise UsageError("Give --executor dask and --scheduler ADDRESS together, or neither")
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
        due,
        late,
        repair,
    )
    sys.exit(grade_class(course(course_root), wanted))


COMMANDS: tuple[click.Command, ...] = (batch, *gradebook.COMMANDS, *publishing.COMMANDS)
