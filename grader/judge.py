"""The judge: runs one lesson's checks against one submission and says what became of each.

It holds the checks, the solution and the truth; the student's file it knows as text, and asks a worker for whatever that text
does. pytest is its engine. Imports ``plugin``, ``session`` and what lies below.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_jsonreport.plugin

from grader.errors import EngineFault, StudentError, WorkerLost
from grader.integrity import flags_in
from grader.plugin import LessonPlugin, results_in
from grader.sandbox.limits import Limits
from grader.session import Session
from grader.source import Source
from grader.workers import WorkerSource

PLUGINS_LEFT_OUT = """cacheprovider unraisableexception threadexception doctest stepwise junitxml pastebin faulthandler logging warnings
debugging setuponly setupplan recwarn nose monkeypatch tmpdir python_path"""
PYTEST_OPTIONS = (
    "--noconftest", "--quiet", "--tb=no", "--no-header", "--no-summary", "--import-mode=importlib", "--assert=plain", "--capture=no",
    *(word for name in PLUGINS_LEFT_OUT.split() for word in ("-p", f"no:{name}")),
    "--json-report", "--json-report-file=none", "--json-report-omit", "log", "keywords", "streams", "warnings", "collectors", "traceback",
)  # fmt: skip


UNREADABLE = "it is too long, or its expressions are nested too deeply, to be read before it is run. Write it in shorter pieces"


class Judge:
    """One lesson's checks, collected once, and what is needed to judge submissions by them.

    ``spec`` is the lesson's (``grading.spec_for``), a *task* one submission's (``grading.task_for``).
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.plugin = LessonPlugin(spec)

    def run(self, begin: Callable[[Begin], dict[str, Any]]) -> dict[str, Any]:
        """Collect the checks, call ``begin``, which takes a task by what it is given and returns what is known of it before
        the checks; run them. The result as plain data:

        ``checks`` (a list of ``CheckResult`` as data), ``invalid`` (None, or why the file could not be loaded, with its line),
        ``guarantees`` and ``missing`` of the worker's sandbox, ``flags`` for a person to look at, ``untranslated`` texts,
        ``catalogue`` of the lesson's mistakes and what they are about. Raises EngineFault where pytest itself failed.
        """
        engine = _Engine(lambda: begin(self.take))
        try:
            report = run_pytest([*self.spec["visible_checks"], *self.spec["hidden_checks"]], engine, self.plugin)
        finally:
            if hasattr(self.plugin, "session"):
                self.plugin.session.close()
        session = self.plugin.session
        guarantees, missing = session.guarantees
        replaced = [f"{session.source.filename} replaced {name} while it was loaded" for name in session.replaced]
        return {
            "checks": list(results_in(report)),
            "invalid": engine.known["invalid"],
            "guarantees": list(guarantees),
            "missing": list(missing),
            "flags": [*flags_in(session.source), *replaced],
            "untranslated": sorted(self.plugin.say.missing),
            "catalogue": {one.id: list(one.about) for one in self.plugin.mistakes},
        }

    def take(self, task: dict[str, Any], workers: WorkerSource) -> dict[str, Any]:
        """Take a task: a worker with the module in it."""
        source = Source(task["source"], self.spec["filename"])
        problem = task["problem"] and StudentError("invalid file", task["problem"]["message"], line=task["problem"]["line"])
        limits = Limits.from_dict(task["limits"])
        session = Session(workers, source=source, scenarios=self.spec["scenarios"], limits=limits, unloadable=problem or None)
        self.plugin.take(session, seed=task["seed"])
        try:
            session.load()
            if source.unreadable:  # rules that look at the source would look at nothing
                raise session.refuse(StudentError("unreadable file", UNREADABLE))
        except StudentError as error:
            return {"invalid": {"message": error.message if problem else str(error), "line": error.line}}
        except WorkerLost as lost:
            say = self.plugin.say
            return {"invalid": {"message": say("loading the file: {reason}", reason=say(lost.template, **lost.facts)), "line": None}}
        return {"invalid": None}


Begin = Callable[[dict[str, Any], WorkerSource], dict[str, Any]]


class _Engine:
    """The hooks that make pytest an engine: stop between collecting and running, and take the report as it is made."""

    def __init__(self, begin: Callable[[], dict[str, Any]]) -> None:
        self._begin = begin
        self.known: dict[str, Any] = {}
        self.trouble: Exception | None = None
        self.uncollected: list[str] = []
        self.report: dict[str, Any] | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Everything is collected: time for a submission. What goes wrong here is kept from pytest, and raised when it is done."""
        if not session.testsfailed:
            try:
                self.known = self._begin()
            except Exception as error:
                self.trouble = error
                return True
        return None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A check file that can't be imported: why."""
        if report.failed:
            self.uncollected.append(f"{report.nodeid}: {report.longreprtext}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_modifyreport(self, json_report: dict[str, Any]) -> None:
        """pytest-json-report's report."""
        self.report = json_report


def run_pytest(files: list[str], engine: _Engine, plugin: LessonPlugin) -> dict[str, Any]:
    """Run check files; pytest-json-report's report. Raises EngineFault where pytest itself failed."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    printed = io.StringIO()
    root = str(Path(files[0]).parent)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        options = ["-c", os.devnull, "--rootdir", root, *PYTEST_OPTIONS]
        code = pytest.main([*files, *options], plugins=[pytest_jsonreport.plugin, engine, plugin])
    if engine.trouble is not None:
        raise engine.trouble
    if engine.report is None or code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise EngineFault("\n".join([*engine.uncollected, printed.getvalue()[-4000:], f"pytest ended with {code!r}"]))
    return engine.report


def warm_up() -> None:
    """Have pytest load what it loads when it first runs, so that forks have it."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main(["--version", "-c", os.devnull, *PYTEST_OPTIONS], plugins=[pytest_jsonreport.plugin])
