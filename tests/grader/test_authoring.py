"""A lesson's files may use one module of the engine, with a pinned list of names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import authoring
from grader.core.files import CHECKOUT
from grader.course.scaffold import lesson_files
from grader.judge.remote.proxies import RemoteStudent

NAMES = """
Again Backward EngineFault Failure Graph InCheck LessonRule MissingName Opaque Phrase RandomInputs
Student StudentCodeError ask_all assert_equal assert_gradcheck assert_gradgradcheck assert_gradient
assert_hands_on assert_not_used assert_raises assert_tensor assert_that assert_tuple assert_worst
bar_names bar_values chart_figure check check_of curve declared differences differentiated differs
drawing ends_in_return error_panel fail fetch formula formula_value function_rule gradients_figure
graph_figure graphs_figure hands_on has_facts import_helpers is_function_class is_number is_same
methods nonlinear_backward own_graph panel phrase plot_figure prediction_figure predictions program
raises rule same says short_repr term_beside_v trace type_name under_test value_and_gradients
value_rule
""".split()
COURSES = (CHECKOUT, *sorted(Path(__file__).parent.glob("*_course")))
FILES = [path for root in COURSES for path in sorted(root.glob("tests/checks/*/*.py"))]


def engine_imports(text: str) -> set[str]:
    """Return the engine's modules that a file imports, at the top or inside functions."""
    return set(re.findall(r"^\s*(?:from|import) (grader\b[\w.]*)", text, re.MULTILINE))


def test_these_names_are_there_and_documented() -> None:
    assert sorted(name for name in vars(authoring) if not name.startswith("__")) == NAMES
    assert sorted(re.findall(r"^``(\w+)``  ", authoring.__doc__ or "", re.MULTILINE)) == NAMES


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_lessons_file_imports_nothing_else_of_the_engine(path: Path) -> None:
    """Scenarios may import the library's, too."""
    library = {"grader.worker.scenarios"} if path.name == "scenarios.py" else set()
    assert engine_imports(path.read_text("utf-8")) <= {"grader.authoring"} | library


def test_what_grade_new_writes_imports_nothing_else_either() -> None:
    files = lesson_files("halving", "half", lang="ko")
    checks = [text for path, text in files.items() if re.fullmatch(r"tests/checks/.*\.py", path)]
    assert len(checks) == 4
    assert all(engine_imports(text) <= {"grader.authoring"} for text in checks)


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
