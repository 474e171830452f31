"""Run by pytest directly, the checks judge the references in this process: no border, no worker.

``--student PLACE`` puts another file in the reference's place, or a folder's files in the
references'; benchmarks use it as the plain-pytest baseline.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course.course import find_course
from grader.course.source import Source
from grader.course.stubs import without_markers
from grader.judge.local_student import LocalStudent
from grader.judge.random_inputs import RandomInputs
from grader.judge.running_check import running


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option for another file than the solution."""
    parser.addoption(
        "--student",
        type=Path,
        help="a file to judge in place of the reference, or a folder of them",
    )


@functools.cache
def local(path: Path, scenarios: Path) -> LocalStudent:
    """A file executed here; a lesson may have no scenarios."""
    source = Source(without_markers(path.read_text("utf-8")), path.name)
    return LocalStudent(source, scenarios.read_text("utf-8") if scenarios.exists() else "")


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> LocalStudent:
    """The solution of the lesson that the check belongs to."""
    folder = request.path.parent
    return local(find_course() / "solutions" / f"{folder.name}.py", folder / "scenarios.py")


@pytest.fixture
def student(request: pytest.FixtureRequest, reference: LocalStudent) -> LocalStudent:
    """What is judged: the reference, or the file that was named."""
    place = request.config.getoption("--student")
    if place is None:
        return reference
    lesson = request.path.parent
    return local(place / f"{lesson.name}.py" if place.is_dir() else place, lesson / "scenarios.py")


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> RandomInputs:
    """Randomness from the check's name."""
    return RandomInputs(zlib.crc32(request.node.name.encode()))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[object]:
    """Let what checks share ask the student of the check that is running."""
    given = pyfuncitem.funcargs
    draw = given.get("draw") or RandomInputs(zlib.crc32(pyfuncitem.name.encode()))
    with running(given.get("student"), draw):
        return (yield)
