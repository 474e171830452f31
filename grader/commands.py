"""What the commands do, for people: grade here, make a workspace, list, hint, verify. Imports what lies below; no torch."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.padding import Padding
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from grader.course import Course, Lesson, find_course, load_course
from grader.errors import ExitCode, UsageError
from grader.grading import Settings, grade_submission
from grader.host import Host
from grader.render.terminal import make_console, show_report
from grader.stubs import stub_of
from grader.submission import read_submission
from grader.translation import engine_catalogue, load, wanted_language
from grader.verify import Verification
from grader.verify import verify as run_verification


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where to write a report; None for not at all."""

    json_file: Path | None = None
    html_file: Path | None = None


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
    """Grade lessons in a folder or zip, show the report and write it; the exit code.

    The host is started first: it imports torch while the rest is read.
    """
    language = wanted_language(lang)
    with Host() as host:
        course = load_course(find_course(course_root))
        wanted = [course.lesson(name) for name in names]
        files = read_submission(place, [lesson.id for lesson in wanted or course.lessons])
        lessons = wanted or [lesson for lesson in course.lessons if lesson.id in files]
        if not lessons:
            ids = ", ".join(f"{lesson.id}.py" for lesson in course.lessons)
            raise UsageError(f"{place.resolve()} holds no lesson. Make a folder with all of them: grade init my-work. (Looked for {ids})")
        settings = Settings(secrets.randbits(32) if seed is None else seed, sandbox, course.limits, lang=language)
        say = engine_catalogue(language)
        from grader.render.html import render_page, warm_up  # while torch is being imported

        warm_up()
        report = grade_submission(host, course, lessons, files, settings, name=place.resolve().name)
    show_report(make_console(), report, html=str(outputs.html_file) if outputs.html_file else None, say=say)
    write_file(outputs.json_file, lambda: json.dumps(report.as_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    write_file(outputs.html_file, lambda: render_page(report, say))
    if report.grader_faults:
        for check in report.grader_faults:
            print(f"\n{check.id}\n{check.note}", file=sys.stderr)
        return ExitCode.ENGINE_FAULT
    return ExitCode.OK if report.full_marks else ExitCode.NOT_FULL_MARKS


def write_file(path: Path | None, make: Callable[[], str]) -> None:
    """Write a text where a path is given, what is no Unicode in it escaped; raises UsageError where that can't be done."""
    try:
        if path is not None:
            path.write_text(make(), "utf-8", "backslashreplace")
    except OSError as error:
        raise UsageError(f"{error.filename} can't be written: {error.strerror}. Name another place with --html or --json") from None


def make_workspace(course: Course, folder: Path) -> None:
    """Copy stubs and READMEs into a new folder; what is there already is never overwritten."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not empty. Choose another name; nothing was changed")
    try:
        for lesson in course.lessons:
            target = folder / lesson.id
            target.mkdir(parents=True, exist_ok=True)
            for source in (lesson.stub, *sorted(lesson.folder.glob("README*.md"))):
                (target / source.name).write_text(source.read_text("utf-8"), "utf-8")
    except OSError as error:
        raise UsageError(f"{folder} can't be made: {error.filename}: {error.strerror}. Choose another place") from None
    console = make_console()
    console.print(Text(f"{folder} holds {len(course.lessons)} lessons. Next:"))
    console.print(Text(f"\n  cd {shlex.quote(str(folder))}\n  grade list\n  grade {course.lessons[0].id}\n"))
    console.print(Text(f"Begin with {course.lessons[0].id}/README.md"))


def show_lessons(course: Course, place: Path, lang: str | None) -> None:
    """A table of the lessons, with whether each is here."""
    language = wanted_language(lang)
    say = engine_catalogue(language)
    files = read_submission(place, [lesson.id for lesson in course.lessons])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column(say("lesson"), no_wrap=True)
    table.add_column(say("what it is about"), overflow="fold")
    table.add_column(say("builds on"), no_wrap=True)
    for lesson in course.lessons:
        own = load(language, lesson.texts(language))
        here = lesson.id in files
        about = Text.assemble((own(lesson.title), "bold"), f"\n{own(lesson.summary)}", ("" if here else f"\n{say('not here')}", "yellow"))
        table.add_row(Text(lesson.id, style="bold" if here else "dim"), about, Text("\n".join(lesson.builds_on), style="dim"))
    make_console().print(table)


def show_hint(lesson: Lesson, name: str | None, step: int, lang: str | None) -> None:
    """Print one step of the hints, for one function or for each."""
    language = wanted_language(lang)
    hints, say = lesson.hints(), load(language, lesson.texts(language))
    if name is not None and name not in hints:
        raise UsageError(f"{lesson.id} has no hint for {name!r}. There are hints for: {', '.join(hints)}")
    shown = {key: hints[key] for key in ([name] if name else hints) if len(hints[key]) >= step}
    if not shown:
        raise UsageError(f"{lesson.id} has no hints of step {step} yet")
    console = make_console()
    for key, steps in shown.items():
        console.print(Text(key, style="bold"))
        console.print(Padding(Text(say(steps[step - 1])), (0, 0, 0, 2), expand=False))
    if step < max(map(len, shown.values())):
        command = f"grade hint {lesson.id} {next(iter(shown))} --step {step + 1}"
        console.print(Text(f"\n{say('One step further')}: {command}", style="dim"))


def verify_course(
    course: Course, names: tuple[str, ...], *, seeds: int, workers: int | None, table: bool, write_stubs: bool, lang: str = "en"
) -> ExitCode:
    """Verify lessons; list all problems; the exit code."""
    lessons = [course.lesson(name) for name in names] or list(course.lessons)
    if write_stubs:
        for lesson in lessons:
            lesson.folder.mkdir(parents=True, exist_ok=True)
            lesson.stub.write_text(stub_of(lesson.solution.read_text("utf-8"), name=str(lesson.solution)), "utf-8")
    settings = Settings(seed=0, sandbox="auto", limits=course.limits, lang=wanted_language(lang))
    console = make_console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("grading what is known")
        found = run_verification(
            course, lessons, seeds=range(1, seeds + 1), settings=settings, workers=workers or os.cpu_count() or 1,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )  # fmt: skip
    if table:
        print(proof_table(found))
    for problem in found.problems:
        print(problem)
    count = len(found.problems)
    said = f"{count} problem{'' if count == 1 else 's'}" if count else "no problems"
    print(f"{len(lessons)} lessons, {found.gradings} gradings, {seeds} seed{'' if seeds == 1 else 's'}: {said}")
    return ExitCode.NOT_FULL_MARKS if found.problems else ExitCode.OK


def proof_table(found: Verification) -> str:
    """The proof in Markdown, lesson by lesson."""
    rows = [
        "| lesson | checks | mistakes caught | mistakes named | accepted alternatives |",
        "|---|---|---|---|---|",
        *(
            f"| {p.lesson} | {p.checks} | {p.caught} of {p.mistakes} | {p.named} of {p.mistakes} | {p.accepted_passed} of {p.accepted} |"
            for p in found.proofs
        ),
    ]
    return "\n".join(rows)
