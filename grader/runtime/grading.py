"""Grade one submission: a task for each lesson, a fork server that has it judged, a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from grader import __version__
from grader.core.engine_identity import engine_hash, torch_version
from grader.core.errors import EngineFault
from grader.core.i18n import ENGLISH, Catalogue, engine_catalogue, load
from grader.core.limits import Limits
from grader.core.protocol import FileProblem, LessonSpec, Task, WorkerOptions
from grader.core.records import Record
from grader.core.report import (
    CheckResult,
    CourseIdentity,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
    SandboxReport,
)
from grader.core.scoring import FULL_LESSON, add_up, lesson_score, lesson_status, report_score
from grader.course.course import Course, HeldBack, Lesson
from grader.course.lesson_file import LessonFile
from grader.runtime.client import ForkServerClient

NOTES = 10
"""How many things that were left out of a notebook a report names."""


@dataclass(frozen=True, slots=True)
class Settings(Record):
    """How to grade: seed, sandbox mode, limits, language.

    ``seeds`` are of single checks, by id, others are derived from ``seed``; ``recorded`` is the
    check to write as a script. ``without`` and ``prestart``: see ``WorkerOptions``.
    """

    seed: int
    sandbox: str = "auto"
    limits: Limits = field(default_factory=Limits)
    without: tuple[str, ...] = ()
    lang: str = ENGLISH
    seeds: dict[str, int] = field(default_factory=dict)
    recorded: str | None = None
    prestart: bool = False


def options_for(settings: Settings) -> WorkerOptions:
    """Return how a submission's workers are confined."""
    return WorkerOptions(settings.limits, settings.sandbox, settings.without, settings.prestart)


def spec_for(lesson: Lesson, settings: Settings) -> LessonSpec:
    """Read what judging a lesson takes, whoever the submission is from."""
    return LessonSpec(
        lesson=lesson.id,
        filename=lesson.filename,
        stub=lesson.stub.read_text("utf-8"),
        solution=None if lesson.held else lesson.solution.read_text("utf-8"),
        scenarios=lesson.scenarios.read_text("utf-8"),
        visible_checks=tuple(str(path) for path in lesson.visible_checks),
        hidden_checks=tuple(str(path) for path in lesson.hidden_checks),
        diagnosis=str(lesson.diagnosis) if lesson.diagnosis else None,
        hints=lesson.hints(),
        lang=settings.lang,
        texts=tuple(str(path) for path in lesson.texts(settings.lang)),
    )


def task_for(file: LessonFile, settings: Settings) -> Task:
    problem = (
        engine_catalogue(settings.lang)(file.template, **file.facts)
        if file.template
        else file.problem
    )
    return Task(
        source=file.text,
        filename=file.filename,
        seed=settings.seed,
        limits=settings.limits,
        cells=file.cells,
        problem=FileProblem(problem, file.line) if problem else None,
        seeds=settings.seeds,
        recorded=settings.recorded,
    )


@dataclass(frozen=True, slots=True)
class LessonOutcome:
    """One lesson's result, sandbox guarantees, flags, mistakes and what they are about."""

    result: LessonResult
    guarantees: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    untranslated: tuple[str, ...] = ()
    catalogue: dict[str, tuple[str, ...]] = field(default_factory=dict)
    script: tuple[str, ...] | str | None = None
    """Of the check that was recorded: the lines that do the same without us, or why there are none.
    """


def grade_lesson(
    client: ForkServerClient, lesson: Lesson, file: LessonFile | None, settings: Settings
) -> LessonOutcome:
    """Grade one lesson. A fault of ours becomes ``grader_error``, never a student's zero."""
    tr = load(settings.lang, lesson.texts(settings.lang))
    if file is None:
        message = tr("there is no {file}", file=lesson.filename)
        return LessonOutcome(
            LessonResult(
                lesson.id, tr(lesson.title), LessonStatus.MISSING, 0.0, FULL_LESSON, message=message
            )
        )
    began = time.monotonic()
    try:
        judged = client.judge(
            options_for(settings), spec_for(lesson, settings), task_for(file, settings)
        )
    except EngineFault as fault:
        return LessonOutcome(faulty(lesson, file, str(fault)))
    score, max_score, bonus, max_bonus = lesson_score(judged.checks)
    held = lesson.held or HeldBack()
    result = LessonResult(
        id=lesson.id,
        title=tr(lesson.title),
        status=LessonStatus.INVALID
        if judged.invalid
        else lesson_status(judged.checks, held_checks=held.checks),
        score=score,
        max_score=add_up([max_score, held.points]),
        bonus=bonus,
        max_bonus=max_bonus,
        file=file.path,
        message=judged.invalid.message if judged.invalid else None,
        seconds=round(time.monotonic() - began, 4),
        checks=judged.checks,
        held_checks=held.checks,
        held_points=held.points,
        notes=tuple(notes_on(file, tr)),
    )
    return LessonOutcome(
        result,
        guarantees=judged.guarantees,
        missing=judged.missing,
        flags=judged.flags,
        untranslated=judged.untranslated,
        catalogue=judged.catalogue,
        script=judged.script,
    )


def notes_on(file: LessonFile, tr: Catalogue) -> Iterator[str]:
    for one in file.left_out[:NOTES]:
        where = {"cell": one.cell, "line": one.line, "what": tr(one.what)}
        if one.cell is None:
            yield tr("line {line}: {what}, left out", **where)
        elif one.line is None:
            yield tr("cell {cell}: {what}, left out", **where)
        else:
            yield tr("cell {cell}, line {line}: {what}, left out", **where)
    if len(file.left_out) > NOTES:
        yield tr("and {count} more were left out", count=len(file.left_out) - NOTES)


def faulty(lesson: Lesson, file: LessonFile, note: str) -> LessonResult:
    """A lesson that could not be judged, by our own fault."""
    check = CheckResult(
        id=f"{lesson.id}.grader",
        title="the grader could not judge this lesson",
        function=lesson.id,
        outcome=Outcome.GRADER_ERROR,
        points=0.0,
        max_points=FULL_LESSON,
        message=note.strip().splitlines()[-1] if note.strip() else "",
        note=note,
    )
    return LessonResult(
        lesson.id,
        lesson.title,
        LessonStatus.FAILED,
        0.0,
        FULL_LESSON,
        file=file.path,
        checks=(check,),
    )


def grade_submission(
    client: ForkServerClient,
    course: Course,
    lessons: Iterable[Lesson],
    files: dict[str, LessonFile],
    settings: Settings,
    *,
    name: str,
    progress: Callable[[LessonResult], None] = lambda _: None,
) -> Report:
    """Grade the lessons of one submission, in order; ``progress`` is called as each is done."""
    began = time.monotonic()
    judged = []
    for lesson in lessons:
        judged.append(grade_lesson(client, lesson, files.get(lesson.id), settings))
        progress(judged[-1].result)
    results = tuple(one.result for one in judged)
    score, max_score, bonus = report_score(results)
    ran = [one for one in judged if one.guarantees]
    held = tuple(
        name
        for name in (ran[0].guarantees if ran else ())
        if all(name in one.guarantees for one in ran)
    )
    missing = tuple(dict.fromkeys(name for one in ran for name in one.missing))
    return Report(
        submission=name,
        score=score,
        max_score=max_score,
        bonus=bonus,
        seed=settings.seed,
        course=CourseIdentity(course.id, course.version, course.hash),
        grader_version=__version__,
        sandbox=SandboxReport(settings.sandbox, held, missing),
        engine_hash=engine_hash(),
        torch_version=torch_version(),
        lang=settings.lang,
        flags=tuple(flag for one in judged for flag in one.flags),
        lessons=results,
        seconds=round(time.monotonic() - began, 4),
    )
