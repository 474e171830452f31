"""The author's gate: ``grade verify`` grades everything whose verdict is known beforehand, and lists whatever comes out otherwise.

* a reference scores full marks, bonus included
* a stub is not started on every check, scores 0, and is exactly what its solution generates
* an accepted alternative scores full marks
* a mistake loses marks on the functions that it is about and on no other, and is named
* with a language: no text that a learner of it reads is left in English, and translations keep their placeholders
* nothing is left to write: no placeholder of ``grade new`` stands anywhere
* a lesson is complete: README, hints, ten points, at least two checks a function, no stray file, no mistake without its proof

Imports ``grading`` and what lies below; no torch.
"""

from __future__ import annotations

import queue
import string
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course import Course, Lesson
from grader.errors import CourseError
from grader.grading import Judged, Settings, grade_lesson
from grader.host import Host
from grader.model import CheckResult, Outcome
from grader.scaffold import MARK, placeholders_in
from grader.scoring import FULL_LESSON
from grader.source import Source
from grader.stubs import compose, stub_of, without_markers
from grader.submission import LessonFile
from grader.translation import ENGLISH, load

CHECK_FILES = {"test_visible.py", "test_hidden.py", "helpers.py", "scenarios.py", "diagnosis.py", "README.md"}
LEAST_CHECKS = 2


@dataclass(frozen=True, slots=True)
class Case:
    """A file whose verdict is known: ``kind`` is solution, stub, accepted or mistake, ``name`` says which."""

    lesson: Lesson
    kind: str
    name: str
    source: str

    def __str__(self) -> str:
        return f"{self.lesson.id}: {self.kind} {self.name}" if self.name else f"{self.lesson.id}: {self.kind}"


@dataclass(frozen=True, slots=True)
class LessonProof:
    """What was shown of one lesson, as the published table has it."""

    lesson: str
    checks: int
    mistakes: int
    caught: int
    named: int
    accepted: int
    accepted_passed: int


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome: problems as text, the proof lesson by lesson, how many gradings it took."""

    problems: tuple[str, ...]
    proofs: tuple[LessonProof, ...]
    gradings: int


def verify(
    course: Course, lessons: Sequence[Lesson], *, seeds: Sequence[int], settings: Settings, workers: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Verification:  # fmt: skip
    """Verify lessons from every seed, ``workers`` hosts at a time; ``progress`` is told gradings done and in all."""
    problems = [f"course.toml still holds its placeholder: {course.title}"] if MARK in course.title else []
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
    runs = [(case, seed) for case in cases for seed in seeds]
    outcomes = _grade_all(runs, settings, workers, progress)
    by_case: dict[Case, list[tuple[int, Judged]]] = {}
    for (case, seed), judged in zip(runs, outcomes, strict=True):
        by_case.setdefault(case, []).append((seed, judged))
    proofs = []
    for lesson in lessons:
        mine = {case: found for case, found in by_case.items() if case.lesson.id == lesson.id}
        if mine:
            proof, found = judge_lesson(lesson, mine)
            proofs.append(proof)
            problems += found
    return Verification(tuple(problems), tuple(proofs), len(runs))


def _grade_all(runs: Sequence[tuple[Case, int]], settings: Settings, workers: int, progress: Callable[[int, int], None]) -> list[Judged]:
    hosts: queue.SimpleQueue[Host] = queue.SimpleQueue()
    count = max(1, min(workers, len(runs)))
    for _ in range(count):
        hosts.put(Host(lasting=True))
    done = 0

    def grade(run: tuple[Case, int]) -> Judged:
        nonlocal done
        case, seed = run
        host = hosts.get()
        try:
            file = LessonFile(case.lesson.id, case.lesson.filename, case.source)
            return grade_lesson(host, case.lesson, file, replace(settings, seed=seed))
        finally:
            hosts.put(host)
            done += 1
            progress(done, len(runs))

    try:
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(grade, runs))
    finally:
        while not hosts.empty():
            hosts.get().close()


# -------------------------------------------------------------------------------------------------------------- the cases


def cases_of(lesson: Lesson) -> list[Case]:
    """Every file of a lesson whose verdict is known."""
    marked = lesson.solution.read_text("utf-8")
    solution = without_markers(marked)
    cases = [Case(lesson, "solution", "", solution), Case(lesson, "stub", "", lesson.stub.read_text("utf-8"))]
    for kind, paths in (("accepted", lesson.accepted), ("mistake", lesson.mistakes)):
        cases += [Case(lesson, kind, path.stem, compose(solution, path.read_text("utf-8"), name=str(path))) for path in paths]
    return cases


def mistake_id(name: str) -> str:
    """The mistake that a file proves: ``ignores_grad_output__2`` is a second solution that shows it."""
    return name.split("__")[0]


def judge_lesson(lesson: Lesson, found: dict[Case, list[tuple[int, Judged]]]) -> tuple[LessonProof, list[str]]:
    """Hold the verdicts of one lesson's cases against what is known of them."""
    problems: list[str] = []
    about: dict[str, tuple[str, ...]] = {}
    checks = 0
    bad: set[Case] = set()
    unnamed: set[Case] = set()
    for case, runs in found.items():
        for seed, judged in runs:
            about |= judged.catalogue
            trouble = list(case_problems(case, judged))
            problems += [f"{lesson.id}: not translated: {text!r}" for text in judged.untranslated if MARK not in text]
            if case.kind == "solution":
                checks = len(judged.result.checks)
                trouble += points_problems(lesson, judged.result.checks)
            bad |= {case} if trouble else set()
            unnamed |= {case} if not is_named(case, judged) else set()
            problems += [f"{case}, seed {seed}: {text}" for text in trouble]
    cases = list(found)
    mistakes = [case for case in cases if case.kind == "mistake"]
    accepted = [case for case in cases if case.kind == "accepted"]
    shown = {mistake_id(case.name) for case in mistakes}
    problems += [f"{lesson.id}: mistake {name} has no file in tests/mistakes/{lesson.id}" for name in about if name not in shown]
    problems += [f"{lesson.id}: mistake file {name} has no rule in diagnosis.py" for name in sorted(shown - set(about))]
    proof = LessonProof(
        lesson=lesson.id,
        checks=checks,
        mistakes=len(mistakes),
        caught=sum(all(lost(case, judged) for _, judged in found[case]) for case in mistakes),
        named=sum(case not in unnamed for case in mistakes),
        accepted=len(accepted),
        accepted_passed=sum(case not in bad for case in accepted),
    )
    return proof, list(dict.fromkeys(problems))


def lost(case: Case, judged: Judged) -> list[CheckResult]:
    """The checks that were not passed and count: those of full marks, and all where the mistake is about bonus parts only."""
    about = judged.catalogue.get(mistake_id(case.name), ())
    bonus_only = bool(about) and set(about) <= set(case.lesson.bonus)
    return [check for check in judged.result.checks if check.outcome is not Outcome.PASSED and (bonus_only or not check.bonus)]


def is_named(case: Case, judged: Judged) -> bool:
    """Whether the first diagnosis of a mistake's grading is that mistake; true of everything else."""
    named = [check.diagnosis for check in judged.result.checks if check.diagnosis]
    return case.kind != "mistake" or (bool(named) and named[0] == mistake_id(case.name))


def case_problems(case: Case, judged: Judged) -> Iterable[str]:
    """What is wrong with one verdict."""
    checks = judged.result.checks
    for check in checks:
        if check.outcome is Outcome.GRADER_ERROR or check.note:
            yield f"{check.id}: the grader's own fault: {(check.note or check.message or '').strip()}"
    if judged.result.message:
        yield judged.result.message
    if case.kind in ("solution", "accepted"):
        for check in checks:
            if check.outcome is not Outcome.PASSED and not (check.bonus and case.kind == "accepted"):
                yield f"{check.id} is {check.outcome.value}, should be passed: {check.message}"
    if case.kind == "stub":
        for check in checks:
            if check.outcome is not Outcome.NOT_STARTED:
                yield f"{check.id} is {check.outcome.value}, should be not_started: {check.message}"
    if case.kind == "mistake":
        yield from mistake_problems(case, judged)


def mistake_problems(case: Case, judged: Judged) -> Iterable[str]:
    """A mistake must cost marks on what it is about, nowhere else, and be named."""
    about = judged.catalogue.get(mistake_id(case.name), ())
    failing = [check for check in judged.result.checks if check.outcome is not Outcome.PASSED]
    if not lost(case, judged):
        yield "loses no marks"
    for check in failing:
        if about and check.function not in about:
            yield f"loses {check.id}, which is about {check.function}, not about {', '.join(about)}: {check.message}"
    if failing and not is_named(case, judged):
        named = [f"{check.id}: {check.diagnosis} ({check.message})" for check in failing]
        yield "is not named: " + "; ".join(named)


# -------------------------------------------------------------------------------------------------------------- metadata


def points_problems(lesson: Lesson, checks: Sequence[CheckResult]) -> list[str]:
    """Ten points, at least two checks a name, titles that are there and differ."""
    problems = []
    points = sum(check.max_points for check in checks if not check.bonus)
    if round(points, 4) != FULL_LESSON:
        problems.append(f"the checks are worth {points:g} points, should be {FULL_LESSON:g}")
    for name in (*lesson.names, *lesson.bonus):
        count = sum(check.function == name for check in checks)
        if count < LEAST_CHECKS:
            problems.append(f"{name} has {count} checks of its own, should have at least {LEAST_CHECKS}")
    known = {*lesson.names, *lesson.bonus}
    problems += [f"{c.id} is about {c.function}, which course.toml doesn't list" for c in checks if c.function not in known]
    titles = [check.title for check in checks]
    problems += [f"two checks have the title {title!r}" for title in sorted({t for t in titles if titles.count(t) > 1})]
    problems += [f"{check.id} has no docstring for a title" for check in checks if check.title.startswith("test_")]
    return problems


def static_problems(lesson: Lesson) -> list[str]:
    """What can be said without grading: files, hints, the stub."""
    problems: list[str] = []

    def require(condition: bool, text: str) -> None:
        if not condition:
            problems.append(f"{lesson.id}: {text}")

    marked = lesson.solution.read_text("utf-8")
    stub = lesson.stub.read_text("utf-8") if lesson.stub.exists() else ""
    generated = stub_of(marked, name=str(lesson.solution))
    require(stub == generated, f"{lesson.stub.name} is not the stub that the solution generates; run: grade verify --write-stubs")
    require((lesson.folder / "README.md").exists(), "there is no README.md")
    hints = lesson.hints()
    for name in (*lesson.names, *lesson.bonus):
        require(len(hints.get(name, ())) == 3, f"hints.toml should have three steps for {name}")
        require(name in Source(marked, lesson.filename).definitions, f"the solution doesn't define {name}")
    languages = (*lesson.folder.glob("README.*.md"), *lesson.folder.glob("*.po"))
    allowed = {lesson.filename, "README.md", "hints.toml", *(path.name for path in languages)}
    problems += [f"{lesson.id}: stray file {path}" for path in strays(lesson.folder, allowed)]
    problems += [f"{lesson.id}: stray file {path}" for path in strays(lesson.checks, CHECK_FILES)]
    return problems


def unwritten(lesson: Lesson) -> list[str]:
    """The places where ``grade new`` left something for a person to write; a stub repeats its solution's."""
    said = [f"course.toml still holds its placeholder: {text}" for text in (lesson.title, lesson.summary) if MARK in text]
    files = {lesson.solution, *lesson.accepted, *lesson.mistakes}
    for folder in (lesson.folder, lesson.checks):
        files |= {path for path in folder.iterdir() if path.suffix in (".md", ".toml", ".po", ".py") and path != lesson.stub}
    said += [text for path in sorted(files) for text in placeholders_in(path)]
    return [f"{lesson.id}: {text}" for text in said]


def catalogue_problems(lesson: Lesson, lang: str) -> list[str]:
    """What a language's texts lack that no grading shows: title, summary, hints, the README; placeholders; what nobody finished."""
    if lang == ENGLISH:
        return []
    say = load(lang, lesson.texts(lang))
    for text in (lesson.title, lesson.summary, *(step for steps in lesson.hints().values() for step in steps)):
        say(text)
    problems = [f"not translated: {text!r}" for text in sorted(say.missing) if MARK not in text]
    readme = lesson.folder / f"README.{lang}.md"
    problems += [] if readme.exists() else [f"there is no {readme.name}"]
    for text, translation in say.texts.items():
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
    """Files in a folder that have no business there."""
    return [path for path in sorted(folder.iterdir()) if path.name not in allowed and path.name != "__pycache__"]
