"""Run ``grade similar``: find submissions that share code,
within a class and with an earlier one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.text import Text as Line

from grader.classroom.batch import output
from grader.classroom.gradebook.store import Gradebook
from grader.classroom.statistics.similarity import (
    Pair,
    Side,
    Text,
    library,
    rank,
    render_similar,
    similar_pairs,
)
from grader.cli.commands.plain_table import plain_table
from grader.cli.commands.progress_bar import Meter
from grader.core.errors import UsageError
from grader.core.text import clean, counted
from grader.course.course import Course, Lesson
from grader.render.terminal import make_console

Thing = TypeVar("Thing")
FILE = "similar.html"
LISTED = 10
"""How many pairs the terminal names; the page has all of them."""


def show_similar(
    course: Course, out: Path, *, against: Path | None, lesson: str | None, threshold: float
) -> None:
    """Compare submissions by lesson, write the page, name the closest pairs.

    Raise UsageError for a lesson without submissions, or if there is nothing to compare.
    """
    library()
    if against is not None and against.exists() and out.exists() and against.samefile(out):
        raise UsageError(
            f"--against {against} is this class, which is compared anyway. Name the folder of an"
            " earlier class"
        )
    console = make_console(stderr=True)
    with ExitStack() as stack:
        stack.enter_context(say_what_is_left(console, out / FILE))
        book = stack.enter_context(Gradebook.open(out))
        older = stack.enter_context(Gradebook.open(against)) if against else None
        graded = [one for one, _, _ in book.lessons()]
        if lesson is not None and lesson not in graded:
            raise UsageError(
                f"The gradebook has no lesson {lesson!r}. Its lessons: {', '.join(graded)}"
            )
        meter = stack.enter_context(Meter(console))
        pairs: list[Pair] = []
        compared = 0
        for one in [lesson] if lesson else graded:
            texts = [Text(owner, text) for owner, _, text in book.texts(one)]
            texts += (
                [Text(owner, text, earlier=True) for owner, _, text in older.texts(one)]
                if older
                else []
            )
            compared += len(texts)
            track = partial(over_lesson, meter, one)
            pairs += similar_pairs(one, texts, known_texts(course.lesson(one)), threshold, track)
        labels = {entry.name: entry.label for entry in book.entries()}
    pairs.sort(key=rank)
    page = render_similar(
        pairs,
        labels,
        compared=compared,
        threshold=threshold,
        earlier=against.resolve().name if against else None,
    )
    with output(out / FILE) as file:
        file.write(page.encode("utf-8", "backslashreplace"))
    print_pairs(pairs, labels, out / FILE)


@contextmanager
def say_what_is_left(console: Console, page: Path) -> Iterator[None]:
    """After Ctrl-C in the block, print whether there is a page from an earlier run."""
    try:
        yield
    except KeyboardInterrupt:
        console.print(
            Line(
                f"stopped; {clean(str(page))} is {'as it was' if page.exists() else 'not written'}"
            ),
            soft_wrap=True,
        )
        raise


def over_lesson(meter: Meter, lesson: str, what: str, things: Collection[Thing]) -> Iterator[Thing]:
    return meter.over(f"{lesson}: {what}", things)


def known_texts(lesson: Lesson) -> Iterator[str]:
    """Yield code of a lesson that everybody may have: the stub,
    the reference, other right answers.
    """
    for path in (lesson.stub, lesson.solution):
        if path.exists():
            yield path.read_text("utf-8")
    yield from (cell.source for cell in lesson.accepted)


def print_pairs(pairs: list[Pair], labels: dict[str, str], page: Path) -> None:
    console = make_console()
    if pairs:
        table = plain_table("lines", "shared", "lesson", "first", "second")
        for pair in pairs[:LISTED]:
            table.add_row(
                str(pair.lines),
                f"{pair.share:.0%}",
                pair.lesson,
                name(pair.one, labels),
                name(pair.other, labels),
            )
        console.print(table)
    count = counted(len(pairs), "pair")
    if len(pairs) > LISTED:
        count += f" ({len(pairs) - LISTED} of them not in this table)"
    console.print(Line(f"{count} to look at: {page}"))


def name(side: Side, labels: dict[str, str]) -> Line:
    return Line(
        clean(f"{side.owner} (earlier)" if side.earlier else labels.get(side.owner, side.owner))
    )
