"""The judge: runs one lesson's checks against one submission and says what became of each.

It holds the checks, the solution and the truth; the student's file it knows as text, and asks a worker for whatever that text
does. pytest is its engine. Imports ``plugin``, ``session`` and what lies below.
"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any

import pytest
import pytest_jsonreport.plugin

from grader.diagnosis import Mistake, mistakes_in
from grader.errors import EngineFault, StudentError, WorkerLost
from grader.integrity import flags_in
from grader.local import execute
from grader.plugin import LessonPlugin, results_in
from grader.sandbox.limits import Limits
from grader.session import Session
from grader.source import Source
from grader.translation import load
from grader.workers import WorkerSource

PYTEST_OPTIONS = (
    "--noconftest", "--import-mode=importlib", "--assert=plain", "--capture=no", "-p", "no:cacheprovider", "-p", "no:unraisableexception",
    "-p", "no:threadexception", "-p", "no:doctest", "-p", "no:stepwise", "-p", "no:junitxml", "-p", "no:pastebin", "-p", "no:faulthandler",
    "-p", "no:logging", "-p", "no:warnings", "-p", "no:debugging", "-p", "no:setuponly", "-p", "no:setupplan",
    "-p", "no:recwarn", "-p", "no:nose", "-p", "no:monkeypatch", "-p", "no:tmpdir", "-p", "no:python_path",
    "--json-report", "--json-report-file=none", "--json-report-omit", "log", "keywords", "streams", "warnings", "collectors", "traceback",
)  # fmt: skip


def judge(job: dict[str, Any], workers: WorkerSource) -> dict[str, Any]:
    """Judge one lesson; ``job`` as ``grading.job_for`` makes it. The result as plain data:

    ``checks`` (a list of ``CheckResult`` as data), ``invalid`` (None, or why the file could not be loaded, with its line),
    ``guarantees`` and ``missing`` of the worker's sandbox, ``flags`` for a person to look at,
    ``untranslated`` texts,
    ``catalogue`` of the lesson's mistakes and what they are about.
    """
    source = Source(job["source"], job["filename"])
    problem = job["problem"] and StudentError("invalid file", job["problem"]["message"], line=job["problem"]["line"])
    session = Session(
        workers, source=source, scenarios=job["scenarios"], limits=Limits.from_dict(job["limits"]), unloadable=problem or None
    )
    plugin = LessonPlugin(
        lesson=job["lesson"],
        session=session,
        stub=Source(job["stub"], job["filename"]),
        solution=Source(job["solution"], job["filename"]),
        scenarios=job["scenarios"],
        mistakes=load_mistakes(job["diagnosis"]),
        hints=job["hints"],
        say=(say := load(job["lang"], [Path(path) for path in job["texts"]])),
        seed=job["seed"],
        exact_seed=job.get("exact_seed", False),
        hidden_files={Path(path).name for path in job["hidden_checks"]},
    )
    invalid = None
    try:
        try:
            session.load()
        except StudentError as error:
            invalid = {"message": error.message if problem else str(error), "line": error.line}
        except WorkerLost as lost:
            invalid = {"message": f"loading the file: {lost.reason}", "line": None}
        checks = list(results_in(run_pytest([*job["visible_checks"], *job["hidden_checks"]], plugin, only=job.get("only"))))
    finally:
        session.close()
    guarantees, missing = session.guarantees
    return {
        "checks": checks,
        "invalid": invalid,
        "guarantees": list(guarantees),
        "missing": list(missing),
        "flags": [*flags_in(source), *(f"{source.filename} replaced {name} while it was loaded" for name in session.replaced)],
        "untranslated": sorted(say.missing),
        "catalogue": {one.id: list(one.about) for one in plugin.mistakes},
    }


def load_mistakes(path: str | None) -> list[Mistake]:
    """The mistakes of a lesson's ``diagnosis.py``."""
    if path is None:
        return []
    file = Path(path)
    return mistakes_in(vars(execute(file.read_text("utf-8"), "diagnosis", str(file))))


def run_pytest(files: list[str], plugin: LessonPlugin, *, only: list[str] | None) -> dict[str, Any]:
    """Run check files with the plugin; pytest-json-report's report. Raises EngineFault where pytest itself failed."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    targets = [f"{path}::{name}" for path in files for name in only if name in Path(path).read_text("utf-8")] if only else files
    collector = _Collector()
    printed = io.StringIO()
    root = str(Path(files[0]).parent)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = pytest.main(
            [*targets, "-c", os.devnull, "--rootdir", root, *PYTEST_OPTIONS], plugins=[pytest_jsonreport.plugin, collector, plugin]
        )
    if collector.report is None or code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise EngineFault(f"pytest ended with {code!r}:\n{printed.getvalue()[-4000:]}")
    return collector.report


class _Collector:
    """Takes pytest-json-report's report as it is made."""

    report: dict[str, Any] | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_modifyreport(self, json_report: dict[str, Any]) -> None:
        self.report = json_report


def warm_up() -> None:
    """Have pytest load what it loads when it first runs, so that forks have it."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main(["--version", "-c", os.devnull, *PYTEST_OPTIONS], plugins=[pytest_jsonreport.plugin])
