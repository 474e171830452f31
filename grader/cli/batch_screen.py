"""What the terminal shows while a class is graded: what was found, the progress, what Ctrl-C does,
and the outcome.
"""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from grader.classroom.batch import BatchPlan, BatchResult, lesson_of
from grader.classroom.gradebook.entry import GradebookEntry, not_graded, total_points
from grader.classroom.gradebook.marks import MarkChange
from grader.classroom.gradebook.people import Enrolled
from grader.classroom.gradebook.roster import Roster
from grader.classroom.gradebook.store import Gradebook
from grader.classroom.imports.names import name_list
from grader.classroom.passed_over import passed_over_files
from grader.classroom.statistics.first_screen import Topic
from grader.core.report import LessonStatus
from grader.core.text import clean, counted
from grader.render.terminal import make_console, plain_table
from grader.render.terminal import points as points_text
from grader.runtime.pool import HostPool

Thing = TypeVar("Thing")
LISTED = 20
"""How many lines of one kind are listed; the others are only counted."""
NAMED_CHECKS = 3
"""How many checks of a lesson are named if they changed alike; more are only counted."""
LOG_SECONDS = 5.0
"""How often a run without a terminal prints its progress."""
LOOK_SECONDS = 0.1
"""How often ``Meter.over`` reports its position, because there may be a million small items."""


def say_before(console: Console, enrolled: Enrolled, roster: Roster | None) -> None:
    found = enrolled.found
    handed = counted(len(found.handed), "submission")
    console.print(Text(f"{handed}, layout: {found.layout}"))
    listing(console, "note", found.notes)
    listing(console, "ignored", [f"{entry}: {reason}" for entry, reason in found.passed_over])
    listing(console, "roster", [*(roster.problems if roster else ()), *enrolled.notes])


def listing(console: Console, what: str, lines: Sequence[str]) -> None:
    for line in lines[:LISTED]:
        console.print(Text(f"{what}: {clean(line)}"), soft_wrap=True)
    if len(lines) > LISTED:
        console.print(Text(f"{what}: and {len(lines) - LISTED} more"))


class Rate(ProgressColumn):
    """The number of items per second."""

    def render(self, task: Task) -> Text:
        """Return ``12.5/s``, once it is known."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "", "dim")


class Meter:
    """A bar, or lines, for the parts of a command, one after another."""

    def __init__(self, console: Console) -> None:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            Rate(),
            TimeRemainingColumn(),
        )
        self._bar = (
            Progress(*columns, console=console, transient=True) if console.is_terminal else None
        )
        self._what, self._total = "", 0
        self._began = self._reported_at = 0.0

    def __enter__(self) -> Meter:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._began = self._reported_at = time.monotonic()
        if self._bar is not None:
            for task in self._bar.task_ids:
                self._bar.remove_task(task)
            self._bar.add_task(what, total=total)

    def update(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[-1], completed=done)
            return
        at = time.monotonic()
        if at - self._reported_at >= LOG_SECONDS:
            self._reported_at, rate = at, done / (at - self._began)
            left = math.ceil((self._total - done) / rate) if rate else 0
            print(
                f"{self._what}: {done} of {self._total} done, {rate:.1f}/s, about {left} s left",
                file=sys.stderr,
                flush=True,
            )

    def over(self, what: str, things: Collection[Thing]) -> Iterator[Thing]:
        self.begin(what, len(things))
        looked = time.monotonic()
        for done, thing in enumerate(things):
            if (at := time.monotonic()) - looked >= LOOK_SECONDS:
                looked = at
                self.update(done)
            yield thing


@contextlib.contextmanager
def graceful_interrupt(
    console: Console, hosts: HostPool[Any], *, what: str = "submission"
) -> Iterator[None]:
    """Make the first Ctrl-C stop new work, with a message; the next raises KeyboardInterrupt.

    Another handler, or an ignored signal (``nohup``), stays as it is.
    """
    before = signal.getsignal(signal.SIGINT)
    if (
        threading.current_thread() is not threading.main_thread()
        or before is not signal.default_int_handler
    ):
        yield
        return

    def first(*_: object) -> None:
        signal.signal(signal.SIGINT, again)
        hosts.finishing.set()
        # The signal may arrive while a line is being written, and no other text can be written
        # then.
        with contextlib.suppress(RuntimeError):
            console.print(Text(stopping(hosts.busy, what)), soft_wrap=True)

    def again(*_: object) -> None:
        hosts.abandon()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def stopping(busy: int, what: str = "submission") -> str:
    """Return what to print at the first Ctrl-C; ``what`` is what is graded."""
    waiting = (
        f"waiting for {counted(busy, what)}; press Ctrl-C again to stop at once"
        if busy
        else "one moment"
    )
    return f"stopping: {waiting}\nwhat was graded is kept; run the same command to continue"


class Summary:
    """The outcome of a run, printed on a terminal."""

    def __init__(self, console: Console, book: Gradebook) -> None:
        self.console = console
        self.book = book

    def line(self, text: str) -> None:
        self.console.print(Text(clean(text)), soft_wrap=True)

    def show(
        self,
        tally: BatchResult,
        plan: BatchPlan,
        handed: set[str],
        changes: Sequence[MarkChange],
        topics: Sequence[Topic],
    ) -> None:
        if changes:
            show_changes(self.console, changes)
        elif plan.regrade:
            self.line("graded again: nothing changed")
        if tally.older:
            self.line(
                "this download is older than another one, so its new attempts without a time of"
                " their own count as older too"
            )
        if tally.untimed:
            untimed = counted(tally.untimed, "new attempt")
            self.line(
                f"taken as in time, because no time is known: {untimed}."
                " Give --roster a list with times that was downloaded together with this"
            )
        since = [called(entry) for entry in self.book.handed_in_since(handed)]
        self.people("handed in again after this download, by the roster, so not graded", since)
        self.show_people(tally, handed)
        if topics:
            self.line("what to reteach:")
            for topic in topics:
                self.line(f"  {topic.people.count:>4}  {topic.lesson.id}: {topic.title}")
        self.show_rest(tally, plan, handed)

    def show_people(self, tally: BatchResult, handed: set[str]) -> None:
        """Print how many were graded, whom to look at, and the mean."""
        scores, most = [], 0.0
        problems, missing, unloaded, flagged, passed_over = [], [], [], [], []
        unmarked, counted_too = [], 0
        for entry in self.book.entries():
            if entry.is_test:
                continue
            report = entry.report
            if report and total_points(entry) is not None:
                scores.append(entry.score)
                most = max(most, report.max_score)
            if entry.problem or entry.grader_faults:
                problems.append(problem_of(entry))
            missing += [called(entry)] * entry.missing
            if any(not_graded(entry)):
                unmarked.append(called(entry))
                counted_too += entry.name in handed
            unloaded += [called(entry)] * any(
                one.status is LessonStatus.INVALID for one in (report.lessons if report else ())
            )
            flagged += [called(entry)] * bool(report and report.flags)
            if entry.wrong_file:
                passed_over.append(f"{called(entry)}: {entry.wrong_file}")
            if report:
                files = passed_over_files(report)
                passed_over += [f"{path} {reason}" for path, reason in files]
        done = f"{tally.graded} graded, {tally.reused} unchanged since the last run"
        done += f" ({counted_too} of these without a mark)" * bool(counted_too)
        self.line(f"{done}, {len(problems)} not graded, {len(missing)} handed in nothing")
        self.people("no mark, because of a file that was not graded", unmarked)
        listing(self.console, "not graded", problems)
        listing(self.console, "ignored", passed_over)
        self.people("handed in nothing", missing)
        self.people("a file could not be loaded", unloaded)
        self.people("flagged, for a person to check", flagged)
        if scores:
            self.line(
                f"mean {points_text(round(sum(scores) / len(scores), 1))} of {points_text(most)}"
            )

    def show_rest(self, tally: BatchResult, plan: BatchPlan, handed: set[str]) -> None:
        """Print what nobody handed in, who is not in this download, and where the results are."""
        if len(plan.lessons) > 1 and (
            unseen := [lesson for lesson in plan.ids if lesson not in self.book.handed_in()]
        ):
            self.line(
                f"nobody handed in: {', '.join(unseen)}. If you did not assign them, name the"
                " assigned lessons with --lessons"
            )
        if gone := self.book.names() - handed:
            what = "so not graded again" if plan.regrade else "but in the gradebook (kept)"
            self.people(f"not in this download, {what}", sorted(gone))
        if tally.faults:
            self.line(
                f"{tally.faults} could not be graded because of the grader's own fault. They have"
                " no mark, not 0. Run the same command to try again, and please report this"
            )
        page = self.book.folder / "class.html"
        self.line(f"results: {page if page.exists() else page.with_name('grades.csv')}")

    def people(self, what: str, labels: Sequence[str]) -> None:
        if labels:
            self.line(f"{what}: {name_list(labels, LISTED)}")


def announce(changes: Sequence[MarkChange]) -> None:
    """Print the marks that a command changed, if there are any."""
    if changes:
        show_changes(make_console(), changes)


def show_changes(console: Console, changes: Sequence[MarkChange]) -> None:
    """Print whose mark changed, and why."""
    table = plain_table("submission", "old", "new", "why")
    for change in changes[:LISTED]:
        why = "; ".join(filter(None, [change.cause, ", ".join(changed_checks(change))]))
        table.add_row(clean(change.called), mark_text(change.old), mark_text(change.new), why)
    console.print(table)
    many, marks = len(changes), sum(change.old != change.new for change in changes)
    shown = f"; the first {LISTED} are shown" if many > LISTED else ""
    which = "" if marks == many else f", but {f'only {marks} of the' if marks else 'no'} marks"
    console.print(Text(f"{many} changed{which}{shown}"))


def mark_text(mark: float | None) -> str:
    return "none" if mark is None else points_text(mark)


def called(entry: GradebookEntry) -> str:
    """Return the students' names, or the submission's name if that only adds to them."""
    return entry.name if entry.name.startswith(entry.label) else entry.label


def problem_of(entry: GradebookEntry) -> str:
    name = called(entry) if called(entry) == entry.name else f"{entry.label} ({entry.name})"
    if entry.problem:
        return f"{name}: {entry.problem}"
    return f"{name}: the grader's own fault: {entry.grader_faults[0].message or 'see its page'}"


def changed_checks(change: MarkChange, shown: Collection[str] | None = None) -> Iterator[str]:
    """Yield the checks whose outcome changed; only count them if many of a lesson changed alike, or
    if not all of them are among the ``shown``.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for check, *outcomes in change.checks:
        old, new = (one.replace("_", " ") if one else "not graded" for one in outcomes)
        alike.setdefault((lesson_of(check), f"{old} → {new}"), []).append(check)
    for (lesson, how), checks in alike.items():
        if len(checks) > NAMED_CHECKS or (shown is not None and not {*checks} <= {*shown}):
            yield f"{lesson}: {counted(len(checks), 'check')} {how}"
        else:
            yield from (f"{check} {how}" for check in checks)
