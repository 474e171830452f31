"""Judge a lesson's checks, as a pytest plugin.

pytest collects and runs them. This plugin provides their fixtures, decides before each check
whether it can run at all, and afterwards what its outcome is. The result (``results``) is stored in
the ``SubmissionRun``; pytest-json-report's metadata name it.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.core.errors import CourseError, EngineFault, MissingName, UndefinedTruth, WorkerLost
from grader.core.i18n import load_catalogue
from grader.core.limits import MIB
from grader.core.report import CheckResult, Outcome
from grader.course.course import Lesson
from grader.course.source import Source
from grader.judge.checks import (
    CheckSpec,
    Constants,
    call_check,
    namespace_of,
    order_checks,
    spec_of,
)
from grader.judge.examples import CheckRun, Examples, SubmissionRun
from grader.judge.exception_verdicts import (
    JUDGE_BYTES,
    OF_THIS_PROCESS,
    CheckVerdict,
    DependencyFailed,
    free_frames,
    is_shortage,
    missing_name,
    passed,
    verdict_of,
)
from grader.judge.local_student import Reference, reference_of
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.session import NotStarted, Student, student_error
from grader.judge.replay import NoLiteral, Recorder, ScriptWriter
from grader.judge.results import DIAGNOSED, Results
from grader.worker.wire.messages import explain

EXPECTS_NAN = (
    "a mistake in the course: {check} expects NaN without saying so. Correct the expected value, or"
    " pass expects_nan=True"
)
TOO_LARGE = "checking what your code returned takes more than {limit} MB of memory"


class LessonPlugin:
    """Judges one lesson's submissions, one after another: ``run`` is the current one."""

    def __init__(self, lesson: Lesson, lang: str) -> None:
        self.lesson = lesson
        self.stub = Source(lesson.stub_text, lesson.filename)
        self.scenarios = lesson.scenarios_text
        self.tr = load_catalogue(lang, lesson.texts(lang))
        self.withheld = lesson.held is not None
        self.solved = reference_of(lesson)
        self.results = Results(lesson, self.solved, self.stub)
        self.examples = Examples(lesson, self.results.mistakes, self.solved)
        self.collected: frozenset[str] = frozenset()
        self.constants = Constants(())
        self._run: SubmissionRun | None = None

    @contextlib.contextmanager
    def judging(self, run: SubmissionRun) -> Iterator[None]:
        """Judge one submission in a block, with the lesson's constants as they were at first."""
        self.constants.put_back()
        self._run = run
        try:
            yield
        finally:
            self._run = None

    @property
    def run(self) -> SubmissionRun:
        if self._run is None:
            raise EngineFault("no submission is being judged")
        return self._run

    @pytest.fixture
    def student(self) -> Student:
        return self.run.student_for_check()

    @pytest.fixture
    def reference(self) -> Reference:
        return self.solved

    @pytest.fixture
    def draw(self) -> RandomInputs:
        return RandomInputs(self.run.check.seed)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the checks in order; in a students' bundle omit those that use the reference."""
        if self.withheld:
            items[:] = [
                item for item in items if "reference" not in getattr(item, "fixturenames", ())
            ]
        self.collected = frozenset(item.name for item in items)
        items[:] = order_checks(items, withheld=self.withheld)
        rules = [one.rule for one in self.results.mistakes if one.rule is not None]
        checks = [getattr(item, "obj", None) for item in items]
        self.constants = Constants(map(namespace_of, [*filter(None, checks), *rules]))

    def id_of(self, name: str) -> str:
        return f"{self.lesson.id}.{name.removeprefix('test_')}"

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin a check, unless nothing was loaded or started, or a needed check did not pass."""
        run = self.run
        check = run.begin(self.id_of(item.name), item, spec_of(item))
        run.session.load()
        # for code that draws its own random numbers, such as gradgradcheck
        torch.default_generator.manual_seed(check.seed)
        if run.untouched(check.spec.about, self.stub):
            raise NotStarted(check.spec.about)
        for need in (need for need in check.spec.needs if need in self.collected):
            outcome = run.outcomes.get(need)
            if outcome is Outcome.NOT_STARTED:
                raise NotStarted(check.spec.about)
            if outcome is not Outcome.PASSED:
                raise DependencyFailed(need)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool:
        """Run the check, and once more if it did not follow its plan; record it if a script of it
        was requested. Steps on the student's objects that are pending at its end belong to it.
        """
        run = self.run

        def check() -> None:
            student = run.student_for_check()
            with run.recorder or contextlib.nullcontext():
                call_check(
                    pyfuncitem.obj, student=student, reference=self.solved, seed=run.check.seed
                )
                run.session.flush()

        try:
            check()
        except BaseException:
            if not run.session.ended_off_plan():
                raise
        else:
            if not run.session.ended_off_plan():
                return True
        run.begin_again()
        check()
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> pytest.TestReport:
        """Report a stage briefly, because pytest's own report parses the source of every frame."""
        return pytest.TestReport(
            item.nodeid,
            item.location,
            keywords={},
            outcome="failed" if call.excinfo else "passed",
            longrepr=call.excinfo.typename if call.excinfo else None,
            when=call.when,  # type: ignore[arg-type]
            duration=call.duration,
            start=call.start,
            stop=call.stop,
        )

    def pytest_json_runtest_stage(self, report: pytest.TestReport) -> dict[str, object]:
        """Report a stage without the parts that nobody reads and that take time to format."""
        data: dict[str, object] = {"duration": report.duration, "outcome": report.outcome}
        return {**data, "longrepr": report.longrepr} if report.longrepr else data

    def pytest_json_runtest_metadata(self, call: pytest.CallInfo[Any]) -> dict[str, object] | None:
        """Store the check's result, once it is known, and return the check's id."""
        if call.when == "teardown" or (call.when == "setup" and call.excinfo is None):
            return None
        run = self.run
        verdict = self.verdict(run, None if call.excinfo is None else call.excinfo.value)
        run.outcomes[run.check.item.name] = verdict.outcome
        if run.recorder is not None:
            run.script = self.script_for(run, run.recorder, verdict)
        run.results[run.check.id] = self.result(run, verdict, call.duration)
        return {"check": run.check.id}

    def result(self, run: SubmissionRun, verdict: CheckVerdict, seconds: float) -> CheckResult:
        """Return the check's result; without values if there is too little memory to show them."""
        try:
            return self.results.of(run, verdict, seconds)
        except (MemoryError, RuntimeError) as error:
            if not is_shortage(error):
                raise
            free_frames(error)
            bare = replace(verdict, expected=None, actual=None, inputs={}, figures=())
            return self.results.of(run, bare, seconds)

    def verdict(self, run: SubmissionRun, error: BaseException | None) -> CheckVerdict:
        """Return the verdict on a check, given the exception that ended it, if any."""
        if error is None:
            return passed(wrote=run.check.traffic.wrote)
        if isinstance(error, DependencyFailed):
            return self.waits(run, self.id_of(str(error)))
        if isinstance(error, WorkerLost) and error.waits_for not in (None, run.check.id):
            return self.waits(run, error.waits_for)
        session = run.session
        if isinstance(error, MissingName) and self.left_out(run.check.spec, error, session.source):
            return CheckVerdict(Outcome.NOT_STARTED)
        if isinstance(error, UndefinedTruth) and self.raises_on_the_reference(
            run.check, type(error)
        ):
            return CheckVerdict(Outcome.GRADER_ERROR, EXPECTS_NAN, {"check": run.check.id})
        return verdict_of(error, session.source, session.limits) or self.unexpected(run, error)

    @staticmethod
    def waits(run: SubmissionRun, needed: str) -> CheckVerdict:
        """Return the verdict on a check that waits for an earlier one, given its id."""
        facts = {"needed": run.results[needed].title}
        return CheckVerdict(Outcome.SKIPPED, "waits for: {needed}", facts, needs=needed)

    @staticmethod
    def left_out(spec: CheckSpec, error: MissingName, source: Source) -> bool:
        """Return whether a bonus part was deleted, and is not somewhere under another name or below
        the file's end; then it is not started.
        """
        about = error.name.partition(".")[0] == spec.about
        found = {"near", "line"} & missing_name(error, source).facts.keys()
        return spec.bonus and about and not found

    def unexpected(self, run: SubmissionRun, error: BaseException) -> CheckVerdict:
        """Judge an unexpected exception: a grader fault if the check uses the engine in a wrong
        way, if the reference raises too, or if the host has less memory than the judge may use.
        """
        note = "".join(traceback.format_exception(error))
        shortage = is_shortage(error)
        if shortage:
            free_frames(error)
        lacking = shortage and not OF_THIS_PROCESS.limited
        misused = isinstance(error, CourseError)
        if misused or lacking or self.raises_on_the_reference(run.check):
            return CheckVerdict(
                Outcome.GRADER_ERROR,
                "{reason}",
                {"reason": f"{type(error).__name__}: {error}"},
                note=note,
            )
        if shortage:
            return CheckVerdict(Outcome.FAILED, TOO_LARGE, {"limit": JUDGE_BYTES // MIB})
        explained = student_error(explain(error, run.session.source.filename))
        return CheckVerdict(
            Outcome.FAILED,
            "what came back could not be used: {raised}",
            {"raised": str(explained)},
            error=explained,
        )

    def raises_on_the_reference(self, check: CheckRun, kind: type[Exception] = Exception) -> bool:
        """Return whether a check raises such an exception on the reference too, or uses no fixture:
        then the submission can't be the cause. A students' bundle has no reference; its checks were
        tried when it was made.
        """
        if not getattr(check.item, "funcargs", {}):
            return True
        try:
            if not self.withheld:
                call_check(
                    check.item.obj,  # type: ignore[attr-defined]
                    student=self.solved,
                    reference=self.solved,
                    seed=check.seed,
                )
        except Exception as error:
            return isinstance(error, kind)
        return False

    def script_for(
        self, run: SubmissionRun, recorder: Recorder, verdict: CheckVerdict
    ) -> tuple[str, ...] | str | None:
        """Return the script of a check that did not pass, or why there is none."""
        if verdict.outcome not in DIAGNOSED:
            return None
        try:
            writer = ScriptWriter(
                recorder.steps,
                recorder.snapshots,
                inputs=verdict.inputs,
                module=run.session.source.module,
                scenarios=self.scenarios,
            )
            return tuple(writer.write(verdict.expected, verdict.actual, verdict.checker))
        except NoLiteral as reason:
            return str(reason)
