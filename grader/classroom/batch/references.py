"""Grade each lesson's reference before the first submission: a broken course stops the run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grader.classroom.batch.records import BatchPlan, Graded
from grader.classroom.batch.regrade import lesson_of
from grader.core.errors import CourseError, EngineFault
from grader.core.report import CheckResult, LessonResult, Outcome
from grader.course.course import Lesson
from grader.course.stubs import without_markers
from grader.course.submission import LessonFile
from grader.runtime.pool import Closeable, HostPool, map_unordered

NOT_PASSED = (
    "{where}: the course's own solution of {lesson} does not pass {check}: {reason}. Nothing was"
    " graded. Mend the course; grade verify {lesson} says what is wrong"
)


def prove_references(
    hosts: HostPool[Any], grading: Callable[..., Graded], plan: BatchPlan, seed: int
) -> bool:
    """Grade the reference of each lesson of a plan from a run's seed.

    Raise CourseError if one of them does not pass every check. Return False if the run was stopped
    meanwhile. In a students' bundle there is no reference.
    """
    asked = {lesson_of(plan.check)} if plan.check else {*plan.ids}
    lessons = [one for one in plan.lessons if one.id in asked and not one.held]

    def work(host: Closeable, lesson: Lesson) -> None:
        refuse_if_broken(lesson, lambda: graded_reference(host, grading, plan, lesson, seed))

    proven = sum(1 for _ in map_unordered(hosts, lessons, work))
    return proven == len(lessons) and not hosts.stopping.is_set()


def graded_reference(
    host: Closeable, grading: Callable[..., Graded], plan: BatchPlan, lesson: Lesson, seed: int
) -> LessonResult:
    """Return the result of a lesson's reference; after a failure, of a second try in a new server,
    because the host may have been busy.
    """
    text = without_markers(lesson.solution.read_text("utf-8"))
    files = {lesson.id: LessonFile(lesson.id, lesson.filename, text)}
    settings = replace(plan.settings, seed=seed, repair=False)

    def once() -> LessonResult:
        graded = grading(host, plan.course, [lesson], files, settings, name=lesson.id, page=None)
        (result,) = graded.report.lessons
        return result

    result = once()
    if all(check.outcome is Outcome.PASSED for check in result.checks):
        return result
    host.close()
    return once()


def refuse_if_broken(lesson: Lesson, grade: Callable[[], LessonResult]) -> None:
    """Raise CourseError if a lesson's reference does not pass a check.

    A fault of the engine or of the host proves nothing about the course, and does not stop the run.
    """
    try:
        result = grade()
    except EngineFault:
        return
    for check in result.checks:
        if check.outcome is Outcome.PASSED or is_engine_fault(check, lesson):
            continue
        file, line = place_of(check, lesson)
        raise CourseError(
            NOT_PASSED,
            where=f"{file}:{line}",
            lesson=lesson.id,
            check=check.id,
            reason=(check.message or check.outcome.value).strip().splitlines()[0].rstrip("."),
        )


def is_engine_fault(check: CheckResult, lesson: Lesson) -> bool:
    """Return whether a check has no verdict although none of the course's files raised."""
    if check.outcome is not Outcome.GRADER_ERROR:
        return False
    return not raised_in(check, lesson)


def raised_in(check: CheckResult, lesson: Lesson) -> list[tuple[str, str]]:
    """Return the files and lines of the course in a check's traceback, outermost first."""
    frames = re.findall(r'File "([^"\n]{1,4096})", line (\d{1,9})', check.note or "")
    return [(file, line) for file, line in frames if file.startswith(str(lesson.checks))]


def place_of(check: CheckResult, lesson: Lesson) -> tuple[str, str]:
    """Return the file and line at which a check raised, or else at which it is defined."""
    raised = raised_in(check, lesson)
    if raised:
        return raised[-1]
    name = check.id.removeprefix(f"{lesson.id}.").partition("[")[0]
    definition = re.compile(rf"def test_{re.escape(name)}\b")
    for path in (*lesson.visible_checks, *lesson.hidden_checks):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if definition.match(line):
                return str(path), str(number)
    return str(lesson.checks), "1"
