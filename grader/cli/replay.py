"""Run ``grade replay``: judge one check again from its seed, as a report, as a script that needs no
grader (``--show``), or in a debugger with the user's own rights (``--pdb``).
"""

from __future__ import annotations

import contextlib
import difflib
import json
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from grader.cli.grade import waiting
from grader.cli.help import TranslatedCommand
from grader.cli.options import (
    SEED,
    complete_check,
    course,
    course_option,
    lang_option,
    place_option,
    sandbox_option,
    seed_option,
)
from grader.cli.selection import is_there, nothing_in
from grader.cli.workspace import Learner
from grader.core.errors import ExitCode, UsageError
from grader.core.i18n import Catalogue, engine_catalogue, wanted_language
from grader.core.messages import DebugRequest, Settings
from grader.core.processes import users_environment
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.core.text import clean
from grader.course.course import Course, Lesson
from grader.course.near_names import SUFFIXES
from grader.course.notebook import cells_of, loading
from grader.course.progress import Progress
from grader.course.source import Source, first_line
from grader.course.submission import LessonFile, lesson_names, read_submission
from grader.judge import DEBUGGER
from grader.render.terminal import Lines, make_console, show_whole
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import LessonOutcome, grade_lesson, task_for


@click.command(cls=TranslatedCommand)
@click.argument("target", metavar="[LESSON[.CHECK]]", default="", shell_complete=complete_check)
@place_option
@seed_option
@click.option(
    "--check-seed",
    type=SEED,
    metavar="N",
    help="The check's own seed, from a report, instead of the run's.",
)
@click.option(
    "--student",
    metavar="NAME",
    help="With --in a gradebook: a student's file, from the seed of its report.",
)
@click.option(
    "--show", "way", flag_value="show", help="Print a script that does the same without the grader."
)
@click.option(
    "--pdb",
    "way",
    flag_value="pdb",
    help="Debug your code where it raises or is called. It runs unconfined.",
)
@click.option(
    "--break", "stop", is_flag=True, help="With --pdb: always stop at the function's first line."
)
@sandbox_option
@lang_option
@course_option
def replay(
    way: str | None, stop: bool, course_root: Path | None, student: str | None, **values: Any
) -> None:
    """Run a check again from its seed: judged, as a script, or in a debugger. For a lesson, run its
    failing check.

    Without a lesson, use the one in this folder, or the one that failed last. If there are several,
    list a command for each.

    Example: grade replay custom_sigmoid.gradcheck_agrees --seed 5 --show
    """
    request = ReplayRequest(**values)
    options = []
    if way is not None:
        options.append(f"--{way}")
    if stop:
        options.append("--break")
    if request.place != Path():
        options += ["--in", str(request.place)]
    if course_root is not None:
        options += ["--course", str(course_root)]
    if request.lang is not None:
        options += ["--lang", request.lang]
    if student is not None:
        options += ["--student", student]
    with contextlib.ExitStack() as stack:
        if student is not None:
            request, graded_by = stack.enter_context(graded_files(request, student))
            course_root = course_root or graded_by
        found = course(course_root)
        resolved = resolve_target(found, replace(request, options=tuple(options)))
        if resolved is None:
            sys.exit(ExitCode.NOT_FULL_MARKS)
        if way == "pdb" or stop:
            sys.exit(debug(found, resolved, stop=stop))
        sys.exit(show_script(found, resolved) if way == "show" else judge_again(found, resolved))


@contextlib.contextmanager
def graded_files(
    request: ReplayRequest, student: str
) -> Iterator[tuple[ReplayRequest, Path | None]]:
    """Return the request for a folder with what a gradebook has of a student, and its seed; and the
    folder of the course that graded it, if that is not the installed one.
    """
    from grader.classroom.gradebook.store import Gradebook

    with Gradebook.open(request.place) as book:
        entry = book.entry_of(student)
        files, graded_by = book.graded_files(entry.name), book.about("course")
    if entry.report is None or not files:
        raise UsageError("{name} has no graded file", name=entry.name)
    given = request.seed is not None or request.check_seed is not None
    with tempfile.TemporaryDirectory() as folder:
        for lesson, text in files.items():
            path = Path(folder, f"{lesson}.py")
            path.write_text(text, "utf-8", "surrogateescape", newline="")
        seed = request.seed if given else entry.report.seed
        wanted = replace(request, place=Path(folder), seed=seed)
        yield wanted, Path(graded_by) if graded_by else None


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


SHOWN = 5
"""How many checks of a lesson are listed one by one."""


def resolve_target(course: Course, request: ReplayRequest) -> ReplayRequest | None:
    """Return the request with a lesson or a check; None after listing several candidates.

    Raise UsageError if nothing is known to be wrong.
    """
    request = with_path_resolved(course, request)
    if request.target:
        return request
    learner = Learner.at(course, request.place, request.lang)
    files = read_submission(request.place, [lesson.id for lesson in course.lessons])
    here = [lesson for lesson in course.lessons if lesson.id in files]
    if not here:
        raise nothing_in(request.place, [lesson.id for lesson in course.lessons])
    wrong = wrong_last(here, learner.progress)
    if len(here) == 1 or len(wrong) == 1:
        return replace(request, target=next(iter(wrong), here[0].id))
    if not wrong:
        message = (
            "No check is known to be wrong in {folder}. Grade first: grade. Or name a lesson, such"
            " as {command}"
        )
        raise UsageError(
            message, folder=str(request.place.resolve()), command=f"grade replay {here[0].id}"
        )
    show_wrong(make_console(stderr="--show" in request.options), learner, request, wrong)
    return None


def with_path_resolved(course: Course, request: ReplayRequest) -> ReplayRequest:
    """Turn a path to a lesson's file or a folder into that lesson, at that place."""
    path = request.place / request.target
    if len(Path(request.target).parts) < 2 or not is_there(path):
        return request
    lesson = lesson_names(one.id for one in course.lessons).get(path.name, "")
    options = list(request.options)
    if "--in" in options:
        at = options.index("--in")
        del options[at : at + 2]
    return replace(request, target=lesson, place=path, options=(*options, "--in", str(path)))


def wrong_last(lessons: list[Lesson], progress: Progress) -> dict[str, Mapping[str, int]]:
    """Return, by lesson, the checks that were wrong in the last grading, with their seeds."""
    own = {
        lesson.id: {
            check: seed
            for check, seed in progress.of(lesson.id).wrong.items()
            if check.startswith(f"{lesson.id}.")
        }
        for lesson in lessons
    }
    return {lesson: wrong for lesson, wrong in own.items() if wrong}


def show_wrong(
    console: Console,
    learner: Learner,
    request: ReplayRequest,
    wrong: Mapping[str, Mapping[str, int]],
) -> None:
    """Print the checks that were wrong, each with a command for it, ready to paste."""
    tr, lines = learner.tr, Lines(console, learner.tr)
    message = "{count} lessons had something wrong when they were graded last. Take one:"
    console.print(Text(tr(message, count=len(wrong))))
    for lesson, checks in wrong.items():
        console.print("", Text(lesson, "bold"), sep="\n")
        for check, own in list(checks.items())[:SHOWN]:
            seed = (
                ["--check-seed", str(own)]
                if request.seed is None
                else ["--seed", str(request.seed)]
            )
            words = ["grade", "replay", clean(check), *seed, *request.options]
            lines.print_command(shlex.join(words))
        if (more := len(checks) - SHOWN) > 0:
            command = shlex.join(["grade", "replay", lesson, *request.options])
            rest = tr("… and {count} more: {command}", count=more, command=command)
            lines.print_command(rest)


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
    if request.check_seed is not None:
        seeds = {f"{lesson.id}.{check}": request.check_seed}
    elif request.seed is not None:
        seeds = {}
    else:  # what was wrong is asked with the inputs with which it was wrong
        progress = Learner.at(course, request.place, request.lang).progress
        seeds = dict(progress.of(lesson.id).wrong)
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


def one_wrong_check(
    client: ForkServerClient, console: Console, what: Replay, request: ReplayRequest
) -> Replay | None:
    """Return the replay of the named check, or else of the only wrong one.

    If none is wrong, the result names no check. If several are, list them and return None; if the
    file could not be loaded, show why and return None.
    """
    if what.check is not None:
        return what
    result = grade_lesson(client, what.lesson, what.file, what.settings).result
    if result.status is LessonStatus.INVALID:
        show_whole(console, result, (), seed=what.settings.seed, tr=what.tr)
        return None
    wrong = wrong_checks(result)
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


def judge_again(course: Course, request: ReplayRequest) -> ExitCode:
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
    if what.check is None and judged.result.status is LessonStatus.PASSED:
        message = what.tr("{lesson}: nothing is wrong", lesson=what.lesson.id)
        make_console().print(message, markup=False)
        return ExitCode.OK
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
        lines.print_command(shlex.join(words))


def show_script(course: Course, request: ReplayRequest) -> ExitCode:
    """Print a script that repeats a check without the engine; for a lesson, its one wrong check."""
    errors = make_console(stderr=True)
    with ForkServerClient() as client:
        what = one_wrong_check(client, errors, find_replay(course, request), request)
        if what is None:
            return ExitCode.NOT_FULL_MARKS
        path = own_file(request.place, what.file)
        settings = replace(what.settings, recorded=what.check_id)
        outcome = grade_lesson(client, what.lesson, what.file, settings) if what.check_id else None
    checks = outcome.result.checks if outcome else ()
    found = next((check for check in checks if check.id == what.check_id), None)
    if outcome is None or found is None or outcome.judged.script is None:
        message = "There is no script for {name}. Its result:"
        if found is None or found.outcome is Outcome.PASSED:
            message = "{name} is not wrong with this seed: there is nothing to reproduce"
        errors.print(Text(what.tr(message, name=what.check_id or what.lesson.id), "yellow"))
        if outcome is not None:
            shown = (found,) if found else ()
            show_whole(errors, outcome.result, shown, seed=settings.seed, tr=what.tr)
        if found is None or found.outcome is Outcome.PASSED:
            return ExitCode.OK
        return ExitCode.NOT_FULL_MARKS
    click.echo(script(outcome, found, path, what), nl=False)
    return ExitCode.NOT_FULL_MARKS


def script(outcome: LessonOutcome, check: CheckResult, path: Path, what: Replay) -> str:
    """Return the script: comments, code that loads the student's file, and the recorded steps.

    If the check can't be repeated in steps, return the reason and the check's source instead.
    """
    module = what.lesson.id
    head = [comment(f"{check.id}   {check.title}"), comment(check.message or "")]
    if isinstance(outcome.judged.script, tuple):
        file = what.file
        load = (
            loading(cells_of(file.text, file.cells), module, file.filename)
            if file.cells
            else loading_file(module, path)
        )
        return "\n".join([*head, *load, *outcome.judged.script]) + "\n"
    message = "This can't be done without the grader: {reason}. The check itself:"
    reason = what.tr(message, reason=str(outcome.judged.script))
    source = check_source(what.lesson, check_name(check))
    return "\n".join([*head, comment(reason), "", source]) + "\n"


def loading_file(module: str, path: Path) -> list[str]:
    return [
        "import importlib.util",
        "",
        "import torch",
        "",
        (
            f'spec = importlib.util.spec_from_file_location("{module}",'
            f" {json.dumps(str(path), ensure_ascii=False)})"
        ),
        f"{module} = importlib.util.module_from_spec(spec)",
        f"spec.loader.exec_module({module})",
    ]


def comment(text: str) -> str:
    return "\n".join(f"# {clean(line)}".rstrip() for line in text.splitlines() or [""])


def check_source(lesson: Lesson, name: str) -> str:
    for file in lesson.check_files:
        text = file.read_text("utf-8")
        node = Source(text, file.name).definitions.get(f"test_{name}")
        if node is not None:
            return "\n".join(text.splitlines()[first_line(node) - 1 : node.end_lineno])
    return ""


def debug(course: Course, asked: ReplayRequest, *, stop: bool) -> ExitCode:
    """Run one check in a process without sandbox, with a debugger in the student's code."""
    what = find_replay(course, asked)
    path = own_file(asked.place, what.file)
    if what.file.problem is not None:
        raise UsageError(what.file.template, **what.file.facts)
    if what.check is None:
        with ForkServerClient() as client:
            chosen = one_wrong_check(client, make_console(), what, asked)
        if chosen is None:
            return ExitCode.NOT_FULL_MARKS
        what = chosen
    if what.check is None:
        refused = (
            "No check of {lesson} is wrong with this seed. Name the one to step through: {command}"
        )
        example = f"grade replay {what.lesson.id}.<check> --break"
        raise UsageError(what.tr(refused, lesson=what.lesson.id, command=example))
    warning = what.tr("{file} is run here, with your rights: this is not a sandbox", file=path.name)
    make_console(stderr=True).print(Text(warning, "dim"))
    spec, task = what.lesson.spec(what.settings.lang), task_for(what.file, what.settings)
    request = DebugRequest(str(path), what.check, stop, spec, task)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "request.json"
        file.write_text(json.dumps(request.as_json()), "utf-8", newline="\n")
        command = [sys.executable, "-m", DEBUGGER, str(file)]
        done = subprocess.run(command, env=users_environment(), check=False)
    return ExitCode.OK if done.returncode == 0 else ExitCode.NOT_FULL_MARKS
