"""A made-up class of any size: entries as a gradebook would give them, with everything in them that
a page has to show.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from grader.classroom.gradebook.records import Adjustment, CheckColumn, GradebookEntry, LessonColumn
from grader.classroom.imports.records import StudentIdentity
from grader.core.report import (
    CheckResult,
    CourseIdentity,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
    SandboxReport,
)
from grader.core.scoring import lesson_score, lesson_status, report_score

FAMILY = "Kim Lee Park Choi Nowak García O'Neill Müller Đặng Okafor Smith Rossi Haddad Ivanova Sato".split()
GIVEN = (
    "Minjun Seo-yeon Ada Alan Grace Emmy Sofia Noah Yuna Omar Chidi Lucía Jan Mei Kofi Ilse"
    " 민준 서연".split()
)
LESSONS = (
    "The slope through two points",
    "The chain rule",
    "A sigmoid of one's own",
    "Hooks",
    "Freezing parts of a graph",
    "Second derivatives",
    "gradcheck",
    "Straight-through estimators",
)
MISTAKES = (
    (
        "ignores_grad_output",
        "grad_output is not used",
        "For v = [0.67, -1.86, 1.34] your backward returned [0.21, 0.24, 0.13].",
    ),
    (
        "accumulates",
        "gradients are added to those of the call before",
        "The second call returned [2.0, 4.0], twice the first.",
    ),
    (
        "detached",
        "the graph is cut by detach",
        "The result has requires_grad = False, although x has requires_grad = True.",
    ),
)


def columns(lessons: int = len(LESSONS)) -> list[LessonColumn]:
    """The first lessons, each of seven checks, one of them a bonus and three hidden."""
    return [
        LessonColumn(f"lesson_{n}", title, 10.0, 1.0, _checks(n, title))
        for n, title in enumerate(LESSONS[:lessons])
    ]


def _checks(lesson: int, title: str) -> tuple[CheckColumn, ...]:
    return tuple(
        CheckColumn(f"lesson_{lesson}.check_{c}", f"check {c} of {title.lower()}", *_points(c))
        for c in range(7)
    )


def _points(check: int) -> tuple[float, bool, bool]:
    return (1.0, True, True) if check == 6 else (2.0 if check < 4 else 1.0, False, check % 2 == 1)


def entries(count: int, seed: int = 7, lessons: int = len(LESSONS)) -> Iterator[GradebookEntry]:
    """A class of ``count``: most judged, some late, missing, unreadable, adjusted, stopped by a
    limit, flagged, judged badly by us.
    """
    rng = random.Random(seed)
    for n in range(count):
        label = f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"
        name, students, odd = f"{n:04d} {label}", (StudentIdentity(label),), rng.random()
        if odd < 0.02:
            yield GradebookEntry(name, students, missing=True)
        elif odd < 0.03:
            yield GradebookEntry(
                name, students, problem="homework.zip is no readable zip: File is not a zip file"
            )
        else:
            changes = (
                (Adjustment(-1.5, "handed in late", "ada", "2026-11-20T09:00:00Z"),)
                if odd > 0.97
                else ()
            )
            yield GradebookEntry(
                name, students, report(name, rng, lessons), late=odd > 0.94, adjustments=changes
            )


def report(name: str, rng: random.Random, lessons: int) -> Report:
    """One submission's report: how strong the student is decides how far they came and what is
    right.
    """
    strength = min(1.0, max(0.05, rng.gauss(0.68, 0.22)))
    results = tuple(
        lesson(column, rng, strength, reached=n < 1 + lessons * strength * 1.3)
        for n, column in enumerate(columns(lessons))
    )
    score, max_score, bonus = report_score(results)
    identity = CourseIdentity("autograd", "1.0", "0123456789abcdef")
    flags = (
        ("chain_rule.py:3 walks the frames of the process (inspect.stack)",)
        if rng.random() < 0.02
        else ()
    )
    return Report(
        name,
        score,
        max_score,
        bonus,
        7,
        identity,
        "0.1.0",
        SandboxReport("require", ("network", "files")),
        flags=flags,
        lessons=results,
        seconds=2.0,
    )


def lesson(
    column: LessonColumn, rng: random.Random, strength: float, *, reached: bool
) -> LessonResult:
    """One lesson's result."""
    if not reached:
        status = rng.choice((LessonStatus.MISSING, LessonStatus.NOT_STARTED))
        return LessonResult(column.id, column.title, status, 0.0, column.max_score)
    if rng.random() < 0.01:
        problem = f"{column.id}.py:4 is no Python: '(' was never closed"
        return LessonResult(
            column.id, column.title, LessonStatus.INVALID, 0.0, column.max_score, message=problem
        )
    checks: list[CheckResult] = []
    for number, check in enumerate(column.checks):
        waits = bool(checks) and checks[0].outcome is not Outcome.PASSED
        checks.append(
            judged(
                column,
                check,
                rng,
                waits=waits and number < 4,
                chance=strength * (1.1 - 0.08 * number),
            )
        )
    score, max_score, bonus, max_bonus = lesson_score(checks)
    status = lesson_status(checks)
    return LessonResult(
        column.id,
        column.title,
        status,
        score,
        max_score,
        bonus,
        max_bonus,
        seconds=rng.uniform(0.1, 0.6),
        checks=tuple(checks),
    )


def judged(
    lesson: LessonColumn, check: CheckColumn, rng: random.Random, *, waits: bool, chance: float
) -> CheckResult:
    """One check's result; the fifth check of the fourth lesson nobody passes."""
    hopeless = check.id == "lesson_3.check_4"
    outcome = (
        Outcome.SKIPPED
        if waits
        else Outcome.PASSED
        if rng.random() < chance and not hopeless
        else Outcome.FAILED
    )
    points = check.max_points if outcome is Outcome.PASSED else 0.0
    diagnosis = title = evidence = message = note = None
    if outcome is Outcome.FAILED:
        odd, message = rng.random(), "the gradient for the incoming gradient v is wrong"
        if odd < 0.01:
            outcome, message = Outcome.TIMEOUT, "it took longer than 2 s, the limit of one check"
        elif odd < 0.012:
            outcome, message, note = (
                Outcome.GRADER_ERROR,
                "this check failed on the reference too",
                "Traceback …\nZeroDivisionError",
            )
        elif odd < 0.6:
            diagnosis, title, evidence = MISTAKES[int(check.id[-1]) % 3]
    return CheckResult(
        check.id,
        check.title,
        "f",
        outcome,
        points,
        check.max_points,
        check.bonus,
        check.hidden,
        message=message,
        diagnosis=diagnosis,
        diagnosis_title=title,
        evidence=evidence,
        note=note,
    )
