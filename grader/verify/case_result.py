"""Reduce a grading of a case with a known verdict to a small ``CaseResult``; and make *spoilers*.

The result itself, with its checks, evidence and figures, is dropped, because 20 seeds make tens of
thousands of gradings.

A spoiler is a wrong answer that writes into its arguments. A check has to compute its expected
value before the student's code runs, or from tensors that this code can't reach. Otherwise it calls
a wrong result right that was computed from what the answer then writes into its arguments.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.files import line_with
from grader.core.report import CheckResult, Outcome, Record
from grader.core.scoring import FULL_LESSON
from grader.core.templates import render_text
from grader.core.text import counted, text
from grader.course.course import Lesson
from grader.course.stubs import without_markers
from grader.runtime.grading import LessonOutcome

LEAST_CHECKS = 2
LONGEST = 200
"""How many characters of a failure's values a problem shows."""
WANTED = {"solution": Outcome.PASSED, "accepted": Outcome.PASSED, "stub": Outcome.NOT_STARTED}
"""The outcome that every check must have, by the kind of case."""
ENGINE = "common_"
"""The prefix in the names of mistakes that the engine recognizes in any lesson."""
SPOILER = "spoiler"
WRITTEN = ", written"
VALUES = (("nan", 0), ("zeros", 0))
"""What the arguments seem to hold, and the order of the first derivative that is computed from
that; ``templates/verify/spoiler.py.j2`` makes such an answer from a solution.
"""
DERIVATIVES = (("nan", 1), ("nan", 2), ("zeros", 1), ("zeros", 2), ("later", 0))
"""The same, for lessons in which derivatives can be wrong although the values are right."""
FRAME = re.compile(r'^ +File "(.+)", line (\d+)', re.MULTILINE)
LEFT = re.compile(r"\{([a-z_]\w*)\}")
"""A placeholder that was not filled."""
INDENTED = re.compile(r"^ .*\n", re.MULTILINE)
"""The lines of a traceback: a frame's first one, and those between its head and the exception."""
DIFFERENTIATES = re.compile(r"\bFunction\)|\bcreate_graph\b")


@dataclass(frozen=True, slots=True)
class Case:
    """A file with a known verdict."""

    lesson: Lesson
    kind: str
    """``solution``, ``stub``, ``accepted``, ``mistake``, ``near miss`` or ``spoiler``."""
    name: str
    source: str

    def __str__(self) -> str:
        if self.name:
            return f"{self.lesson.id}: {self.kind} {self.name}"
        return f"{self.lesson.id}: {self.kind}"


@dataclass(frozen=True, slots=True)
class CaseResult(Record):
    """The outcome of a grading.

    ``about`` has the lesson's mistakes and what each is about. ``trouble`` lists problems; ``lost``
    and ``named`` say whether a mistake cost marks and got its name. ``outcomes`` and ``points`` are
    those of each check. ``broken`` says which file of the course kept the case from being graded.
    """

    trouble: tuple[str, ...] = ()
    untranslated: tuple[str, ...] = ()
    lost: bool = False
    named: bool = False
    checks: int = 0
    about: tuple[tuple[str, tuple[str, ...]], ...] = ()
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    points: tuple[tuple[str, float], ...] = ()
    broken: str = ""

    @property
    def good(self) -> bool:
        """Whether it was graded and is as expected."""
        return not self.trouble and not self.broken

    @property
    def passed(self) -> tuple[str, ...]:
        """The checks that passed."""
        return tuple(name for name, outcome in self.outcomes if outcome is Outcome.PASSED)

    @property
    def failed(self) -> tuple[str, ...]:
        """The checks that did not pass, without skipped ones."""
        fine = (Outcome.PASSED, Outcome.SKIPPED)
        return tuple(name for name, outcome in self.outcomes if outcome not in fine)


Found = Mapping[Case, Mapping[int, CaseResult]]
"""The result of each case from each seed."""


def finding_of(case: Case, outcome: LessonOutcome) -> CaseResult:
    """Compare a verdict with the expected one of its case."""
    checks = outcome.result.checks
    trouble = [
        *case_problems(case, outcome),
        *(points_problems(case.lesson, checks) if case.kind == "solution" else ()),
    ]
    return CaseResult(
        trouble=tuple(trouble),
        untranslated=outcome.judged.untranslated,
        lost=bool(lost(case, outcome)),
        named=is_named(case, outcome),
        checks=len(checks),
        about=tuple(outcome.judged.catalogue.items()),
        outcomes=tuple((check_name(one), one.outcome) for one in checks),
        points=tuple((check_name(one), one.max_points) for one in checks),
    )


def check_name(check: CheckResult) -> str:
    return check.id.rpartition(".")[2]


def mistake_id(name: str) -> str:
    return name.split(" ")[0]


def lost(case: Case, outcome: LessonOutcome) -> list[CheckResult]:
    """Return the failed checks that count: a bonus check only if the mistake is about it, as the
    engine's mistakes are about everything.
    """
    about = outcome.judged.catalogue.get(mistake_id(case.name), ())
    return [
        check
        for check in outcome.result.checks
        if check.outcome is not Outcome.PASSED
        and (not check.bonus or not about or check.function in about)
    ]


def is_named(case: Case, outcome: LessonOutcome) -> bool:
    """Return whether a mistake's first diagnosis is right; True for other kinds.

    A diagnosis by the engine counts only if the case is named after a mistake that the engine
    recognizes.
    """
    by_engine = mistake_id(case.name).startswith(ENGINE)
    named = [
        check.diagnosis
        for check in outcome.result.checks
        if check.diagnosis and (by_engine or check.diagnosed_by != "engine")
    ]
    return case.kind != "mistake" or (bool(named) and named[0] == mistake_id(case.name))


def case_problems(case: Case, outcome: LessonOutcome) -> Iterator[str]:
    checks = outcome.result.checks
    faulty = [check for check in checks if check.outcome is Outcome.GRADER_ERROR or check.note]
    for check in faulty:
        yield fault_of(check, case.lesson)
    if outcome.result.message:
        yield outcome.result.message
    wanted = WANTED.get(case.kind)
    for check in (one for one in checks if wanted and one not in faulty):
        may_fail = check.bonus and case.kind == "accepted"
        waits = wanted is Outcome.PASSED and check.outcome is Outcome.SKIPPED
        if check.outcome is not wanted and not may_fail and not waits:
            said = f"{check.message}{shown(check)}"
            yield f"{check.id} is {check.outcome}, should be {wanted}: {said}"
    yield from dict.fromkeys(itertools.chain(*(unfilled(one, case.lesson) for one in checks)))
    if faulty:
        return
    if case.kind == "mistake":
        yield from mistake_problems(case, outcome)
    if case.kind == "near miss":
        yield from near_miss_problems(case, outcome)


def shown(check: CheckResult) -> str:
    """Return what a failure shows besides its message, on one line."""
    values = {**check.inputs, "expected": check.expected, "got": check.actual}
    texts = [f"{name} {' '.join(text(value).split())}" for name, value in values.items() if value]
    return f" ({'; '.join(texts)[:LONGEST]})" if texts else ""


def unfilled(check: CheckResult, lesson: Lesson) -> Iterator[str]:
    """Yield a problem for each placeholder that a student would read as it is."""
    for said in (check.message, check.diagnosis_title, check.evidence):
        for name in LEFT.findall(said or ""):
            left, files = f"{{{name}}}", [*sorted(lesson.checks.glob("*.py"))]
            files = [lesson.diagnosis, *files] if lesson.diagnosis else files
            texts = {file: file.read_text("utf-8") for file in files}
            if any(f"{{{left}}}" in one for one in texts.values()):
                continue  # written as {{name}}, it is meant to be shown
            has = [file for file, one in texts.items() if left in one]
            where = line_with(has[0], left, inside=True) if has else check.id
            inputs = ", ".join([*check.inputs, "expected", "actual"])
            yield f"{where}: nothing fills {left}. There are {inputs}, and facts"


def fault_of(check: CheckResult, lesson: Lesson) -> str:
    """Return what a file of the lesson raised, with its line; else the whole traceback."""
    said = (check.note or check.message or "").strip()
    own = {"<scenarios>": lesson.scenarios, lesson.filename: lesson.solution}
    frames = [(own.get(name, Path(name)), line) for name, line in FRAME.findall(said)]
    inside = [one for one in frames if one[0] in own.values() or lesson.checks in one[0].parents]
    if not inside:
        return f"{check.id}: the grader's own fault: {said}"
    raised = INDENTED.split(said)[-1].partition("\n")[0].removeprefix(f"{CourseError.__module__}.")
    misused = raised.removeprefix(f"{CourseError.__name__}: ")
    path, line = inside[-1]
    return misused if misused != raised else f"{path}:{line}: {raised}"


def mistake_problems(case: Case, outcome: LessonOutcome) -> Iterator[str]:
    """Yield problems of a mistake: it must be named, and lose marks only on what it is about."""
    about = outcome.judged.catalogue.get(mistake_id(case.name), ())
    failing = [check for check in outcome.result.checks if check.outcome is not Outcome.PASSED]
    if not lost(case, outcome):
        yield "loses no marks"
    for check in failing:
        if about and check.function not in about:
            yield (
                f"loses {check.id}, which is about {check.function}, not about {', '.join(about)}:"
                f" {check.message}"
            )
    if failing and not is_named(case, outcome):
        named = [f"{check.id}: {check.diagnosis} ({check.message})" for check in failing]
        why = [f"{name}: {text}" for name, text in outcome.judged.unnamed.items()]
        yield "; ".join(["is not named: " + "; ".join(named), *why])


def near_miss_problems(case: Case, outcome: LessonOutcome) -> Iterator[str]:
    """Yield problems of a near miss: it must lose marks and not get the mistake's name."""
    if all(check.outcome is Outcome.PASSED for check in outcome.result.checks):
        yield "loses no marks"
    for check in outcome.result.checks:
        if check.diagnosis == mistake_id(case.name):
            yield (
                f"{check.id} gets the name {check.diagnosis}, but only resembles it:"
                f" {check.evidence}"
            )


def points_problems(lesson: Lesson, checks: Sequence[CheckResult]) -> Iterator[str]:
    """Yield problems of points and titles: ten points, two checks a name, distinct titles."""
    points = sum(check.max_points for check in checks if not check.bonus)
    if round(points, 4) != FULL_LESSON:
        yield f"the checks are worth {points:g} points, should be {FULL_LESSON:g}"
    known = (*lesson.names, *lesson.bonus)
    counts = Counter(check.function for check in checks)
    for name in known:
        count = counts[name]
        if count < LEAST_CHECKS:
            there = counted(count, "check")
            yield f"{name} has {there} of its own, should have at least {LEAST_CHECKS}"
    for check in checks:
        if check.function not in known:
            yield f"{check.id} is about {check.function}, which course.toml doesn't list"
    titles = Counter(check.title for check in checks)
    for title in sorted(titles):
        if titles[title] > 1:
            yield f"two checks have the title {title!r}"
    for check in checks:
        if check.title.startswith("test_"):
            yield f"{check.id} has no docstring for a title"


def spoiler_pairs(lesson: Lesson) -> Iterator[tuple[Case, Case]]:
    """Yield pairs of wrong answers; the second one also writes into its arguments."""
    solution = without_markers(lesson.solution.read_text("utf-8"))
    for held, order in VALUES + (DERIVATIVES if DIFFERENTIATES.search(solution) else ()):
        name = f"{held}, order {order}"
        plain, written = (
            solution + render_text("verify/spoiler.py.j2", held=held, order=order, writes=writes)
            for writes in (False, True)
        )
        yield Case(lesson, SPOILER, name, plain), Case(lesson, SPOILER, name + WRITTEN, written)


def spoiler_problems(found: Found) -> Iterator[str]:
    """Yield a problem for each check that an answer passes only because it writes into its
    arguments, and what went wrong for a spoiler alone.
    """
    known = {
        text
        for case, runs in found.items()
        if case.kind == "solution"
        for finding in runs.values()
        for text in finding.trouble
    }
    spoilers = {case: runs for case, runs in found.items() if case.kind == SPOILER}
    by_name = {case.name: runs for case, runs in spoilers.items()}
    for case, runs in spoilers.items():
        plain = by_name[case.name.removesuffix(WRITTEN)]
        for seed, finding in runs.items():
            for said in finding.trouble:
                if said not in known:
                    yield f"{case}, seed {seed}: {said}"
            gained = set(finding.passed) - set(plain[seed].passed)
            for check in sorted(gained) if not plain[seed].trouble else ():
                yield (
                    f"{case}, seed {seed}: passes {check} only because it writes into its"
                    " arguments; compute the expected value before the student's code runs"
                )
