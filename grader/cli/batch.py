"""Run ``grade batch``: grade a class into a gradebook, with a page for each student and tables.

The options' help needs nothing slow, so what grades is imported in the functions that grade.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import shlex
import sys
import zoneinfo
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.classroom.gradebook.entry import POLICIES, LateRule, read_rule
from grader.classroom.gradebook.marks import MarkChange
from grader.classroom.gradebook.roster import Roster, read_roster
from grader.classroom.imports.discover import find_class
from grader.classroom.imports.entries import ClassImport, Submission
from grader.classroom.imports.given_files import with_gifts
from grader.classroom.imports.names import name_list, unique_names
from grader.cli.options import (
    PATH,
    SEED,
    chosen_lessons,
    course,
    lessons_option,
    near_names_option,
    pages_lang_option,
)
from grader.core.errors import ExitCode, UsageError
from grader.core.i18n import load_catalogue, wanted_language
from grader.core.messages import Settings
from grader.core.text import clean, counted
from grader.course.course import Course
from grader.course.files import newest_time
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
@click.option(
    "--assignment",
    metavar="NAME",
    help="The assignment, if the gradebook is for several: 'Week 2'. Its pages and tables are in"
    " the folder of that name.",
)
@lessons_option("The lessons that were assigned; by default those of the last run, at first all.")
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
    "--attempts",
    type=click.Choice(POLICIES),
    help="Which attempt counts, if somebody hands in several; by default the last.",
)
@click.option(
    "--zone",
    metavar="ZONE",
    help="The time zone of times without an offset from UTC: Europe/Berlin.",
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
@click.option(
    "--course",
    "course_root",
    type=PATH,
    help="The folder of another course. 'none' goes back to the one that is installed.",
)
def batch(executor: str, workers: int | None, course_root: Path | None, **options: Any) -> None:
    """Grade a class: a gradebook, a page for each student, tables.

    You can stop it at any time. Run the same command again to continue. The gradebook remembers
    the options --lessons, --roster, --due, --late, --attempts, --zone, --course and
    --accept-near-names.

    Example: grade batch submissions --out grades --lessons custom_sigmoid --roster class.csv
    """
    if options["zone"] and options["zone"] not in zoneinfo.available_timezones():
        raise UsageError(
            f"--zone: there is no time zone {options['zone']!r}. Write it like Europe/Berlin"
        )
    if (executor == "dask") is not bool(options["scheduler"]):
        raise UsageError("Give --executor dask and --scheduler ADDRESS together, or neither")
    workers = workers or (0 if options["scheduler"] else os.cpu_count() or 1)
    installed = course_root == Path("none")
    options |= {"course_root": None if installed else course_root, "installed_course": installed}
    wanted = BatchOptions(workers=workers, **options)
    sys.exit(grade_class(remembered_course(wanted), wanted))


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """The options of ``grade batch``. ``workers`` 0: as many as the cluster takes."""

    place: Path
    out: Path
    assignment: str | None = None
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
    accept_near_names: bool | None = None
    attempts: str | None = None
    zone: str | None = None
    due: str | None = None
    late: str | None = None
    repair: bool = False
    course_root: Path | None = None
    installed_course: bool = False
    rule_before: str = ""
    """The late rule that the gradebook has, as JSON."""

    def late_rule(self) -> str | None:
        """Return the rule as JSON, '' for no rule; None if the options do not mention one.

        What they do not say of a due date or of what lateness costs stays as it was.
        """
        if self.due is None and self.late is None:
            return None
        if self.due == "none":
            return ""
        before = LateRule.from_json(json.loads(self.rule_before)) if self.rule_before else None
        if self.due is None and before is None:
            raise UsageError("--late needs a due date. Give it with --due")
        due = self.due or (before.due if before else "")
        rule = read_rule(due, self.late, self.zone_info)
        if before and self.late is None:
            rule = replace(before, due=rule.due)
        return json.dumps(rule.as_json())

    @property
    def zone_info(self) -> zoneinfo.ZoneInfo | None:
        return zoneinfo.ZoneInfo(self.zone) if self.zone else None


own_host = partial(ForkServerClient, own_session=True)
"""Return a fork server in a session of its own, which Ctrl-C does not reach."""


def grade_class(
    course: Course,
    wanted: BatchOptions,
    *,
    make_host: Callable[[], ForkServerClient] = own_host,
    only: str | None = None,
) -> ExitCode:
    """Grade a class, or ``only`` one submission of it, and report it; return ENGINE_FAULT if the
    grader was at fault.
    """
    from grader.classroom.batch import drop_page, finish
    from grader.classroom.gradebook.by_hand import gifts
    from grader.classroom.gradebook.marks import begin_marks, note_told
    from grader.classroom.gradebook.people import enrol, entries_of
    from grader.classroom.gradebook.store import Gradebook, batch_lock
    from grader.cli.batch_screen import Summary, listing, say_before
    from grader.render.terminal import make_console
    from grader.runtime.text_reader import text_reader

    plan_for(course, wanted)  # an option that can't be meant is refused before anything is read
    wanted = remembered(wanted)
    late_rule = wanted.late_rule()
    plan = plan_for(course, wanted)
    found = find_download(course, wanted, plan)
    roster = read_roster(wanted.roster, wanted.zone_info) if wanted.roster else None
    console = make_console(stderr=True)
    with (
        batch_lock(wanted.out),
        Gradebook.open(wanted.out, create=True, assignment=wanted.assignment) as book,
    ):
        with unless_refused(book):
            refuse_another_assignment(book, course, plan, found, place=wanted.place)
            if roster is not None:
                refuse_another_worksheet(found, roster, wanted.roster)
            book.set_secret(wanted.seed)
            begin_marks(book)
            remember(book, wanted, plan, late_rule, found.layout)
            guessed = found.layout == "plain" and wanted.layout is None
            enrolled = enrol(book, found, roster, guessed=guessed)
        for name in enrolled.changed:
            drop_page(book, name)
        students = dict(entries_of(book))
        found = with_gifts(
            enrolled.found, gifts(book), wanted.place, students, text_reader().decode
        )
        handed = {one.name for one in found.handed}
        if only is None:
            say_before(console, replace(enrolled, found=found), roster)
            if wanted.course_root:
                listing(console, "course", [str(course.root)])
        else:
            chosen = tuple(one for one in found.handed if one.name == only)
            found = replace(found, handed=chosen)
        tally = grade_found(console, book, wanted, plan, found, make_host)
        changes: list[MarkChange] = []
        topics = finish(book, {*enrolled.changed}, changes.extend)
        Summary(make_console(), book).show(tally, plan, handed, changes, topics)
        note_told(book)
    return ExitCode.ENGINE_FAULT if tally.faults else ExitCode.OK


@contextlib.contextmanager
def unless_refused(book: Gradebook) -> Iterator[None]:
    """Keep what the block writes, or nothing of it: no assignment either that was made for it."""
    from grader.core.sqlite import transaction

    begun = book.value("SELECT 1 FROM runs WHERE assignment = ?", book.assignment)
    try:
        with transaction(book.db):
            yield
    except BaseException:
        if not begun and len(book.assignments()) > 1:
            book.db.execute("DELETE FROM assignments WHERE id = ?", [book.assignment])
        raise


def find_download(course: Course, wanted: BatchOptions, plan: BatchPlan) -> ClassImport:
    """Return the submissions of a download; raise UsageError if the results would be among them."""
    from grader.course.beginnings import untouched_in
    from grader.runtime.text_reader import text_reader

    found = find_class(
        wanted.place,
        lessons=[one.id for one in course.lessons],
        graded=plan.ids,
        layout=wanted.layout,
        untouched=untouched_in(course.lessons),
        accept_near_names=bool(wanted.accept_near_names),
        decode=text_reader().decode,
    )
    if wanted.out.resolve() == wanted.place.resolve():
        raise UsageError(
            f"--out {wanted.out} is the folder with the submissions. Name another folder for the"
            " results"
        )
    return found


def remembered(wanted: BatchOptions) -> BatchOptions:
    """Return the options with what the gradebook remembers of those that were not given."""
    from grader.classroom.gradebook.store import DATABASE, Gradebook, place_of

    root, named = place_of(wanted.out)
    assignment = wanted.assignment or named
    if not (root / DATABASE).exists():
        return wanted
    with Gradebook.open(root, any_of=True) as book:
        known = book.assignments()
        if assignment is None and len(known) == 1:
            (assignment,) = known
        zone = wanted.zone or book.zone() or None
        if assignment not in known:
            return replace(wanted, zone=zone)
        book = book.at(known[assignment])
        near, folder = bool(int(book.about("near_names"))), book.about("course")
        return replace(
            wanted,
            lessons=wanted.lessons or tuple(lesson for lesson, _, _ in book.lessons()),
            accept_near_names=near
            if wanted.accept_near_names is None
            else wanted.accept_near_names,
            zone=zone,
            course_root=wanted.course_root
            or (Path(folder) if folder and not wanted.installed_course else None),
            rule_before=book.about("late_rule"),
        )


def remembered_course(wanted: BatchOptions) -> Course:
    """Return the course that was named, now or when the assignment was graded before; raise
    UsageError if that is gone.
    """
    root = remembered(wanted).course_root
    if root is not None and root != wanted.course_root and not root.exists():
        raise UsageError(
            f"The assignment was graded with the course in {root}, which is not there. Name its"
            " folder with --course. The installed course: --course none"
        )
    return course(root)


def remember(
    book: Gradebook, wanted: BatchOptions, plan: BatchPlan, late_rule: str | None, layout: str
) -> None:
    """Store the options, and what is known of the class before grading."""
    lang = plan.settings.lang
    titles = [
        [one.id, load_catalogue(lang, one.texts(lang))(one.title), 10.0] for one in plan.lessons
    ]
    values: dict[str, object] = {
        "course_id": plan.course.id,
        "course_version": plan.course.version,
        "course_hash": plan.course.hash,
        "title": book.about("name") or plan.course.title,
        "place": writable(str(wanted.place.resolve())),
        "layout": layout,
        "near_names": int(bool(wanted.accept_near_names)),
        "course": writable(str(wanted.course_root.resolve())) if wanted.course_root else "",
    }
    if plan.check is None:
        values |= {"lang": lang, "lessons": json.dumps(titles)}
    if late_rule is not None:
        values["late_rule"] = late_rule
    book.set_class(values)
    if wanted.attempts is not None:
        book.set_policy(wanted.attempts)
    if wanted.zone:
        book.set_zone(wanted.zone)
    book.settle_all()


SAMPLE = 10
"""Of how many submissions the files are looked at, to see what a download is."""


def refuse_another_assignment(
    book: Gradebook, course: Course, plan: BatchPlan, found: ClassImport, *, place: Path
) -> None:
    """Raise UsageError if a download is not of the assignment that the gradebook is open at."""
    before = [lesson for lesson, _, _ in book.lessons()]
    what = book.about("name") or "this gradebook"
    known = known_assignment(book, found, place)
    remedy = f"For another assignment: --assignment {shlex.quote(found_name(place))}"
    if known:
        remedy = f"It seems to be of {known}: --assignment {shlex.quote(known)}"
    first = not book.names()
    if not first and plan.check is None and not set(plan.ids) & set(before):
        raise UsageError(
            f"{what} has the lessons {name_list(before, 4)}, not {name_list(plan.ids, 4)}."
            f" {remedy}. To change its lessons, name these too: --lessons"
            f" {','.join([*before, *plan.ids])}"
        )
    sample = found.handed[:SAMPLE]
    if not any(files_in(one, plan.ids) for one in sample):
        everything = [lesson.id for lesson in course.lessons]
        others = {lesson for one in sample for lesson in files_in(one, everything)}
        if others:
            none = name_list(plan.ids, 4) + ("" if first else f", which {what} has")
            if first and not known:
                remedy = f"Its lessons: --lessons {','.join(sorted(others))}"
            raise UsageError(
                f"{place} has files of {name_list(sorted(others), 4)}, and none of {none}. {remedy}"
            )
    if first:
        return
    from grader.classroom.gradebook.people import participants

    same, other = participants(book, found.handed)
    if len(other) > same:
        raise UsageError(
            f"{place} has other participant numbers than {what}, for example for {other[0]}, so it"
            f" is another assignment's download. {remedy}"
        )


def known_assignment(book: Gradebook, found: ClassImport, place: Path) -> str:
    """Return the other assignment of the term of which a download seems to be; '' if none."""
    from grader.classroom.gradebook.people import participants

    entries = {one.came_as for one in found.handed} - {""}
    for name, number in book.assignments().items():
        there = book.at(number)
        same, other = participants(there, found.handed)
        graded = 2 * len(entries & there.came_as()) > len(entries) or same > len(other)
        if number != book.assignment and (graded or there.about("place") == str(place.resolve())):
            return name
    return ""


def refuse_another_worksheet(found: ClassImport, roster: Roster, path: Path | None) -> None:
    """Raise UsageError if a roster is the worksheet of another assignment: Moodle's participants
    have other numbers in each. In a download of teams the numbers are those of groups.
    """
    from grader.classroom.gradebook.identity import NUMBER

    listed = [one for _, one in roster.students if NUMBER in one.ids]
    by_name = {one.name.casefold(): one.ids[NUMBER] for one in listed}
    known, same, other = {one.ids[NUMBER] for one in listed}, 0, []
    for student in (student for one in found.handed for student in one.students):
        number = student.ids.get(NUMBER)
        same += number in known
        if number and number not in known and student.name.casefold() in by_name:
            other.append(student.name)
    if len(other) > same:
        raise UsageError(
            f"{path} has other participant numbers than the download, for example for {other[0]},"
            " so it is another assignment's worksheet. Download the worksheet of this one"
        )


def files_in(one: Submission, lessons: Sequence[str]) -> list[str]:
    """Return the lessons of which a submission has files; none if it can't be read."""
    try:
        return list(one.read(lessons))
    except Exception:
        return []  # it is read again, and the reason said, when its turn comes


def found_name(place: Path) -> str:
    """Return a name for the assignment that a download may be of."""
    (name,) = unique_names([(place.resolve().stem, "")])
    return name


def grade_found(
    console: Console,
    book: Gradebook,
    wanted: BatchOptions,
    plan: BatchPlan,
    found: ClassImport,
    make_host: Callable[[], ForkServerClient],
) -> BatchResult:
    """Grade the submissions that were found; after Ctrl-C, print how to continue, then raise."""
    from grader.classroom.batch import Batch
    from grader.cli.batch_screen import Meter, graceful_interrupt

    book.set_passed_over(found.passed_over)
    try:
        with (
            host_pool(console, wanted, len(found.handed), make_host) as (hosts, grading),
            Meter(console) as meter,
            graceful_interrupt(console, hosts),
        ):
            meter.begin("grading", len(found.handed))
            newest = newest_time(wanted.place, wanted.zone_info)
            place = (newest, wanted.place.is_file())
            running = Batch(book, book.folder, plan, hosts, grading, meter.update, *place)
            return running.run(found.handed)
    except KeyboardInterrupt:
        console.print("stopped; run the same command to continue", markup=False, highlight=False)
        raise


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
