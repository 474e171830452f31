"""Commands for authors and their options. Everything except click is imported when needed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.options import course, course_option

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(short_help="Check the course: solutions pass, stubs fail, mistakes get names.")
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@click.option(
    "--seeds",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many seeds to grade from; the verdicts must agree.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="How many fork servers to use; by default one for each core.",
)
@click.option(
    "--keep",
    type=FILE,
    metavar="FILE",
    help=(
        "Write each verdict to FILE at once, so that the same command continues after an "
        "interruption. Verdicts of another lesson, engine or torch are dropped, and cases"
        " with problems are graded again. With --table, also print how many seeds each "
        "lesson is complete for."
    ),
)
@click.option("--table", is_flag=True, help="Print the results as a Markdown table.")
@click.option("--write-stubs", is_flag=True, help="Write the stubs from the solutions first.")
@click.option(
    "--lang",
    default="en",
    show_default=True,
    help="Grade in this language, and list missing translations.",
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
    """Check the course: solutions pass, stubs fail, mistakes get their names and near misses don't.

    Example: grade verify custom_sigmoid --seeds 5

    A long run that can be interrupted: grade verify --seeds 20 --keep verify.sqlite
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


@click.command(short_help="Create a working lesson to turn into your own.")
@click.argument("lesson", required=False)
@click.option(
    "--function",
    metavar="NAME",
    help="The function to implement; by default named like the lesson.",
)
@click.option(
    "--lang", default="ko", show_default=True, help="The language of the lesson's translations."
)
@course_option
def new(lesson: str | None, function: str | None, lang: str, course_root: Path | None) -> None:
    """Create a working lesson to turn into your own; in an empty folder, a course.

    Example: grade new softmax_by_hand --function softmax --course my-course
    """
    from grader.cli.commands.new import new_course, new_lesson

    if course_root is not None and not (course_root / "exercises" / "course.toml").exists():
        new_course(course_root, lesson, function, lang)
    else:
        new_lesson(course(course_root), lesson, function, lang)


COMMANDS: tuple[click.Command, ...] = (verify, new)
