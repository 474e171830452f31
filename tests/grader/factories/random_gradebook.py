"""Make a gradebook of any size at random, with everything in it that a class page has to show."""

from __future__ import annotations

import random
from collections.abc import Iterator

from factories.gradebook import make_check, make_lesson, make_report
from grader.classroom.gradebook.entry import Adjustment, CheckColumn, GradebookEntry, LessonColumn
from grader.classroom.imports.entries import StudentIdentity
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report

FAMILY_NAMES = (
    "Kim Lee Park Choi Nowak García O'Neill Müller Đặng Okafor Smith Rossi Haddad Ivanova"
    " Sato".split()
)
GIVEN_NAMES = (
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
NEVER_PASSED = "lesson_3.check_4"


def random_columns(lessons: int = len(LESSONS)) -> list[LessonColumn]:
    """Return the first lessons, each of seven checks: three are hidden, one is a bonus."""
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


def random_entries(
    count: int, seed: int = 7, lessons: int = len(LESSONS)
) -> Iterator[GradebookEntry]:
    """Yield ``count`` entries: most graded; some late, missing, unreadable, adjusted or flagged,
    stopped by a limit, or with a grader error.
    """
    rng = random.Random(seed)
    for n in range(count):
        label = f"{rng.choice(GIVEN_NAMES)} {rng.choice(FAMILY_NAMES)}"
        section = {"section": f"Group {'ABC'[n % 3]}"}
        name, students, odd = (
            f"{n:04d} {label}",
            (StudentIdentity(label, {}, section),),
            rng.random(),
        )
        if odd < 0.02:
            yield GradebookEntry(name, students, missing=True)
        elif odd < 0.03:
            yield GradebookEntry(
                name, students, problem="homework.zip is not a readable zip: File is not a zip file"
            )
        else:
            late = Adjustment(-1.5, "handed in late", "ada", "2026-11-20T09:00:00Z")
            yield GradebookEntry(
                name,
                students,
                random_report(name, rng, lessons),
                late=odd > 0.94,
                adjustments=(late,) if odd > 0.97 else (),
                history=(1.0, 2.5) if odd > 0.9 else (),
            )


def random_report(name: str, rng: random.Random, lessons: int) -> Report:
    """Return one submission's report. A random strength decides how many lessons the student
    reached and how many checks pass.
    """
    strength = min(1.0, max(0.05, rng.gauss(0.68, 0.22)))
    results = [
        _lesson(column, rng, strength, reached=n < 1 + lessons * strength * 1.3)
        for n, column in enumerate(random_columns(lessons))
    ]
    flag = "chain_rule.py:3 walks the frames of the process (inspect.stack)"
    return make_report(name, results, flags=(flag,) if rng.random() < 0.02 else (), seconds=2.0)


def _lesson(
    column: LessonColumn, rng: random.Random, strength: float, *, reached: bool
) -> LessonResult:
    if not reached:
        status = rng.choice((LessonStatus.MISSING, LessonStatus.NOT_STARTED))
        return LessonResult(column.id, column.title, status, 0.0, column.max_score)
    if rng.random() < 0.01:
        problem = f"{column.id}.py:4 is not a Python: '(' was never closed"
        return LessonResult(
            column.id, column.title, LessonStatus.INVALID, 0.0, column.max_score, message=problem
        )
    checks: list[CheckResult] = []
    for number, check in enumerate(column.checks):
        waits = number < 4 and checks and checks[0].outcome is not Outcome.PASSED
        chance = None if waits else strength * (1.1 - 0.08 * number)
        checks.append(_check(check, rng, chance))
    return make_lesson(column, checks, seconds=rng.uniform(0.1, 0.6))


def _check(check: CheckColumn, rng: random.Random, chance: float | None) -> CheckResult:
    """Return a check's result; without a chance to pass it was skipped."""
    if chance is None:
        return make_check(check, Outcome.SKIPPED)
    if rng.random() < chance and check.id != NEVER_PASSED:
        return make_check(check, Outcome.PASSED)
    odd = rng.random()
    if odd < 0.01:
        return make_check(
            check, Outcome.TIMEOUT, message="it took longer than 2 s, the limit of one check"
        )
    if odd < 0.012:
        return make_check(
            check,
            Outcome.GRADER_ERROR,
            message="this check failed on the reference too",
            note="Traceback …\nZeroDivisionError",
        )
    details = {"message": "the gradient for the incoming gradient v is wrong"}
    if odd < 0.6:
        diagnosis, title, evidence = MISTAKES[int(check.id[-1]) % 3]
        details |= {"diagnosis": diagnosis, "diagnosis_title": title, "evidence": evidence}
    return make_check(check, Outcome.FAILED, **details)
