"""Show a learner's lessons on the terminal: their status, the next one, the end."""

from __future__ import annotations

from collections.abc import Callable

from rich import box
from rich.align import Align
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from grader.core.i18n import Catalogue
from grader.core.report import FULL_LESSON
from grader.core.text import clean
from grader.course.course import Course, Lesson
from grader.course.progress import Progress
from grader.course.roadmap import (
    Achievement,
    LessonState,
    course_summary,
    needs,
    next_lesson,
    standing,
)
from grader.render.terminal_lines import points

STANDING_MARKS = {
    LessonState.COMPLETE: "✔",
    LessonState.BEGUN: "◐",
    LessonState.OPEN: "○",
    LessonState.WAITING: "·",
}
STANDING_STYLES = {
    LessonState.COMPLETE: "green",
    LessonState.BEGUN: "yellow",
    LessonState.OPEN: "",
    LessonState.WAITING: "dim",
}
PANEL_WIDTH = 64


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
    table.add_column(tr("score"), no_wrap=True, justify="right")
    table.add_column(tr("what it is about"), overflow="fold")
    table.add_column(tr("waits for"), no_wrap=True)
    following = next_lesson(course, progress)
    for lesson in course.lessons:
        stands, mine = standing(lesson, progress), progress.of(lesson.id)
        scored = f"{points(mine.best)} / {points(FULL_LESSON)}" if mine.attempts else ""
        first, more = needs(lesson, progress)[:1], len(needs(lesson, progress)) - 1
        notes = Text("".join(first) + (f" +{more}" if more > 0 else ""), "dim")
        style = STANDING_STYLES[stands]
        state = Text(STANDING_MARKS[stands], style)
        if lesson.id not in here:
            state.append(f" {tr('not here')}", "yellow")
        elif lesson is following:
            state.append(f" {tr('next')}", "bold cyan")
        name = Text(
            lesson.id,
            "bold" if lesson is following else style if stands is LessonState.WAITING else "",
        )
        table.add_row(
            state,
            name,
            Text(scored),
            Text(own(lesson)(lesson.title), "dim" if style else ""),
            notes,
        )
    return table


def summary_line(course: Course, progress: Progress, tr: Catalogue) -> Text:
    so_far = course_summary(course, progress)
    counted = tr(
        "{complete} of {lessons} lessons complete", complete=so_far.complete, lessons=so_far.lessons
    )
    scored = f"{points(so_far.score)} / {points(so_far.max_score)}"
    return Text(
        f"{counted} · {scored}"
        + (" " + tr("+ {points} bonus", points=points(so_far.bonus)) if so_far.bonus else "")
    )


def labelled(rows: list[tuple[str, str]]) -> Text:
    """Return lines of a label and a text; a text's lines are aligned below each other."""
    width = max(cell_len(label) for label, _ in rows) + 3
    return Text("\n").join(
        [
            Text.assemble((set_cell_size("  " + label, width + 2), "dim"), shown)
            for label, shown in rows
        ]
    )


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
    width = min(PANEL_WIDTH, console.width)
    console.print(
        Panel(
            body,
            box=box.DOUBLE,
            width=width,
            padding=(1, 2),
            border_style="green",
            subtitle=dates(reached),
        )
    )


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


def dates(reached: Achievement) -> str:
    return " – ".join(
        dict.fromkeys(day for day in (clean(reached.began, 10), clean(reached.ended, 10)) if day)
    )
