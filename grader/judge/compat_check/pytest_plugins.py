"""Experiments on pytest and pytest-json-report."""

from __future__ import annotations

from types import SimpleNamespace

from pytest_jsonreport import plugin

from grader.judge.compat_check.reliance import relies
from grader.worker.wire import compat


@relies(
    "pytest",
    "a list of its own plugins in which we know each",
    loss="a new plugin may print, capture or rewrite something while the judge runs",
)
def pytest_loads_no_unknown_plugin() -> bool:
    return set(compat.own_plugins()) <= {*compat.PLUGINS_LEFT_OUT, *compat.PLUGINS_USED}


@relies(
    "pytest-json-report",
    "a report that sets config._json_report, or the class Hooks",
    loss="the judge can't run a lesson's checks",
)
def json_report_is_found() -> bool:
    option = SimpleNamespace(tbstyle="no", json_report_omit=["traceback"])
    config, report = SimpleNamespace(option=option), plugin.JSONReport()
    report.pytest_configure(config)
    return compat.json_report_of(config) is report and hasattr(plugin, "Hooks")
