"""Fixtures that the engine's tests share: one thread, workers forked from this process, a small
course.
"""

from __future__ import annotations

import functools
import os
import signal

# Before torch is imported: a fork of a process that ran two threads hangs.
os.environ["OMP_NUM_THREADS"] = "1"

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))  # what tests share and import lies beside this file

from browser import browser  # noqa: F401 - a fixture
from factories.sheets import canvas, moodle  # noqa: F401 - fixtures
from forked import Students, forked_students
from graded import course, grade_fragment, grade_mistake, grade_text  # noqa: F401 - fixtures
from in_process import Run, grade_here, lend
from plain_python import PlainPython

from grader.core import sqlite
from grader.course.course import Course, load_course
from grader.runtime.client import ForkServerClient, default_mode
from grader.worker.sandbox import Prepared

torch.set_num_threads(1)
# What a test writes need not survive a power failure.
os.fsync = lambda fd: None
sqlite.SYNCHRONOUS = "OFF"
hypothesis.settings.register_profile("however slow", deadline=None)
hypothesis.settings.load_profile("however slow")
# A shell ignores SIGINT for what it starts in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = ["small_course", "savings_course"]  # courses of their own, which the tests grade
SMALL_COURSE = Path(__file__).parent / "small_course"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this system can't do."""
    missing: dict[str, str] = {}
    if sys.platform != "linux":
        missing["linux"] = "needs Linux: forks beside torch, its sandbox, or /proc"
    if sys.platform == "win32":
        missing["posix"] = "needs Unix: its terminals, links, modes or signals"
    for item in items:
        for name in missing.keys() & {marker.name for marker in item.iter_markers()}:
            item.add_marker(pytest.mark.skip(reason=missing[name]))


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Students]:
    """Return ``forked_students`` whose workers are not confined."""
    if default_mode() != "fork":
        pytest.skip("forks workers from this process, which is safe beside torch on Linux only")
    with forked_students(Prepared(tmp_path), "off") as make:
        yield make


@pytest.fixture(scope="session")
def small_course() -> Course:
    """Return a course of two tiny lessons, with a check for each possible outcome."""
    return load_course(SMALL_COURSE)


@pytest.fixture(scope="session")
def host() -> Iterator[ForkServerClient]:
    """Start a fork server for all tests."""
    with ForkServerClient() as running:
        yield running


@pytest.fixture(scope="module")
def lent_host(host: ForkServerClient) -> Iterator[None]:
    """Make commands in this process use the tests' fork server instead of starting one."""
    with pytest.MonkeyPatch.context() as patch:
        lend(host, patch)
        yield


@pytest.fixture(scope="session")
def grade(host: ForkServerClient) -> Callable[..., Run]:
    """Return ``grade(folder, *words, course=None)``, which runs the command in this process."""
    return functools.partial(grade_here, host)


@pytest.fixture(scope="session")
def plain_python() -> Iterator[PlainPython]:
    """Return a Python, without this package's help, in which torch is imported."""
    python = PlainPython()
    yield python
    python.close()
