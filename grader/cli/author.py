"""The author's commands and their options. Everything but click is imported when needed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.options import course, course_option

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(short_help="Hold the course to its word: references pass, stubs don't.")
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@click.option(
    "--seeds",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="From how many seeds; the verdicts must agree.",
)
@click.option(
    "--workers", type=click.IntRange(1), help="How many hosts at a time; the cores by default."
)
@click.option(
    "--keep",
    type=FILE,
    metavar="FILE",
    help=(
        "Write each verdict to FILE at once, so that the same command goes on after a cut. Verdicts"
        " of another course, engine or torch are dropped; whatever found a problem is graded again."
        " With --table: from how many seeds each lesson is complete."
    ),
)
@click.option("--table", is_flag=True, help="Print the proof as a table, in Markdown.")
@click.option("--write-stubs", is_flag=True, help="Write the stubs from the solutions first.")
@click.option(
    "--lang",
    default="en",
    show_default=True,
    help="Grade in a language, and list what it has no words for.",
)
@course_option
def verify(
    lessons: tuple[str, ...],
    seeds: int,
    workers: int | None,
    keep: Path | None,
    table: bool,
    write_stubs: bool,
    lang: str,
    course_root: Path | None,
) -> None:
    """Hold the course to its word: references pass, stubs don't, mistakes are named, near misses
    aren't.

    Example: grade verify custom_sigmoid --seeds 5

    A long run, in pieces: grade verify --seeds 20 --keep verify.sqlite
    """
    from grader.cli.commands.verify import verify_course

    found = course(course_root)
    code = verify_course(
        found,
        lessons,
        seeds=seeds,
        workers=workers,
        table=table,
        write_stubs=write_stubs,
        lang=lang,
        keep=keep,
    )
    sys.exit(code)


@click.command(short_help="Make a lesson that holds, to turn into yours.")
@click.argument("lesson", required=False)
@click.option(
    "--function",
    metavar="NAME",
    help="The function that it asks for; named like the lesson by default.",
)
@click.option(
    "--lang", default="ko", show_default=True, help="The language that its catalogue is for."
)
@course_option
def new(lesson: str | None, function: str | None, lang: str, course_root: Path | None) -> None:
    """Make a lesson that holds, to turn into yours; in an empty folder, a course.

    Example: grade new softmax_by_hand --function softmax --course my-course
    """
    from grader.cli.commands.new import new_course, new_lesson

    if course_root is not None and not (course_root / "exercises" / "course.toml").exists():
        new_course(course_root, lesson, function, lang)
    else:
        new_lesson(course(course_root), lesson, function, lang)


COMMANDS: tuple[click.Command, ...] = (verify, new)
