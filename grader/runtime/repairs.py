"""Search for the wrong expression behind unexplained failures, after the verdict is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.core.errors import EngineFault
from grader.core.messages import Repair
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.course.course import Course, Lesson
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_submission, options_for, spec_for, task_for

UNLOCATED = (None, "engine", "example")


def unlocated(lesson: LessonResult) -> dict[str, tuple[str, ...]]:
    """Return the ids of the failed checks that no rule of the lesson explains, by function.

    A name from the engine or from an example is not an explanation here, because it does not show
    which expression is wrong. Functions with a failure without any name come first, because the
    time for the search is limited.
    """
    found: dict[str, list[CheckResult]] = {}
    if lesson.status is LessonStatus.INVALID:
        return {}
    for check in lesson.checks:
        if check.outcome in (Outcome.FAILED, Outcome.ERROR) and check.diagnosed_by in UNLOCATED:
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
    """Search for repairs of one lesson's functions. Return none if the grader itself fails, because
    the verdict is known already.
    """
    passed = tuple(check.id for check in result.checks if check.outcome is Outcome.PASSED)
    task = replace(task_for(file, settings), unlocated=unlocated(result), passed=passed)
    try:
        return client.judge(options_for(settings), spec_for(lesson, settings), task).repairs
    except EngineFault:
        return ()


def with_repairs(lesson: LessonResult, repairs: Sequence[Repair]) -> LessonResult:
    """Return the result with the wrong expression in each failed check that is ``unlocated``."""
    places = {repair.function: repair.wrong for repair in repairs if repair.wrong is not None}

    def with_place(check: CheckResult, failed: Sequence[str]) -> CheckResult:
        if check.id not in failed or check.function not in places:
            return check
        place = places[check.function]
        return replace(check, diagnosed_by=check.diagnosed_by or "repair", wrong_expression=place)

    failing = unlocated(lesson)
    return replace(
        lesson,
        checks=tuple(with_place(check, failing.get(check.function, ())) for check in lesson.checks),
    )


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
