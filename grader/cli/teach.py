"""The instructor's commands: options and what they mean. The work is done in ``commands``; everything but click is imported when needed."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.options import PATH, course, course_option, lang_option

lessons_option = click.option("--lessons", metavar="A,B", help="Which lessons; all by default.")
hidden_option = click.option(
    "--hidden-checks", type=click.Choice(["visible", "after_published", "after_due_date", "hidden"]), default="visible", show_default=True,
    help="When Gradescope shows hidden checks, without inputs; until all are shown, it shows no total.",
)  # fmt: skip


def listed(lessons: str | None) -> tuple[str, ...]:
    """The lessons of ``A,B``."""
    return tuple(name.strip() for name in (lessons or "").split(",") if name.strip())


@click.command()
@click.argument("folder", type=PATH)
@lessons_option
@course_option
def release(folder: Path, lessons: str | None, course_root: Path | None) -> None:
    """Make what students get: stubs, visible checks, the engine; no solution.

    Example: grade release handout --lessons custom_sigmoid,hooks
    """
    from grader.commands.release import make_release

    make_release(course(course_root), listed(lessons), folder)


@click.command()
@click.argument("file", type=PATH, metavar="OUT.zip")
@lessons_option
@hidden_option
@lang_option
@course_option
def gradescope(file: Path, lessons: str | None, hidden_checks: str, lang: str | None, course_root: Path | None) -> None:
    """Make the autograder zip that Gradescope takes.

    Example: grade gradescope autograder.zip --lessons custom_sigmoid
    """
    from grader.commands.gradescope import make_autograder

    make_autograder(course(course_root), listed(lessons), file, hidden_checks=hidden_checks, lang=lang)


COMMANDS: tuple[click.Command, ...] = (release, gradescope)
