"""The pytest plugin that turns a lesson's checks into results.

pytest collects and runs the checks; this plugin gives them their fixtures, decides before each whether it can be asked at all, and
makes a ``CheckResult`` of what became of it, which travels in pytest-json-report's metadata.

Imports pytest, torch, ``checks``, ``diagnosis``, ``session``, ``local`` and what lies below.
"""

from __future__ import annotations

import contextlib
import hashlib
import traceback
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.checks import CheckSpec
from grader.diagnosis import Failure, Mistake, diagnose, fill_text, in_cells, mistakes_in, show_fact
from grader.errors import EngineFault
from grader.evidence import describe, describe_pair
from grader.figures import Figure, made
from grader.inputs import Draw
from grader.local import LocalStudent, Withheld, execute
from grader.model import CheckResult, Outcome
from grader.recording import Recorder
from grader.remote import RemoteStudent
from grader.scoring import points_for
from grader.script import Inexpressible, script_of
from grader.session import NotStarted, Session, student_error
from grader.snippet import snippet
from grader.source import Source
from grader.translation import Catalogue, load
from grader.verdicts import Blocked, Verdict, passed, verdict_of
from grader.worker import explain

MAX_SOURCE_LINE = 400
"""How many characters of a line a report shows."""
DIAGNOSED = (Outcome.FAILED, Outcome.ERROR)


def check_seed(seed: int, check_id: str) -> int:
    """The seed of one check: 32 bits of a hash of the run's seed and the check's id."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{check_id}".encode()).digest()[:4], "big")


class LessonPlugin:
    """Judges a lesson: made once for the lesson, ``take`` gives it a submission."""

    session: Session
    remote: RemoteStudent
    item: pytest.Item
    """The check that is run. Fixtures that asked pytest for it would have it read their signatures again for every check."""

    def __init__(self, spec: dict[str, Any]) -> None:
        """``spec`` as ``grading.spec_for`` makes it."""
        self.lesson: str = spec["lesson"]
        self.stub = Source(spec["stub"], spec["filename"])
        self.scenarios: str = spec["scenarios"]
        self.hints: dict[str, list[str]] = spec["hints"]
        self.hidden_files = {Path(path).name for path in spec["hidden_checks"]}
        self.mistakes = load_mistakes(spec["diagnosis"])
        self.say = load(spec["lang"], [Path(path) for path in spec["texts"]])
        solution: str | None = spec["solution"]
        self.withheld = solution is None
        self.solved = Withheld() if solution is None else LocalStudent(Source(solution, spec["filename"]), self.scenarios)
        self.asked: frozenset[str] = frozenset()
        self.seed = 0
        self.seeds: Mapping[str, int] = {}
        self.recorded: str | None = None
        self.recorder: Recorder | None = None
        self.script: list[str] | str | None = None
        self.outcomes: dict[str, Outcome] = {}
        self._untouched: dict[str, bool] = {}

    def take(self, session: Session, *, seed: int, seeds: Mapping[str, int] | None = None, recorded: str | None = None) -> None:
        """The submission to judge, by its session; each check's seed is derived from ``seed``, but for those that have theirs in ``seeds``.

        What the check ``recorded`` does is written down, and left in ``script``: its lines, or why there is none.
        """
        self.session = session
        self.remote = RemoteStudent(session)
        self.seed = seed
        self.seeds = seeds or {}
        self.recorded, self.recorder, self.script = recorded, None, None
        self.outcomes = {}
        self._untouched = {}

    # -------------------------------------------------------------------------------------------------------- fixtures

    @pytest.fixture
    def student(self) -> RemoteStudent:
        """The submission."""
        if self.id_of(self.item) != self.recorded:
            return self.remote
        self.recorder = Recorder(self.session)
        return self.recorder.student

    @pytest.fixture
    def reference(self) -> LocalStudent | Withheld:
        """The solution."""
        return self.solved

    @pytest.fixture
    def draw(self) -> Draw:
        """Randomness from this check's seed."""
        return Draw(self.seed_of(self.id_of(self.item)))

    # ------------------------------------------------------------------------------------------------------------ names

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
        """Whether a definition is still the stub's."""
        if name not in self._untouched:
            self._untouched[name] = self.session.source.same_definition(self.stub, name)
        return self._untouched[name]

    # ------------------------------------------------------------------------------------------------------------- hooks

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """A check comes after those that it needs, whichever file they are in.

        In a students' bundle those that ask the reference are not asked, and nobody waits for a check that isn't there.
        """
        if self.withheld:
            items[:] = [item for item in items if "reference" not in getattr(item, "fixturenames", ())]
        by_name = {item.name: item for item in items}
        self.asked = frozenset(by_name)
        ordered: dict[str, pytest.Item] = {}

        def place(item: pytest.Item, path: tuple[str, ...] = ()) -> None:
            if item.name in path:
                raise EngineFault(f"checks need each other in a circle: {' → '.join((*path, item.name))}")
            for need in self.spec_of(item).needs:
                if need not in by_name and self.withheld:
                    continue
                if need not in by_name:
                    raise EngineFault(f"{item.nodeid} needs {need}, which is no check of this lesson")
                place(by_name[need], (*path, item.name))
            ordered.setdefault(item.name, item)

        for item in items:
            place(item)
        items[:] = ordered.values()

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Whether the check can be asked: the module loads, the function is begun, what it needs has passed."""
        self.item = item
        spec = self.spec_of(item)
        self.session.load()
        self.session.wrote = False
        torch.default_generator.manual_seed(self.seed_of(self.id_of(item)))  # for what draws by itself, as gradgradcheck does
        self.session.asked = None
        if self.untouched(spec.about):
            raise NotStarted(spec.about)
        for need in (need for need in spec.needs if need in self.asked):
            outcome = self.outcomes.get(need)
            if outcome is Outcome.NOT_STARTED:
                raise NotStarted(spec.about)
            if outcome is not Outcome.PASSED:
                raise Blocked(need)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[None]:
        """The one check that is recorded is watched while it runs."""
        with self.recorder if self.recorder and self.id_of(pyfuncitem) == self.recorded else contextlib.nullcontext():
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> pytest.TestReport:
        """A stage as pytest tells it: a line. Its own account of a failure reads and parses the source of every frame."""
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
        """A stage in the report: no more than this, since nobody reads the rest, and writing it out takes a terminal's writer each time."""
        return {"duration": report.duration, "outcome": report.outcome, **({"longrepr": report.longrepr} if report.longrepr else {})}

    def pytest_json_runtest_metadata(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> dict[str, Any] | None:
        """The check's result, once it is known."""
        if call.when == "teardown" or (call.when == "setup" and call.excinfo is None):
            return None
        error = None if call.excinfo is None else call.excinfo.value
        verdict = self.verdict(item, error)
        self.outcomes[item.name] = verdict.outcome
        if self.recorder is not None and self.id_of(item) == self.recorded:
            self.script = self.written(self.recorder, verdict)
        return {"check": self.result(item, verdict, call.duration).as_data()}

    # ---------------------------------------------------------------------------------------------------------- verdicts

    def verdict(self, item: pytest.Item, error: BaseException | None) -> Verdict:
        """What became of a check, from what ended it, if anything did."""
        if error is None:
            return passed(wrote=self.session.wrote)
        if isinstance(error, Blocked):
            return Verdict(Outcome.SKIPPED, "waits for: {needed}", {"needed": self.title_of(item, str(error))})
        return verdict_of(error, self.session.source, self.session.limits) or self.unexpected(item, error)

    def unexpected(self, item: pytest.Item, error: BaseException) -> Verdict:
        """An exception that no check means to raise: tried again on the reference, it is either our fault or what came back."""
        note = "".join(traceback.format_exception(error))
        arguments = {name: value for name, value in getattr(item, "funcargs", {}).items() if name in ("student", "reference", "draw")}
        if not arguments or self.breaks_on_the_reference(item, arguments):
            return Verdict(Outcome.GRADER_ERROR, "{reason}", {"reason": f"{type(error).__name__}: {error}"}, note=note)
        explained = student_error(explain(error, self.session.source.filename))
        return Verdict(Outcome.FAILED, "what came back could not be used: {raised}", {"raised": str(explained)}, error=explained)

    def breaks_on_the_reference(self, item: pytest.Item, arguments: Collection[str]) -> bool:
        """Whether a check raises there too. Not asked in a students' bundle, which was proved with the reference when it was made."""
        again = {"student": self.solved, "reference": self.solved, "draw": Draw(self.seed_of(self.id_of(item)))}
        try:
            if not self.withheld:
                item.obj(**{name: again[name] for name in arguments})  # type: ignore[attr-defined]
        except Exception:
            return True
        return False

    def written(self, recorder: Recorder, verdict: Verdict) -> list[str] | str | None:
        """The script behind a check that did not pass; where there can be none, why."""
        if verdict.outcome not in DIAGNOSED:
            return None
        try:
            return script_of(
                recorder, expected=verdict.expected, actual=verdict.actual, inputs=verdict.inputs,
                gradcheck=verdict.facts.get("gradcheck_call"), module=self.session.source.module, scenarios=self.scenarios,
            )  # fmt: skip
        except Inexpressible as reason:
            return str(reason)

    def line_of(self, verdict: Verdict, spec: CheckSpec) -> int | None:
        """The line to show: where it was raised; the definition's header where it could not even be called; else its last return."""
        if isinstance(verdict.line, int) or verdict.outcome not in DIAGNOSED:
            return verdict.line
        return self.session.source.anchor(spec.at, header=verdict.error is not None)

    def title_of(self, item: pytest.Item, name: str) -> str:
        """The title of the check ``name``."""
        for other in item.session.items:
            if other.name == name:
                return self.say(title(other))
        return name

    def result(self, item: pytest.Item, verdict: Verdict, seconds: float) -> CheckResult:
        """The result as it is written down."""
        spec, check_id = self.spec_of(item), self.id_of(item)
        seed = self.seed_of(check_id)
        call = self.call_in(verdict)
        diagnosis, trouble = None, None
        if verdict.outcome in DIAGNOSED and self.session.loadable:
            failure = Failure(
                check=item.name, about=spec.about, message=verdict.message or "", reference=self.solved, draw=Draw(seed),
                expected=verdict.expected, actual=verdict.actual, inputs=verdict.inputs, facts=verdict.facts, error=verdict.error,
            )  # fmt: skip
            diagnosis, trouble = diagnose(self.mistakes, failure, self.remote, self.say)
        source = self.session.source
        line = self.line_of(verdict, spec)
        cell, shown = source.in_cell(line) if line else (None, line)
        expected, actual = describe_pair(verdict.expected, verdict.actual)
        steps = self.hints.get(spec.hint, [])
        output = self.session.take_output()
        figures = [worded(figure, self.say) for figure in made(verdict.figures)]
        self.session.take_output()  # what was printed for a figure is no part of the check
        message = verdict.message and fill_text(verdict.message, {**verdict.inputs, **in_cells(verdict.facts, source)}, self.say)
        return CheckResult(
            id=check_id,
            title=self.say(title(item)),
            function=spec.about,
            outcome=verdict.outcome,
            points=points_for(verdict.outcome, spec.points),
            max_points=spec.points,
            bonus=spec.bonus,
            hidden=item.path.name in self.hidden_files,
            message=message,
            diagnosis=diagnosis.id if diagnosis else None,
            diagnosis_title=diagnosis.title if diagnosis else None,
            evidence=diagnosis.evidence if diagnosis else None,
            hint=self.say(steps[0]) if steps and verdict.outcome is not Outcome.PASSED else None,
            expected=expected,
            actual=actual,
            inputs={self.say.known(name): describe(value) for name, value in verdict.inputs.items()},
            source_line=shown,
            cell=cell,
            source_text=source.line(line)[:MAX_SOURCE_LINE] or None,
            output=output,
            seed=seed,
            seconds=round(seconds, 6),
            note=verdict.note or trouble,
            figures=figures,
            call=call,
        )

    def call_in(self, verdict: Verdict) -> str | None:
        """The call that failed, to paste; none where a tensor is no longer what it was when it was handed over."""
        if verdict.outcome in (Outcome.PASSED, Outcome.NOT_STARTED, Outcome.SKIPPED, Outcome.GRADER_ERROR) or self.session.wrote:
            return None
        inputs = {self.say.known(name): value for name, value in verdict.inputs.items()}
        return snippet(self.session.asked, module=self.session.source.module, inputs=inputs, gradcheck="gradcheck" in verdict.facts)


def worded(figure: Figure, say: Catalogue) -> Figure:
    """A figure with the texts of its rows in the language of ``say``."""
    if "rows" not in figure:
        return figure
    rows = [[show_fact(cell, say) for cell in row] for row in figure["rows"]]
    return {**figure, "rows": rows}


def load_mistakes(path: str | None) -> list[Mistake]:
    """The mistakes of a lesson's ``diagnosis.py``."""
    if path is None:
        return []
    file = Path(path)
    return mistakes_in(vars(execute(file.read_text("utf-8"), "diagnosis", str(file))))


def title(item: pytest.Item) -> str:
    """The first line of a check's docstring."""
    docstring = getattr(getattr(item, "function", None), "__doc__", None) or item.name
    return str(docstring).strip().splitlines()[0]


def results_in(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The results that a pytest-json-report carries, in the order of the run."""
    for test in report.get("tests", ()):
        if "check" in test.get("metadata", {}):
            yield test["metadata"]["check"]
        else:
            raise EngineFault(f"pytest reported {test.get('nodeid')} without a result: {test}")
