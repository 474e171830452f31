"""A lesson's files may use one module of the engine, with a pinned list of names."""

from __future__ import annotations

import doctest
import io
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from grader import authoring
from grader.core.files import CHECKOUT
from grader.course.scaffold import lesson_files
from grader.course.source import Source
from grader.judge.local_student import LocalStudent
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.running_check import running

NAMES = """
Again Backward EngineFault Failure Graph InCheck LessonRule MissingName Opaque Phrase RandomInputs
Student StudentCodeError ask_all assert_equal assert_gradcheck assert_gradgradcheck assert_gradient
assert_hands_on assert_not_used assert_raises assert_tensor assert_that assert_tuple assert_worst
bar_names bar_values chain chart_figure check check_of curve declared differences differentiated
differs drawing ends_in_return error_panel fail fetch formula formula_value function_rule
gradients_figure graph_figure graphs_figure hands_on has_facts is_function_class
is_number is_same methods nonlinear_backward own_graph panel phrase plot_figure prediction_figure
predictions program raises rule same says short_repr term_beside_v trace type_name under_test
value_and_gradients value_rule within
""".split()
COURSES = (CHECKOUT, *sorted(Path(__file__).parent.glob("*_course")))
FILES = [path for root in COURSES for path in sorted(root.glob("tests/checks/*/*.py"))]


def engine_imports(text: str) -> set[str]:
    """Return the engine's modules that a file imports, at the top or inside functions."""
    return set(re.findall(r"^\s*(?:from|import) (grader\b[\w.]*)", text, re.MULTILINE))


def test_these_names_are_there_and_documented() -> None:
    assert sorted(name for name in vars(authoring) if not name.startswith("__")) == NAMES
    assert sorted(re.findall(r"^``(\w+)``  ", authoring.__doc__ or "", re.MULTILINE)) == NAMES


def example_file() -> str:
    """Return the student's file of the examples."""
    text = re.search(r"student's file is::\n\n(.*?)\nChecks\n", authoring.__doc__ or "", re.DOTALL)
    assert text is not None
    return textwrap.dedent(text[1])


def examples() -> dict[str, str]:
    """Return the example of each name."""
    parts = re.split(r"^``(\w+)``  .*\n", authoring.__doc__ or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_each_name_has_an_example_that_works(name: str, tmp_path: Path) -> None:
    student = LocalStudent(Source(example_file(), "square.py"), "")
    draw = RandomInputs(1)
    names: dict[str, Any] = {**vars(authoring), "torch": torch, "student": student, "draw": draw}
    names |= {"__file__": str(tmp_path / "test_checks.py"), "backward_at": None}
    found = doctest.DocTestParser().get_doctest(examples()[name], names, name, None, 0)
    assert found.examples
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with running(student, draw):
        runner.run(found, out=said.write)
    assert runner.summarize(verbose=False).failed == 0, said.getvalue()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_lessons_file_imports_nothing_else_of_the_engine(path: Path) -> None:
    """Scenarios may import the library's, too."""
    library = {"grader.worker.scenarios"} if path.name == "scenarios.py" else set()
    assert engine_imports(path.read_text("utf-8")) <= {"grader.authoring"} | library


def test_what_grade_new_writes_imports_nothing_else_either() -> None:
    files = lesson_files("halving", "half", is_class=False, everywhere=())
    (checks,) = (text for path, text in files.items() if path.endswith("test_checks.py"))
    assert engine_imports(checks) == {"grader.authoring"}


SCENARIO = """
import sys

def names(student):
    import grader.authoring
    return [name for name in vars(grader.authoring) if not name.startswith("__")]
"""


def test_a_scenario_has_the_tracer_and_nothing_that_judges(
    remote: Callable[..., RemoteStudent],
) -> None:
    student = remote("def double(x):\n    return x + x\n", SCENARIO)
    assert student.observe("names") == ["trace"]
