"""Commands for a gradebook. Everything except click is imported when needed."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.options import PATH, course, course_option, hidden_option
from grader.core.errors import UsageError

SYSTEMS = ("moodle", "canvas", "folder")
FORMATS = ("csv", "canvas", "moodle", "gradescope", "junit", "json")


@click.command(short_help="Change a score by hand, with a reason.")
@click.argument("out", type=PATH)
@click.argument("submission")
@click.option("--points", type=float, help="How many points to add: +2, -0.5.")
@click.option("--reason", help="Why; the student reads it.")
@click.option("--lesson", help="The lesson whose score changes; by default the total.")
@click.option("--author", help="The author of the change; by default your login name.")
def adjust(
    out: Path,
    submission: str,
    points: float | None,
    reason: str | None,
    lesson: str | None,
    author: str | None,
) -> None:
    """Change a score by hand, with a reason; without --points, list the changes.

    SUBMISSION is its name in grades.csv, or the student's name if it is unique.

    Example: grade adjust grades alice --points +2 --reason "handed in on paper"
    """
    from grader.cli.commands.adjust import adjust as change
    from grader.cli.commands.adjust import list_adjustments

    if points is None and (reason or lesson or author):
        raise UsageError("--points is missing. Give the change of the score, such as +2 or -0.5")
    if points is None:
        list_adjustments(out, submission)
    else:
        change(out, submission, lesson=lesson, points=points, reason=reason or "", author=author)


@click.command(short_help="Comment on a submission, a lesson or a line.")
@click.argument("out", type=PATH)
@click.argument("target", required=False, metavar="[NAME[:LESSON[:LINE]]]")
@click.argument("text", required=False)
@click.option(
    "--file",
    type=PATH,
    help="A CSV file of comments, with the columns name, lesson, line, comment.",
)
@click.option(
    "--withdraw",
    "number",
    type=int,
    metavar="NUMBER",
    help="Withdraw the comment with this number; with NAME alone, the numbers are listed.",
)
@click.option("--author", help="The author of the comment; by default your login name.")
def comment(
    out: Path,
    target: str | None,
    text: str | None,
    file: Path | None,
    number: int | None,
    author: str | None,
) -> None:
    """Comment on a submission, a lesson or a line; the student reads it on the page.

    With NAME alone, list the comments.

    Example: grade comment grades alice:hooks:12 "Why is it never removed?"
    """
    from grader.cli.commands import comment as commands

    if file is not None and target is None:
        commands.comment_from(out, file, author=author)
    elif target is None or file is not None:
        raise UsageError("Give a submission and a text, or a file of comments with --file")
    elif number is not None:
        commands.withdraw(out, target, number)
    elif text is None:
        commands.show(out, target)
    else:
        commands.comment(out, target, text, author=author)


@click.command(short_help="Leave a submission out of the gradebook.")
@click.argument("out", type=PATH)
@click.argument("name", required=False)
@click.option("--undo", is_flag=True, help="Put a forgotten submission back.")
def forget(out: Path, name: str | None, undo: bool) -> None:
    """Leave a submission out of tables, pages and exports; its history is kept.

    Without NAME, list what was forgotten or renamed.

    Example: grade forget grades alice
    """
    from grader.cli.commands import forget as commands

    if name is None:
        commands.list_trail(out)
    elif undo:
        commands.undo(out, name)
    else:
        commands.forget(out, name)


@click.command(short_help="Give a submission another name.")
@click.argument("out", type=PATH)
@click.argument("old")
@click.argument("new", required=False)
@click.option(
    "--merge",
    is_flag=True,
    help="If NEW is a submission too, make the two one; the newer attempt counts.",
)
@click.option("--undo", is_flag=True, help="Undo a rename: give only the new name.")
def rename(out: Path, old: str, new: str | None, merge: bool, undo: bool) -> None:
    """Give a submission another name, for example if its folder has the wrong name.

    The submission keeps its history. Later runs of grade batch use the new name too.

    Example: grade rename grades alice alice_doe
    """
    from grader.cli.commands import forget as commands

    if undo and new is None:
        commands.undo(out, old)
    elif undo or new is None:
        raise UsageError("Give the old and the new name; with --undo, only the new one")
    else:
        commands.rename(out, old, new, merge=merge)


@click.command()
@click.argument("out", type=PATH)
@click.option(
    "--to", "name", required=True, type=click.Choice(FORMATS), help="The format to write."
)
@click.option(
    "--template",
    type=PATH,
    help="For canvas and moodle: the file that you downloaded there, to be filled in.",
)
@click.option("--output", type=PATH, help="Where to write it; by default into OUT.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="TITLE",
    help="The title of the column for the total, or LESSON=TITLE for a lesson; repeatable.",
)
@click.option(
    "--scale",
    type=click.FloatRange(0, min_open=True),
    help="How many points full marks are worth in the export.",
)
@click.option(
    "--missing-as-zero",
    is_flag=True,
    help="Give students without a submission a 0 instead of leaving their mark as it is.",
)
@click.option("--section", help="Only students of this section of the roster.")
@hidden_option
def export(
    out: Path,
    name: str,
    template: Path | None,
    output: Path | None,
    columns: tuple[str, ...],
    scale: float | None,
    missing_as_zero: bool,
    section: str | None,
    hidden_checks: str,
) -> None:
    """Write a gradebook in another system's format.

    Example: grade export grades --to canvas --template gradebook.csv
    """
    from grader.classroom.exports.common import ExportRequest
    from grader.cli.commands.export import export_gradebook

    export_gradebook(
        out,
        name,
        request=ExportRequest(template, columns, scale, missing_as_zero, hidden_checks, section),
        output=output,
    )


@click.command(short_help="Make the zip that returns pages to students.")
@click.argument("out", type=PATH)
@click.option(
    "--to",
    "system",
    required=True,
    type=click.Choice(SYSTEMS),
    help="The system that returns the pages.",
)
@click.option(
    "--template", type=PATH, help="For moodle: its grading worksheet, to match students exactly."
)
@click.option("--output", "target", type=PATH, help="Where to write it; by default into OUT.")
def feedback(out: Path, system: str, template: Path | None, target: Path | None) -> None:
    """Give students their pages: a zip that Moodle or Canvas takes back, or a folder.

    Example: grade feedback grades --to moodle
    """
    from grader.cli.commands.feedback import write_feedback

    write_feedback(out, system, template=template, target=target)


@click.command(short_help="Show which submissions share code, side by side.")
@click.argument("out", type=PATH)
@click.option(
    "--against",
    type=PATH,
    metavar="OLD_OUT",
    help="Also compare with an earlier class: the folder of its gradebook.",
)
@click.option("--lesson", help="Only this lesson.")
@click.option(
    "--threshold",
    type=click.FloatRange(0.1, 1.0),
    default=0.6,
    show_default=True,
    help="The smallest share of common code to report.",
)
@course_option
def similar(
    out: Path, against: Path | None, lesson: str | None, threshold: float, course_root: Path | None
) -> None:
    """Show submissions that share code, side by side. This does not prove copying.

    Example: grade similar grades --against grades-last-year
    """
    from grader.cli.commands.similar import show_similar

    show_similar(course(course_root), out, against=against, lesson=lesson, threshold=threshold)


@click.command(short_help="Make a group of wrong answers a known mistake.")
@click.argument("out", type=PATH)
@click.argument("group")
@click.option("--title", prompt=True, help="What the code does wrong, in a few words.")
@click.option(
    "--explanation",
    prompt=True,
    help="Cause and fix; {actual}, {expected} and inputs such as {x} are filled in.",
)
@course_option
def name(out: Path, group: str, title: str, explanation: str, course_root: Path | None) -> None:
    """Make a group of wrong answers on the class page a known mistake of the course.

    GROUP is the group's id on the page, or the start of it. The answer is added to the course's
    known mistakes. The next grade batch with the same --course shows the explanation to everyone in
    the group. The course that pip installed can't be changed: name another folder with --course.

    Example: grade name grades 3f9a --title "a mean" --explanation "Use sum()."
    """
    from grader.cli.commands.name import name_group

    name_group(course(course_root), out, group, title, explanation)


COMMANDS: tuple[click.Command, ...] = (
    adjust, comment, forget, rename, export, feedback, similar, name,
)  # fmt: skip
