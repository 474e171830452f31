"""Run ``grade batch``: grade a class into a gradebook, with a page for each student and tables.

The options' help needs nothing slow, so what grades is imported in the functions that grade.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.classroom.gradebook.entry import read_rule
from grader.classroom.gradebook.roster import MatchedStudents, Roster, match, read_roster
from grader.classroom.imports.discover import find_class
from grader.classroom.imports.entries import ClassImport
from grader.classroom.imports.names import name_list
from grader.cli.options import (
    PATH,
    SEED,
    chosen_lessons,
    course,
    course_option,
    lessons_option,
    near_names_option,
    pages_lang_option,
)
from grader.core.errors import ExitCode, UsageError
from grader.core.i18n import load_catalogue, wanted_language
from grader.core.messages import Settings
from grader.core.text import clean, counted
from grader.course.course import Course
from grader.course.submission import writable
from grader.runtime.client import ForkServerClient

if TYPE_CHECKING:
    from rich.console import Console

    from grader.classroom.batch import BatchPlan, BatchResult, Graded
    from grader.classroom.gradebook.store import Gradebook
    from grader.runtime.pool import HostPool


@click.command()
@click.argument("place", type=PATH, metavar="DIR")
@click.option(
    "--out",
    type=PATH,
    required=True,
    help="The folder for gradebook, pages and tables; created if necessary.",
)
@lessons_option("The lessons that were assigned; by default all.")
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="How many submissions to grade at a time; by default one for each core, on a cluster two"
    " for each thread.",
)
@click.option(
    "--executor",
    type=click.Choice(["local", "dask"]),
    default="local",
    show_default=True,
    help="This machine, or a cluster.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="With --executor dask: the scheduler's address, or its scheduler file.",
)
@click.option(
    "--seed",
    type=SEED,
    help="Derive all random inputs from this number, so that another gradebook can repeat the run.",
)
@click.option(
    "--from",
    "layout",
    metavar="LAYOUT",
    help="The layout of the download: gradescope, moodle, canvas, github or plain; by default"
    " recognized by the file names.",
)
@click.option(
    "--roster",
    type=PATH,
    help="The class list as CSV, to show who handed in nothing and to match ids.",
)
@click.option(
    "--due", metavar="TIME", help="The due date: 2026-12-01T23:59+09:00. 'none' removes it."
)
@click.option(
    "--late",
    metavar="RULE",
    help="The late penalty, with --due: 10%/day,grace=15m,cap=50%,until=7d.",
)
@click.option(
    "--regrade",
    is_flag=True,
    help="Grade every submission again, and show the old score beside the new one.",
)
@click.option(
    "--repair",
    is_flag=True,
    help="If no mistake is recognized, search for the wrong expression: up to 5 s for each lesson.",
)
@click.option(
    "--check",
    metavar="ID",
    help="With --regrade: grade only this check again. The first line of grades.csv has all ids.",
)
@click.option("--reveal", is_flag=True, help="Show the inputs of hidden checks on students' pages.")
@near_names_option
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default="require",
    show_default=True,
    help="require: refuse to grade unless this machine can confine students' code fully. auto:"
    " confine it as far as the machine can. off: don't confine it.",
)
@pages_lang_option
@course_option
def batch(executor: str, workers: int | None, course_root: Path | None, **options: Any) -> None:
    """Grade a class: a gradebook, a page for each student, tables.

    You can stop it at any time. Run the same command again to continue.

    Example: grade batch submissions --out grades --lessons custom_sigmoid --roster class.csv
    """
    if (executor == "dask") is not bool(options["scheduler"]):
        raise UsageError("Give --executor dask and --scheduler ADDRESS together, or neither")
    workers = workers or (0 if options["scheduler"] else os.cpu_count() or 1)
    wanted = BatchOptions(workers=workers, **options)
    sys.exit(grade_class(course(course_root), wanted))


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """The options of ``grade batch``. ``workers`` 0: as many as the cluster takes."""

    place: Path
    out: Path
    lessons: tuple[str, ...] = ()
    layout: str | None = None
    roster: Path | None = None
    workers: int = 1
    scheduler: str | None = None
    seed: int | None = None
    sandbox: str = "require"
    lang: str | None = None
    regrade: bool = False
    check: str | None = None
    reveal: bool = False
    accept_near_names: bool = False
    due: str | None = None
    late: str | None = None
    repair: bool = False

    def late_rule(self) -> str | None:
        """Return the rule as JSON, '' for no rule; None if the options do not mention one."""
        if self.due is None:
            if self.late is not None:
                raise UsageError("--late needs a due date. Give it with --due")
            return None
        if self.due == "none":
            return ""
        return json.dumps(read_rule(self.due, self.late).as_json())


own_host = partial(ForkServerClient, own_session=True)
"""Return a fork server in a session of its own, which Ctrl-C does not reach."""


def grade_class(
    course: Course, wanted: BatchOptions, *, make_host: Callable[[], ForkServerClient] = own_host
) -> ExitCode:
    """Grade a class and report it; return ENGINE_FAULT if the grader was at fault."""
    from grader.classroom.batch import write_outputs
    from grader.classroom.gradebook.store import Gradebook, batch_lock
    from grader.cli.batch_screen import Summary, say_before
    from grader.render.terminal import make_console
    from grader.runtime.text_reader import TextReader

    plan = plan_for(course, wanted)
    late_rule = wanted.late_rule()
    with TextReader() as reader:
        found = find_class(
            wanted.place,
            lessons=[one.id for one in course.lessons],
            graded=plan.ids,
            layout=wanted.layout,
            accept_near_names=wanted.accept_near_names,
            decode=reader.decode,
        )
        roster = read_roster(wanted.roster) if wanted.roster else None
        if wanted.out.resolve() == wanted.place.resolve():
            raise UsageError(
                f"--out {wanted.out} is the folder with the submissions. Name another folder for"
                " the results"
            )
        console = make_console(stderr=True)
        with batch_lock(wanted.out), Gradebook.open(wanted.out, create=True) as book:
            found = without_forgotten(renamed(found, book.new_names()), book.is_forgotten)
            book.set_secret(wanted.seed)
            if late_rule is not None:
                book.set_class({"late_rule": late_rule})
            matched = register(book, plan, found, roster, place=wanted.place)
            say_before(console, found, roster, matched)
            tally = grade_found(console, book, wanted, plan, found, matched, make_host)
            write_outputs(wanted.out, book)
            handed = {one.name for one in found.handed}
            Summary(make_console(), book, wanted.out).show(tally, plan, handed)
    return ExitCode.ENGINE_FAULT if tally.faults else ExitCode.OK


def grade_found(
    console: Console,
    book: Gradebook,
    wanted: BatchOptions,
    plan: BatchPlan,
    found: ClassImport,
    matched: MatchedStudents,
    make_host: Callable[[], ForkServerClient],
) -> BatchResult:
    """Grade the submissions that were found; after Ctrl-C, print how to continue, then raise."""
    from grader.classroom.batch import Batch
    from grader.cli.batch_screen import Meter, graceful_interrupt

    try:
        with (
            host_pool(console, wanted, len(found.handed), make_host) as (hosts, grading),
            Meter(console) as meter,
            graceful_interrupt(console, hosts),
        ):
            meter.begin("grading", len(found.handed))
            running = Batch(book, wanted.out, plan, matched.students, hosts, grading, meter.update)
            return running.run(found.handed)
    except KeyboardInterrupt:
        console.print("stopped; run the same command to continue", markup=False, highlight=False)
        raise


def renamed(found: ClassImport, new_names: Mapping[str, str]) -> ClassImport:
    """Give submissions that were renamed by hand their new names, and say so.

    A submission keeps its name if another one of the download has the new name.
    """
    names = Counter(new_names.get(one.name, one.name) for one in found.handed)
    there = {one.name for one in found.handed}
    new = {old: name for old, name in new_names.items() if old in there and names[name] == 1}
    if not new:
        return found
    handed = [replace(one, name=new.get(one.name, one.name)) for one in found.handed]
    note = f"renamed by hand: {name_list(f'{old} to {name}' for old, name in new.items())}"
    return replace(
        found, handed=tuple(sorted(handed, key=lambda one: one.name)), notes=(*found.notes, note)
    )


def without_forgotten(found: ClassImport, is_forgotten: Callable[[str], bool]) -> ClassImport:
    """Leave out submissions that the gradebook was told to forget, and say so."""
    gone = [one.name for one in found.handed if is_forgotten(one.name)]
    if not gone:
        return found
    note = (
        f"forgotten, so not graded: {name_list(gone)}. To undo that: grade forget OUT NAME --undo"
    )
    kept = tuple(one for one in found.handed if one.name not in gone)
    return replace(found, handed=kept, notes=(*found.notes, note))


@contextlib.contextmanager
def host_pool(
    console: Console, wanted: BatchOptions, count: int, make_host: Callable[[], ForkServerClient]
) -> Iterator[tuple[HostPool[Any], Callable[..., Graded]]]:
    """Return the pool that grades: local fork servers, or slots in a cluster."""
    from rich.text import Text

    from grader.classroom.cluster import cluster_slots, connected, grade_in_cluster
    from grader.runtime.pool import HostPool

    if wanted.scheduler is None:
        with contextlib.closing(HostPool(min(wanted.workers, max(1, count)), make_host)) as hosts:
            yield hosts, grade_here
        return
    with connected(wanted.scheduler, lambda text: console.print(Text(text))) as cluster:
        threads = cluster.threads()
        waiting = "" if threads else "; grading begins when a worker connects"
        line = f"the cluster at {wanted.scheduler} has {counted(threads, 'thread')}{waiting}"
        console.print(Text(clean(line)), soft_wrap=True)
        yield cluster_slots(cluster, wanted.workers, count), grade_in_cluster


def grade_here(*task: Any, name: str, page: object) -> Graded:
    """Grade on this computer; the page is rendered by the thread that waits for the report."""
    from grader.classroom.batch import Graded
    from grader.runtime.grading import grade_and_repair

    return Graded(grade_and_repair(*task, name=name))


def plan_for(course: Course, wanted: BatchOptions) -> BatchPlan:
    """Return what to grade and how; raise UsageError for an unknown lesson or check."""
    from grader.classroom.batch import BatchPlan

    lessons = chosen_lessons(course, wanted.lessons)
    if wanted.check:
        if not wanted.regrade:
            raise UsageError(
                "--check works only with --regrade. Add --regrade, or leave --check out"
            )
        refuse_unknown_check(course, wanted.check)
    settings = Settings(
        seed=0,
        sandbox=wanted.sandbox,
        limits=course.limits,
        lang=wanted_language(wanted.lang),
        prestart=0 < wanted.workers < (os.cpu_count() or 1),
        repair=wanted.repair,
        signed=True,
        planned=True,
    )
    return BatchPlan(
        course, list(dict.fromkeys(lessons)), settings, wanted.regrade, wanted.check, wanted.reveal
    )


def refuse_unknown_check(course: Course, check: str) -> None:
    if "." not in check:
        raise UsageError(
            f"--check {check}: write LESSON.NAME, such as hooks.worked_example. The first line of"
            " grades.csv has all ids"
        )
    head, _, rest = check.partition(".")
    lesson, name = course.lesson(head), rest.partition("[")[0]
    if name not in lesson.check_names:
        near = difflib.get_close_matches(name, lesson.check_names, n=1, cutoff=0.5)
        guess = f"Did you mean {lesson.id}.{near[0]}? " if near else ""
        raise UsageError(
            f"There is no check {check!r}. {guess}The first line of grades.csv has all ids, such"
            f" as {lesson.id}.{lesson.check_names[0]}"
        )


def register(
    book: Gradebook, plan: BatchPlan, found: ClassImport, roster: Roster | None, *, place: Path
) -> MatchedStudents:
    """Store what is known of the class before grading; match it to the new or stored roster."""
    lang = plan.settings.lang
    titles = [
        [one.id, load_catalogue(lang, one.texts(lang))(one.title), 10.0] for one in plan.lessons
    ]
    graded = {"lang": lang, "lessons": json.dumps(titles)} if plan.check is None else {}
    book.set_class(
        {
            "course_id": plan.course.id,
            "course_version": plan.course.version,
            "course_hash": plan.course.hash,
            "title": plan.course.title,
            "place": writable(str(place.resolve())),
            **graded,
            "layout": found.layout,
        }
    )
    book.set_passed_over([*found.passed_over, *found.replaced])
    if roster is not None:
        book.set_roster(roster.students)
    matched = match(
        book.roster(), [(one.name, one.students) for one in found.handed], taken=book.names()
    )
    book.set_absent(matched.absent)
    return matched
