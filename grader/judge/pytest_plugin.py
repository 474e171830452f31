"""The pytest plugin that judges a lesson's checks.

pytest collects and runs them; this plugin gives them their fixtures, decides before each whether it
can be asked at all and afterwards what became of it. The result (``results``) travels in
pytest-json-report's metadata.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.core.errors import EngineFault
from grader.core.i18n import load
from grader.core.protocol import LessonSpec
from grader.core.report import Outcome
from grader.course.source import Source
from grader.judge.checks import CheckSpec
from grader.judge.local_student import LocalStudent, MissingReference, reference_of
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.rpc import student_error
from grader.judge.remote.session import NotStarted, StudentSession
from grader.judge.replay.literals import NoLiteral
from grader.judge.replay.recording import Recorder
from grader.judge.replay.script import script_of
from grader.judge.results import DIAGNOSED, CheckRun, Results, title
from grader.judge.seeds import check_seed
from grader.judge.verdicts import CheckVerdict, DependencyFailed, passed, verdict_of
from grader.worker.wire.exceptions import explain


class LessonPlugin:
    """Judges a lesson: made once for the lesson, ``take`` gives it a submission."""

    session: StudentSession
    remote: RemoteStudent
    item: pytest.Item
    """The check that is run. Fixtures that asked pytest for it would have it read their signatures
    again for every check.
    """

    def __init__(self, spec: LessonSpec) -> None:
        self.lesson = spec.lesson
        self.stub = Source(spec.stub, spec.filename)
        self.scenarios = spec.scenarios
        self.tr = load(spec.lang, [Path(path) for path in spec.texts])
        self.withheld = spec.solution is None
        self.solved = reference_of(spec)
        self.results = Results(spec, self.tr, self.solved)
        self.asked: frozenset[str] = frozenset()
        self.seed = 0
        self.seeds: Mapping[str, int] = {}
        self.recorded: str | None = None
        self.recorder: Recorder | None = None
        self.script: tuple[str, ...] | str | None = None
        self.outcomes: dict[str, Outcome] = {}
        self._untouched: dict[str, bool] = {}

    def take(
        self,
        session: StudentSession,
        *,
        seed: int,
        seeds: Mapping[str, int] | None = None,
        recorded: str | None = None,
    ) -> None:
        """The submission to judge, by its session; each check's seed is derived from ``seed``, but
        for those that have theirs in ``seeds``.

        What the check ``recorded`` does is written down, and left in ``script``: its lines, or why
        there is none.
        """
        self.session = session
        self.remote = RemoteStudent(session)
        self.seed = seed
        self.seeds = seeds or {}
        self.recorded, self.recorder, self.script = recorded, None, None
        self.outcomes = {}
        self._untouched = {}

    # ------------------------------------------------------------------------------------- fixtures

    @pytest.fixture
    def student(self) -> RemoteStudent:
        """The submission."""
        if self.id_of(self.item) != self.recorded:
            return self.remote
        self.recorder = Recorder(self.session)
        return self.recorder.student

    @pytest.fixture
    def reference(self) -> LocalStudent | MissingReference:
        """The solution."""
        return self.solved

    @pytest.fixture
    def draw(self) -> RandomInputs:
        """Randomness from this check's seed."""
        return RandomInputs(self.seed_of(self.id_of(self.item)))

    # ---------------------------------------------------------------------------------------- names

    def id_of(self, item: pytest.Item) -> str:
        """``custom_sigmoid.gradient_uses_the_incoming_gradient``."""
        return f"{self.lesson}.{item.name.removeprefix('test_')}"

    def seed_of(self, check_id: str) -> int:
        """The check's seed, derived from the run's."""
        return self.seeds.get(check_id, check_seed(self.seed, check_id))

    @staticmethod
    def spec_of(item: pytest.Item) -> CheckSpec:
        """What the check's decorator says."""
        spec = getattr(getattr(item, "function", None), "check", None)
        if not isinstance(spec, CheckSpec):
            raise EngineFault(f"{item.nodeid} has no @check")
        return spec

    def untouched(self, name: str) -> bool:
        """Whether a definition is still the stub's, and nothing else in the file says what it
        is.
        """
        if name not in self._untouched:
            source = self.session.source
            self._untouched[name] = source.same_definition(
                self.stub, name
            ) and not source.may_be_changed(name)
        return self._untouched[name]

    # ---------------------------------------------------------------------------------------- hooks

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """A check comes after those that it needs, whichever file they are in.

        In a students' bundle those that ask the reference are not asked, and nobody waits for a
        check that isn't there.
        """
        if self.withheld:
            items[:] = [
                item for item in items if "reference" not in getattr(item, "fixturenames", ())
            ]
        by_name = {item.name: item for item in items}
        self.asked = frozenset(by_name)
        ordered: dict[str, pytest.Item] = {}

        def place(item: pytest.Item, path: tuple[str, ...] = ()) -> None:
            if item.name in path:
                raise EngineFault(
                    f"checks need each other in a circle: {' → '.join((*path, item.name))}"
                )
            for need in self.spec_of(item).needs:
                if need not in by_name and self.withheld:
                    continue
                if need not in by_name:
                    raise EngineFault(
                        f"{item.nodeid} needs {need}, which is no check of this lesson"
                    )
                place(by_name[need], (*path, item.name))
            ordered.setdefault(item.name, item)

        for item in items:
            place(item)
        items[:] = ordered.values()

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Whether the check can be asked: the module loads, the function is begun, what it needs
        has passed.
        """
        self.item = item
        spec = self.spec_of(item)
        self.session.load()
        self.session.wrote = False
        torch.default_generator.manual_seed(
            self.seed_of(self.id_of(item))
        )  # for what draws by itself, as gradgradcheck does
        self.session.asked = None
        if self.untouched(spec.about):
            raise NotStarted(spec.about)
        for need in (need for need in spec.needs if need in self.asked):
            outcome = self.outcomes.get(need)
            if outcome is Outcome.NOT_STARTED:
                raise NotStarted(spec.about)
            if outcome is not Outcome.PASSED:
                raise DependencyFailed(need)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[None]:
        """The one check that is recorded is watched while it runs."""
        with (
            self.recorder
            if self.recorder and self.id_of(pyfuncitem) == self.recorded
            else contextlib.nullcontext()
        ):
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> pytest.TestReport:
        """A stage as pytest tells it: a line. Its own account of a failure reads and parses the
        source of every frame.
        """
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed" if call.excinfo else "passed",
            longrepr=call.excinfo.typename if call.excinfo else None,
            when=call.when,  # type: ignore[arg-type]
            duration=call.duration,
            start=call.start,
            stop=call.stop,
        )

    def pytest_json_runtest_stage(self, report: pytest.TestReport) -> dict[str, Any]:
        """A stage in the report: no more than this, since nobody reads the rest, and writing it out
        takes a terminal's writer each time.
        """
        return {
            "duration": report.duration,
            "outcome": report.outcome,
            **({"longrepr": report.longrepr} if report.longrepr else {}),
        }

    def pytest_json_runtest_metadata(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> dict[str, Any] | None:
        """The check's result, once it is known."""
        if call.when == "teardown" or (call.when == "setup" and call.excinfo is None):
            return None
        error = None if call.excinfo is None else call.excinfo.value
        verdict = self.verdict(item, error)
        self.outcomes[item.name] = verdict.outcome
        if self.recorder is not None and self.id_of(item) == self.recorded:
            self.script = self.written(self.recorder, verdict)
        check_id = self.id_of(item)
        judged = CheckRun(
            check_id, item, self.spec_of(item), verdict, self.seed_of(check_id), call.duration
        )
        return {"check": self.results.of(judged, self.session, self.remote).as_json()}

    # ------------------------------------------------------------------------------------- verdicts

    def verdict(self, item: pytest.Item, error: BaseException | None) -> CheckVerdict:
        """What became of a check, from what ended it, if anything did."""
        if error is None:
            return passed(wrote=self.session.wrote)
        if isinstance(error, DependencyFailed):
            needed = next(
                (self.tr(title(other)) for other in item.session.items if other.name == str(error)),
                str(error),
            )
            return CheckVerdict(Outcome.SKIPPED, "waits for: {needed}", {"needed": needed})
        return verdict_of(error, self.session.source, self.session.limits) or self.unexpected(
            item, error
        )

    def unexpected(self, item: pytest.Item, error: BaseException) -> CheckVerdict:
        """An exception that no check means to raise: tried again on the reference, it is either our
        fault or what came back.
        """
        note = "".join(traceback.format_exception(error))
        arguments = {
            name: value
            for name, value in getattr(item, "funcargs", {}).items()
            if name in ("student", "reference", "draw")
        }
        if not arguments or self.breaks_on_the_reference(item, arguments):
            return CheckVerdict(
                Outcome.GRADER_ERROR,
                "{reason}",
                {"reason": f"{type(error).__name__}: {error}"},
                note=note,
            )
        explained = student_error(explain(error, self.session.source.filename))
        return CheckVerdict(
            Outcome.FAILED,
            "what came back could not be used: {raised}",
            {"raised": str(explained)},
            error=explained,
        )

    def breaks_on_the_reference(self, item: pytest.Item, arguments: Collection[str]) -> bool:
        """Whether a check raises there too. Not asked in a students' bundle, which was proved with
        the reference when it was made.
        """
        again = {
            "student": self.solved,
            "reference": self.solved,
            "draw": RandomInputs(self.seed_of(self.id_of(item))),
        }
        try:
            if not self.withheld:
                item.obj(**{name: again[name] for name in arguments})  # type: ignore[attr-defined]
        except Exception:
            return True
        return False

    def written(self, recorder: Recorder, verdict: CheckVerdict) -> tuple[str, ...] | str | None:
        """The script behind a check that did not pass; where there can be none, why."""
        if verdict.outcome not in DIAGNOSED:
            return None
        try:
            lines = script_of(
                recorder,
                expected=verdict.expected,
                actual=verdict.actual,
                inputs=verdict.inputs,
                gradcheck=verdict.facts.get("gradcheck_call"),
                module=self.session.source.module,
                scenarios=self.scenarios,
            )
            return tuple(lines)
        except NoLiteral as reason:
            return str(reason)
