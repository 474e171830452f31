"""The author's gate: ``grade verify`` grades everything whose verdict is known beforehand, and
lists whatever comes out otherwise.

* a reference scores full marks, bonus included
* a stub is not started on every check, scores 0, and is exactly what its solution generates
* an accepted alternative scores full marks
* a mistake loses marks on the functions that it is about and on no other, and is named
* a near miss loses marks, and nowhere has the name of the mistake that it resembles
* with a language: no text that a learner of it reads is left in English, and translations keep
  their placeholders
* nothing is left to write: no placeholder of ``grade new`` stands anywhere
* a lesson is complete: README, hints, ten points, at least two checks a function, no stray file, no
  mistake without its proof

All cases are graded from the first seed, then all from the second: a run that was cut has verified
everything from fewer seeds.
"""

from __future__ import annotations

import contextlib
import itertools
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.i18n import ENGLISH, load
from grader.course.course import Course, Lesson
from grader.course.lesson_file import LessonFile
from grader.course.scaffold import MARK, placeholders_in
from grader.course.source import Source
from grader.course.stubs import compose, stub_of, without_markers
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_lesson
from grader.runtime.pool import HostPool, map_unordered
from grader.verify.cache import VerdictCache
from grader.verify.case_result import Case, CaseResult, finding_of, mistake_id

CHECK_FILES = {
    "test_visible.py",
    "test_hidden.py",
    "helpers.py",
    "scenarios.py",
    "diagnosis.py",
    "README.md",
}


@dataclass(frozen=True, slots=True)
class LessonSummary:
    """What was shown of one lesson, as the published table has it."""

    lesson: str
    checks: int
    mistakes: int
    caught: int
    named: int
    near_misses: int
    told_apart: int
    accepted: int
    accepted_passed: int


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The outcome: problems as text, the proof lesson by lesson, how many gradings it took.

    If the run was cut, ``proofs`` is empty and ``left`` counts the remaining gradings. With a file
    of verdicts ``kept`` of them are in it, and ``complete`` says of each lesson from how many seeds,
    counted from the first, all its cases are.
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
    """Verify lessons from every seed, ``workers`` hosts at a time; ``progress`` is told gradings
    done and in all.

    With ``keep`` each verdict is written to that file, and those that it holds are not made again.
    ``during`` surrounds the grading and may have the hosts finish early. Without ``keep``, a
    KeyboardInterrupt goes through.
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
    """The problems that no grading shows, and what there is to grade."""
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
    """Grade what ``found`` lacks, seed by seed, and keep each verdict at once."""
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
        return (
            case,
            seed,
            finding_of(case, grade_lesson(host, case.lesson, file, replace(settings, seed=seed))),
        )

    shared: dict[
        CaseResult, CaseResult
    ] = {}  # most are equal, so that memory hardly grows with the seeds
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
    """Count good verdicts; and for each lesson the seeds from 1 on that are complete."""
    good = {case: {seed for seed in of if not of[seed].trouble} for case, of in found.items()}
    complete = []
    for lesson in lessons:
        mine = [of for case, of in good.items() if case.lesson.id == lesson.id]
        lacking = (s for s in itertools.count(1) if not mine or not all(s in of for of in mine))
        complete.append((lesson.id, next(lacking) - 1))
    return sum(seed in of for of in good.values() for seed in seeds), tuple(complete)


def _so_far(found: Found) -> Iterator[str]:
    """Yield the problems of an interrupted run."""
    for case, of in found.items():
        yield from (
            f"{case}, seed {seed}: {text}" for seed in sorted(of) for text in of[seed].trouble
        )


# ---------------------------------------------------------------------------------------- the cases


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
        for cell in cells:
            source = compose(solution, cell.source, name=str(cell.path))
            cases.append(Case(lesson, kind, cell.label, source))
    return cases


def judge_lesson(
    lesson: Lesson, found: Mapping[Case, Sequence[tuple[int, CaseResult]]]
) -> tuple[LessonSummary, list[str]]:
    """Hold the verdicts of one lesson's cases against what is known of them."""
    problems: list[str] = []
    about: dict[str, tuple[str, ...]] = {}
    checks = 0
    bad: set[Case] = set()
    unnamed: set[Case] = set()
    for case, runs in found.items():
        for seed, finding in runs:
            about |= dict(finding.about)
            problems += [
                f"{lesson.id}: not translated: {text!r}"
                for text in finding.untranslated
                if MARK not in text
            ]
            checks = max(checks, finding.checks)
            bad |= {case} if finding.trouble else set()
            unnamed |= set() if finding.named else {case}
            problems += [f"{case}, seed {seed}: {text}" for text in finding.trouble]
    cases = list(found)
    mistakes = [case for case in cases if case.kind == "mistake"]
    near_misses = [case for case in cases if case.kind == "near miss"]
    accepted = [case for case in cases if case.kind == "accepted"]
    shown = {mistake_id(case.name) for case in mistakes}
    problems += [
        f"{lesson.id}: mistake {name} has no cell in tests/mistakes/{lesson.filename}"
        for name in about
        if name not in shown
    ]
    problems += [
        f"{lesson.id}: mistake {name} has no rule in diagnosis.py"
        for name in sorted(shown - set(about))
    ]
    unknown = {mistake_id(case.name) for case in near_misses} - set(about)
    problems += [
        f"{lesson.id}: near miss {name} resembles no mistake in diagnosis.py"
        for name in sorted(unknown)
    ]
    proof = LessonSummary(
        lesson=lesson.id,
        checks=checks,
        mistakes=len(mistakes),
        caught=sum(all(finding.lost for _, finding in found[case]) for case in mistakes),
        named=sum(case not in unnamed for case in mistakes),
        near_misses=len(near_misses),
        told_apart=sum(case not in bad for case in near_misses),
        accepted=len(accepted),
        accepted_passed=sum(case not in bad for case in accepted),
    )
    return proof, list(dict.fromkeys(problems))


# ----------------------------------------------------------------------------------------- metadata


def static_problems(lesson: Lesson) -> list[str]:
    """What can be said without grading: files, hints, the stub."""
    problems: list[str] = []

    def require(condition: bool, text: str) -> None:
        if not condition:
            problems.append(f"{lesson.id}: {text}")

    marked = lesson.solution.read_text("utf-8")
    stub = lesson.stub.read_text("utf-8") if lesson.stub.exists() else ""
    generated = stub_of(marked, name=str(lesson.solution))
    require(
        stub == generated,
        f"{lesson.stub.name} is not the stub that the solution generates; run: grade verify"
        " --write-stubs",
    )
    require((lesson.folder / "README.md").exists(), "there is no README.md")
    hints = lesson.hints()
    for name in (*lesson.names, *lesson.bonus):
        require(len(hints.get(name, ())) == 3, f"hints.toml should have three steps for {name}")
        require(
            name in Source(marked, lesson.filename).definitions,
            f"the solution doesn't define {name}",
        )
    languages = (*lesson.folder.glob("README.*.md"), *lesson.folder.glob("*.po"))
    allowed = {lesson.filename, "README.md", "hints.toml", *(path.name for path in languages)}
    problems += [f"{lesson.id}: stray file {path}" for path in strays(lesson.folder, allowed)]
    problems += [f"{lesson.id}: stray file {path}" for path in strays(lesson.checks, CHECK_FILES)]
    return problems


def unwritten(lesson: Lesson) -> list[str]:
    """Return the places where ``grade new`` left something to write."""
    said = [
        f"course.toml still holds its placeholder: {text}"
        for text in (lesson.title, lesson.summary)
        if MARK in text
    ]
    cells = (*lesson.accepted, *lesson.mistakes, *lesson.near_misses)
    files = {lesson.solution, *(cell.path for cell in cells)}
    for folder in (lesson.folder, lesson.checks):
        files |= {
            path
            for path in folder.iterdir()
            if path.suffix in (".md", ".toml", ".po", ".py") and path != lesson.stub
        }
    said += [text for path in sorted(files) for text in placeholders_in(path)]
    return [f"{lesson.id}: {text}" for text in said]


def catalogue_problems(lesson: Lesson, lang: str) -> list[str]:
    """Return what a language lacks: titles, hints, README, placeholders."""
    if lang == ENGLISH:
        return []
    tr = load(lang, lesson.texts(lang))
    for text in (
        lesson.title,
        lesson.summary,
        *(step for steps in lesson.hints().values() for step in steps),
    ):
        tr(text)
    problems = [f"not translated: {text!r}" for text in sorted(tr.missing) if MARK not in text]
    readme = lesson.folder / f"README.{lang}.md"
    problems += [] if readme.exists() else [f"there is no {readme.name}"]
    for text, translation in tr.texts.items():
        if placeholders(text) != placeholders(translation):
            problems.append(f"the translation has other placeholders: {text!r}")
    return [f"{lesson.id}: {problem}" for problem in problems]


def placeholders(text: str) -> set[str]:
    """The ``{names}`` in a text; of one that is no template there are none."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}
    except ValueError:
        return set()


def strays(folder: Path, allowed: set[str]) -> list[Path]:
    return [
        path
        for path in sorted(folder.iterdir())
        if path.name not in allowed and path.name != "__pycache__"
    ]
