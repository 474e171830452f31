"""Hold the state of judging one submission, and run its failed checks again to find out more: a
check that passed is never run again, so a right answer pays nothing.

**A name by example** (``Examples``), for the failures of a function that no rule named. Known wrong
answers run the failed checks from the same seed; those that agree in all failures (``Behavior``)
run them once more, from a second seed, as the student's file does. If they make different mistakes,
or a near miss is among them, or a rule named other failures, only those remain that also pass what
the student passed. If all that remain make the same mistake, and none is a near miss, it is the
name. A mistake with a rule is named only by its rule, because two answers may fail alike for
different reasons. The answers may hang or damage their process, so they run in a worker of their
own.

**A signature** (``sign``) of an unnamed wrong answer: equal for answers that fail alike from a seed
that all submissions share. **The line that ran** (``find_returned_lines``), where the function's
text does not tell: the worker notes the return by which the function ended.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Any

import pytest
import torch

from grader.core.errors import EngineFault, MissingName, StudentCodeError, WorkerLost
from grader.core.i18n import Catalogue, placeholders
from grader.core.report import CheckResult, Outcome
from grader.course.course import Lesson
from grader.course.lesson_texts import CatalogueCell
from grader.course.source import Source
from grader.course.stubs import compose, without_markers
from grader.judge.checks import CheckSpec, call_check
from grader.judge.describe import describe, describe_pair
from grader.judge.diagnosis import Diagnosis, Failure, Mistake, fill_text
from grader.judge.exception_verdicts import CheckVerdict, passed, verdict_of
from grader.judge.local_student import Reference
from grader.judge.open_evidence import open_evidence
from grader.judge.random_inputs import RandomInputs, Seeds, check_seed
from grader.judge.remote.proxies import Traffic
from grader.judge.remote.session import Student, StudentSession
from grader.judge.remote.workers import WorkerSource
from grader.judge.replay import Recorder


@dataclass(slots=True)
class SubmissionRun:
    """One submission, judged check by check.

    ``tr`` notes which of this submission's messages have no translation. ``recorded`` is the id of
    the check whose script was requested; ``script`` has its lines, or says why there are none.
    """

    session: StudentSession
    student: Student = field(init=False)
    seeds: Seeds
    tr: Catalogue
    recorded: str | None = None
    script: tuple[str, ...] | str | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """The outcomes, by the name of a check's function."""
    results: dict[str, CheckResult] = field(default_factory=dict)
    """The results so far, by the id of a check, in the order of the run."""
    naming_off: tuple[str, ...] = ()
    unnamed: dict[str, str] = field(default_factory=dict)
    """Why the failures of a function have no name by example, for the author."""
    failures: dict[str, KnownFailure] = field(default_factory=dict)
    """The failures, by the id of a check."""
    passed: dict[str, CheckRun] = field(default_factory=dict)
    """The checks that passed, by their id."""
    unsure_of_line: dict[str, str] = field(default_factory=dict)
    """The definition at which of its returns a failed check's call ended is unknown, by the id."""
    reported_bytes: int = 0
    """How many bytes of JSON the results take so far."""
    check: CheckRun = field(init=False)
    """The check that is running, or ran last."""
    _recorder: Recorder | None = None
    _untouched: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.student = self.session.student()

    def failed(self) -> Iterator[tuple[str, list[CheckResult]]]:
        """Yield each function that has a failed check, with those checks."""
        failed = [self.results[id] for id in self.failures]
        for function in dict.fromkeys(one.function for one in failed):
            yield function, [one for one in failed if one.function == function]

    def begin(self, check_id: str, item: pytest.Item, spec: CheckSpec) -> CheckRun:
        """Begin a check, and forget what the last one did at the border."""
        seed, traffic = self.seeds.of(check_id), self.session.begin_check(check_id)
        self.check = CheckRun(check_id, item, spec, seed, traffic)
        return self.check

    def begin_again(self) -> None:
        """Begin the check again, without a plan."""
        self.check = replace(self.check, traffic=self.session.begin_again())
        torch.default_generator.manual_seed(self.check.seed)

    def student_for_check(self) -> Student:
        """Return the student to pass to the check: a recorder's, if the check is recorded."""
        if self.check.id != self.recorded:
            return self.student
        self._recorder = Recorder(self.session)
        return self._recorder.student

    @property
    def recorder(self) -> Recorder | None:
        """Return the check's recorder, if the check is recorded and used the student."""
        return self._recorder if self.check.id == self.recorded else None

    def untouched(self, name: str, stub: Source) -> bool:
        """Return whether a definition is still the stub's and the file does not change it
        elsewhere. If it can't be compared, it is not.
        """
        if name not in self._untouched:
            source = self.session.source
            self._untouched[name] = False
            with contextlib.suppress(ValueError, RecursionError):
                same = source.same_definition(stub, name)
                self._untouched[name] = same and not source.may_be_changed(name)
        return self._untouched[name]


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One check, run on one submission; ``traffic`` is what crosses the border during the check."""

    id: str
    item: pytest.Item
    spec: CheckSpec
    seed: int
    traffic: Traffic

    def failure(self, verdict: CheckVerdict, reference: Any, stub: Source) -> Failure:
        """Return what rules see of this check if it did not pass."""
        return Failure(
            **{one.name: getattr(verdict, one.name) for one in fields(verdict)}
            | {"at": verdict.at or self.spec.at},
            check=self.item.name,
            about=self.spec.about,
            reference=reference,
            draw=RandomInputs(self.seed),
            call=self.traffic.last_call,
            stub=stub,
        )


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A failure, kept until all checks have run: texts in place of values, which may be large."""

    check: CheckRun
    behavior: Behavior
    shown: dict[str, str]


def run_check(
    item: pytest.Item, session: StudentSession, reference: Reference, seed: int
) -> CheckVerdict | None:
    """Run a collected check once more, from a seed; return None if it ended without a verdict. This
    is not a grading: points, results and what the student sees do not change.
    """
    traffic = session.begin_check()
    torch.default_generator.manual_seed(seed)
    try:
        session.load()
        call_check(
            item.obj,  # type: ignore[attr-defined]
            student=session.student(),
            reference=reference,
            seed=seed,
        )
    except EngineFault:
        raise
    except Exception as error:
        return verdict_of(error, session.source, session.limits)
    finally:
        session.take_output()
    return passed(wrote=traffic.wrote)


CALL_SECONDS = 2.0
"""How long one call of a known wrong answer may take."""
SLOW = 2.0
"""A check that took a student this many seconds is not run again."""
KEPT = 20_000
"""How many behaviors of known wrong answers a judge remembers."""
NO_EXAMPLE = "no rule recognizes this, and no known wrong answer without a rule fails alike"


class Examples:
    """A lesson's known wrong answers, read when first needed; a students' bundle has none."""

    def __init__(self, lesson: Lesson, mistakes: Sequence[Mistake], reference: Reference) -> None:
        self.lesson = lesson
        self.mistakes = {one.id: one for one in mistakes}
        self.reference = reference
        self.ruleless = frozenset(one.id for one in mistakes if one.rule is None)
        self._endless: set[CatalogueCell] = set()
        self._known: dict[tuple[str, str, int], Behavior | None] = {}

    def nameable(self, run: SubmissionRun) -> frozenset[str]:
        """Return what examples can name: mistakes without a rule, or all while rules are off."""
        return frozenset(self.mistakes) if "rule" in run.naming_off else self.ruleless

    @functools.cached_property
    def solution(self) -> str:
        return without_markers(self.lesson.solution.read_text("utf-8"))

    @functools.cached_property
    def wrong(self) -> tuple[CatalogueCell, ...]:
        return tuple(cell for cell in self.lesson.mistakes if cell.applies())

    @functools.cached_property
    def near(self) -> tuple[CatalogueCell, ...]:
        return tuple(cell for cell in self.lesson.near_misses if cell.applies())

    @functools.cache  # noqa: B019  one for each lesson, as long as its judge
    def source(self, cell: CatalogueCell) -> Source:
        return Source(compose(self.solution, cell.source, name=cell.label), self.lesson.filename)

    def name(self, run: SubmissionRun, workers: WorkerSource) -> None:
        """Name by example the failures that no rule named."""
        if not self.nameable(run):
            return
        for function, failed in run.failed():
            if function.partition(".")[0] not in run.session.source.text:
                continue  # it is missing, and no known answer lacks a definition
            mine = [one for one in run.results.values() if one.function == function]
            if any(
                one.outcome in (Outcome.TIMEOUT, Outcome.CRASHED, Outcome.GRADER_ERROR)
                or one.seconds > SLOW
                for one in mine
            ):
                continue
            unnamed = [one for one in failed if one.diagnosed_by != "rule"]
            with contextlib.suppress(EngineFault, StudentCodeError, WorkerLost, MissingName):
                if unnamed and (diagnosis := self._diagnosis(run, function, unnamed, workers)):
                    run.results |= {check.id: named(check, diagnosis) for check in unnamed}

    def _diagnosis(
        self, run: SubmissionRun, function: str, unnamed: list[CheckResult], workers: WorkerSource
    ) -> Diagnosis | None:
        """Return the mistake that all matching answers make, if there is exactly one; else note
        why there is none.
        """
        nameable: list[CatalogueCell] = []
        others: list[CatalogueCell] = []
        for cell in self.wrong:
            if cell.name in self.mistakes and function in self.mistakes[cell.name].about:
                (nameable if cell.name in self.nameable(run) else others).append(cell)
        if not nameable:
            return None
        failures = [run.failures[one.id] for one in unnamed]
        with contextlib.closing(
            StudentSession(
                workers,
                source=self.source(nameable[0]),
                scenarios=self.lesson.scenarios_text,
                limits=run.session.limits,
            )
        ) as session:
            mine = [one for one in run.results.values() if one.function == function]
            passed = [run.passed[one.id] for one in mine if one.outcome is Outcome.PASSED]
            matching = _Matching(self, run, session, failures, passed)
            found = list(matching.cells(nameable))
            if not found:
                run.unnamed[function] = NO_EXAMPLE
                return None
            found += matching.cells(others)
            names = {cell.name for cell in found}
            near = list(matching.cells(one for one in self.near if one.name in names))
            others_named = any(one.diagnosed_by == "rule" for one in mine)
            if len(names) > 1 or near or others_named:
                found, near = matching.passing(found), matching.passing(near)
        names = {cell.name for cell in found}
        near = [cell for cell in near if cell.name in names]
        if len(names) != 1 or near:
            labels = [f"mistake {one.label}" for one in found]
            labels += [f"near miss {one.label}" for one in near]
            alike = ", ".join(labels)
            run.unnamed[function] = f"alike from two seeds: {alike}" if alike else NO_EXAMPLE
            return None
        (name,) = names
        if name not in self.nameable(run):
            run.unnamed[function] = f"{name} has a rule, which does not recognize this"
            return None
        diagnosis = self._explained(name, run, failures)
        if diagnosis is None:
            run.unnamed[function] = f"no failure has all that the texts of {name} show"
        return diagnosis

    def behavior(
        self, cell: CatalogueCell, check: CheckRun, seed: int, session: StudentSession
    ) -> Behavior | None:
        """Return a known answer's behavior in a check; None if it gives no verdict."""
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
        """Return the mistake, its explanation filled from the first failure that has all the facts;
        None if no failure has them, because the explanation would not fit this submission.
        """
        mistake = self.mistakes[name]
        wanted = placeholders(mistake.title) | placeholders(mistake.explanation)
        shown = next((one.shown for one in failures if wanted <= set(one.shown)), None)
        if shown is None and mistake.rule is None:
            return None
        title = fill_text(mistake.title, shown or {}, run.tr)
        evidence = fill_text(mistake.explanation, shown or {}, run.tr)
        return Diagnosis(name, title, evidence, mistake.explanation, "example")


def named(check: CheckResult, diagnosis: Diagnosis) -> CheckResult:
    """Return a result with the name of the mistake."""
    return replace(
        check,
        diagnosis=diagnosis.id,
        diagnosis_title=diagnosis.title,
        evidence=diagnosis.evidence,
        open_evidence=open_evidence(diagnosis) if check.hidden else None,
        diagnosed_by=diagnosis.by,
    )


@dataclass
class _Matching:
    """Finds the cells that behave like one submission in its failures."""

    examples: Examples
    run: SubmissionRun
    session: StudentSession
    failures: list[KnownFailure]
    passed: list[CheckRun]

    @functools.cached_property
    def again(self) -> list[tuple[CheckRun, int, Behavior | None]]:
        """The behavior of the student's file in the same checks, from a second seed."""
        found = []
        for failure in self.failures:
            check, seed = failure.check, check_seed(failure.check.seed, "second")
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

    def passing(self, cells: Iterable[CatalogueCell]) -> list[CatalogueCell]:
        """Return the cells that pass every check that the submission passed."""
        return [cell for cell in cells if all(self._passes(cell, check) for check in self.passed)]

    def _passes(self, cell: CatalogueCell, check: CheckRun) -> bool:
        theirs = self.examples.behavior(cell, check, check.seed, self.session)
        return theirs is not None and theirs.outcome == Outcome.PASSED

    def _agrees(
        self, cell: CatalogueCell, asked: Iterable[tuple[CheckRun, int, Behavior | None]]
    ) -> bool:
        for check, seed, mine in asked:
            theirs = self.examples.behavior(cell, check, seed, self.session)
            if mine is None or theirs is None or not mine.agrees(theirs):
                return False
        return True


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
CLOSE, TINY = 1e-5, 1e-8
SHARE = 0.02
"""Two values that are both wrong agree if they differ by less than this share of the error."""


@dataclass(frozen=True, slots=True)
class Behavior:
    """A failure: message and facts without line numbers, values as in a report."""

    outcome: str
    message: str
    facts: Any
    expected: Any
    actual: Any

    @classmethod
    def of(cls, verdict: CheckVerdict) -> Behavior:
        facts = {name: value for name, value in verdict.facts.items() if name != "line"}
        pair = describe_pair(verdict.expected, verdict.actual)
        return cls(verdict.outcome, verdict.message, describe(facts), *pair)

    def agrees(self, other: Behavior) -> bool:
        """Return whether two failures of one check, from one seed, are the same."""
        return (
            (self.outcome, self.message) == (other.outcome, other.message)
            and alike(self.facts, other.facts)
            and alike(self.expected, other.expected)
            and alike(self.actual, other.actual)
            and self._errors_agree(other)
        )

    def _errors_agree(self, other: Behavior) -> bool:
        """Return whether the errors agree: a wrong step size changes only the last digits."""
        mine, theirs, right = (
            list(finite_numbers(value)) for value in (self.actual, other.actual, self.expected)
        )
        if not mine or len({len(mine), len(theirs), len(right)}) > 1:
            return True
        error = max(abs(a - b) for a, b in zip(mine, right, strict=True))
        return all(abs(a - b) <= SHARE * error for a, b in zip(mine, theirs, strict=True))


def alike(left: Any, right: Any) -> bool:
    """Return whether described values are equal, numbers within a tolerance, in texts too."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return type(left) is type(right) and math.isclose(left, right, rel_tol=CLOSE, abs_tol=TINY)
    if isinstance(left, str) and isinstance(right, str):
        return left == right or _alike_texts(left, right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
    return bool(left == right)


def _alike_texts(left: str, right: str) -> bool:
    if NUMBER.sub("0", left) != NUMBER.sub("0", right):
        return False
    pairs = zip(NUMBER.findall(left), NUMBER.findall(right), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-3) for a, b in pairs)


def finite_numbers(described: Any) -> Iterator[float]:
    """Yield the finite numbers of a described value, but not those of its shape."""
    if isinstance(described, int | float) and not isinstance(described, bool):
        yield float(described)
    elif isinstance(described, list):
        for item in described:
            yield from finite_numbers(item)
    elif isinstance(described, dict):
        for key, value in described.items():
            if key not in ("shape", "dtype", "cut", "before"):
                yield from finite_numbers(value)


SEED = 1
DIGITS = 4
"""How many significant digits of a number count. Two ways to write one formula differ in the last
digits.
"""
LENGTH = 8
"""How many hexadecimal digits a signature has."""


def sign(run: SubmissionRun, reference: Reference) -> None:
    """Give signatures to the failed checks of functions without any diagnosis."""
    for function, failed in run.failed():
        named_or_slow = any(one.diagnosis or one.seconds > SLOW for one in failed)
        if named_or_slow or function not in run.session.source.definitions:
            continue
        text = json.dumps([function, *_behaviors(run, failed, reference)], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
        for one in failed:
            run.results[one.id] = replace(one, signature=digest)


def _behaviors(
    run: SubmissionRun, failed: list[CheckResult], reference: Reference
) -> Iterator[Any]:
    for one in failed:
        item = run.failures[one.id].check.item
        verdict = run_check(item, run.session, reference, check_seed(SEED, one.id))
        if verdict is None or verdict.outcome is Outcome.PASSED:
            yield [one.id, Outcome.PASSED.value]
        else:
            yield [one.id, *map(_rounded, astuple(Behavior.of(verdict)))]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0 if math.isfinite(value) else repr(value)
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return value


def find_returned_lines(run: SubmissionRun, session: StudentSession, reference: Reference) -> None:
    """Point the results at the return that ran, unless the check fails in another way now."""
    for id, at in run.unsure_of_line.items():
        check = run.results[id]
        if check.seconds <= SLOW:
            with (
                session.off_the_clock(),
                contextlib.suppress(EngineFault, StudentCodeError, WorkerLost, MissingName),
            ):
                run.results[id] = _with_line(run.failures[id], session, check, reference, at)


def _with_line(
    failure: KnownFailure,
    session: StudentSession,
    check: CheckResult,
    reference: Reference,
    at: str,
) -> CheckResult:
    lines = session.source.return_lines(at)
    with session.tracing(at, lines):
        verdict = run_check(failure.check.item, session, reference, check.seed)
    if verdict is None or not failure.behavior.agrees(Behavior.of(verdict)):
        return check
    line = session.returned_line
    if line not in lines:
        line = session.source.anchor(at, header=True)
        assert line is not None
    cell, shown = session.source.in_cell(line)
    return replace(check, source_line=shown, cell=cell, source_text=session.source.shown(line))
