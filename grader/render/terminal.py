"""A report on the terminal: lessons, checks, points, and for what is wrong a message to act on.

Rich lays it out and leaves colour away where there is no terminal or NO_COLOR is set. Everything that a student's code wrote is
shown as plain text, control characters removed. Imports ``model`` and ``render``.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.model import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.render.clean import clean
from grader.render.values import pair, text
from grader.render.words import MARKS, QUIET, WORDS

COLOURS = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "red",
    Outcome.ERROR: "red",
    Outcome.TIMEOUT: "red",
    Outcome.CRASHED: "red",
    Outcome.SKIPPED: "yellow",
    Outcome.NOT_STARTED: "dim",
    Outcome.GRADER_ERROR: "magenta",
}
OWN_FAULT = "Part of this could not be judged, by the grader's own fault. It costs you nothing; please report it."
INDENT = 4
PRINTED_LINES, PRINTED_COLUMNS = 3, 200


def points(value: float) -> str:
    """``8`` or ``7.5``."""
    return f"{value:g}"


def make_console(*, stderr: bool = False) -> Console:
    """A console that takes nobody's text for markup."""
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False, stderr=stderr)


def show_report(console: Console, report: Report, *, html: str | None) -> None:
    """The whole report: a block for each lesson, then the total and what to do next."""
    for lesson in report.lessons:
        show_lesson(console, lesson, seed=report.seed)
    total = Text(f"{points(report.score)} / {points(report.max_score)}", style="bold")
    if report.bonus:
        total.append(f"  + {points(report.bonus)} bonus")
    if html:
        total.append(f"   {html}")
    total.append(f"   {report.seconds:.1f} s   seed {report.seed}", style="dim")
    console.print(total)
    if report.grader_faults:
        console.print(Text(OWN_FAULT, "magenta"))


def show_lesson(console: Console, lesson: LessonResult, *, seed: int) -> None:
    """One lesson: its score, then what is not right, the first in full."""
    head = Table.grid(padding=(0, 2))
    head.add_row(
        Text(lesson.id, style="bold"), Text(f"{points(lesson.score)} / {points(lesson.max_score)}"), Text(summary(lesson), style="dim")
    )
    console.print(head)
    if lesson.status in (LessonStatus.MISSING, LessonStatus.INVALID):
        console.print(Padding(Text(clean(lesson.message or ""), style="red"), (0, 0, 1, INDENT), expand=False))
        return
    wrong = [c for c in lesson.checks if c.outcome not in (Outcome.PASSED, Outcome.NOT_STARTED)]
    if wrong:
        console.print()
    first = next((check for check in wrong if check.outcome not in QUIET), None)
    for check in wrong:
        show_check(console, check)
        if check is first:
            for part in (*details(check, lesson), next_steps(lesson, seed)):
                console.print(Padding(part, (0, 0, 0, INDENT), expand=False))
    console.print()


def summary(lesson: LessonResult) -> str:
    """``6 right · 1 wrong``."""
    counts = [(WORDS[outcome], sum(c.outcome is outcome for c in lesson.checks)) for outcome in Outcome]
    return " · ".join(f"{count} {word}" for word, count in counts if count)


def show_check(console: Console, check: CheckResult) -> None:
    """One check that is not right, on a line."""
    line = Table.grid(expand=True, padding=(0, 1))
    line.add_column(width=3, justify="right")
    line.add_column(ratio=1)
    line.add_column(justify="right")
    bonus = " bonus" if check.bonus else ""
    scored = Text(f"{points(check.points)} / {points(check.max_points)}{bonus}", style="dim")
    line.add_row(Text(MARKS[check.outcome], COLOURS[check.outcome]), Text(check.title), scored)
    console.print(line)


def details(check: CheckResult, lesson: LessonResult) -> Iterable[Text]:
    """The lines that explain a failure."""
    if check.inputs:
        yield Text("   ".join(f"{name} = {text(value)}" for name, value in check.inputs.items()))
    if check.expected is not None or check.actual is not None:
        expected, actual = pair(check.expected, check.actual)
        yield Text.assemble(("expected  ", "dim"), clean(expected))
        yield Text.assemble(("got       ", "dim"), clean(actual))
    if check.message:
        yield Text(clean(check.message), style="red")
    if check.evidence:
        yield Text.assemble(("Looks like: ", "bold"), clean(f"{check.diagnosis_title}. {check.evidence}"))
    if check.source_line:
        yield Text.assemble((f"{lesson.file}:{check.source_line}    ", "dim"), clean(check.source_text or ""))
    if check.output:
        yield Text.assemble(("it printed  ", "dim"), clean(first_lines(check.output)))


def first_lines(output: str) -> str:
    """The first lines of what was printed, and how many there are more."""
    lines = output.strip().splitlines()
    more = f" … and {len(lines) - PRINTED_LINES} more lines" if len(lines) > PRINTED_LINES else ""
    return "\n".join(line[:PRINTED_COLUMNS] for line in lines[:PRINTED_LINES]) + more


def next_steps(lesson: LessonResult, seed: int) -> Text:
    """What to type next."""
    return Text(f"A nudge  grade hint {lesson.id}\nAgain    grade {lesson.id} --seed {seed}", style="dim")
