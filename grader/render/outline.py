"""Order a page: which lessons come first, checks by function and cause, what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, lesson_score
from grader.render.labels import QUIET
from grader.render.learner_page import LearnerExtras

NOT_TO_FIX = (*QUIET, Outcome.GRADER_ERROR)
"""Outcomes for which a student has nothing to repair."""


@dataclass(slots=True)
class ShownFailure:
    """A failed check, the earlier check with the same cause, and the checks that wait for it."""

    check: CheckResult
    same_as: CheckResult | None = None
    waiting: list[CheckResult] = field(default_factory=list)


@dataclass(slots=True)
class FunctionGroup:
    """A function's checks. ``waiting`` has those that wait for no failure of this lesson."""

    function: str
    checks: list[CheckResult] = field(default_factory=list)
    failures: list[ShownFailure] = field(default_factory=list)
    waiting: list[CheckResult] = field(default_factory=list)
    blank: list[CheckResult] = field(default_factory=list)
    right: list[CheckResult] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return len(self.right) == len(self.checks)


@dataclass(frozen=True, slots=True)
class PageSections:
    """The lessons of a page: with something to do, without a file, complete, not started."""

    begun: list[LessonResult]
    absent: list[LessonResult]
    complete: list[LessonResult]
    blank: list[LessonResult]


@dataclass(frozen=True, slots=True)
class NextStep:
    """The next thing to do: ``fix`` a check, repair a ``file``, ``add`` files, ``write`` a
    function, or ``begin`` a lesson.
    """

    kind: str
    lesson: LessonResult
    check: CheckResult | None = None


def cause(check: CheckResult) -> tuple[object, ...] | None:
    """Return a key that identifies the cause of a failure; None if the cause is unknown."""
    if check.diagnosis:
        return ("mistake", check.diagnosis)
    if check.wrong_expression:
        return ("expression", check.wrong_expression)
    if check.outcome is Outcome.ERROR and check.source_line:
        return ("exception", check.message, check.cell, check.source_line)
    return None


def needed_failure(check: CheckResult, lesson: LessonResult) -> CheckResult | None:
    """Return the failed check that a waiting one waits for, directly or through others.

    Return None for a report from before waiting checks named what they need.
    """
    by_id = {one.id: one for one in lesson.checks}
    seen = set()
    while check.outcome is Outcome.SKIPPED and check.id not in seen:
        seen.add(check.id)
        needed = by_id.get(check.needs or "")
        if needed is None:
            return None
        check = needed
    return check if check.outcome not in QUIET else None


def points_waiting(check: CheckResult, lesson: LessonResult, tr: Catalogue) -> str:
    """Return a sentence on the points of the checks that wait for a failed one; empty if there are
    none.
    """
    if check.outcome in NOT_TO_FIX:
        return ""
    skipped = [one for one in lesson.checks if one.outcome is Outcome.SKIPPED]
    needed = {one.id: needed_failure(one, lesson) for one in skipped}
    waiting = [one for one in skipped if (root := needed[one.id]) and root.id == check.id]
    _, points, _, _ = lesson_score(waiting)
    if points == 1:
        return tr("1 point waits for this check: it can come back with one fix")
    sentence = "{points} points wait for this check: they can come back with one fix"
    return tr(sentence, points=f"{points:g}") if points else ""


def by_function(lesson: LessonResult) -> list[FunctionGroup]:
    """Return a lesson's checks by function: those with failures
    first, those without problems last.
    """
    groups: dict[str, FunctionGroup] = {}
    failures: dict[str, ShownFailure] = {}
    causes: dict[tuple[object, ...], CheckResult] = {}
    for check in lesson.checks:
        if check.outcome not in QUIET:
            known = cause(check)
            failures[check.id] = ShownFailure(check, causes.get(known) if known else None)
            if known:
                causes.setdefault(known, check)
    for check in lesson.checks:
        group = groups.setdefault(check.function, FunctionGroup(check.function))
        group.checks.append(check)
        if check.id in failures:
            group.failures.append(failures[check.id])
        elif check.outcome is Outcome.SKIPPED:
            needed = needed_failure(check, lesson)
            (failures[needed.id] if needed else group).waiting.append(check)
        elif check.outcome is Outcome.NOT_STARTED:
            group.blank.append(check)
        else:
            group.right.append(check)
    return sorted(groups.values(), key=lambda one: (not one.failures, one.done))


def to_do(lesson: LessonResult) -> int:
    """Return the number of places that need attention: failed checks, or the file itself."""
    if lesson.status in (LessonStatus.MISSING, LessonStatus.INVALID):
        return 1
    return sum(check.outcome not in QUIET for check in lesson.checks)


def is_complete(lesson: LessonResult) -> bool:
    """Return whether nothing of a lesson is left to do; False if any check is held back."""
    return lesson.status is LessonStatus.PASSED and not to_do(lesson)


def sections(lessons: Sequence[LessonResult], extras: LearnerExtras) -> PageSections:
    """Return the lessons by what is left to do. A single lesson always has its own section."""
    alone = len(lessons) == 1
    absent = [one for one in lessons if one.status is LessonStatus.MISSING and not alone]
    complete = [one for one in lessons if is_complete(one)]
    blank = [
        one
        for one in lessons
        if one.status is LessonStatus.NOT_STARTED
        and not alone
        and not one.notes
        and not extras.of(one).progress.attempts
        and not any(check.output for check in one.checks)
    ]
    listed = [one.id for one in (*absent, *complete, *blank)]
    begun = [one for one in lessons if one.id not in listed]
    return PageSections(begun, absent, complete, blank)


def next_step(parts: PageSections) -> NextStep | None:
    """Return the next thing to do; None if nothing is left."""
    for lesson in parts.begun:
        if lesson.status in (LessonStatus.INVALID, LessonStatus.MISSING):
            return NextStep("file", lesson)
        wrong = (check for check in lesson.checks if check.outcome not in NOT_TO_FIX)
        if check := next(wrong, None):
            return NextStep("fix", lesson, check)
    if parts.absent:
        return NextStep("add", parts.absent[0])
    for lesson in parts.begun:
        waiting = (check for check in lesson.checks if check.outcome is Outcome.NOT_STARTED)
        if check := next(waiting, None):
            return NextStep("write", lesson, check)
    return NextStep("begin", parts.blank[0]) if parts.blank else None
