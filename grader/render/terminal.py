"""Show reports and a learner's lessons on the terminal, laid out by Rich.

Control characters from students' code are removed.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from rich import box
from rich.align import Align
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from grader.core.i18n import Catalogue, load_catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.core.scoring import FULL_LESSON
from grader.core.text import clean, input_text, text, values_text, without_warnings
from grader.course.course import Course, Lesson
from grader.course.progress import (
    Achievement,
    LessonState,
    Progress,
    course_summary,
    needs,
    next_lesson,
    standing,
)
from grader.render.figures import figure_lines
from grader.render.page import (
    OWN_FAULT,
    counted_outcomes,
    held_back,
    host_limitations,
    place,
    points_waiting,
    reason,
    repair_message,
    repaired_line,
    told_once,
)

INDENT = 4
GAP = " " * 4
"""Between a place and its line of code."""
PRINTED_LINES, PRINTED_COLUMNS = 3, 200
WAITING_SHOWN = 3
"""How many waiting checks, and lessons not started, are listed one by one; more take one line, so
that what is wrong comes first.
"""
STANDINGS = {
    LessonState.COMPLETE: ("✔", "green"),
    LessonState.BEGUN: ("◐", "yellow"),
    LessonState.OPEN: ("○", ""),
    LessonState.WAITING: ("·", "dim"),
}
"""The mark and the style of each state of a lesson."""
PANEL_WIDTH = 64


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that does not interpret text as markup."""
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False, stderr=stderr)


@contextlib.contextmanager
def paged(console: Console, tr: Catalogue) -> Iterator[None]:
    """On a terminal, show what a block prints in a pager if it takes more than one screen."""
    if not console.is_terminal:
        yield
        return
    # Without R, less shows colors as escape codes; F ends it if one screen is enough; Ps is the
    # prompt, which a dollar sign ends.
    keys = tr("space shows more, q ends this")
    os.environ["LESS"] = os.environ.get("LESS") or f"FRXPs{keys}$"
    with console.pager(styles=True):
        yield


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
    page = Page(console, tr or Catalogue(), report=report, places=places, commands=commands)
    blank = [lesson for lesson in report.lessons if lesson.status is LessonStatus.NOT_STARTED]
    folded = blank if len(blank) > WAITING_SHOWN else []
    unjudged = [lesson for lesson in report.lessons if lesson.unjudged]
    for lesson in report.lessons:
        if lesson not in (*folded, *unjudged):
            page.show_lesson(lesson)
    page.show_folded(folded)
    page.show_unjudged(unjudged)
    page.show_total(html)


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
        for part in lines.details(check, lesson):
            lines.indented(part)
        seeds = tr("{seed} of the run, {own} the check's own", seed=seed, own=check.seed)
        steps = [(tr("Check"), check.id), (tr("Seeds"), seeds), *lines.hint(check, lesson)]
        lines.print_labelled(steps)
        console.print()


def show_figures(console: Console, lessons: Iterable[LessonResult], tr: Catalogue) -> None:
    """Show the graphs and plots of failures, in full."""
    lines = Lines(console, tr, whole=True)
    wrong = [check for lesson in lessons for check in lesson.checks if check.figures]
    for check in wrong:
        lines.show_check(check)
        for figure in check.figures:
            for line in figure_lines(figure, tr, console.width - INDENT, whole=True):
                lines.indented(line)
        console.print()
    if not wrong:
        console.print(Text(tr("There is nothing to draw"), "dim"))


@dataclass(frozen=True)
class Lines:
    """Checks on one console in one language; with ``whole``, their output is not folded."""

    console: Console
    tr: Catalogue
    whole: bool = False

    @property
    def width(self) -> int:
        """How many columns the text below a check may have."""
        return self.console.width - INDENT

    def indented(self, text: Text, *, below: int = 0) -> None:
        """Print what belongs to the line before, with empty lines ``below``."""
        self.console.print(Padding(text, (0, 0, below, INDENT), expand=False))

    def show_why_not(self, lesson: LessonResult, *, below: int = 0) -> None:
        """Print why a lesson is missing or could not be loaded, with the line if there is one, and
        empty lines ``below``. A command in its last line is not wrapped.
        """
        why = Text(clean(lesson.message or ""), style="red")
        line = lesson.checks[0] if lesson.checks else None
        if line and line.source_line:
            at = line.source_column
            marked = (at - 1, at) if at else None
            where, code = clean(place(lesson, line, self.tr)), clean(line.source_text or "")
            why = Text("\n").join([why, located(where, code, self.width, marked)])
        *_, command = why.plain.split("\n")
        if cell_len(command) > self.width and command.startswith(("mv ", "ren ")):
            self.indented(Text(why.plain.removesuffix(f"\n{command}"), style="red"))
            self.console.print(Text(command + "\n" * below, "red"), soft_wrap=True)
            return
        self.indented(why, below=below)

    def show_check(self, check: CheckResult, note: str = "") -> None:
        """Print a check's line, with a ``note`` after its title, or below it without room."""
        bonus = " " + self.tr("bonus") if check.bonus else ""
        scored = f"{points(check.points)} / {points(check.max_points)}{bonus}"
        self.show_line(check.outcome, check.title, scored, note)

    def show_line(self, outcome: Outcome, title: str, scored: str, note: str = "") -> None:
        line = Table.grid(expand=True, padding=(0, 1))
        line.add_column(width=3, justify="right")
        line.add_column(ratio=1)
        line.add_column(justify="right")
        said = Text.assemble(title, (f"  {note}" if note else "", "dim"))
        no_room = said.cell_len + cell_len(scored) + len("  ✘   ") > self.console.width
        shown = Text(title) if no_room else said
        line.add_row(Text(outcome.mark, outcome.color), shown, Text(scored, style="dim"))
        self.console.print(line)
        if note and no_room:
            self.indented(Text(note, "dim"))

    def details(self, check: CheckResult, lesson: LessonResult) -> Iterable[Text]:
        """Yield the details of a failure: cause, line, expected value, figures."""
        tr = self.tr
        message = Text(clean(check.message or ""), style="red")
        if check.asked and not check.evidence:
            yield Text.assemble((tr("The lesson asks") + ": ", "dim"), clean(check.asked))
        if check.evidence:
            named = clean(". ".join(filter(None, told_once(check))))
            yield Text.assemble((tr("Looks like") + ": ", "bold"), named)
        elif check.message:
            yield message
        if check.wrong_expression:
            yield wrong_expression_text(check, lesson, tr, self.width)
        elif check.source_line:
            where = clean(place(lesson, check, tr))
            yield located(where, clean(check.source_text or ""), self.width)
        if check.evidence and check.message:
            yield message
        if check.expected is None and check.actual is not None:
            yield Text.assemble((tr("got") + "  ", "dim"), clean(text(check.actual)))
        elif check.expected is not None:
            expected, actual = values_text(check.expected, check.actual)
            width = max(cell_len(tr("expected")), cell_len(tr("got"))) + 2
            yield Text.assemble((set_cell_size(tr("expected"), width), "dim"), clean(expected))
            yield Text.assemble((set_cell_size(tr("got"), width), "dim"), clean(actual))
        if check.inputs:
            given = (f"{name} = {clean(input_text(value))}" for name, value in check.inputs.items())
            yield Text.assemble((tr("called with") + "  ", "dim"), "   ".join(given))
        for figure in check.figures:
            yield from figure_lines(figure, tr, self.width, whole=self.whole)
        printed, warned = without_warnings(check.output)
        if printed.strip():
            yield Text.assemble((tr("It printed") + "  ", "dim"), clean(self.first_lines(printed)))
        for warning in warned:
            yield Text.assemble((tr("It warned") + "  ", "dim"), clean(warning))

    def first_lines(self, output: str) -> str:
        lines = output.strip().splitlines()
        if self.whole:
            return "\n".join(lines)
        shown, more = lines[:PRINTED_LINES], len(lines) - PRINTED_LINES
        if more == 1:  # it takes no more room than what would stand for it
            shown = lines
        rest = "\n" + self.tr("… and {count} more lines", count=more) if more > 1 else ""
        cut = (line[:PRINTED_COLUMNS] + "…" * (len(line) > PRINTED_COLUMNS) for line in shown)
        return "\n".join(cut) + rest

    def hint(self, check: CheckResult, lesson: LessonResult) -> list[tuple[str, str]]:
        if check.outcome not in (Outcome.PASSED, Outcome.GRADER_ERROR):
            return [(self.tr("A nudge"), f"grade hint {lesson.id}")]
        return []

    def print_labelled(self, rows: list[tuple[str, str]]) -> None:
        """Print rows of a label and a text; commands are not wrapped, so one that does not fit
        beside its label has a line of its own, not indented if it is longer still.
        """
        width = max(cell_len(label) for label, _ in rows) + 2
        for label, command in rows:
            line = " " * INDENT + set_cell_size(label, width) + command
            if cell_len(line) > self.console.width:
                self.console.print(Text(" " * INDENT + label, "dim"), soft_wrap=True)
                self.print_command(command)
                continue
            self.console.print(Text(line, "dim"), soft_wrap=True)

    def print_command(self, command: str) -> None:
        """Print a command in one line, indented as far as there is room."""
        indentation = min(INDENT, max(0, self.console.width - cell_len(command)))
        self.console.print(Text(" " * indentation + command, "dim"), soft_wrap=True)


@dataclass(frozen=True, kw_only=True)
class Page(Lines):
    """One report on one console; ``places`` and ``commands``: as in ``show_report``."""

    report: Report
    places: Mapping[str, Path]
    commands: bool

    def show_total(self, html: str | None) -> None:
        report, tr = self.report, self.tr
        total = Text(f"{points(report.score)} / {points(report.max_score)}", style="bold")
        if report.bonus:
            total.append("  " + tr("+ {points} bonus", points=points(report.bonus)))
        if report.held_checks:
            held = tr("{points} points held back", points=points(report.held_points))
            if report.held_points == 1:
                held = tr("1 point held back")
            total.append("  " + held, "yellow")
        if html:
            total.append(f"   {html}")
        run = tr("{seconds} s   seed {seed}", seconds=f"{report.seconds:.1f}", seed=report.seed)
        self.console.print(total.append("   " + run, "dim"))
        wrong = [
            len(lesson.failures)
            for lesson in report.lessons
            if lesson.status is not LessonStatus.INVALID  # what failed there is the file, once
        ]
        if html and max(wrong, default=0) > 1:
            count = sum(wrong)
            full = tr("{count} wrong checks are shown in full in {page}", count=count, page=html)
            self.console.print(Text(full, "dim"))
        if report.held_checks:
            self.console.print(Text(held_back(report, tr), "yellow"))
        if report.own_fault:
            self.console.print(Text(tr(OWN_FAULT), "magenta"))
        for sentence in host_limitations(report.sandbox, tr):
            self.console.print(Text(sentence, "yellow"))

    def show_lesson(self, lesson: LessonResult) -> None:
        """Show one lesson: its score, then what is not right, the first in full."""
        head = Table.grid(padding=(0, 2))
        scored = f"{points(lesson.score)} / {points(lesson.max_score)}"
        head.add_row(Text(lesson.id, "bold"), Text(scored), Text(self.summary(lesson), "dim"))
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
        first = next(iter(lesson.failures), None)
        above: tuple[str, str, str] | None = None
        for check in wrong:
            if check in folded:
                continue
            brief = None if check.outcome.quiet else self.brief(check, lesson)
            same = brief is not None and brief == above
            self.show_check(check, self.tr("same as above") if same else "")
            if check is first:
                for part in self.details(check, lesson):
                    self.indented(part)
                self.show_points_waiting(check, lesson)
                if self.commands:
                    self.print_labelled(self.next_steps(check, lesson))
            elif brief and not same:
                cause, where, code = brief
                parts = [Text(cause, "red"), located(where, code, self.width)]
                self.indented(Text("\n").join(parts if where else parts[:1]))
            if check is not first:
                self.show_points_waiting(check, lesson)
            above = brief
        if folded:
            scored = f"0 / {points(sum(check.max_points for check in folded if not check.bonus))}"
            text = self.tr("{count} checks wait for what is wrong above", count=len(folded))
            self.show_line(Outcome.SKIPPED, text, scored)
        self.show_untouched(lesson)
        self.show_notes(lesson)

    def show_untouched(self, lesson: LessonResult) -> None:
        """Print which functions of a lesson that was begun are not started."""
        checks = [check for check in lesson.checks if check.outcome is Outcome.NOT_STARTED]
        if checks and lesson.status is not LessonStatus.NOT_STARTED:
            names = ", ".join(dict.fromkeys(check.function for check in checks))
            scored = f"0 / {points(sum(check.max_points for check in checks if not check.bonus))}"
            self.show_line(
                Outcome.NOT_STARTED, self.tr("not started: {names}", names=names), scored
            )

    def show_points_waiting(self, check: CheckResult, lesson: LessonResult) -> None:
        if sentence := points_waiting(check, lesson, self.tr):
            self.indented(Text(sentence, "yellow"))

    def brief(self, check: CheckResult, lesson: LessonResult) -> tuple[str, str, str]:
        """Return the cause of a further failure, its place and its line."""
        where = place(lesson, check, self.tr) if check.source_line else ""
        return clean(reason(check, self.tr)), clean(where), clean(check.source_text or "")

    def show_folded(self, lessons: list[LessonResult]) -> None:
        """Print the lessons that have not been begun in one line."""
        if lessons:
            scored = f"0 / {points(sum(lesson.max_score for lesson in lessons))}"
            text = self.tr("{count} lessons are not started", count=len(lessons))
            self.show_line(Outcome.NOT_STARTED, text, scored)
            self.console.print()

    def show_unjudged(self, lessons: list[LessonResult]) -> None:
        """Print the lessons that the grader failed to judge, each reason once."""
        for why in dict.fromkeys(lesson.unjudged for lesson in lessons):
            same = [lesson for lesson in lessons if lesson.unjudged == why]
            names = ", ".join(lesson.id for lesson in same)
            text = self.tr("could not be judged: {names}", names=names)
            scored = f"0 / {points(sum(lesson.max_score for lesson in same))}"
            self.show_line(Outcome.GRADER_ERROR, text, scored)
            self.indented(Text(clean(why or "")))
            self.console.print()

    def show_notes(self, lesson: LessonResult) -> None:
        if lesson.notes:
            self.indented(Text(clean("\n".join(lesson.notes)), "dim"))
        self.console.print()

    def summary(self, lesson: LessonResult) -> str:
        """Return ``6 right · 1 wrong``; for a lesson that was not judged, its status."""
        if lesson.status in (LessonStatus.MISSING, LessonStatus.INVALID):
            return self.tr(lesson.status.word)
        return counted_outcomes(lesson, self.tr)

    def next_steps(self, check: CheckResult, lesson: LessonResult) -> list[tuple[str, str]]:
        there = ["--in", str(self.places[lesson.id])] if lesson.id in self.places else []
        words = ["grade", "replay", check.id, "--seed", str(self.report.seed), *there]
        return [*self.hint(check, lesson), (self.tr("Again"), shlex.join(words))]


def located(where: str, code: str, width: int, marked: tuple[int, int] | None = None) -> Text:
    """Return a place and its line of code, with carets below the ``marked`` columns (from 0).

    If place and code do not fit side by side, the code is on a line of its own, cut to the width,
    so that the carets stay below what they mark.
    """
    begin, end = marked or (0, 0)
    code = code.rstrip().expandtabs(1)
    if cell_len(where) + len(GAP) + cell_len(code) <= width:
        before, start = Text(where + GAP, "dim"), where + GAP
    else:
        before, start = Text(where + "\n  ", "dim"), "  "
        cut = len(code) - len(code.lstrip())
        while cell_len(code[cut : max(end, begin + 1)]) > width - len(start) - 2 and cut < begin:
            cut += 1
        if code[:cut].strip():
            cut, start = cut + 1, start + "…"
            before.append("…")
        code, begin, end = code[cut:], max(0, begin - cut), max(0, end - cut)
        if cell_len(start) + cell_len(code) > width:
            code = set_cell_size(code, width - cell_len(start) - 1) + "…"
    shown = before.append(code, style="not dim")
    if marked is None:
        return shown
    under = " " * (cell_len(start) + cell_len(code[:begin]))
    return shown.append(f"\n{under}{'^' * max(1, cell_len(code[begin:end]))}", style="not dim red")


def wrong_expression_text(
    check: CheckResult, lesson: LessonResult, tr: Catalogue, width: int
) -> Text:
    """Return what is wrong according to a repair, and the line with carets below the expression."""
    assert check.wrong_expression is not None
    before, expression, after = map(clean, repaired_line(check.wrong_expression))
    marked = len(before), len(before) + len(expression)
    where = clean(place(lesson, check.wrong_expression, tr))
    shown = Text(clean(repair_message(check, tr)), style="bold")
    return Text("\n").join([shown, located(where, before + expression + after, width, marked)])


def points(value: float) -> str:
    return f"{value:g}"


def lesson_table(
    course: Course,
    progress: Progress,
    *,
    here: set[str],
    tr: Catalogue,
    own: Callable[[Lesson], Callable[[str], str]],
) -> RenderableType:
    """Return the lessons, a line each.

    ``here`` are the lessons with a file; ``own`` returns the translations of a lesson's own texts.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    table.add_column(tr("lesson"), no_wrap=True)
    table.add_column(tr("time/best"), no_wrap=True, justify="right")
    table.add_column(tr("what it is about"), overflow="fold")
    table.add_column(tr("waits for"), no_wrap=True)
    following = next_lesson(course, progress)
    headed = {group.lessons[0]: group for group in course.groups_here()}
    words = load_catalogue(tr.lang, course.lessons[0].texts(tr.lang))
    for lesson in course.lessons:
        if group := headed.get(lesson.id):
            table.add_row("", Text(group.id, "bold"), "", Text(words(group.title), "bold"), "")
        stands, mine = standing(lesson, progress), progress.of(lesson.id)
        about = tr("{count} min", count=lesson.minutes) if lesson.minutes else ""
        scored = f"{points(mine.best)} / {points(FULL_LESSON)}" if mine.attempts else about
        waits_for = needs(lesson, progress) if stands is LessonState.WAITING else ()
        first, more = waits_for[:1], len(waits_for) - 1
        notes = Text("".join(first) + (f" +{more}" if more > 0 else ""), "dim")
        mark, style = STANDINGS[stands]
        state = Text(mark, style)
        if lesson.id not in here:
            state.append(f" {tr('not here')}", "yellow")
        elif lesson is following:
            state.append(f" {tr('next')}", "bold cyan")
        weight = style if stands is LessonState.WAITING else ""
        name = Text(lesson.id, "bold" if lesson is following else weight)
        title = Text(own(lesson)(lesson.title), "dim" if style else "")
        table.add_row(state, name, Text(scored), title, notes)
    return table


def summary_line(course: Course, progress: Progress, tr: Catalogue) -> Text:
    so_far = course_summary(course, progress)
    text = "{complete} of {lessons} lessons complete"
    if so_far.lessons == 1:
        text = "{complete} of 1 lesson complete"
    counted = tr(text, complete=so_far.complete, lessons=so_far.lessons)
    bonus = " " + tr("+ {points} bonus", points=points(so_far.bonus)) if so_far.bonus else ""
    best = tr("best {points}", points=f"{points(so_far.score)} / {points(so_far.max_score)}")
    return Text(f"{counted} · {best}{bonus}")


def labelled(rows: list[tuple[str, str]]) -> Text:
    """Return lines of a label and a text; a text's lines are aligned below each other."""
    width = max(cell_len(label) for label, _ in rows) + 5
    lines = [
        Text.assemble((set_cell_size("  " + label, width), "dim"), shown) for label, shown in rows
    ]
    return Text("\n").join(lines)


def show_finish(console: Console, reached: Achievement, tr: Catalogue, title: str) -> None:
    graph = Text("x ──▶ ∘ ──▶ ∘ ──▶ loss\n∂ ◀── ∘ ◀── ∘ ◀── 1   ", "green")
    rows = Table.grid(padding=(0, 2))
    rows.add_column()
    rows.add_column(justify="right", style="bold")
    for number, what in finish_rows(reached, tr):
        rows.add_row(what, number)
    body = Group(
        Align.center(graph),
        Text(),
        Align.center(Text(tr("Every lesson complete"), "bold")),
        Align.center(Text(clean(title), "dim")),
        Text(),
        Align.center(rows),
        Text(),
        Align.center(Text(tr("You can differentiate what you can compute."), "italic")),
    )
    days = dict.fromkeys(clean(day, 10) for day in (reached.began, reached.ended) if day)
    panel = Panel(
        body,
        box=box.DOUBLE,
        width=min(PANEL_WIDTH, console.width),
        padding=(1, 2),
        border_style="green",
        subtitle=" – ".join(days),
    )
    console.print(panel)


def finish_rows(reached: Achievement, tr: Catalogue) -> list[tuple[str, str]]:
    """Return the closing numbers, each with what it counts; zeros are left out."""
    rows = [
        (f"{points(reached.score)} / {points(reached.max_score)}", tr("points")),
        (f"+ {points(reached.bonus)}", tr("bonus")),
        (str(reached.lessons), tr("lessons")),
        (str(reached.attempts), tr("runs of the grader")),
        (str(reached.mistakes), tr("mistakes met and cleared")),
        (str(reached.hints), tr("steps of hints")),
        (str(reached.solutions_seen), tr("solutions looked at before")),
        (str(reached.days), tr("days of work")),
    ]
    return [(number, what) for number, what in rows if number not in ("+ 0", "0")]


def plain_table(*headers: str) -> Table:
    """Return an empty table without lines, as the commands for instructors print it."""
    return Table(*headers, box=None, pad_edge=False, header_style="bold")
