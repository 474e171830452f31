"""Grade one submission: send each lesson to a fork server as a task, and make a report.

Once the verdict is known, ``repaired`` searches for the wrong expression behind unexplained
failures.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader import __version__
from grader.core.errors import EngineFault, HostFault, HostOutOfMemory
from grader.core.files import engine_hash, torch_version
from grader.core.i18n import Catalogue, engine_catalogue, load_catalogue
from grader.core.messages import FileProblem, JudgeResult, Repair, Settings, Task
from grader.core.report import (
    CheckResult,
    CourseIdentity,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
    SandboxReport,
    add_up,
)
from grader.core.scoring import FULL_LESSON, lesson_score, lesson_status, report_score
from grader.course.course import Course, HeldBack, Lesson
from grader.course.source import MAX_LINE, Source
from grader.course.submission import LessonFile
from grader.course.syntax_errors import line_of_error, sentence
from grader.runtime.client import ForkServerClient
from grader.runtime.pool import HostPool, map_unordered

MAX_NOTES = 10
"""How many notes about omitted parts of a notebook a report lists."""


def task_for(file: LessonFile, settings: Settings) -> Task:
    return Task(file.text, file.filename, settings, file.cells, file_problem(file, settings))


def file_problem(file: LessonFile, settings: Settings) -> FileProblem | None:
    if not file.template:
        return None
    return FileProblem(engine_catalogue(settings.lang)(file.template, **file.facts), file.line)


NOT_JUDGED = JudgeResult(())


@dataclass(frozen=True, slots=True)
class LessonOutcome:
    """One lesson's result, and what the judge returned."""

    result: LessonResult
    judged: JudgeResult = NOT_JUDGED


def grade_lesson(
    client: ForkServerClient, lesson: Lesson, file: LessonFile | None, settings: Settings
) -> LessonOutcome:
    """Grade one lesson; raise CourseError if a file of it can't be used. A grader fault becomes a
    ``grader_error``, never a score of zero.
    """
    tr = load_catalogue(settings.lang, lesson.texts(settings.lang))
    if file is None or file.ignored:
        return not_handed_in(lesson, file, tr)
    began = time.monotonic()
    try:
        judged = judge(client, lesson, file, settings)
    except HostFault as fault:
        return LessonOutcome(faulty(lesson, file, tr(fault.template, **fault.facts), note=None))
    except EngineFault as fault:
        text = str(fault).strip()
        return LessonOutcome(faulty(lesson, file, text.rpartition("\n")[2], note=text))
    score, max_score, bonus, max_bonus = lesson_score(judged.checks)
    held = lesson.held or HeldBack(0, 0.0)
    status = lesson_status(judged.checks, held_checks=held.checks)
    result = LessonResult(
        id=lesson.id,
        title=tr(lesson.title),
        status=LessonStatus.INVALID if judged.invalid else status,
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
        defines_instead=judged.defines_instead,
        passed_over=file.others,
        beside=file.beside,
    )
    if file.others and not file.problem:
        flag = f"{lesson.id}: {GRADED_NOT.format(path=file.path, others=', '.join(file.others))}"
        judged = replace(judged, flags=(*judged.flags, flag))
    return LessonOutcome(result, judged)


def judge(
    client: ForkServerClient, lesson: Lesson, file: LessonFile, settings: Settings
) -> JudgeResult:
    """Have a lesson judged; if memory runs out, again, by a fork server with no other lesson."""
    task = task_for(file, settings)
    try:
        return client.judge(lesson, task)
    except HostOutOfMemory:
        return client.judge(lesson, task)


def without_judge(
    course: Course,
    lessons: Sequence[Lesson],
    files: dict[str, LessonFile],
    settings: Settings,
    *,
    name: str,
) -> Report | None:
    """Return the report if nothing has to run, because no file can be loaded; else None.

    A lesson has one check in it, which is about the file: its own are known to the judge only.
    """
    began, outcomes = time.monotonic(), []
    for lesson in lessons:
        tr = load_catalogue(settings.lang, lesson.texts(settings.lang))
        file = files.get(lesson.id)
        if file is None or file.ignored:
            outcomes.append(not_handed_in(lesson, file, tr))
        elif (problem := file_problem(file, settings)) or (problem := syntax_problem(file, tr)):
            outcomes.append(LessonOutcome(unloadable(lesson, file, problem, tr)))
        else:
            return None
    return report_on(outcomes, course, settings, name=name, began=began)


def syntax_problem(file: LessonFile, tr: Catalogue) -> FileProblem | None:
    source = Source(file.text, file.filename, file.cells)
    error = source.syntax_error
    if error is None:
        return None
    kind, line = type(error).__name__, line_of_error(source, type(error).__name__, error.lineno)
    return FileProblem(sentence(kind, str(error.msg), source.line(line), tr), line)


def unloadable(
    lesson: Lesson, file: LessonFile, problem: FileProblem, tr: Catalogue
) -> LessonResult:
    """Return the result of a lesson whose file can't be loaded."""
    source = Source(file.text, file.filename, file.cells)
    cell, line = source.in_cell(problem.line) if problem.line else (None, None)
    column = source.error_column
    check = CheckResult(
        id=f"{lesson.id}.file",
        title=tr("the file can be loaded"),
        function=lesson.id,
        outcome=Outcome.ERROR,
        points=0.0,
        max_points=FULL_LESSON,
        message=problem.message,
        source_line=line,
        cell=cell,
        source_text=source.shown(problem.line),
        source_column=column[1] if column and column[1] <= MAX_LINE else None,
    )
    return LessonResult(
        id=lesson.id,
        title=tr(lesson.title),
        status=LessonStatus.INVALID,
        score=0.0,
        max_score=FULL_LESSON,
        file=file.path,
        message=problem.message,
        checks=(check,),
        notes=tuple(notes_on(file, tr)),
    )


def not_handed_in(lesson: Lesson, file: LessonFile | None, tr: Catalogue) -> LessonOutcome:
    """Return the outcome of a lesson that was not handed in, or only under another name."""
    message = tr("there is no {file}", file=lesson.filename)
    title, status = tr(lesson.title), LessonStatus.MISSING
    result = LessonResult(lesson.id, title, status, 0.0, FULL_LESSON, message=message)
    if file is None:
        return LessonOutcome(result)
    result = replace(
        result,
        file=file.path or None,
        message=tr(file.template, **file.facts),
        passed_over=file.others,
        beside=file.beside,
    )
    flags = (f"{lesson.id}: {file.problem}",)
    return LessonOutcome(result, JudgeResult((), flags=flags))


GRADED_NOT = "{path} was graded, not {others}"


def notes_on(file: LessonFile, tr: Catalogue) -> Iterator[str]:
    """Yield notes: files that were not graded, the file's other name, what was left out."""
    if file.others and not file.problem:
        others = ", ".join(file.others)
        yield tr(GRADED_NOT, path=file.path, others=others)
    if file.meant:
        yield tr("{path} was graded as {name}", path=file.path, name=file.meant)
    for one in file.left_out[:MAX_NOTES]:
        template = "cell {cell}, line {line}: {what}, left out"
        if one.cell is None:
            template = "line {line}: {what}, left out"
        elif one.line is None:
            template = "cell {cell}: {what}, left out"
        yield tr(template, cell=one.cell, line=one.line, what=tr(one.what))
    if len(file.left_out) > MAX_NOTES:
        yield tr("and {count} more were left out", count=len(file.left_out) - MAX_NOTES)


def faulty(lesson: Lesson, file: LessonFile, message: str, *, note: str | None) -> LessonResult:
    """Return the result of a lesson that a grader fault kept from being judged."""
    check = CheckResult(
        id=f"{lesson.id}.grader",
        title="the grader could not judge this lesson",
        function=lesson.id,
        outcome=Outcome.GRADER_ERROR,
        points=0.0,
        max_points=FULL_LESSON,
        message=message,
        note=note,
    )
    status = LessonStatus.FAILED
    return LessonResult(
        lesson.id, lesson.title, status, 0.0, FULL_LESSON, file=file.path, checks=(check,)
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
    """Grade the lessons of one submission, in order; call ``progress`` with each result."""
    began = time.monotonic()
    outcomes = []
    for lesson in lessons:
        outcomes.append(grade_lesson(client, lesson, files.get(lesson.id), settings))
        progress(outcomes[-1].result)
    return report_on(outcomes, course, settings, name=name, began=began)


def grade_side_by_side(
    hosts: HostPool[ForkServerClient],
    course: Course,
    lessons: Sequence[Lesson],
    files: dict[str, LessonFile],
    settings: Settings,
    *,
    name: str,
) -> Report:
    """Grade the lessons of one submission with several fork servers at once."""

    def work(client: ForkServerClient, lesson: Lesson) -> tuple[str, LessonOutcome]:
        return lesson.id, grade_lesson(client, lesson, files.get(lesson.id), settings)

    began = time.monotonic()
    outcomes = dict(map_unordered(hosts, lessons, work))
    in_order = [outcomes[lesson.id] for lesson in lessons]
    return report_on(in_order, course, settings, name=name, began=began)


def report_on(
    outcomes: Sequence[LessonOutcome],
    course: Course,
    settings: Settings,
    *,
    name: str,
    began: float,
) -> Report:
    """Add up a submission's lessons; ``began`` is when grading began, by ``time.monotonic``."""
    results = tuple(outcome.result for outcome in outcomes)
    score, max_score, bonus = report_score(results)
    ran = [outcome.judged for outcome in outcomes if outcome.judged.guarantees]
    first = ran[0].guarantees if ran else ()
    held = tuple(name for name in first if all(name in judged.guarantees for judged in ran))
    missing = tuple(dict.fromkeys(name for judged in ran for name in judged.missing))
    in_force = [judged.limits for judged in ran if judged.limits is not None]
    lowered = in_force[-1].lower_than(settings.limits) if in_force else {}
    return Report(
        submission=name,
        score=score,
        max_score=max_score,
        bonus=bonus,
        seed=settings.seed,
        course=CourseIdentity(course.id, course.version, course.hash),
        grader_version=__version__,
        sandbox=SandboxReport(settings.sandbox, held, missing, lowered),
        engine_hash=engine_hash(),
        torch_version=torch_version(),
        lang=settings.lang,
        flags=tuple(flag for outcome in outcomes for flag in outcome.judged.flags),
        lessons=results,
        seconds=round(time.monotonic() - began, 4),
    )


UNLOCATED = (None, "engine", "example")
NOT_IN_A_BODY = frozenset(
    f"common_{name}"
    for name in (
        "ctx_not_first",
        "ctx_beside_setup_context",
        "parameters_in_another_order",
        "outside_of_class",
        "self_in_static_method",
        "other_parameters",
        "missing_import",
        "defined_below",
    )
)
"""The engine's mistakes outside of a function's body, which may be right: in its header, or in what
the file imports or defines above it.
"""


def unlocated(lesson: LessonResult) -> dict[str, tuple[str, ...]]:
    """Return the ids of the failed checks that no rule of the lesson explains, by function.

    A name from the engine or from an example is not an explanation here, because it does not show
    which expression is wrong; but none is if the mistake is outside of the body. Functions with a
    failure without any name come first, because the time for the search is limited.
    """
    found: dict[str, list[CheckResult]] = {}
    if lesson.status is LessonStatus.INVALID:
        return {}
    explained = {one.function for one in lesson.checks if one.diagnosis in NOT_IN_A_BODY}
    for check in lesson.checks:
        wrong = check.outcome in (Outcome.FAILED, Outcome.ERROR)
        if wrong and check.diagnosed_by in UNLOCATED and check.function not in explained:
            found.setdefault(check.function, []).append(check)
    named_last = sorted(found, key=lambda name: all(one.diagnosed_by for one in found[name]))
    return {name: tuple(one.id for one in found[name]) for name in named_last}


def find_repairs(
    client: ForkServerClient,
    lesson: Lesson,
    file: LessonFile,
    settings: Settings,
    result: LessonResult,
) -> tuple[Repair, ...]:
    """Search for repairs of a lesson; none if the grader fails, because the verdict is known."""
    passed = tuple(check.id for check in result.checks if check.outcome is Outcome.PASSED)
    task = replace(task_for(file, settings), unlocated=unlocated(result), passed=passed)
    try:
        return client.judge(lesson, task).repairs
    except EngineFault:
        return ()


def with_repairs(lesson: LessonResult, repairs: Sequence[Repair]) -> LessonResult:
    """Return the result with the wrong expression in each failed check that is ``unlocated``."""
    places = {repair.function: repair.wrong for repair in repairs}
    failing, checks = unlocated(lesson), []
    for check in lesson.checks:
        place = places.get(check.function)
        if place is not None and check.id in failing.get(check.function, ()):
            way = check.diagnosed_by or "repair"
            check = replace(check, diagnosed_by=way, wrong_expression=place)
        checks.append(check)
    return replace(lesson, checks=tuple(checks))


def repaired(
    client: ForkServerClient,
    report: Report,
    lessons: Sequence[Lesson],
    files: dict[str, LessonFile],
    settings: Settings,
) -> tuple[Report, dict[str, tuple[Repair, ...]]]:
    """Return a report with the wrong expressions that were found, and the repairs by lesson.
    Lessons that could not be loaded or that passed are skipped.
    """
    found: dict[str, tuple[Repair, ...]] = {}
    by_id = {lesson.id: lesson for lesson in lessons}
    results = []
    for result in report.lessons:
        file = files.get(result.id)
        if unlocated(result) and file is not None and not file.problem and result.id in by_id:
            found[result.id] = find_repairs(client, by_id[result.id], file, settings, result)
            result = with_repairs(result, found[result.id])
        results.append(result)
    return replace(report, lessons=tuple(results)), found


def grade_and_repair(
    client: ForkServerClient,
    course: Course,
    lessons: Sequence[Lesson],
    files: dict[str, LessonFile],
    settings: Settings,
    *,
    name: str,
) -> Report:
    """Grade one submission. With ``settings.repair``, also search for its wrong expressions."""
    report = grade_submission(client, course, lessons, files, settings, name=name)
    if settings.repair:
        report, _ = repaired(client, report, lessons, files, settings)
    return report
