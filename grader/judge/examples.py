"""Name a mistake by example: find the known wrong answer that behaves as the student's does.

It is asked after all checks have run, for a function none of whose failures a rule named. Known
wrong answers about that function run the failed checks from the same seed. Those that agree in all
failures run them once more, from a second seed, as the student's file does. If what is left makes
one mistake only, that is the name. A near miss of that mistake that behaves the same vetoes it.

The answers are the course's own, but they may hang and break what they run in. So they run in a
worker, not in the judge, and never in the worker of a student.
"""

from __future__ import annotations

import contextlib
import functools
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.core.errors import EngineFault, MissingName, StudentCodeError, WorkerLost
from grader.core.protocol import LessonSpec
from grader.core.report import CheckResult, Outcome
from grader.course.analysis.source import Source
from grader.course.catalogue import CatalogueCell, read_catalogue
from grader.course.stubs import compose, without_markers
from grader.judge.behavior import Behavior, KnownFailure, run_check
from grader.judge.diagnosis import Diagnosis, Failure, Mistake, fill_text
from grader.judge.exception_verdicts import CheckVerdict
from grader.judge.local_student import LocalStudent, MissingReference
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.session import NotStarted, StudentSession
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
    """A lesson's known wrong answers. They are read when they are first needed."""

    def __init__(
        self,
        spec: LessonSpec,
        mistakes: Sequence[Mistake],
        reference: LocalStudent | MissingReference,
    ) -> None:
        self.spec = spec
        self.mistakes = {one.id: one for one in mistakes}
        self.reference = reference
        self._known: dict[tuple[str, str, int], Behavior | None] = {}

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
        """Return the results, with a name by example for each function without one by a rule."""
        named: dict[str, CheckResult] = {}
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
        if "self" in run.unnamed_by:
            about = [cell for cell in about if self.source(cell).text != run.session.source.text]
        if not about:
            return {}
        limits = replace(run.session.limits, call_seconds=CALL_SECONDS)
        with contextlib.closing(
            StudentSession(
                workers, source=self.source(about[0]), scenarios=self.spec.scenarios, limits=limits
            )
        ) as session:
            matching = _Matching(self, run, session, failures)
            found = list(matching.cells(about))
            names = {cell.name for cell in found}
            if len(names) != 1:
                return {}
            (name,) = names
            near = [cell for cell in self.near if cell.name == name]
            if any(True for _ in matching.cells(near)):
                return {}
            diagnosis = self._explained(run, found, failures, session)
        if diagnosis is None:
            return {}
        return {
            check.id: replace(
                check,
                diagnosis=diagnosis.id,
                diagnosis_title=diagnosis.title,
                evidence=diagnosis.evidence,
                diagnosed_by="example",
            )
            for check in failed
        }

    def behavior(
        self, cell: CatalogueCell, check: CheckRun, seed: int, session: StudentSession
    ) -> Behavior | None:
        """Return what a known answer does in a check, None if it passes or gives no verdict."""
        key = (f"{cell.path}:{cell.line}", check.id, seed)
        if key not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            verdict = self.verdict(cell, check, seed, session)
            self._known[key] = Behavior.of(verdict) if verdict else None
        return self._known[key]

    def verdict(
        self, cell: CatalogueCell, check: CheckRun, seed: int, session: StudentSession
    ) -> CheckVerdict | None:
        with contextlib.suppress(StudentCodeError, WorkerLost, MissingName):
            session.reload(self.source(cell))
        return run_check(check.item, session, self.reference, seed)

    def _explained(
        self,
        run: SubmissionRun,
        found: Iterable[CatalogueCell],
        failures: list[KnownFailure],
        session: StudentSession,
    ) -> Diagnosis | None:
        """Return the mistake, its explanation filled with this failure's values, and with what its
        rule measures of the example; None if something would be left open.
        """
        for cell in found:
            mistake = self.mistakes[cell.name]
            for failure in failures:
                check = failure.check
                theirs = self.verdict(cell, check, check.seed, session)
                if theirs is None:
                    continue
                measured = self._facts(mistake, check, theirs, session)
                if _quotes(measured, self.source(cell), run.session.source):
                    continue
                shown = failure.shown | measured
                if _fields(mistake.title) | _fields(mistake.explanation) <= set(shown):
                    return Diagnosis(
                        mistake.id,
                        fill_text(mistake.title, shown, run.tr),
                        fill_text(mistake.explanation, shown, run.tr),
                    )
        return None

    def _facts(
        self, mistake: Mistake, check: CheckRun, verdict: CheckVerdict, session: StudentSession
    ) -> dict[str, Any]:
        """Return what the mistake's rule measures of an example; nothing where it has no rule."""
        if mistake.rule is None:
            return {}
        failure = Failure.of(check, verdict, self.reference, RandomInputs(check.seed))
        try:
            return mistake.rule(failure, RemoteStudent(session)) or {}
        except (StudentCodeError, WorkerLost, MissingName, NotStarted):
            return {}


class _Matching:
    """Looks for the cells that behave as one submission does in its failures."""

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
        """What the student's file does in the same checks from a second seed."""
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
            if "self" in self.run.unnamed_by and source.text == self.run.session.source.text:
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


def _fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def _quotes(facts: dict[str, Any], example: Source, student: Source) -> bool:
    """Return whether a fact speaks of the example's text: a line, or words the student's lacks."""
    return "line" in facts or any(
        isinstance(value, str) and value in example.text and value not in student.text
        for value in facts.values()
    )
