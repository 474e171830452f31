"""Show checks on a terminal: titles and points, and what went wrong in each."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, Outcome
from grader.core.text import clean, text, values_text
from grader.render.figures import figure_lines
from grader.render.labels import MARKS
from grader.render.locations import place, place_of
from grader.render.repairs import repair_message, repaired_line

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
INDENT = 4
GAP = " " * 4
"""Between a place and its line of code."""
PRINTED_LINES, PRINTED_COLUMNS = 3, 200


def points(value: float) -> str:
    return f"{value:g}"


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
    where = clean(place_of(lesson, check.wrong_expression, tr))
    shown = Text(clean(repair_message(check, tr)), style="bold")
    return Text("\n").join([shown, located(where, before + expression + after, width, marked)])


class Lines:
    """Checks on one console in one language; with ``whole``, their output is not folded."""

    def __init__(self, console: Console, tr: Catalogue, *, whole: bool = False) -> None:
        self.console = console
        self.tr = tr
        self.whole = whole

    @property
    def width(self) -> int:
        """How many columns the text below a check may have."""
        return self.console.width - INDENT

    def why_not(self, lesson: LessonResult) -> Text:
        """Return why a lesson is missing or could not be loaded, with the line if there is one."""
        why = Text(clean(lesson.message or ""), style="red")
        line = lesson.checks[0] if lesson.checks else None
        if line is None or not line.source_line:
            return why
        at = line.source_column
        marked = (at - 1, at) if at else None
        where, code = clean(place(lesson, line, self.tr)), clean(line.source_text or "")
        return Text("\n").join([why, located(where, code, self.width, marked)])

    def show_why_not(self, lesson: LessonResult, *, below: int = 0) -> None:
        """Print that, with empty lines ``below``; a command in its last line is not wrapped."""
        why = self.why_not(lesson)
        *_, command = why.plain.split("\n")
        if cell_len(command) > self.width and command.startswith(("mv ", "ren ")):
            shown = Text(why.plain.removesuffix(f"\n{command}"), style="red")
            self.console.print(Padding(shown, (0, 0, 0, INDENT), expand=False))
            self.console.print(Text(command + "\n" * below, "red"), soft_wrap=True)
            return
        self.console.print(Padding(why, (0, 0, below, INDENT), expand=False))

    def show_check(self, check: CheckResult) -> None:
        bonus = " " + self.tr("bonus") if check.bonus else ""
        self.show_line(
            check.outcome,
            check.title,
            f"{points(check.points)} / {points(check.max_points)}{bonus}",
        )

    def show_line(self, outcome: Outcome, title: str, scored: str) -> None:
        line = Table.grid(expand=True, padding=(0, 1))
        line.add_column(width=3, justify="right")
        line.add_column(ratio=1)
        line.add_column(justify="right")
        line.add_row(Text(MARKS[outcome], COLOURS[outcome]), Text(title), Text(scored, style="dim"))
        self.console.print(line)

    def details(self, check: CheckResult, lesson: LessonResult) -> Iterable[Text]:
        """Yield the details of a failure: cause, line, expected value, figures."""
        tr = self.tr
        message = Text(clean(check.message or ""), style="red")
        if check.evidence:
            yield Text.assemble(
                (tr("Looks like") + ": ", "bold"),
                clean(f"{check.diagnosis_title}. {check.evidence}"),
            )
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
            given = (f"{name} = {clean(text(value))}" for name, value in check.inputs.items())
            yield Text.assemble((tr("called with") + "  ", "dim"), "   ".join(given))
        for figure in check.figures:
            yield from figure_lines(figure, tr, self.width, whole=self.whole)
        if check.output:
            nothing = check.expected is not None and text(check.actual) == "None"
            label = tr("It printed, which returns nothing") if nothing else tr("It printed")
            yield Text.assemble((label + "  ", "dim"), clean(self.first_lines(check.output)))

    def first_lines(self, output: str) -> str:
        lines = output.strip().splitlines()
        if self.whole:
            return "\n".join(lines)
        more = len(lines) - PRINTED_LINES
        rest = "\n" + self.tr("… and {count} more lines", count=more) if more > 0 else ""
        return "\n".join(line[:PRINTED_COLUMNS] for line in lines[:PRINTED_LINES]) + rest

    def hint(self, check: CheckResult, lesson: LessonResult) -> list[tuple[str, str]]:
        if check.outcome not in (Outcome.PASSED, Outcome.GRADER_ERROR):
            return [(self.tr("A nudge"), f"grade hint {lesson.id}")]
        return []

    def print_labelled(self, rows: list[tuple[str, str]]) -> None:
        """Print rows of a label and a text; commands are not wrapped."""
        width = max(cell_len(label) for label, _ in rows) + 2
        for label, command in rows:
            self.console.print(
                Text(" " * INDENT + set_cell_size(label, width) + command, style="dim"),
                soft_wrap=True,
            )
