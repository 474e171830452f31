"""Run ``grade``: grade the lessons of one folder, show the report and write it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.commands.selection import Selection, select
from grader.cli.output_file import write_file
from grader.core.errors import ExitCode, UsageError
from grader.core.i18n import Catalogue, engine_catalogue, wanted_language
from grader.core.messages import Settings
from grader.core.report import Report
from grader.course.course import Course, find_course, load_course
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_side_by_side, grade_submission
from grader.runtime.pool import HostPool

if TYPE_CHECKING:
    from rich.console import Console

WORTH_A_SECOND_SERVER = 6
"""With this many lessons, a second import of torch takes less time than it saves."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files to write (None: not at all), and how to show the report: ``terminal``, ``github``,
    or ``plain`` for editors.
    """

    json_file: Path | None = None
    html_file: Path | None = None
    style: str = "terminal"
    repair: bool | None = None
    """Whether to search for wrong expressions; None means only if somebody watches a terminal."""


def grade_here(
    course_root: Path | None,
    names: tuple[str, ...],
    place: Path,
    *,
    outputs: Outputs,
    seed: int | None,
    sandbox: str,
    lang: str | None,
) -> ExitCode:
    """Grade lessons, show the report and write it; return the exit code.

    The fork server starts first: it imports torch while everything else is read.
    """
    language = wanted_language(lang)
    tr = engine_catalogue(language)
    with ForkServerClient() as host:
        # These imports run while the server imports torch.
        from grader.cli.commands.learner_page import keep
        from grader.cli.commands.spinner import waiting
        from grader.render.page import render_page, warm_up
        from grader.render.terminal import make_console

        course = load_course(find_course(course_root, here=Path()))
        chosen = select(course, names, place)
        settings = Settings(
            secrets.randbits(32) if seed is None else seed,
            sandbox,
            course.limits,
            lang=language,
            prestart=len(chosen.files) > 1,
        )
        warm_up()
        console = make_console()
        with waiting(make_console(stderr=True), tr, host):
            report = grade_chosen(host, course, chosen, settings)
        on_terminal = console if outputs.style == "terminal" else None
        with console.capture() as opened:
            kept = keep(course, report, chosen.files, place, language, console=on_terminal)

        def page_of(report: Report) -> str:
            return render_page(report, tr, extras=kept, places=chosen.places)

        unwritten = problems_writing(outputs, report, page_of)
        page = str(outputs.html_file) if outputs.html_file and not unwritten else None
        show(report, outputs.style, place, console, html=page, tr=tr, places=chosen.places)
        if on_terminal:
            console.file.write(opened.get())
            console.file.flush()
        if outputs.repair or (outputs.repair is None and on_terminal and console.is_terminal):
            from grader.cli.commands.repairs import show_repairs

            final = show_repairs(host, course, report, chosen, settings, place, console, tr)
            if final is not report:
                unwritten = unwritten or problems_writing(outputs, final, page_of)
    if unwritten:
        raise unwritten[0]
    return exit_code(report)


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
    """Print a report in a style; see ``Outputs``."""
    if style == "plain":
        from grader.render.editors import run_lines

        for line in run_lines([report], place if place.is_dir() else place.parent, tr):
            print(line)
    elif style == "github":
        show_on_github(report, place, html=html, tr=tr, places=places)
    else:
        from grader.render.terminal import show_report

        show_report(console, report, html=html, tr=tr, places=places)


def exit_code(report: Report) -> ExitCode:
    """Return the exit code; print the tracebacks of the grader's faults to standard error."""
    if report.grader_faults:
        for check in report.grader_faults:
            if check.note is not None:
                print(f"\n{check.id}\n{check.note}", file=sys.stderr)
        return ExitCode.ENGINE_FAULT
    return ExitCode.OK if report.right_so_far else ExitCode.NOT_FULL_MARKS


def problems_writing(
    outputs: Outputs, report: Report, page_of: Callable[[Report], str]
) -> list[UsageError]:
    """Write the requested files; return the errors of those that could not be written."""
    return [
        *problem_writing(outputs.json_file, lambda: json_text(report)),
        *problem_writing(outputs.html_file, lambda: page_of(report)),
    ]


def grade_chosen(
    host: ForkServerClient, course: Course, chosen: Selection, settings: Settings
) -> Report:
    """Grade with one fork server, or with two if there are many lessons and an idle processor."""
    lessons, files, name = chosen.lessons, chosen.files, chosen.name
    if len(files) < WORTH_A_SECOND_SERVER or (os.cpu_count() or 1) < 2:
        return grade_submission(host, course, lessons, files, settings, name=name)
    started = [host]

    def make() -> ForkServerClient:
        return started.pop() if started else ForkServerClient()

    with contextlib.closing(HostPool(2, make)) as hosts:
        return grade_side_by_side(hosts, course, lessons, files, settings, name=name)


def json_text(report: Report) -> str:
    return json.dumps(report.as_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def problem_writing(path: Path | None, make: Callable[[], str]) -> list[UsageError]:
    """Write a file if a path is given; return the error if it could not be written."""
    try:
        write_file(path, make)
    except UsageError as error:
        return [error]
    return []


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
