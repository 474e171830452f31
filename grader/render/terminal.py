"""Show a report on the terminal, laid out by Rich. Control characters from students' code are
removed.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.core.text import clean
from grader.render.figures import figure_lines
from grader.render.labels import HELD_BACK, OWN_FAULT, QUIET, STATUS_WORDS, WORDS, host_limitations
from grader.render.locations import place
from grader.render.outline import points_waiting
from grader.render.problem_lines import cause
from grader.render.terminal_lines import INDENT, Lines, points

WAITING_SHOWN = 3
"""How many waiting checks, and lessons not started, are listed one by one; more take one line, so
that what is wrong comes first.
"""


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that does not interpret text as markup."""
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False, stderr=stderr)


def plain_text(report: Report, tr: Catalogue, *, columns: int) -> str:
    """Return the whole report as text without colors, for output that is not a terminal."""
    console = Console(
        markup=False,
        highlight=False,
        emoji=False,
        width=columns,
        color_system=None,
        force_jupyter=False,
        force_terminal=False,
    )
    with console.capture() as shown:
        show_report(console, report, html=None, tr=tr)
    return shown.get().rstrip("\n")


def show_report(
    console: Console,
    report: Report,
    *,
    html: str | None,
    tr: Catalogue | None = None,
    places: Mapping[str, Path] = MappingProxyType({}),
    commands: bool = True,
) -> None:
    """Show the report: each lesson, the total, and with ``commands`` what to type next.

    ``places`` has the folder that a command needs as ``--in`` to find a lesson.
    """
    page = Page(console, report, tr or Catalogue(), places, commands=commands)
    blank = [lesson for lesson in report.lessons if lesson.status is LessonStatus.NOT_STARTED]
    folded = blank if len(blank) > WAITING_SHOWN else []
    unjudged = [lesson for lesson in report.lessons if lesson.unjudged]
    for lesson in report.lessons:
        if lesson not in (*folded, *unjudged):
            page.show_lesson(lesson)
    page.show_folded(folded)
    page.show_unjudged(unjudged)
    page.show_total(html)


def show_whole(
    console: Console,
    lesson: LessonResult,
    checks: Iterable[CheckResult],
    *,
    seed: int,
    tr: Catalogue,
) -> None:
    """Show some checks in full, or why the lesson could not be judged."""
    lines = Lines(console, tr, whole=True)
    if lesson.status in (LessonStatus.MISSING, LessonStatus.INVALID):
        lines.show_why_not(lesson, below=1)
        return
    for check in checks:
        lines.show_check(check)
        steps = [
            (tr("Check"), check.id),
            (
                tr("Seeds"),
                tr("{seed} of the run, {own} the check's own", seed=seed, own=check.seed),
            ),
        ]
        for part in lines.details(check, lesson):
            console.print(Padding(part, (0, 0, 0, INDENT), expand=False))
        lines.print_labelled([*steps, *lines.hint(check, lesson)])
        console.print()


def show_figures(console: Console, lessons: Iterable[LessonResult], tr: Catalogue) -> None:
    """Show the graphs and plots of failures, in full."""
    lines = Lines(console, tr, whole=True)
    wrong = [check for lesson in lessons for check in lesson.checks if check.figures]
    for check in wrong:
        lines.show_check(check)
        for figure in check.figures:
            for line in figure_lines(figure, tr, console.width - INDENT, whole=True):
                console.print(Padding(line, (0, 0, 0, INDENT), expand=False))
        console.print()
    if not wrong:
        console.print(Text(tr("There is nothing to draw"), "dim"))


class Page(Lines):
    """One report on one console in one language."""

    def __init__(
        self,
        console: Console,
        report: Report,
        tr: Catalogue,
        places: Mapping[str, Path],
        *,
        commands: bool = True,
    ) -> None:
        super().__init__(console, tr)
        self.report = report
        self.places = places
        self.commands = commands

    def show_total(self, html: str | None) -> None:
        report, tr = self.report, self.tr
        total = Text(f"{points(report.score)} / {points(report.max_score)}", style="bold")
        if report.bonus:
            total.append("  " + tr("+ {points} bonus", points=points(report.bonus)))
        if report.held_checks:
            total.append(
                "  " + tr("{points} points held back", points=points(report.held_points)),
                style="yellow",
            )
        if html:
            total.append(f"   {html}")
        total.append(
            "   "
            + tr("{seconds} s   seed {seed}", seconds=f"{report.seconds:.1f}", seed=report.seed),
            style="dim",
        )
        self.console.print(total)
        others = sum(
            max(0, sum(check.outcome not in QUIET for check in lesson.checks) - 1)
            for lesson in report.lessons
            if lesson.status is not LessonStatus.INVALID  # what failed there is the file, once
        )
        if html and others:
            self.console.print(
                Text(
                    tr(
                        "{count} wrong checks are shown in full in {page}",
                        count=others + 1,
                        page=html,
                    ),
                    "dim",
                )
            )
        if report.held_checks:
            held = tr(HELD_BACK, count=report.held_checks, points=points(report.held_points))
            self.console.print(Text(held, "yellow"))
        if report.grader_faults:
            self.console.print(Text(tr(OWN_FAULT), "magenta"))
        for sentence in host_limitations(report.sandbox, tr):
            self.console.print(Text(sentence, "yellow"))

    def show_lesson(self, lesson: LessonResult) -> None:
        """Show one lesson: its score, then what is not right, the first in full."""
        head = Table.grid(padding=(0, 2))
        scored = f"{points(lesson.score)} / {points(lesson.max_score)}"
        head.add_row(
            Text(lesson.id, style="bold"), Text(scored), Text(self.summary(lesson), style="dim")
        )
        self.console.print(head)
        if lesson.status in (LessonStatus.MISSING, LessonStatus.INVALID):
            self.show_why_not(lesson)
            self.show_notes(lesson)
            return
        wrong = [c for c in lesson.checks if c.outcome not in (Outcome.PASSED, Outcome.NOT_STARTED)]
        if wrong:
            self.console.print()
        waiting = [check for check in wrong if check.outcome is Outcome.SKIPPED]
        folded = waiting if len(waiting) > WAITING_SHOWN else []
        first = next((check for check in wrong if check.outcome not in QUIET), None)
        shown = {self.brief(first, lesson)} if first else set()
        for check in wrong:
            if check in folded:
                continue
            self.show_check(check)
            if check is first:
                for part in self.details(check, lesson):
                    self.console.print(Padding(part, (0, 0, 0, INDENT), expand=False))
                self.show_points_waiting(check, lesson)
                if self.commands:
                    self.print_labelled(self.next_steps(check, lesson))
            elif check.outcome not in QUIET and (brief := self.brief(check, lesson)) not in shown:
                shown.add(brief)
                parts = [Text(brief[0], "red"), *([Text(brief[1], "dim")] if brief[1] else [])]
                text = Text("\n").join(parts)
                self.console.print(Padding(text, (0, 0, 0, INDENT), expand=False))
            if check is not first:
                self.show_points_waiting(check, lesson)
        if folded:
            scored = f"0 / {points(sum(check.max_points for check in folded if not check.bonus))}"
            self.show_line(
                Outcome.SKIPPED,
                self.tr("{count} checks wait for what is wrong above", count=len(folded)),
                scored,
            )
        self.show_notes(lesson)

    def show_points_waiting(self, check: CheckResult, lesson: LessonResult) -> None:
        if sentence := points_waiting(check, lesson, self.tr):
            shown = Text(sentence, "yellow")
            self.console.print(Padding(shown, (0, 0, 0, INDENT), expand=False))

    def brief(self, check: CheckResult, lesson: LessonResult) -> tuple[str, str]:
        """Return the cause of a further failure and its line; each cause is explained once."""
        where = place(lesson, check, self.tr) + "    " if check.source_line else ""
        return clean(cause(check, self.tr)), clean(f"{where}{check.source_text or ''}")

    def show_folded(self, lessons: list[LessonResult]) -> None:
        """Print the lessons that have not been begun in one line."""
        if lessons:
            scored = f"0 / {points(sum(lesson.max_score for lesson in lessons))}"
            self.show_line(
                Outcome.NOT_STARTED,
                self.tr("{count} lessons are not started", count=len(lessons)),
                scored,
            )
            self.console.print()

    def show_unjudged(self, lessons: list[LessonResult]) -> None:
        """Print the lessons that the grader failed to judge, each reason once."""
        for reason in dict.fromkeys(lesson.unjudged for lesson in lessons):
            same = [lesson for lesson in lessons if lesson.unjudged == reason]
            names = ", ".join(lesson.id for lesson in same)
            text = self.tr("could not be judged: {names}", names=names)
            scored = f"0 / {points(sum(lesson.max_score for lesson in same))}"
            self.show_line(Outcome.GRADER_ERROR, text, scored)
            self.console.print(Padding(Text(clean(reason or "")), (0, 0, 0, INDENT), expand=False))
            self.console.print()

    def show_notes(self, lesson: LessonResult) -> None:
        if lesson.notes:
            self.console.print(
                Padding(
                    Text(clean("\n".join(lesson.notes)), "dim"), (0, 0, 0, INDENT), expand=False
                )
            )
        self.console.print()

    def summary(self, lesson: LessonResult) -> str:
        """Return ``6 right · 1 wrong``; for a lesson that was not judged, its status."""
        if lesson.status in (LessonStatus.MISSING, LessonStatus.INVALID):
            return self.tr(STATUS_WORDS[lesson.status])
        counts = [
            (self.tr(WORDS[outcome]), sum(c.outcome is outcome for c in lesson.checks))
            for outcome in Outcome
        ]
        if lesson.held_checks:
            counts.append((self.tr("held back"), lesson.held_checks))
        return " · ".join(
            self.tr("{count} {word}", count=count, word=word) for word, count in counts if count
        )

    def next_steps(self, check: CheckResult, lesson: LessonResult) -> list[tuple[str, str]]:
        there = ["--in", str(self.places[lesson.id])] if lesson.id in self.places else []
        again = (
            self.tr("Again"),
            shlex.join(["grade", "replay", check.id, "--seed", str(self.report.seed), *there]),
        )
        return [*self.hint(check, lesson), again]
