"""What a worker gets of a lesson's scenarios and of the library, and what it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from grader.classroom.publish.engine_files import engine_files
from grader.core.errors import CourseError, EngineFault
from grader.core.files import PACKAGE
from grader.core.files import engine_files as hashed_files
from grader.course.source import Source
from grader.judge.local_student import LocalStudent
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.scenarios import scenario_with_definitions, watched_words
from grader.worker.wire.program import program

STUDENT = """
import torch

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output
"""
OWN = """
import torch

from grader.worker.scenarios import copied, gradients


def twice(student, x):
    return [copied(student.Double.apply(x)), gradients(student.Double.apply(x), [x], torch.ones(2))]


def other(student):
    return 1
"""


def test_a_lesson_has_the_librarys_scenarios_and_definitions(
    remote: Callable[..., RemoteStudent],
) -> None:
    """The same in the worker and in the judge."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    local = LocalStudent(Source(STUDENT, "lesson.py"), OWN)
    for student in (remote(STUDENT, OWN), local):
        value, (gradient,) = student.observe("twice", x)
        assert value.tolist() == [2.0, 4.0]
        assert gradient.tolist() == [2.0, 2.0]
        seen = student.observe("kept", "Double.apply", [x])
        assert (seen["found"], seen["saved"], seen["attributes"]) == (True, 1, [])


GRAPHS = """
def steps(x):
    y = 2 * x
    return y, y + 3

def cut(y):
    return y.detach()

def doubled(tensors, how):
    assert how == "now"
    for tensor in tensors.values():
        tensor.register_hook(lambda g: 2 * g)

def of(f, x):
    return f(x + 1).detach()
"""


def test_the_graph_of_a_call_has_the_names_of_what_was_built_given_and_returned() -> None:
    """For each call: where the graph begins, and the names in it."""
    student = LocalStudent(Source(GRAPHS, "lesson.py"), "")
    x = torch.ones(2, requires_grad=True)
    f = program(lambda x: x.sin())
    for asked, wanted in (
        ({"path": "steps", "names": ["x", "y", "z"]}, ["z", "y", "x"]),
        ({"path": "steps", "names": ["x", "y", "z"], "root": "y"}, ["y", "x"]),
        ({"path": "cut", "names": ["x", "y", "cut"], "build": f}, ["cut"]),
        ({"path": "cut", "names": ["x", "y", "cut"], "build": f, "root": "y"}, ["y", "x"]),
        (
            {"path": "cut", "names": ["x", "cut"], "args": ["x"], "then": program(lambda y: y * 2)},
            [],
        ),
        (
            {"path": "doubled", "names": ["x", "y"], "build": f, "args": [{"a": "y"}, "now"]},
            ["y", "x"],
        ),
    ):
        seen = student.observe("graph", inputs=[x], **asked)
        assert [node["name"] for node in seen["nodes"] if node["name"]] == wanted, asked
        if asked["path"] == "doubled":
            assert seen["nodes"][0]["hooks"] == 1


def test_the_graph_inside_a_call_is_that_of_a_function_that_was_given() -> None:
    student = LocalStudent(Source(GRAPHS, "lesson.py"), "")
    x = torch.ones(2, requires_grad=True)
    seen = student.observe(
        "graph_inside", "of", ["x", "w", "f(w)"], [x], [program(lambda x: x.sin()), "x"], 0
    )
    assert [node["name"] for node in seen["nodes"] if node["name"]] == ["f(w)", "w", "x"]


def test_a_worker_gets_only_what_a_scenario_uses() -> None:
    sent = scenario_with_definitions(OWN, "twice")
    for word, there in (
        ("def twice", True),
        ("def copied", True),
        ("def gradients", True),
        ("def other", False),
        ("def kept", False),
        ("import grader", False),
        ("from grader", False),
    ):
        assert (word in sent) is there, word
    compile(sent, "<scenarios>", "exec")
    library = scenario_with_definitions("", "kept")
    assert "def needed" in library
    assert "def operators" not in library


def test_a_scenario_that_nobody_defines_is_our_fault() -> None:
    with pytest.raises(EngineFault, match="there is no scenario 'nowhere'"):
        scenario_with_definitions(OWN, "nowhere")


def test_a_lessons_own_scenario_comes_before_the_librarys() -> None:
    own = "def kept(student):\n    return needed()\n\n\ndef needed():\n    return 1\n"
    assert scenario_with_definitions(own, "kept").startswith("def kept(student)")


def test_a_definition_that_the_library_uses_too_is_refused() -> None:
    own = (
        "from grader.worker.scenarios import kept\n\n\n"
        "def arrays_in(value):\n    return 0\n\n\n"
        "def count(student, x):\n    return [arrays_in(x), kept(student, 'f', [x])]\n"
    )
    message = r"scenarios.py defines arrays_in, and so does grader\.worker\.scenarios, from which"
    with pytest.raises(CourseError, match=message):
        scenario_with_definitions(own, "count")


LOOKING = """
import sys

def found():
    names = [name for name in sys.modules if name.startswith("grader.") and "scenarios" in name]
    try:
        import grader.worker.scenarios
    except ImportError as error:
        return [*names, type(error).__name__]
    return [*names, "imported"]
"""


def test_a_students_file_finds_no_scenario_in_the_worker(
    remote: Callable[..., RemoteStudent],
) -> None:
    import grader.worker.scenarios  # a fork of a process that has imported it

    assert grader.worker.scenarios.__file__
    assert remote(LOOKING).found() == ["ModuleNotFoundError"]


def test_the_library_belongs_to_the_engine() -> None:
    """Its hash covers it, bundles carry it, and replacing what it uses is noticed."""
    path = PACKAGE / "worker" / "scenarios.py"
    assert path in set(hashed_files(PACKAGE))
    assert dict(engine_files())["grader/worker/scenarios.py"] == path.read_text("utf-8")
    assert "Function" in watched_words("")
