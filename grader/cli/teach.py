"""The instructor's commands: options and what they mean. The work is done in ``commands``; everything but click is imported when needed."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.options import PATH, course, course_option


@click.command()
@click.argument("folder", type=PATH)
@click.option("--lessons", metavar="A,B", help="Which lessons; all by default.")
@course_option
def release(folder: Path, lessons: str | None, course_root: Path | None) -> None:
    """Make what students get: stubs, visible checks, the engine; no solution.

    Example: grade release handout --lessons custom_sigmoid,hooks
    """
    from grader.commands.release import make_release

    names = tuple(name.strip() for name in (lessons or "").split(",") if name.strip())
    make_release(course(course_root), names, folder)


COMMANDS: tuple[click.Command, ...] = (release,)
