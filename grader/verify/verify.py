"""Verify a course: ``grade verify`` grades everything whose verdict is known beforehand, and lists
deviations.

* a reference scores full marks, bonus included
* every check of a stub is ``not_started``, it scores 0, and it is what its solution generates
* an accepted alternative scores full marks
* a mistake loses marks on the functions that it is about and on no others, and is named
* a near miss loses marks, and never gets the name of the mistake that it resembles
* the outcome of each check on each of these answers is the same from every seed
* a wrong answer gains no check by writing into its arguments
* with a language: no text that a learner reads is left in English, and translations keep their
  placeholders
* nothing is left to write: there is no placeholder of ``grade new``
* a lesson is complete: README, hints, ten points, at least two checks a function, no stray file, no
  mistake without a wrong answer that shows it

All cases are graded from the first seed, then all from the second, so an interrupted run has
verified everything from fewer seeds.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from pathlib import Path

from grader.core.errors import CourseError
from grader.course.course import Course, Lesson
from grader.course.scaffold import MARK
from grader.course.stubs import compose, without_markers
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_lesson
from grader.runtime.pool import HostPool, map_unordered
from grader.verify.cache import VerdictCache
from grader.verify.case_result import Case, CaseResult, finding_of
from grader.verify.spoilers import KIND, spoiler_pairs
from grader.verify.static_problems import catalogue_problems, static_problems, unwritten
from grader.verify.summary import LessonSummary, broken_problems, judge_lesson, seed_problems


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The outcome: problems as text, the proof by lesson, the number of gradings.

    If the run was interrupted, ``proofs`` is empty and ``left`` counts the remaining gradings. With
    a file of verdicts, ``kept`` of them are in it, and ``complete`` has the number of seeds, from 1
    on, that are complete for each lesson.
    """

    problems: tuple[str, ...]
    proofs: tuple[LessonSummary, ...]
    gradings: int
    left: int = 0
    kept: int = 0
    complete: tuple[tuple[str, int], ...] = ()


Found = dict[Case, dict[int, CaseResult]]


def verify(
    course: Course,
    lessons: Sequence[Lesson],
    *,
    seeds: Sequence[int],
    settings: Settings,
    workers: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
    keep: Path | None = None,
    during: Callable[[HostPool[ForkServerClient]], AbstractContextManager[None]] = lambda hosts: (
        contextlib.nullcontext()
    ),
) -> VerifyResult:
    """Verify lessons from every seed, with ``workers`` hosts at a time.

    ``progress`` is called with the number of finished gradings and of all gradings. With ``keep``,
    each verdict is written to that file, and verdicts in it are reused. ``during`` surrounds the
    grading and may make the hosts finish early. Without ``keep``, a KeyboardInterrupt is passed on.
    """
    lessons = list(dict.fromkeys(lessons))
    problems, cases = _before_grading(course, lessons, settings)
    total = len(cases) * len(seeds)
    opened = VerdictCache(keep, course, settings) if keep else contextlib.nullcontext()
    with opened as cache:
        found: Found = {case: cache.results(case) if cache else {} for case in cases}
        try:
            _grade_rest(
                course, found, seeds, settings, workers, cache, progress=progress, during=during
            )
        except KeyboardInterrupt:
            if keep is None:
                raise
    left = sum(seed not in of for of in found.values() for seed in seeds)
    counted = _kept(found, lessons, seeds) if keep else (0, ())
    if left:
        return VerifyResult((*problems, *_so_far(found)), (), total, left, *counted)
    proofs = []
    for lesson in lessons:
        mine = {
            case: [(seed, of[seed]) for seed in seeds]
            for case, of in found.items()
            if case.lesson.id == lesson.id
        }
        if mine:
            shown, more = judge_lesson(lesson, mine)
            proofs.append(shown)
            problems += more
    return VerifyResult(tuple(problems), tuple(proofs), total, 0, *counted)


def _before_grading(
    course: Course, lessons: Sequence[Lesson], settings: Settings
) -> tuple[list[str], list[Case]]:
    """Return the problems that no grading shows, and the cases to grade."""
    problems = (
        [f"course.toml still holds its placeholder: {course.title}"] if MARK in course.title else []
    )
    cases: list[Case] = []
    for lesson in lessons:
        try:
            problems += static_problems(lesson)
            problems += catalogue_problems(lesson, settings.lang)
            problems += unwritten(lesson)
            cases += cases_of(lesson)
        except CourseError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{lesson.id}: {error.filename}: {error.strerror}")
    return problems, cases


def _grade_rest(
    course: Course,
    found: Found,
    seeds: Sequence[int],
    settings: Settings,
    workers: int,
    cache: VerdictCache | None,
    *,
    progress: Callable[[int, int], None],
    during: Callable[[HostPool[ForkServerClient]], AbstractContextManager[None]],
) -> None:
    """Grade the cases that ``found`` lacks, seed by seed, and store each verdict at once."""
    order = {lesson.id: number for number, lesson in enumerate(course.lessons)}
    cases = sorted(found, key=lambda case: order[case.lesson.id])
    total = len(cases) * len(seeds)
    runs = [(case, seed) for seed in seeds for case in cases if seed not in found[case]]
    done = total - len(runs)
    if done:
        progress(done, total)
    if not runs:
        return

    def grade(host: ForkServerClient, run: tuple[Case, int]) -> tuple[Case, int, CaseResult]:
        case, seed = run
        file = LessonFile(case.lesson.id, case.lesson.filename, case.source)
        using = replace(settings, seed=seed)
        if case.kind == KIND:
            using = replace(using, naming_off=("rule", "engine", "example"))
        try:
            outcome = grade_lesson(host, case.lesson, file, using)
        except CourseError as error:
            return case, seed, CaseResult(broken=str(error))
        return case, seed, finding_of(case, outcome)

    shared: dict[
        CaseResult, CaseResult
    ] = {}  # most are equal, so memory hardly grows with the seeds
    with (
        closing(
            HostPool(
                max(1, min(workers, len(runs))),
                lambda: ForkServerClient(own_session=cache is not None),
            )
        ) as hosts,
        during(hosts),
    ):
        for case, seed, finding in map_unordered(hosts, runs, grade):
            finding = shared.setdefault(finding, finding)
            if cache:
                cache.add(case, seed, finding)
            found[case][seed] = finding
            done += 1
            progress(done, total)


def _kept(
    found: Found, lessons: Sequence[Lesson], seeds: Sequence[int]
) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the number of good verdicts, and for each lesson how many seeds, from 1 on, are
    complete.
    """
    good = {case: {seed for seed in of if of[seed].good} for case, of in found.items()}
    complete = []
    for lesson in lessons:
        mine = [of for case, of in good.items() if case.lesson.id == lesson.id]
        lacking = (s for s in itertools.count(1) if not mine or not all(s in of for of in mine))
        complete.append((lesson.id, next(lacking) - 1))
    return sum(seed in of for of in good.values() for seed in seeds), tuple(complete)


def _so_far(found: Found) -> Iterator[str]:
    """Yield the problems of an interrupted run."""
    for case, of in found.items():
        yield from broken_problems(case.lesson, of.values())
        yield from seed_problems(case, sorted(of.items()))
        yield from (
            f"{case}, seed {seed}: {text}" for seed in sorted(of) for text in of[seed].trouble
        )


def cases_of(lesson: Lesson) -> list[Case]:
    marked = lesson.solution.read_text("utf-8")
    solution = without_markers(marked)
    cases = [
        Case(lesson, "solution", "", solution),
        Case(lesson, "stub", "", lesson.stub.read_text("utf-8")),
    ]
    for kind, cells in (
        ("accepted", lesson.accepted),
        ("mistake", lesson.mistakes),
        ("near miss", lesson.near_misses),
    ):
        for cell in (cell for cell in cells if cell.applies()):
            source = compose(solution, cell.source, name=str(cell.path))
            cases.append(Case(lesson, kind, cell.label, source))
    return [*cases, *itertools.chain.from_iterable(spoiler_pairs(lesson))]
