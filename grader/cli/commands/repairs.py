"""After the verdict is printed, search for the one wrong expression of a function."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from grader.cli.commands.selection import Selection, are_in_workspace
from grader.cli.commands.workspace import Learner
from grader.core.i18n import Catalogue
from grader.core.messages import Repair, Settings
from grader.core.report import Report
from grader.course.course import Course
from grader.course.progress import Progress
from grader.render.terminal import INDENT, wrong_expression_text
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import repaired


def show_repairs(
    host: ForkServerClient,
    course: Course,
    report: Report,
    chosen: Selection,
    settings: Settings,
    place: Path,
    console: Console,
    tr: Catalogue,
) -> Report:
    """Search and print wrong expressions; return the report with them, or the same if none is
    found. In a learner's own folder the last hint shows the repair. Ctrl-C ends only the search,
    because the verdict is already there.
    """
    message = Text(tr("Searching for the expression that is wrong …"), "dim")
    watched = console.is_terminal and console.file.isatty()
    try:
        with console.status(message, spinner="line") if watched else contextlib.nullcontext():
            final, found = repaired(host, report, chosen.lessons, chosen.files, settings)
    except KeyboardInterrupt:
        return report
    if final.lessons == report.lessons:
        return report
    for lesson in final.lessons:
        shown: set[str] = set()
        for check in lesson.checks:
            if check.wrong_expression and check.function not in shown:
                shown.add(check.function)
                text = wrong_expression_text(check, lesson, tr, console.width - INDENT)
                console.print(Padding(text, (1, 0, 0, INDENT), expand=False))
    if place == Path() and are_in_workspace(place, chosen.files):
        keep_repairs(Learner.at(course, place, settings.lang), found)
    return final


def keep_repairs(learner: Learner, found: dict[str, tuple[Repair, ...]]) -> None:
    """Store what to write instead; only the last hint of a function shows it."""

    def change(progress: Progress) -> Progress:
        for lesson, repairs in found.items():
            edits = {one.function: one.new for one in repairs if one.wrong and one.new}
            progress = progress.having(lesson, replace(progress.of(lesson), repairs=edits))
        return progress

    learner.keep(change)
