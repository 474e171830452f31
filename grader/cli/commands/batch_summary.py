"""Print the outcome of a batch on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.classroom.batch import BatchPlan, BatchResult, lesson_of
from grader.classroom.exports.common import total_points
from grader.classroom.gradebook.entry import GradebookEntry, ScoreChange
from grader.classroom.gradebook.store import Gradebook
from grader.classroom.imports.names import name_list
from grader.cli.commands.plain_table import plain_table
from grader.core.report import LessonStatus
from grader.core.text import clean
from grader.render.terminal import points as points_text

LISTED = 20
"""How many lines of one kind are listed; the others are only counted."""
NAMED_CHECKS = 3
"""How many checks of a lesson are named if they changed alike; more are only counted."""


def listing(console: Console, what: str, lines: Sequence[str]) -> None:
    for line in lines[:LISTED]:
        console.print(Text(f"{what}: {clean(line)}"), soft_wrap=True)
    if len(lines) > LISTED:
        console.print(Text(f"{what}: and {len(lines) - LISTED} more"))


def called(entry: GradebookEntry) -> str:
    """Return the students' names, or the submission's name if that only adds to them."""
    return entry.name if entry.name.startswith(entry.label) else entry.label


def problem_of(entry: GradebookEntry) -> str:
    name = called(entry) if called(entry) == entry.name else f"{entry.label} ({entry.name})"
    if entry.problem:
        return f"{name}: {entry.problem}"
    return f"{name}: the grader's own fault: {entry.grader_faults[0].message or 'see its page'}"


def changed_checks(change: ScoreChange) -> Iterator[str]:
    """Yield the checks whose outcome changed; only count them if many of a lesson changed alike."""
    alike: dict[tuple[str, str], list[str]] = {}
    for check, *outcomes in change.checks:
        old, new = (one.replace("_", " ") if one else "not graded" for one in outcomes)
        alike.setdefault((lesson_of(check), f"{old} → {new}"), []).append(check)
    for (lesson, how), checks in alike.items():
        if len(checks) > NAMED_CHECKS:
            yield f"{lesson}: {len(checks)} checks {how}"
        else:
            yield from (f"{check} {how}" for check in checks)


class Summary:
    """The outcome of a run, printed on a terminal."""

    def __init__(self, console: Console, book: Gradebook, out: Path) -> None:
        self.console = console
        self.book = book
        self.out = out

    def line(self, text: str) -> None:
        self.console.print(Text(clean(text)), soft_wrap=True)

    def show(self, tally: BatchResult, plan: BatchPlan, handed: set[str]) -> None:
        self.show_changes(tally, plan)
        scores, most = [], 0.0
        problems, missing, unloaded, flagged = [], [], [], []
        for entry in self.book.entries():
            report = entry.report
            if report and total_points(entry) is not None:
                scores.append(entry.score)
                most = max(most, report.max_score)
            if entry.problem or entry.grader_faults:
                problems.append(problem_of(entry))
            missing += [called(entry)] * entry.missing
            unloaded += [called(entry)] * any(
                one.status is LessonStatus.INVALID for one in (report.lessons if report else ())
            )
            flagged += [called(entry)] * bool(report and report.flags)
        done = f"{tally.graded} graded, {tally.reused} unchanged since the last run"
        self.line(f"{done}, {len(problems)} not graded, {len(missing)} handed in nothing")
        listing(self.console, "not graded", problems)
        self.people("handed in nothing", missing)
        self.people("a file could not be loaded", unloaded)
        self.people("flagged, for a person to check", flagged)
        if scores:
            self.line(
                f"mean {points_text(round(sum(scores) / len(scores), 1))} of {points_text(most)}"
            )
        if common := self.book.commonest_mistakes(3):
            self.line("most common mistakes:")
            for mistake in common:
                self.line(f"  {mistake.count:>4}  {mistake.lesson}: {mistake.title}")
        if len(plan.lessons) > 1 and (
            unseen := [lesson for lesson in plan.ids if lesson not in self.book.handed_in()]
        ):
            self.line(
                f"nobody handed in: {', '.join(unseen)}. If you did not assign them, name the"
                " assigned lessons with --lessons"
            )
        if gone := self.book.names() - handed:
            self.people("in the gradebook, but not in this download (kept)", sorted(gone))
        if tally.faults:
            self.line(
                f"{tally.faults} could not be graded because of the grader's own fault. They have"
                " no mark, not 0. Run the same command to try again, and please report this"
            )
        page = self.out / "class.html"
        self.line(f"results: {page if page.exists() else self.out / 'grades.csv'}")

    def people(self, what: str, labels: Sequence[str]) -> None:
        if labels:
            more = f" and {len(labels) - LISTED} more" if len(labels) > LISTED else ""
            self.line(f"{what}: {name_list(labels[:LISTED])}{more}")

    def show_changes(self, tally: BatchResult, plan: BatchPlan) -> None:
        table = plain_table("submission", "old", "new", "checks that changed")
        count = 0
        for change in self.book.changes(tally.run):
            count += 1
            if count <= LISTED:
                table.add_row(
                    clean(change.name),
                    points_text(change.old),
                    points_text(change.new),
                    ", ".join(changed_checks(change)),
                )
        if count:
            self.console.print(table)
            self.line(
                f"{count} changed" + (f"; the first {LISTED} are shown" if count > LISTED else "")
            )
        elif plan.regrade:
            self.line("graded again: nothing changed")
