"""The commands for what happens in a term: ``show`` explains a mark, ``changes`` lists those that
changed; ``swap``, ``give`` and ``person`` bring files and people together.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import click
from rich.console import Console
from rich.text import Text

from grader.classroom.batch import changing, waiting_for
from grader.classroom.exports.common import TEST_STUDENT
from grader.classroom.gradebook import by_hand
from grader.classroom.gradebook.entry import GradebookEntry, total_points
from grader.classroom.gradebook.marks import (
    FORGOTTEN,
    MarkChange,
    changes_since,
    history_of,
    is_exported,
)
from grader.classroom.gradebook.people import described, known_people, person_of, unique_call
from grader.classroom.gradebook.store import Gradebook, is_called, was_called
from grader.cli.batch_screen import announce, changed_checks, mark_text, show_changes
from grader.cli.gradebook import login_name, say, time_text, to_undo, undo_change
from grader.cli.options import PATH
from grader.core.errors import UsageError
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.core.text import as_utc, clean, command, counted, moment_in
from grader.render.terminal import make_console, plain_table
from grader.render.terminal import points as points_text

SIGNS = {Outcome.PASSED: "✔", Outcome.SKIPPED: "○", Outcome.NOT_STARTED: "○"}
WRONG = "✘"


@click.command()
@click.argument("out", type=PATH)
@click.argument("person")
@click.argument("assignment", required=False)
def show(out: Path, person: str, assignment: str | None) -> None:
    """Explain a mark: points by check, attempts, lateness, adjustments, and what changed it.

    PERSON is a student's name, an id, or a submission's name. Without ASSIGNMENT, list the marks
    of all assignments.

    Example: grade show term "Ada Lovelace" "Week 2"
    """
    console = make_console()
    with Gradebook.open(out / assignment if assignment else out, any_of=True) as book:
        whole = assignment is None and out.resolve() == book.path.parent.resolve()
        several = whole and len(book.assignments()) > 1
        if several:
            show_term(console, book, person)
        else:
            show_entry(console, book, book.entry_of(person))


def show_term(console: Console, book: Gradebook, called: str) -> None:
    """Print a person's marks in all assignments."""
    person = person_of(book, called)
    table = plain_table("assignment", "mark", "of", "attempt", "handed in", "")
    for name, number in book.assignments().items():
        there = book.at(number)
        most = sum(column.max_score for column in there.columns())
        known = ((entry, False) for entry in there.entries())
        gone = ((entry, True) for entry in there.entries(forgotten=True))
        for entry, forgotten in (*known, *gone):
            if any(one.person == person for one in entry.students):
                table.add_row(
                    clean(name),
                    mark_text(None if entry.is_test or forgotten else total_points(entry)),
                    points_text(most),
                    str(entry.counts or ""),
                    time_text(entry.handed_in, book.zone()),
                    FORGOTTEN if forgotten else why_no_mark(entry) or late_text(entry),
                )
    console.print(Text(clean(called), "bold"))
    console.print(table)
    explain = command("show", book.path.parent, called)
    console.print(Text(clean(f"To explain one: {explain} ASSIGNMENT")), soft_wrap=True)


def show_entry(console: Console, book: Gradebook, entry: GradebookEntry) -> None:
    """Print what an entry's mark is made of, and its history."""

    def line(text: str, style: str = "") -> None:
        console.print(Text(clean(text), style), soft_wrap=True)

    mark = None if entry.is_test else total_points(entry)
    most = points_text(sum(column.max_score for column in book.columns()))
    line("; ".join(described(one) for one in entry.students) or entry.name, "bold")
    heading = " · ".join(filter(None, [book.about("name"), entry.name, *entry.sections]))
    line(f"{heading}: {'no mark' if mark is None else f'{points_text(mark)} of {most}'}")
    if mark is None:
        line(why_no_mark(entry))
    show_attempts(console, book, entry)
    show_sum(console, entry)
    for lesson in entry.lessons:
        show_lesson(console, lesson)
    show_history(console, book, entry)
    show_replay(console, book, entry)


def why_no_mark(entry: GradebookEntry) -> str:
    """Return why there is no mark, in a few words; '' if there is one."""
    if entry.is_test:
        return TEST_STUDENT
    if total_points(entry) is not None:
        return ""
    if entry.missing:
        return "handed in nothing"
    if entry.problem:
        return entry.problem
    if entry.grader_faults:
        return "the grader's own fault: run the same grade batch again"
    names = (one.file for one in entry.lessons if one.status is LessonStatus.MISSING and one.file)
    return "not graded because of its name: " + ", ".join(names)


def late_text(entry: GradebookEntry) -> str:
    return str(entry.lateness) if entry.lateness else "late" if entry.late else ""


def show_attempts(console: Console, book: Gradebook, entry: GradebookEntry) -> None:
    if not entry.attempts:
        return
    table, policy = plain_table("attempt", "handed in", "earned", ""), book.about("policy")
    if policy == "first" and entry.counts > 1:
        policy = "first with a verdict"
    for one in entry.attempts:
        when = time_text(one.handed_in, book.zone())
        found = f"download of {time_text(one.found, book.zone())}" if one.found else "unknown"
        earned = clean(one.problem or "no verdict") if one.score is None else points_text(one.score)
        counts = f"counts ({policy})" if one.number == entry.counts else ""
        said = "; ".join(filter(None, [counts, "late" if one.late else ""]))
        table.add_row(str(one.number), when or found, earned, said)
    console.print(table)
    times = {one.handed_in for one in entry.attempts}
    for again in {book.handed_in_again(one) for one in entry.attempts} - times - {None}:
        when = time_text(again, book.zone())
        console.print(f"handed in again, the same files: {when}. The first time counts")
    for one in entry.attempts if any(one.came_as for one in entry.attempts) else ():
        line = f"attempt {one.number} came as {one.came_as or '?'}"
        console.print(Text(clean(line)), soft_wrap=True)


def show_sum(console: Console, entry: GradebookEntry) -> None:
    """Print the sum, if it is more than what was earned."""
    if not entry.lateness and not entry.adjustments:
        return
    table = plain_table("", "points", "why")
    table.add_row("earned", points_text(entry.earned), "")
    if entry.lateness:
        due = f"due {entry.lateness.due[:16].replace('T', ' ')}, "
        table.add_row("late", f"{-entry.penalty:g}", due + str(entry.lateness))
    for one in entry.adjustments:
        what = " · ".join(filter(None, [one.reason, one.lesson, one.author, one.made_at[:10]]))
        table.add_row("adjusted", f"{one.points:+g}", clean(what))
    table.add_row("counts", mark_text(total_points(entry)), "")
    console.print(table)


def show_lesson(console: Console, lesson: LessonResult) -> None:
    counts = f"{lesson.id}: {points_text(lesson.score)} of {points_text(lesson.max_score)}"
    console.print(Text(clean(f"{counts}  {lesson.message or ''}".rstrip()), "bold"))
    if not lesson.checks or lesson.status is LessonStatus.INVALID:
        return  # each check would say the same
    table = plain_table("", "points", "check", "")
    titles = {check.id: check.title for check in lesson.checks}
    for check in lesson.checks:
        name = check.title + (" (hidden)" if check.hidden else "")
        worth = f"{points_text(check.points)}/{points_text(check.max_points)}"
        table.add_row(
            SIGNS.get(check.outcome, WRONG), worth, clean(name), clean(said_of(check, titles))
        )
    console.print(table)


def said_of(check: CheckResult, titles: dict[str, str]) -> str:
    """Return why a check has no points, in one line."""
    if check.outcome is Outcome.PASSED:
        return ""
    if check.outcome is Outcome.SKIPPED:
        return f"waits for: {titles.get(check.needs or '', check.needs)}"
    text = check.diagnosis_title or check.message or check.outcome.value.replace("_", " ")
    where = f"line {check.source_line}: " if check.source_line else ""
    return where + text.strip().split("\n")[0]


def show_history(console: Console, book: Gradebook, entry: GradebookEntry) -> None:
    """Print every mark that the submission has had, if there were several."""
    rows = history_of(book, entry)
    if len(rows) < 2:
        return
    table = plain_table("since", "mark", "why")
    for made_at, mark, cause in rows:
        table.add_row(time_text(made_at, book.zone()), mark_text(mark), clean(cause or "graded"))
    console.print(table)


def show_replay(console: Console, book: Gradebook, entry: GradebookEntry) -> None:
    """Print the command that repeats the failure that costs most."""
    failed = [
        (costs(check, lesson), check)
        for lesson in entry.lessons
        for check in lesson.checks
        if check.outcome.group == "wrong" and not check.bonus
    ]
    if failed:
        _, check = max(failed, key=lambda one: one[0])
        words = ("--in", book.folder, "--student", book.call_of(entry), "--sandbox", "auto")
        line = f"to repeat what costs most: {command('replay', check.id, *words)}"
        console.print(Text(clean(line)), soft_wrap=True)


def costs(check: CheckResult, lesson: LessonResult) -> float:
    """Return a failed check's points, with those that wait for it."""
    waiting = waiting_for(check.id, lesson)
    return sum(one.max_points for one in lesson.checks if one.id in waiting)


# ------------------------------------------------------------------------------------------ changes


@click.command()
@click.argument("out", type=PATH)
@click.option(
    "--since",
    metavar="TIME",
    help="What changed after this time; by default since the last export.",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(["table", "csv", "comments"]),
    default="table",
    show_default=True,
    help="A table here, CSV, or a comment for each student concerned, also as CSV.",
)
def changes(out: Path, since: str | None, form: str) -> None:
    """List the marks that changed since the last export, or since a time, each with the reason.

    Example: grade changes term --since 2026-12-01T00:00+09:00
    """
    with Gradebook.open(out, any_of=True) as book:
        after = since and time_in(book, since)
        never = {
            name
            for name, number in book.assignments().items()
            if not since and not is_exported(book.at(number))
        }
        found = [
            (name, list(changes_since(book.at(number), after)), visible_checks(book.at(number)))
            for name, number in book.assignments().items()
            if book.path.parent == out or number == book.assignment
        ]
    if form == "table":
        console = make_console()
        for name, changed, _ in found:
            if changed:
                console.print(Text(clean(name), "bold"))
                show_changes(console, changed)
            elif name in never:
                what = f"{name}: " if name else ""
                say(f"{what}never exported, and every mark is as first graded")
        exported = any(name not in never for name, *_ in found)
        if exported and not any(changed for _, changed, _ in found):
            say(f"every mark is as {'it was then' if since else 'at the last export'}")
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    header = ["assignment", "submission", "students"]
    writer.writerow([*header, *(["comment"] if form == "comments" else ["old", "new", "why"])])
    for name, changed, visible in found:
        for change in changed:
            writer.writerow([name, change.name, change.label, *cells(change, form, visible)])


def time_in(book: Gradebook, text: str) -> str:
    """Return a time, in the class's zone if it has no offset, in UTC; raise UsageError."""
    zone = book.zone()
    try:
        return as_utc(moment_in(text, ZoneInfo(zone) if zone else None).isoformat())
    except ValueError as error:
        raise UsageError(f"--since: {text!r} {error}") from None


def visible_checks(book: Gradebook) -> set[str]:
    checks = (check for lesson in book.columns() for check in lesson.checks)
    return {check.id for check in checks if not check.hidden}


NAMES_ANOTHER = re.compile(r"exchanged? with [^;]+|what was handed in is that of [^;]+")
"""A cause that names another student."""


def cells(change: MarkChange, form: str, visible: Collection[str]) -> Iterator[str]:
    """Yield what to write of a change; students read comments, so these name no hidden check and
    nobody else.
    """
    shown = visible if form == "comments" else None
    why = "; ".join(filter(None, [change.cause, *changed_checks(change, shown)]))
    if form == "comments":
        why = NAMES_ANOTHER.sub("a file was moved to its owner", why)
        yield f"Your mark changed from {mark_text(change.old)} to {mark_text(change.new)}: {why}"
    else:
        yield from (mark_text(change.old), mark_text(change.new), why)


# -------------------------------------------------------------------------------- files and people


@click.command()
@click.argument("out", type=PATH)
@click.argument("one")
@click.argument("other", required=False)
@click.option("--undo", is_flag=True, help="Undo an exchange: give one of the two.")
def swap(out: Path, one: str, other: str | None, undo: bool) -> None:
    """Exchange what two students handed in, if each has the other's files.

    The marks, pages and comments on lines follow the files; adjustments stay. The next download
    leaves it so.

    Example: grade swap "term/Week 5" Ada Ben
    """
    if undo:
        undo_change(out, one, "swap")
        return
    if other is None:
        raise UsageError("Name both students; with --undo, one of them")
    with changing(out, announce) as (book, changed):
        names = [book.entry_of(called).name for called in (one, other)]
        if names[0] == names[1]:
            raise UsageError(f"{one} and {other} are the same submission, {names[0]}")
        by_hand.swap(book, names[0], names[1], login_name())
        changed.update(names)
    say(f"exchanged: {names[0]} ↔ {names[1]}. {to_undo('swap', out, names[0])}")


@click.command()
@click.argument("out", type=PATH)
@click.argument("called", required=False)
@click.argument("who", required=False)
@click.option("--undo", is_flag=True, help="Undo it: give only WHO.")
def person(out: Path, called: str | None, who: str | None, undo: bool) -> None:
    """Say that two people of the gradebook are one: CALLED, as a download names them, is WHO.

    Without names, list all people. What was said holds for the whole term.

    Example: grade person term "Participant 104517" 20261234
    """
    if undo and called:
        undo_change(out, called, "person", everywhere=True)
        return
    if called is None or who is None:
        list_people(out, called)
        return
    with changing(out, announce, everywhere=True) as (book, _):
        here = None if out.resolve() == book.path.parent.resolve() else book.assignment
        one = person_of(book, called, unlisted=True, assignment=here)
        other = person_of(book, who)
        if one == other:
            raise UsageError(f"{called} and {who} are the same person already")
        stays = by_hand.same_person(book, one, other, login_name())
        name = unique_call(book, stays)
    gone = called if stays == other else who
    say(f"{gone} is {name}, in the whole term. {to_undo('person', out, name)}")


def list_people(out: Path, called: str | None) -> None:
    """Print the people of the term, or those who may be meant."""
    with Gradebook.open(out, any_of=True) as book:
        known = known_people(book)
    table = plain_table("name", "ids", "section", "")
    meant = dict.fromkeys(
        one.person
        for one in known.lines.values()
        if called is None or is_called(one, called) or was_called(one, called)
    )
    for person in meant:  # under another name, too
        if person is not None:
            one = known.lines[known.own_lines[person]]
            ids = ", ".join(f"{kind} {value}" for kind, value in one.ids.items())
            where = "" if one.person in known.listed or not known.listed else "not on the roster"
            table.add_row(clean(one.name), clean(ids), clean(one.details.get("section", "")), where)
    console = make_console()
    console.print(table)
    say(counted(len(meant), "person").replace("persons", "people"))
