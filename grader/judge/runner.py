"""Run one lesson's checks against one submission and decide the outcome of each: the judge.

It holds the checks, the solution and the expected values. It has the student's file only as text,
and a worker runs it. pytest runs the checks.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_jsonreport.plugin
from pytest_jsonreport.plugin import JSONReport

from grader.core.errors import EngineFault, StudentCodeError, WorkerLost
from grader.core.i18n import Catalogue
from grader.core.messages import Answer, FileProblem, JudgeResult, LessonSpec, Task
from grader.course.source import Source
from grader.course.syntax_errors import explain
from grader.judge.broken_course import course_error, course_errors
from grader.judge.flags import flags_in
from grader.judge.pytest_plugin import LessonPlugin
from grader.judge.remote.session import StudentSession
from grader.judge.remote.worker_sources import WorkerSource
from grader.judge.repair.trials import Trials
from grader.judge.results import results_in
from grader.judge.returned_lines import with_returned_lines
from grader.judge.seeds import Seeds
from grader.judge.signatures import with_signatures
from grader.judge.submission_run import SubmissionRun
from grader.worker.wire.compat import PLUGINS_LEFT_OUT, json_report_of

PYTEST_OPTIONS = (
    "--noconftest",
    "--import-mode=importlib",
    "--assert=plain",
    *(word for name in PLUGINS_LEFT_OUT for word in ("-p", f"no:{name}")),
    "--json-report-file=none",
    "--json-report-omit",
    *("log", "keywords", "streams", "warnings", "collectors", "traceback"),
)
"""pytest's options: it prints, captures and rewrites nothing, and reads no settings."""

CHECK_FILES = ("test_visible", "test_hidden")
UNREADABLE = (
    "it is too long, or its expressions are nested too deeply, to be read before it is run. Write"
    " it in shorter pieces"
)


class Judge:
    """One lesson's checks, collected once, and everything needed to judge submissions by them."""

    def __init__(self, spec: LessonSpec) -> None:
        """Read the lesson; raise CourseError if one of its files can't be used."""
        self.spec = spec
        with course_errors(spec):
            self.plugin = LessonPlugin(spec)

    def run(self, serve: Callable[[Judging], None]) -> None:
        """Collect the checks, then call ``serve`` with a function that judges a submission.

        Raise CourseError if the checks can't be collected, and pass on what ``serve`` raises.
        """
        engine = _Engine(lambda checks: serve(functools.partial(self.judge, checks)))
        try:
            run_pytest(self.spec.check_files, engine, self.plugin)
        except EngineFault:
            for error in engine.uncollected:
                raise course_error(error, self.spec) or error from None
            raise

    def judge(self, checks: pytest.Session, task: Task, workers: WorkerSource) -> JudgeResult:
        """Run the collected checks on a submission and return all results.

        If the task has ``unlocated`` failures, it was judged before: only search for repairs.
        """
        if task.unlocated:
            trials = Trials(self.spec, self.plugin, checks.items, task, workers)
            return JudgeResult((), repairs=tuple(trials.repairs()), nonce=task.nonce)
        with contextlib.closing(self.session_for(task, workers)) as session:
            run = SubmissionRun(
                session,
                Seeds(task.seed, task.seeds),
                self.plugin.tr.fresh(),
                task.recorded,
                naming_off=task.naming_off,
            )
            invalid = load_submission(session, run.tr, task.problem)
            with self.plugin.judging(run):
                report = run_checks(checks)
            results = tuple(results_in(report))
            if run.failures and "example" not in task.naming_off:
                results = self.plugin.examples.name(run, results, workers)
            if run.unsure_of_line:
                results = with_returned_lines(run, session, results, self.plugin.results.reference)
            if run.failures and task.signed:
                results = with_signatures(run, results, self.plugin.results.reference)
        guarantees, missing = session.guarantees
        replaced = [
            run.tr("{file} replaced {name} while it was loaded", file=task.filename, name=name)
            for name in session.replaced
        ]
        return JudgeResult(
            results,
            invalid,
            guarantees,
            missing,
            session.limits,
            flags=(*flags_in(session.source, run.tr), *replaced),
            untranslated=tuple(sorted(run.tr.missing)),
            script=run.script,
            catalogue={one.id: tuple(one.about) for one in self.plugin.results.mistakes},
            nonce=task.nonce,
        )

    def session_for(self, task: Task, workers: WorkerSource) -> StudentSession:
        """Return a session for a submission; it starts no worker yet."""
        problem = None
        if task.problem is not None:
            problem = StudentCodeError("invalid file", task.problem.message, line=task.problem.line)
        source = Source(task.source, task.filename, task.cells)
        asked = self.plugin.stub.definitions
        return StudentSession(
            workers,
            source=source,
            scenarios=self.spec.scenarios,
            limits=task.limits,
            unloadable=problem,
            optional_after=source.end_of_definitions(asked) if source.cells else None,
        )


def load_submission(
    session: StudentSession, tr: Catalogue, problem: FileProblem | None
) -> FileProblem | None:
    """Have a worker load the file. Return why it can't be loaded, or None."""
    unreadable = StudentCodeError(tr("unreadable file"), tr(UNREADABLE))
    try:
        if session.loadable and session.source.too_long:  # compiling it may take long, too
            session.make_unloadable(unreadable)
        session.load()
        if session.source.unreadable:  # rules that read the source would have nothing to read
            session.make_unloadable(unreadable)
            session.load()
    except StudentCodeError as error:
        return problem or FileProblem(load_error_text(error, session.source, tr), error.line)
    except WorkerLost as lost:
        reason = tr(lost.template, **lost.facts)
        return FileProblem(tr("loading the file: {reason}", reason=reason), lost.line)
    return None


def load_error_text(error: StudentCodeError, source: Source, tr: Catalogue) -> str:
    """Return the text of an exception from loading a file, a syntax error's explanation first."""
    raised = str(error)
    if not error.is_a("SyntaxError"):
        return raised
    explained = explain(error.message, source.line(error.line))
    return f"{tr(explained.template, **explained.facts)} ({raised})" if explained else raised


def judge_once(spec: LessonSpec, task: Task, workers: WorkerSource) -> Answer:
    """Collect a lesson's checks for a single submission and judge it."""
    answers: list[Answer] = []
    Judge(spec).run(lambda judge: answers.append(judge(task, workers)))
    return answers[0]


Judging = Callable[[Task, WorkerSource], Answer]
"""Judges one submission, given a task and a source of workers."""


class SubmissionReport(JSONReport):  # type: ignore[misc]
    """A pytest-json-report that starts again for each submission; ``_Engine`` adds its hooks."""

    pytest_addhooks = None

    def begin(self, checks: pytest.Session) -> None:
        JSONReport.__init__(self, checks.config)
        self.pytest_sessionstart(checks)


class _Engine:
    """Hooks that let pytest collect and then leave the loop over submissions to ``serve``."""

    def __init__(self, serve: Callable[[pytest.Session], None]) -> None:
        self._serve = serve
        self.error: Exception | None = None
        self.served = False
        self.uncollected: list[BaseException] = []

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        pluginmanager.add_hookspecs(pytest_jsonreport.plugin.Hooks)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Set the one option of pytest's terminal that pytest-json-report reads."""
        config.option.tbstyle = "no"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Serve submissions after collection. Keep errors away from pytest and raise them later."""
        if session.testsfailed:
            return None
        self.served = True
        try:
            self._serve(session)
        except Exception as error:
            self.error = error
        return True

    def pytest_exception_interact(self, call: pytest.CallInfo[object]) -> None:
        """Note why a check file can't be imported; pytest wraps the cause of some errors."""
        if not self.served and call.excinfo is not None:
            self.uncollected.append(call.excinfo.value.__cause__ or call.excinfo.value)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note what our own hooks raise about the collected checks."""
        self.uncollected.append(excinfo.value)

    def pytest_report_teststatus(
        self, report: pytest.TestReport | pytest.CollectReport
    ) -> tuple[str, str, str]:
        """Answer the hook that pytest's terminal plugin, which is not loaded, would answer."""
        return report.outcome, "", ""


def run_pytest(files: Sequence[str], engine: _Engine, plugin: LessonPlugin) -> None:
    """Collect check files and serve submissions. Raise EngineFault if pytest itself failed."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    forget_check_files()
    printed = io.StringIO()
    root = str(Path(files[0]).parent)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        options = ["-c", os.devnull, "--rootdir", root, *PYTEST_OPTIONS]
        code = pytest.main(
            [*files, *options],
            plugins=[pytest_jsonreport.plugin, SubmissionReport(), engine, plugin],
        )
    if engine.error is not None:
        raise engine.error
    if not engine.served:
        raise EngineFault(f"{printed.getvalue()[-4000:]}\npytest ended with {code!r}")


def forget_check_files() -> None:
    """Forget the check files' modules: without fork, one process collects several lessons' files,
    which all have the same names.
    """
    for name in CHECK_FILES:
        sys.modules.pop(name, None)


def run_checks(checks: pytest.Session) -> dict[str, Any]:
    """Run the collected checks once; return the report of pytest-json-report."""
    report: SubmissionReport = json_report_of(checks.config)
    report.begin(checks)
    for item, following in itertools.zip_longest(checks.items, checks.items[1:]):
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
    report.pytest_sessionfinish(checks)
    return dict(report.report)


def warm_up() -> None:
    """Make pytest load now what it loads at its first run, so that forks have it."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main(
            ["--version", "-c", os.devnull, *PYTEST_OPTIONS], plugins=[pytest_jsonreport.plugin]
        )
