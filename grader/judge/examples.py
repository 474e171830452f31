"""Name a mistake by example: find the known wrong answer that behaves as the student's does.

This happens after all checks have run, for each function whose failures no rule named. Known wrong
answers about that function run the failed checks from the same seed. Those that agree in all
failures run them once more, from a second seed, as the student's file does. If all remaining
answers make the same mistake, and that has no rule, it is the name. A mistake with a rule is named
only by its rule, which is more exact: two answers may fail alike for different reasons. For the
same reason, a near miss that behaves the same vetoes the name. The answers belong to the course,
but they may hang or damage their process. So they run in a worker of their own, not in the judge
and not in a student's worker.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from grader.core.errors import EngineFault, MissingName, StudentCodeError, WorkerLost
from grader.core.messages import LessonSpec
from grader.core.report import CheckResult, Outcome
from grader.course.lesson_texts import CatalogueCell, read_catalogue
from grader.course.source import Source
from grader.course.stubs import compose, without_markers
from grader.judge.behavior import Behavior, KnownFailure, run_check
from grader.judge.diagnosis import Diagnosis, Mistake, fill_text
from grader.judge.local_student import LocalStudent, MissingReference
from grader.judge.open_texts import open_evidence, placeholders
from grader.judge.remote.session import StudentSession
from grader.judge.remote.worker_sources import WorkerSource
from grader.judge.seeds import check_seed
from grader.judge.submission_run import CheckRun, SubmissionRun

CALL_SECONDS = 2.0
"""How long one call of a known wrong answer may take."""
SLOW = 2.0
"""A check that took a student this many seconds is not run again."""
KEPT = 20_000
"""How many behaviors of known wrong answers a judge remembers."""


class Examples:
    """A lesson's known wrong answers, read when they are first needed."""

    def __init__(
        self,
        spec: LessonSpec,
        mistakes: Sequence[Mistake],
        reference: LocalStudent | MissingReference,
    ) -> None:
        self.spec = spec
        self.mistakes = {one.id: one for one in mistakes}
        self.reference = reference
        self.ruleless = frozenset(one.id for one in mistakes if one.rule is None)
        self._endless: set[CatalogueCell] = set()
        self._known: dict[tuple[str, str, int], Behavior | None] = {}

    def nameable(self, run: SubmissionRun) -> frozenset[str]:
        """Return the mistakes that examples can name: those without a rule, or all while rules are
        switched off.
        """
        return frozenset(self.mistakes) if "rule" in run.naming_off else self.ruleless

    @functools.cached_property
    def solution(self) -> str:
        return without_markers(self.spec.solution or "")

    @functools.cached_property
    def wrong(self) -> tuple[CatalogueCell, ...]:
        return self._cells(self.spec.mistakes)

    @functools.cached_property
    def near(self) -> tuple[CatalogueCell, ...]:
        return self._cells(self.spec.near_misses)

    def _cells(self, path: str | None) -> tuple[CatalogueCell, ...]:
        if path is None or self.spec.solution is None:
            return ()
        return tuple(cell for cell in read_catalogue(Path(path)) if cell.applies())

    @functools.cache  # noqa: B019  one for each lesson, as long as its judge
    def source(self, cell: CatalogueCell) -> Source:
        return Source(compose(self.solution, cell.source, name=cell.label), self.spec.filename)

    def name(
        self, run: SubmissionRun, checks: tuple[CheckResult, ...], workers: WorkerSource
    ) -> tuple[CheckResult, ...]:
        """Return the results with names by example for functions that no rule named."""
        named: dict[str, CheckResult] = {}
        if not self.nameable(run):
            return checks
        for function in dict.fromkeys(check.function for check in checks):
            mine = [check for check in checks if check.function == function]
            failed = [one for one in mine if one.id in run.failures]
            if not failed or any(one.diagnosed_by == "rule" for one in mine):
                continue
            if any(
                one.outcome in (Outcome.TIMEOUT, Outcome.CRASHED, Outcome.GRADER_ERROR)
                or one.seconds > SLOW
                for one in mine
            ):
                continue
            failures = [run.failures[one.id] for one in failed]
            with contextlib.suppress(EngineFault, StudentCodeError, WorkerLost, MissingName):
                named |= self._named(run, function, failed, failures, workers)
        return tuple(named.get(check.id, check) for check in checks)

    def _named(
        self,
        run: SubmissionRun,
        function: str,
        failed: list[CheckResult],
        failures: list[KnownFailure],
        workers: WorkerSource,
    ) -> dict[str, CheckResult]:
        """Return the failed checks that get a name, by id."""
        about = [
            cell
            for cell in self.wrong
            if cell.name in self.mistakes and function in self.mistakes[cell.name].about
        ]
        if "self" in run.naming_off:
            about = [cell for cell in about if self.source(cell).text != run.session.source.text]
        if not any(cell.name in self.nameable(run) for cell in about):
            return {}
        with contextlib.closing(
            StudentSession(
                workers,
                source=self.source(about[0]),
                scenarios=self.spec.scenarios,
                limits=run.session.limits,
            )
        ) as session:
            matching = _Matching(self, run, session, failures)
            found = list(matching.cells(about))
            names = {cell.name for cell in found}
            name = names.pop() if len(names) == 1 else ""
            near = (cell for cell in self.near if cell.name == name)
            if name not in self.nameable(run) or any(True for _ in matching.cells(near)):
                return {}
        diagnosis = self._explained(name, run, failures)
        if diagnosis is None:
            return {}
        return {
            check.id: replace(
                check,
                diagnosis=diagnosis.id,
                diagnosis_title=diagnosis.title,
                evidence=diagnosis.evidence,
                open_evidence=open_evidence(diagnosis) if check.hidden else None,
                diagnosed_by=diagnosis.by,
            )
            for check in failed
        }

    def behavior(
        self, cell: CatalogueCell, check: CheckRun, seed: int, session: StudentSession
    ) -> Behavior | None:
        """Return a known answer's behavior in a check; None if it passes or gives no verdict."""
        key = (f"{cell.path}:{cell.line}", check.id, seed)
        if cell in self._endless:
            return None
        if key not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            with contextlib.suppress(StudentCodeError, WorkerLost, MissingName):
                session.reload(self.source(cell))
            # a worker that reports its own limits has a submission's, which are longer
            session.limits = replace(session.limits, call_seconds=CALL_SECONDS)
            verdict = run_check(check.item, session, self.reference, seed)
            if verdict and verdict.outcome is Outcome.TIMEOUT:
                self._endless.add(cell)
            self._known[key] = Behavior.of(verdict) if verdict else None
        return self._known[key]

    def _explained(
        self, name: str, run: SubmissionRun, failures: list[KnownFailure]
    ) -> Diagnosis | None:
        """Return the mistake, its explanation filled from the first failure that has all the facts.

        If no failure has them, the explanation would not fit this submission, so return None.
        """
        mistake = self.mistakes[name]
        wanted = placeholders(mistake.title) | placeholders(mistake.explanation)
        shown = next((one.shown for one in failures if wanted <= set(one.shown)), None)
        if shown is None and mistake.rule is None:
            return None
        title, evidence = (
            fill_text(template, shown or {}, run.tr)
            for template in (mistake.title, mistake.explanation)
        )
        return Diagnosis(name, title, evidence, mistake.explanation, "example")


class _Matching:
    """Finds the cells that behave like one submission in its failures."""

    def __init__(
        self,
        examples: Examples,
        run: SubmissionRun,
        session: StudentSession,
        failures: list[KnownFailure],
    ) -> None:
        self.examples, self.run, self.session, self.failures = examples, run, session, failures

    @functools.cached_property
    def again(self) -> list[tuple[CheckRun, int, Behavior | None]]:
        """The behavior of the student's file in the same checks, from a second seed."""
        found = []
        for check in (failure.check for failure in self.failures):
            seed = check_seed(check.seed, "second")
            verdict = run_check(check.item, self.run.session, self.examples.reference, seed)
            found.append((check, seed, Behavior.of(verdict) if verdict else None))
        return found

    def cells(self, cells: Iterable[CatalogueCell]) -> Iterator[CatalogueCell]:
        first = [(one.check, one.check.seed, one.behavior) for one in self.failures]
        for cell in cells:
            source = self.examples.source(cell)
            if "self" in self.run.naming_off and source.text == self.run.session.source.text:
                continue
            if self._agrees(cell, first) and self._agrees(cell, self.again):
                yield cell

    def _agrees(
        self, cell: CatalogueCell, asked: Iterable[tuple[CheckRun, int, Behavior | None]]
    ) -> bool:
        for check, seed, mine in asked:
            theirs = self.examples.behavior(cell, check, seed, self.session)
            if mine is None or theirs is None or not mine.agrees(theirs):
                return False
        return True
