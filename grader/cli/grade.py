"""Run ``grade``: grade the lessons of one folder, show the report and write it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.help import TranslatedCommand
from grader.cli.options import (
    PATH,
    complete_lesson,
    course,
    course_option,
    lang_option,
    sandbox_option,
    seed_option,
    write_file,
)
from grader.cli.selection import Selection, are_in_workspace, select
from grader.core.errors import ExitCode, UsageError
from grader.core.i18n import Catalogue, engine_catalogue, wanted_language
from grader.core.messages import Settings
from grader.core.report import Report
from grader.course.course import Course
from grader.course.progress import Progress, find_workspace
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_side_by_side, grade_submission, repaired, without_judge
from grader.runtime.pool import HostPool

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WORTH_A_SECOND_SERVER = 6
"""With this many lessons, a second fork server, which imports pytest again, takes less time than it
saves.
"""

STOPPED = "Stopped: nothing was graded. Nothing of yours has changed. Again: grade"


@click.command(cls=TranslatedCommand)
@click.argument("lessons", nargs=-1, metavar="[LESSON]...", shell_complete=complete_lesson)
@click.option(
    "--in",
    "place",
    type=PATH,
    default=Path(),
    help="The folder or zip with your lessons; this folder by default.",
)
@click.option("--json", "json_file", type=PATH, help="Write the report as JSON to this file.")
@click.option(
    "--html",
    "html_file",
    type=PATH,
    help="Write the report as a page to this file; report.html by default.",
)
@click.option("--no-html", is_flag=True, help="Write no page.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["terminal", "github", "plain"]),
    default="terminal",
    help="github adds annotations and a job summary for GitHub Actions; plain prints lines for"
    " editors: path:line:column: error: cause.",
)
@click.option(
    "--repair/--no-repair",
    default=None,
    help="If no mistake is recognized, search for the wrong expression after the verdict; "
    "by default only on a terminal.",
)
@seed_option
@sandbox_option
@lang_option
@course_option
def run(
    lessons: tuple[str, ...],
    place: Path,
    json_file: Path | None,
    html_file: Path | None,
    no_html: bool,
    style: str,
    repair: bool | None,
    seed: int | None,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Grade lessons; `grade` alone does this too.

    Example: grade run custom_sigmoid --in my-work --seed 7
    """
    page = None if no_html else html_file or default_page()
    tr = engine_catalogue(wanted_language(lang))
    # The fork server starts first: it imports torch while everything else is read.
    with ForkServerClient(most_lessons=1) as host:
        from grader.cli.workspace import keep
        from grader.render.page import render_page
        from grader.render.terminal import make_console

        found = course(course_root)
        chosen = select(found, lessons, place)
        settings = Settings(
            secrets.randbits(32) if seed is None else seed,
            sandbox,
            found.limits,
            lang=tr.lang,
            prestart=len(chosen.files) > 1,
        )
        console = make_console()
        on_terminal = console if style == "terminal" else None
        briefly = on_terminal is not None and not json_file  # others read every check's id
        report = graded(host, found, chosen, settings, tr, briefly=briefly)
        with console.capture() as opened:
            kept = keep(found, report, chosen.files, place, tr.lang, console=on_terminal)
        page_of = functools.partial(render_page, tr=tr, extras=kept, places=chosen.places)
        unwritten = problem_writing(report, json_file, html_file and page, page_of)
        # Nobody asked for the default page, so the run does not fail where it can't be written.
        no_page = None if html_file else problem_writing(report, None, page, page_of)
        html = str(page) if page and not (unwritten or no_page) else None
        show(report, style, place, console, html=html, tr=tr, places=chosen.places)
        if on_terminal:
            console.file.write(opened.get())
            console.file.flush()
        if repair or (repair is None and on_terminal and console.is_terminal):
            final = show_repairs(host, found, report, chosen, settings, place, console, tr)
            if final is not report:
                page = page if html else None
                unwritten = unwritten or problem_writing(final, json_file, page, page_of)
    if unwritten:
        raise unwritten
    if no_page:
        print(f"grade: {tr(no_page.template, **no_page.facts)}", file=sys.stderr)
    sys.exit(exit_code(report))


def graded(
    host: ForkServerClient,
    course: Course,
    chosen: Selection,
    settings: Settings,
    tr: Catalogue,
    *,
    briefly: bool,
) -> Report:
    """Grade what was chosen; end the command after Ctrl-C. ``briefly``: files that can't be loaded
    need no judge.
    """
    from grader.render.page import warm_up
    from grader.render.terminal import make_console

    lessons, files, name = chosen.lessons, chosen.files, chosen.name
    try:
        if briefly and (report := without_judge(course, lessons, files, settings, name=name)):
            host.close()
            return report
        warm_up()
        with waiting(make_console(stderr=True), tr, host):
            return grade_chosen(host, course, chosen, settings)
    except KeyboardInterrupt:
        print(tr(STOPPED), file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


def default_page() -> Path:
    """Return report.html in the work folder around the current folder, else in the current one."""
    work = find_workspace(Path())
    return Path(os.path.relpath(work / "report.html") if work else "report.html")


def grade_chosen(
    host: ForkServerClient, course: Course, chosen: Selection, settings: Settings
) -> Report:
    """Grade with one fork server, or with two if there are many lessons and an idle processor."""
    lessons, files, name = chosen.lessons, chosen.files, chosen.name
    if len(files) < WORTH_A_SECOND_SERVER or (os.cpu_count() or 1) < 2:
        return grade_submission(host, course, lessons, files, settings, name=name)
    started = [host]

    def make() -> ForkServerClient:
        return started.pop() if started else ForkServerClient(most_lessons=1)

    with contextlib.closing(HostPool(2, make)) as hosts:
        return grade_side_by_side(hosts, course, lessons, files, settings, name=name)


def problem_writing(
    report: Report, json_file: Path | None, page: Path | None, page_of: Callable[[Report], str]
) -> UsageError | None:
    """Write the requested files; return the first error of those that could not be written."""

    def json_text() -> str:
        return json.dumps(report.as_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    problem = None
    for path, make, option in (
        (json_file, json_text, "--json"),
        (page, lambda: page_of(report), "--html"),
    ):
        try:
            write_file(path, make, options=option)
        except UsageError as error:
            problem = problem or error
    return problem


def show(
    report: Report,
    style: str,
    place: Path,
    console: Console,
    *,
    html: str | None,
    tr: Catalogue,
    places: Mapping[str, Path],
) -> None:
    """Print a report for a terminal, for GitHub Actions or as lines for editors."""
    if style == "plain":
        from grader.render.editors import run_lines

        for line in run_lines([report], place if place.is_dir() else place.parent, tr):
            print(line)
    elif style == "github":
        show_on_github(report, place, html=html, tr=tr, places=places)
    else:
        from grader.render.terminal import show_report

        show_report(console, report, html=html, tr=tr, places=places)


def show_on_github(
    report: Report, place: Path, *, html: str | None, tr: Catalogue, places: Mapping[str, Path]
) -> None:
    """Print the report for GitHub Actions, with annotations and the step's summary."""
    from grader.render.editors import error_lines, place_in_repository, silenced, step_summary
    from grader.render.terminal import make_console, show_report

    with silenced(functools.partial(print, flush=True)):
        show_report(make_console(), report, html=html, tr=tr, places=places)
        sys.stdout.flush()
    for line in error_lines(
        report, place_in_repository(place, os.environ.get("GITHUB_WORKSPACE")), tr
    ):
        print(line)
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with open(
                file, "a", encoding="utf-8", errors="backslashreplace", newline="\n"
            ) as stream:
                stream.write(step_summary(report, tr))
        except OSError as error:
            message = "{path} can't be written: {reason}. GITHUB_STEP_SUMMARY names this file"
            raise UsageError(message, path=file, reason=str(error.strerror)) from None


def exit_code(report: Report) -> ExitCode:
    """Return the exit code; print the tracebacks of the grader's faults to standard error."""
    if report.grader_faults:
        for check in report.grader_faults:
            if check.note is not None:
                print(f"\n{check.id}\n{check.note}", file=sys.stderr)
        return ExitCode.ENGINE_FAULT
    return ExitCode.OK if report.right_so_far else ExitCode.NOT_FULL_MARKS


def show_repairs(
    host: ForkServerClient,
    course: Course,
    report: Report,
    chosen: Selection,
    settings: Settings,
    place: Path,
    console: Console,
    tr: Catalogue,
) -> Report:
    """Search and print wrong expressions; return the report with them, or the same if none is
    found. In a learner's own folder the last hint shows the repair. Ctrl-C ends only the search,
    because the verdict is already there.
    """
    from rich.padding import Padding
    from rich.text import Text

    from grader.cli.workspace import Learner
    from grader.render.terminal import INDENT, wrong_expression_text

    message = Text(tr("Searching for one change that is enough …"), "dim")
    watched = console.is_terminal and console.file.isatty()
    try:
        with console.status(message, spinner="line") if watched else contextlib.nullcontext():
            final, found = repaired(host, report, chosen.lessons, chosen.files, settings)
    except KeyboardInterrupt:
        return report
    if final.lessons == report.lessons:
        return report
    for lesson in final.lessons:
        shown: set[str] = set()
        for check in lesson.checks:
            if check.wrong_expression and check.function not in shown:
                shown.add(check.function)
                text = wrong_expression_text(check, lesson, tr, console.width - INDENT)
                console.print(Padding(text, (1, 0, 0, INDENT), expand=False))

    def with_repairs(progress: Progress) -> Progress:
        for lesson, repairs in found.items():
            edits = {one.function: one.new for one in repairs if one.wrong and one.new}
            progress = progress.having(lesson, replace(progress.of(lesson), repairs=edits))
        return progress

    if place == Path() and are_in_workspace(place, chosen.files):
        Learner.at(course, place, settings.lang).keep(with_repairs)
    return final


@contextlib.contextmanager
def waiting(console: Console, tr: Catalogue, host: ForkServerClient) -> Iterator[None]:
    """Show until the block ends that grading has begun; show nothing without a terminal.

    A first run may read torch from a cold disk for seconds. Jupyter asks for colors without having
    a terminal and would print a line for each frame.
    """
    if not (console.is_terminal and console.file.isatty()):
        yield
        return
    with console.status(Elapsed(tr, host), spinner="line"):  # ASCII, which every console can show
        yield


class Elapsed:
    """The text beside the spinner: torch is being imported, then how long the checks have run."""

    def __init__(self, tr: Catalogue, host: ForkServerClient) -> None:
        self.tr, self.host = tr, host
        self.began = time.monotonic()
        self.imported_at: float | None = None

    def __rich__(self) -> Text:
        from rich.text import Text

        judging, now = self.host.judging, time.monotonic()
        if judging and self.imported_at is None:
            self.imported_at = now
        if self.imported_at is not None:
            seconds = int(now - self.imported_at)
            text = self.tr("Grading … running your code, {seconds} s", seconds=seconds)
        elif judging is None:
            text = self.tr("Grading … {seconds} s", seconds=int(now - self.began))
        else:
            text = self.tr("Grading … importing torch takes a few seconds")
        return Text(text, "dim")
