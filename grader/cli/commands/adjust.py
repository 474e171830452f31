"""Change a score by hand, with an audit trail that is shown wherever the score is."""

from __future__ import annotations

import math
from pathlib import Path

from grader.classroom.batch import changing
from grader.classroom.exports.common import total_points
from grader.classroom.gradebook.entry import Adjustment, GradebookEntry
from grader.classroom.gradebook.store import Gradebook
from grader.cli.commands.author_name import login_name
from grader.cli.commands.plain_table import plain_table
from grader.core.errors import UsageError
from grader.core.text import clean, now
from grader.render.terminal import make_console
from grader.render.terminal import points as points_text


def adjust(
    out: Path, name: str, *, lesson: str | None, points: float, reason: str, author: str | None
) -> None:
    """Change a score and rewrite everything that shows it; raise UsageError for unknown names."""
    if not math.isfinite(points) or not points:
        raise UsageError(f"--points {points:g} changes nothing. Give a number such as +2 or -0.5")
    if not reason.strip():
        raise UsageError(
            "An adjustment needs a reason, which the student reads. Give one with --reason"
        )
    with changing(out) as (book, changed):
        entry = book.entry_of(name)
        lessons = [one for one, _, _ in book.lessons()]
        if lesson is not None and lesson not in lessons:
            raise UsageError(
                f"The gradebook has no lesson {lesson!r}. Its lessons: {', '.join(lessons)}"
            )
        if lesson is None and len(lessons) == 1:
            lesson = lessons[0]
        book.adjust(
            entry.name, Adjustment(points, reason.strip(), author or login_name(), now(), lesson)
        )
        changed.add(entry.name)
    list_adjustments(out, entry.name)


def list_adjustments(out: Path, name: str) -> None:
    with Gradebook.open(out) as book:
        show_trail(book.entry_of(name))


def show_trail(entry: GradebookEntry) -> None:
    console = make_console()
    if entry.adjustments:
        table = plain_table("when", "who", "points", "lesson", "reason")
        for one in entry.adjustments:
            change = f"{one.points:+g}"
            table.add_row(
                one.made_at, clean(one.author), change, one.lesson or "", clean(one.reason)
            )
        console.print(table)
    else:
        console.print(f"{clean(entry.name)}: no adjustments")
    earned = f"earned {points_text(entry.report.score)}" if entry.report else "nothing graded"
    late = f", {entry.penalty:g} off for being late" if entry.lateness else ""
    total = total_points(entry)
    score = "no score yet" if total is None else points_text(total)
    console.print(
        f"{clean(entry.name)}: {score} ({earned}{late}, adjusted by {entry.adjusted_by:+g})"
    )
    if entry.report and total is None:
        console.print("a part was not graded; grades.csv says why", soft_wrap=True)
    if entry.report and entry.adjusted_by > 0 and entry.score > entry.report.max_score:
        most = points_text(entry.report.max_score)
        line = (
            f"this is more than full marks ({most}). To undo a mistake, add an adjustment with the"
            " opposite sign"
        )
        console.print(line, soft_wrap=True)
