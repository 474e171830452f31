"""Run ``grade replay``: one check again, from its seed, judged as usual."""

from __future__ import annotations

import difflib
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from grader.cli.commands.spinner import waiting
from grader.core.errors import ExitCode, UsageError
from grader.core.i18n import Catalogue, engine_catalogue, wanted_language
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.course.course import Course, Lesson
from grader.course.submission import SUFFIXES, LessonFile, read_submission
from grader.render.terminal import Lines, make_console, show_whole
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_lesson

FINE = (Outcome.PASSED, Outcome.NOT_STARTED)


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """The request. ``target`` is a lesson or ``lesson.check``; ``seed`` is the run's."""

    target: str
    place: Path
    seed: int | None = None
    check_seed: int | None = None
    sandbox: str = "auto"
    lang: str | None = None
    options: tuple[str, ...] = ()
    """The other options that were typed, for a command to paste."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What to judge: a lesson or one check of it, the file, the settings."""

    lesson: Lesson
    check: str | None
    file: LessonFile
    settings: Settings
    tr: Catalogue

    @property
    def check_id(self) -> str | None:
        """``custom_sigmoid.gradcheck_agrees``."""
        return f"{self.lesson.id}.{self.check}" if self.check else None


def find_replay(course: Course, request: ReplayRequest) -> Replay:
    """Return what to judge; raise UsageError for an unknown lesson, check or file."""
    head, _, rest = request.target.partition(".")
    lesson = course.lesson(head)
    check = known_check(lesson, rest) if rest not in ("", "py") else None
    if request.check_seed is not None and check is None:
        message = (
            "--check-seed is the seed of one check, and {lesson} is a lesson. Name one:"
            " {lesson}.<check>"
        )
        raise UsageError(message, lesson=lesson.id)
    if request.seed is not None and request.check_seed is not None:
        raise UsageError(
            "--seed and --check-seed are both given. Give the run's seed, or the check's own"
        )
    file = read_submission(request.place, [lesson.id]).get(lesson.id)
    if file is None:
        message = "{folder} holds no {file}. Name the folder that does: --in DIR"
        raise UsageError(message, folder=str(request.place.resolve()), file=lesson.filename)
    if file.ignored:
        raise UsageError(file.template, **file.facts)
    seeds = {f"{lesson.id}.{check}": request.check_seed} if request.check_seed is not None else {}
    language = wanted_language(request.lang)
    seed = secrets.randbits(32) if request.seed is None else request.seed
    settings = Settings(seed, request.sandbox, course.limits, lang=language, seeds=seeds)
    return Replay(lesson, check, file, settings, engine_catalogue(language))


def known_check(lesson: Lesson, name: str) -> str:
    """Return the name of a check; raise UsageError with the nearest name and all names."""
    names, wanted = lesson.check_names, name.removeprefix("test_")
    if wanted in names:
        return wanted
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.5)
    facts = {"lesson": lesson.id, "name": repr(name), "names": ", ".join(names)}
    if near:
        message = "{lesson} has no check {name}. Did you mean {lesson}.{near}? Its checks: {names}"
        raise UsageError(message, **facts, near=near[0])
    raise UsageError("{lesson} has no check {name}. Its checks: {names}", **facts)


def replay(course: Course, request: ReplayRequest) -> ExitCode:
    """Judge again and show the check in full; for a lesson, the wrong one or a list of them."""
    with ForkServerClient() as client:
        what = find_replay(course, request)
        with waiting(make_console(stderr=True), what.tr, client):
            judged = grade_lesson(client, what.lesson, what.file, what.settings)
    if what.check is None and judged.result.status is LessonStatus.NOT_STARTED:
        message = "{lesson} is not started, so there is nothing to show. What comes next: {command}"
        message = what.tr(message, lesson=what.lesson.id, command="grade next")
        make_console().print(message, markup=False)
        return ExitCode.NOT_FULL_MARKS
    if what.check is None and len(wrong := wrong_checks(judged.result)) > 1:
        show_choice(make_console(), what, request, wrong)
        return ExitCode.NOT_FULL_MARKS
    shown = checks_to_show(what, judged.result)
    show_whole(make_console(), judged.result, shown, seed=what.settings.seed, tr=what.tr)
    for check in shown:
        if check.outcome is Outcome.GRADER_ERROR:
            click.echo(f"\n{check.id}\n{check.note or check.message}", err=True)
            return ExitCode.ENGINE_FAULT
    right = judged.result.status is not LessonStatus.INVALID and all(
        check.outcome is Outcome.PASSED for check in shown
    )
    return ExitCode.OK if right else ExitCode.NOT_FULL_MARKS


def checks_to_show(what: Replay, result: LessonResult) -> tuple[CheckResult, ...]:
    """Return the named check; else the wrong ones, those with another problem, or all."""
    if what.check_id is not None:
        return tuple(check for check in result.checks if check.id == what.check_id)
    return (
        wrong_checks(result)
        or tuple(check for check in result.checks if check.outcome not in FINE)
        or result.checks
    )


def wrong_checks(result: LessonResult) -> tuple[CheckResult, ...]:
    """Return the checks that are wrong by themselves; none for a file that could not be judged."""
    if result.status in (LessonStatus.INVALID, LessonStatus.MISSING):
        return ()
    return tuple(result.failures)


def show_choice(
    console: Console, what: Replay, request: ReplayRequest, wrong: Sequence[CheckResult]
) -> None:
    """Print the wrong checks, each with a command for it, ready to paste."""
    message = "{count} checks of {lesson} are wrong. Take one:"
    console.print(Text(what.tr(message, count=len(wrong), lesson=what.lesson.id)), "")
    lines = Lines(console, what.tr)
    for check in wrong:
        lines.show_check(check)
        words = ["grade", "replay", check.id, "--seed", str(what.settings.seed), *request.options]
        console.print(Text(f"    {shlex.join(words)}", "dim"), soft_wrap=True)


def one_wrong_check(
    client: ForkServerClient, console: Console, what: Replay, request: ReplayRequest
) -> Replay | None:
    """Return the replay of the named check, or else of the only wrong one.

    If none is wrong, the result names no check. If several are, list them and return None.
    """
    if what.check is not None:
        return what
    wrong = wrong_checks(grade_lesson(client, what.lesson, what.file, what.settings).result)
    if len(wrong) > 1:
        show_choice(console, what, request, wrong)
        return None
    return replace(what, check=check_name(wrong[0]) if wrong else None)


def check_name(check: CheckResult) -> str:
    return check.id.partition(".")[2]


def own_file(place: Path, file: LessonFile) -> Path:
    """Return the path of a lesson's file on this machine; raise UsageError if it is in a zip."""
    path = (place / file.path if place.is_dir() else place).resolve()
    if path.suffix not in SUFFIXES or not path.is_file():
        message = (
            "{file} is inside {place}, and can't be run from there. Unpack it, and name the folder:"
            " --in DIR"
        )
        raise UsageError(message, file=file.path, place=str(place))
    return path
