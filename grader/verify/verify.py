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
verified everything from fewer seeds. ``grade verify --keep`` keeps verdicts in a file, so that it
can continue (``VerdictCache``).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import sqlite3
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Protocol

from grader.core import sqlite
from grader.core.errors import CourseError, UsageError
from grader.core.files import engine_hash_now, torch_version
from grader.core.messages import Settings
from grader.core.processes import isolated_command, scrubbed_environment
from grader.core.report import Outcome
from grader.course.course import Course, Lesson
from grader.course.scaffold import MARK, UNWRITTEN
from grader.course.stubs import compose, without_markers
from grader.course.submission import LessonFile
from grader.judge import COMPAT_CHECK
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson
from grader.runtime.pool import HostPool, map_unordered
from grader.verify.case_result import (
    ENGINE,
    SPOILER,
    Case,
    CaseResult,
    Found,
    finding_of,
    mistake_id,
    spoiler_pairs,
    spoiler_problems,
)
from grader.verify.grouped_problems import grouped, named, seeds_listed
from grader.verify.slips import place_of_check
from grader.verify.static_problems import (
    HeldPromise,
    held_promises,
    static_problems,
    unbroken_problems,
    unwritten,
)
from grader.verify.translations import catalogue_problems

APPLICATION = 0x67726C76
"""``PRAGMA application_id``, which identifies a file of verdicts: "grlv" in ASCII."""
TABLES = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE verdicts (
        key TEXT NOT NULL, seed INTEGER NOT NULL, grader TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (key, seed)
    ) WITHOUT ROWID;
    PRAGMA application_id = {APPLICATION};
    COMMIT;
"""
OTHER = "another file with --keep"


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The outcome: problems as text, the proof by lesson, the number of gradings.

    If the run was interrupted, ``proofs`` is empty and ``left`` counts the remaining gradings. With
    a file of verdicts, ``kept`` of them are in it, and ``complete`` has the number of seeds, from 1
    on, that are complete for each lesson. ``untranslated`` has the texts that gradings showed and
    the lesson's catalogue lacks.
    """

    problems: tuple[str, ...]
    proofs: tuple[LessonSummary, ...]
    gradings: int
    left: int = 0
    kept: int = 0
    complete: tuple[tuple[str, int], ...] = ()
    untranslated: dict[str, tuple[str, ...]] = field(default_factory=dict)


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
    known: Verdicts | None = None,
    hosts: HostPool[ForkServerClient] | None = None,
) -> VerifyResult:
    """Verify lessons from every seed, with ``workers`` hosts at a time.

    ``progress`` is called with the number of finished gradings and of all gradings. With ``keep``,
    each verdict is written to that file, and verdicts in it are reused. ``during`` surrounds the
    grading and may make the hosts finish early. Without ``keep``, a KeyboardInterrupt is passed on.
    With ``known`` verdicts, those are used and added to, ``hosts`` are used and left open, and no
    spoiler is graded: so an author who writes gets an answer soon.
    """
    lessons = list(dict.fromkeys(lessons))
    before = _before_grading(course, lessons, settings)
    opened: AbstractContextManager[Verdicts | None] = (
        VerdictCache(keep, course, settings) if keep else contextlib.nullcontext(known)
    )
    cases = [case for case in before.cases if known is None or case.kind != SPOILER]
    with opened as cache:
        found = {case: cache.results(case) if cache else {} for case in cases}
        make = functools.partial(ForkServerClient, own_session=keep is not None)
        try:
            with contextlib.ExitStack() as stack:
                pool = hosts or stack.enter_context(closing(HostPool(workers, make)))
                stack.enter_context(during(pool))
                _grade_rest(found, seeds, settings, pool, cache, progress)
        except KeyboardInterrupt:
            if keep is None:
                raise
    left = len(_missing(found, seeds))
    total = left + sum(seed in of for of in found.values() for seed in seeds)
    counted = _kept(found, lessons, seeds) if keep else (0, ())
    if left:
        problems = (*before.problems, *_so_far(found), *before.to_write)
        return VerifyResult(problems, (), total, left, *counted)
    proofs, graded, texts = [], [], {}
    for lesson in lessons:
        mine = {
            case: {seed: of[seed] for seed in seeds if seed in of}
            for case, of in found.items()
            if of and case.lesson.id == lesson.id
        }
        texts[lesson.id] = untranslated_in(mine)
        if mine:
            shown, more = judge_lesson(lesson, mine)
            proofs.append(shown)
            graded += more
    problems = tuple(dict.fromkeys((*before.problems, *graded, *before.to_write)))
    return VerifyResult(problems, tuple(proofs), total, 0, *counted, texts)


@dataclass(frozen=True, slots=True)
class _BeforeGrading:
    """The problems that no grading shows, what is still to be written, and the cases to grade."""

    problems: tuple[str, ...]
    to_write: tuple[str, ...]
    cases: tuple[Case, ...]


def _before_grading(
    course: Course, lessons: Sequence[Lesson], settings: Settings
) -> _BeforeGrading:
    problems: list[str] = []
    to_write = [f"course.toml {UNWRITTEN} {course.title}"] if MARK in course.title else []
    cases: list[Case] = []
    for lesson in lessons:
        try:
            problems += [named(lesson, text) for text in static_problems(lesson)]
            to_write += [*unwritten(lesson)]
            lacking = catalogue_problems(lesson, settings.lang)
            to_write += [named(lesson, text) for text in lacking]
            cases += cases_of(lesson)
        except CourseError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{lesson.id}: {error.filename}: {error.strerror}")
    return _BeforeGrading(tuple(problems), tuple(to_write), tuple(cases))


def _stopped(found: Found, seeds: Sequence[int]) -> set[str]:
    """Return the lessons whose solution does not pass from the first seed. Nothing else of them is
    graded, because every answer would repeat what is wrong.
    """
    solutions = [(case, of) for case, of in found.items() if case.kind == "solution"]
    firsts = {case.lesson.id: of[seeds[0]] for case, of in solutions if seeds[0] in of}
    return {lesson for lesson, one in firsts.items() if one.broken or one.failed}


def _missing(found: Found, seeds: Sequence[int]) -> list[tuple[Case, int]]:
    """Return what is still to be graded, seed by seed."""
    stopped = _stopped(found, seeds)
    cases = [case for case in found if case.lesson.id not in stopped]
    return [(case, seed) for seed in seeds for case in cases if seed not in found[case]]


class Verdicts(Protocol):
    """Verdicts from earlier runs."""

    def results(self, case: Case) -> dict[int, CaseResult]:
        """Return a case's verdicts by seed."""

    def add(self, case: Case, seed: int, result: CaseResult) -> None: ...


def _grade_rest(
    found: dict[Case, dict[int, CaseResult]],
    seeds: Sequence[int],
    settings: Settings,
    hosts: HostPool[ForkServerClient],
    cache: Verdicts | None,
    progress: Callable[[int, int], None],
) -> None:
    """Grade what ``found`` lacks, solutions first, and store each verdict at once."""
    missing = _missing(found, seeds)
    done = len(found) * len(seeds) - len(missing)
    if done:
        progress(done, done + len(missing))
    if not missing:
        return

    def grade(host: ForkServerClient, run: tuple[Case, int]) -> tuple[Case, int, CaseResult]:
        case, seed = run
        file = LessonFile(case.lesson.id, case.lesson.filename, case.source)
        using = replace(settings, seed=seed)
        if case.kind == SPOILER:
            using = replace(using, naming_off=("rule", "engine", "example"))
        try:
            outcome = grade_lesson(host, case.lesson, file, using)
        except CourseError as error:
            return case, seed, CaseResult(broken=str(error))
        return case, seed, finding_of(case, outcome)

    # most are equal, so memory hardly grows with the seeds
    shared: dict[CaseResult, CaseResult] = {}
    for solutions_only in (True, False):
        missing = _missing(found, seeds)
        total = done + len(missing)
        if solutions_only:
            missing = [run for run in missing if run[0].kind == "solution" and run[1] == seeds[0]]
        for case, seed, finding in map_unordered(hosts, missing, grade):
            finding = shared.setdefault(finding, finding)
            if cache:
                cache.add(case, seed, finding)
            found[case][seed] = finding
            done += 1
            progress(done, total)


def _kept(
    found: Found, lessons: Sequence[Lesson], seeds: Sequence[int]
) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the number of good verdicts, and by lesson how many seeds, from 1 on, are complete."""
    good = {case: {seed for seed in of if of[seed].good} for case, of in found.items()}
    complete = []
    for lesson in lessons:
        mine = [of for case, of in good.items() if case.lesson.id == lesson.id]
        whole = set.intersection(*mine) if mine else set()
        lacking = next(seed for seed in itertools.count(1) if seed not in whole)
        complete.append((lesson.id, lacking - 1))
    return sum(seed in of for of in good.values() for seed in seeds), tuple(complete)


def _so_far(found: Found) -> Iterator[str]:
    """Yield the problems of an interrupted run."""
    for case, of in found.items():
        yield from broken_problems(of.values())
        runs = dict(sorted(of.items()))
        yield from seed_problems(case, runs)
        yield from grouped(case.lesson, {case: runs})


def cases_of(lesson: Lesson) -> list[Case]:
    marked = lesson.solution.read_text("utf-8")
    solution = without_markers(marked)
    cases = [Case(lesson, "solution", "", solution), Case(lesson, "stub", "", lesson.stub_text)]
    for kind, cells in (
        ("accepted", lesson.accepted),
        ("mistake", lesson.mistakes),
        ("near miss", lesson.near_misses),
    ):
        for cell in (cell for cell in cells if cell.applies()):
            source = compose(solution, cell.source, name=str(cell.path))
            cases.append(Case(lesson, kind, cell.label, source))
    return [*cases, *itertools.chain.from_iterable(spoiler_pairs(lesson))]


@dataclass(frozen=True, slots=True)
class LessonSummary:
    """The results of one lesson, as in the published table."""

    lesson: str
    checks: int = 0
    mistakes: int = 0
    caught: int = 0
    named: int = 0
    near_misses: int = 0
    told_apart: int = 0
    accepted: int = 0
    accepted_passed: int = 0
    promises: tuple[HeldPromise, ...] = ()

    @property
    def promises_shown(self) -> int:
        """How many promises are broken alone by some wrong answer."""
        return sum(bool(promise.shown_by) for promise in self.promises)


def judge_lesson(lesson: Lesson, found: Found) -> tuple[LessonSummary, list[str]]:
    """Compare the verdicts of one lesson's cases with the expected ones, and with each other."""
    findings = [finding for runs in found.values() for finding in runs.values()]
    broken = broken_problems(findings)
    if broken:
        return LessonSummary(lesson.id), broken
    problems = [*grouped(lesson, found)]
    if all(case.kind == "solution" for case in found):
        return LessonSummary(lesson.id), problems
    about = {name: of for finding in findings for name, of in finding.about}
    for case, runs in found.items():
        problems += seed_problems(case, runs) if case.kind != SPOILER else ()
    problems += unfailed_checks(lesson, found)
    mistakes = [case for case in found if case.kind == "mistake"]
    near_misses = [case for case in found if case.kind == "near miss"]
    accepted = [case for case in found if case.kind == "accepted"]

    def count(cases: Iterable[Case], holds: Callable[[CaseResult], bool]) -> int:
        return sum(all(map(holds, found[case].values())) for case in cases)

    problems += name_problems(lesson, about, mistakes, near_misses)
    problems += spoiler_problems(found)
    held = held_promises(lesson, found)
    problems += [
        f"{lesson.id}: contract.toml: {text}" for text in unbroken_problems(lesson, held, found)
    ]
    problems += [f"{lesson.id}: not translated: {text!r}" for text in untranslated_in(found)]
    summary = LessonSummary(
        lesson=lesson.id,
        checks=max((finding.checks for finding in findings), default=0),
        mistakes=len(mistakes),
        caught=count(mistakes, lambda one: one.lost),
        named=count(mistakes, lambda one: one.named),
        near_misses=len(near_misses),
        told_apart=count(near_misses, lambda one: not one.trouble),
        accepted=len(accepted),
        accepted_passed=count(accepted, lambda one: not one.trouble),
        promises=tuple(held),
    )
    return summary, list(dict.fromkeys(problems))


def untranslated_in(found: Found) -> tuple[str, ...]:
    """Return the texts that a lesson's gradings showed and its catalogue lacks, each once."""
    texts = (text for of in found.values() for one in of.values() for text in one.untranslated)
    return tuple(text for text in dict.fromkeys(texts) if MARK not in text)


def unfailed_checks(lesson: Lesson, found: Found) -> Iterator[str]:
    """Yield checks that no known wrong answer fails, if there are any wrong answers. A promise of
    the contract may have a worked example besides a check that some answer fails.
    """
    cells = (*lesson.mistakes, *lesson.near_misses)
    if not cells or not all(cell.applies() for cell in cells):
        return  # one that fails it may hold for another version of torch
    passed: dict[str, set[str]] = {}
    failed: dict[str, set[str]] = {}
    for case, runs in found.items():
        for one in runs.values():
            failed.setdefault(case.kind, set()).update(one.failed)
            passed.setdefault(case.kind, set()).update(one.passed)
    wrong = failed.get("mistake", set()) | failed.get("near miss", set())
    held = [set(promise.terms.checks) for promise in lesson.contract]
    examples = set().union(*(checks for checks in held if checks & wrong))
    for name in sorted(passed.get("solution", set()) - wrong - examples):
        what = "no mistake and no near miss fails this check. Add one that does"
        if name in passed.get(SPOILER, set()) - failed.get(SPOILER, set()):
            what += ", and see whether the check calls the student's code"
        yield f"{place_of_check(lesson, name)}: {what}"


def name_problems(
    lesson: Lesson, about: Iterable[str], mistakes: Iterable[Case], near_misses: Iterable[Case]
) -> Iterator[str]:
    """Yield mistakes without a wrong answer, and answers of which no mistake has the name."""
    known = list(about)
    shown = {mistake_id(case.name) for case in mistakes}
    shown |= {cell.name for cell in lesson.mistakes if not cell.applies()}
    for name in known:
        if name not in shown:
            yield f"{lesson.id}: mistake {name} has no cell in tests/mistakes/{lesson.filename}"
    for name in sorted(shown.difference(known)):
        if not name.startswith(ENGINE):
            yield f"{lesson.id}: mistake {name} is not in diagnosis.toml"
    for name in sorted({mistake_id(case.name) for case in near_misses}.difference(known)):
        if not name.startswith(ENGINE):
            yield f"{lesson.id}: near miss {name} resembles no mistake in diagnosis.toml"


def broken_problems(findings: Iterable[CaseResult]) -> list[str]:
    """Return, once, which file of a lesson keeps it from being graded."""
    return [text for text in {one.broken: None for one in findings} if text]


def seed_problems(case: Case, runs: Mapping[int, CaseResult]) -> Iterator[str]:
    """Yield a line if the outcome of any check depends on the seed, with the seeds of each outcome.

    A skipped check has no verdict of its own: it depends on the seed only if a check that it needs
    does, and that one is listed.
    """
    seeds: dict[str, dict[Outcome, list[int]]] = {}
    for seed, finding in runs.items():
        for name, outcome in finding.outcomes:
            if outcome is not Outcome.SKIPPED:
                seeds.setdefault(name, {}).setdefault(outcome, []).append(seed)
    changing = []
    for name, of in seeds.items():
        parts = [f"{one} from {seeds_listed(of[one])}" for one in Outcome if one in of]
        changing += [f"{name} is {', '.join(parts)}"] if len(parts) > 1 else []
    if changing:
        yield f"{case} depends on the seed: {'; '.join(changing)}"


def missing_internals() -> list[str]:
    """Return a sentence for each private name or message that is gone, and what breaks without it.

    A separate process tries them, which takes about two seconds because it loads torch.
    """
    done = subprocess.run(
        isolated_command(COMPAT_CHECK),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=scrubbed_environment(),
        start_new_session=True,  # a terminal's Ctrl-C would end it, which would look like a problem
        check=False,
    )
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2]
        return [f"the installed torch or pytest does not suit this engine: {reason}"]
    found: list[str] = json.loads(done.stdout)
    return found


class VerdictCache:
    """An open file of verdicts; those of another lesson, engine or torch are dropped.

    It contains only verdicts without problems; the others are graded again.
    """

    def __init__(self, path: Path, course: Course, settings: Settings) -> None:
        """Open the file, or create it; raise UsageError if it can't be used."""
        self._path = path
        self._course = course
        self._graders = {lesson.id: self._grader_now(lesson) for lesson in course.lessons}
        self._settings = asdict(replace(settings, seed=0, prestart=False, planned=False))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite.connect(path)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise self._refusal(error) from None

    def __enter__(self) -> VerdictCache:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._db.close()
        if isinstance(error, sqlite3.Error):
            raise self._refusal(error) from None

    def results(self, case: Case) -> dict[int, CaseResult]:
        query = "SELECT seed, result FROM verdicts WHERE key = ?"
        rows = self._db.execute(query, [self._key(case)]).fetchall()
        try:
            return {seed: _result_from(text) for seed, text in rows}
        except ValueError as error:
            raise sqlite3.DatabaseError(f"malformed verdict: {error!r}") from None

    def add(self, case: Case, seed: int, result: CaseResult) -> None:
        """Store a verdict; raise UsageError if the grader has changed since the file was opened."""
        grader = self._grader_now(case.lesson)
        if grader != self._graders[case.lesson.id]:
            raise UsageError(
                "A file of the course or of the engine was changed while this ran, so the rest"
                " would not be about the same files. Run the same command again: it grades"
                " everything by the files as they are now"
            )
        if result.good:
            row = [self._key(case), seed, grader, json.dumps(result.as_json())]
            with sqlite.transaction(self._db) as db:
                db.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", row)

    def _grader_now(self, lesson: Lesson) -> str:
        return f"{self._course.hash_now([lesson])} {engine_hash_now()} {torch_version()}"

    def _key(self, case: Case) -> str:
        about = [case.lesson.id, case.kind, case.name, case.source]
        text = json.dumps([self._graders[case.lesson.id], self._settings, about], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _prepare(self) -> None:
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        if not tables:
            self._db.executescript(TABLES)
        elif application != APPLICATION:
            raise UsageError(f"{self._path} is a database, but not one of verdicts. Name {OTHER}")
        (whole,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if whole != "ok":
            raise sqlite3.DatabaseError(f"malformed: {whole}")
        marks = ", ".join("?" * len(self._graders))
        self._db.execute(
            f"DELETE FROM verdicts WHERE grader NOT IN ({marks})", [*self._graders.values()]
        )

    def _refusal(self, error: sqlite3.Error | OSError) -> UsageError:
        return sqlite.refusal(self._path, error, kind="file of verdicts", other=OTHER)


@functools.cache
def _result_from(text: str) -> CaseResult:
    """Read a result; cached, so that equal results are one object and memory hardly grows."""
    return CaseResult.from_json(json.loads(text))
