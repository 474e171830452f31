"""When the student's file runs, a worker has no modules of the engine except its own."""

from __future__ import annotations

import pytest
from forked import Students

from grader.judge.remote.proxies import RemoteStudent
from grader.worker.process import KEPT

HELD = """
import sys
held = [name for name in sys.modules if name.startswith("grader.")]

def names():
    return held

def reached():
    import grader
    found = []
    for name in held:
        for key, value in vars(sys.modules[name]).items():
            if type(value).__name__ == "module" and value.__name__.startswith("grader."):
                found.append(value.__name__)
    return sorted(set(found))

def attempt(name):
    import importlib
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        return str(error)
    return "imported"
"""


@pytest.fixture
def student(remote: Students) -> RemoteStudent:
    return remote(HELD)


def test_only_the_workers_own_modules_are_loaded(student: RemoteStudent) -> None:
    allowed = {"grader.worker", "grader.authoring", *KEPT}
    for name in [*student.names(), *student.reached()]:
        assert name in allowed or name.startswith("grader.worker.wire"), name
    assert "grader.worker.wire.values" in student.names()


@pytest.mark.parametrize("name", ["judge.figures", "core.report", "cli", "worker.spawned"])
def test_modules_of_the_judge_cannot_be_imported(name: str, student: RemoteStudent) -> None:
    assert student.attempt(f"grader.{name}").startswith("No module named 'grader.")


def test_what_the_student_may_need_can_be_imported(student: RemoteStudent) -> None:
    assert student.attempt("fractions") == "imported"
    assert student.attempt("torch.func") == "imported"
