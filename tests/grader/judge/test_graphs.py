"""A graph that is written once: its text, its tensors on both sides of the border, its figure."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.course.source import Source
from grader.judge.graphs import Graph
from grader.judge.local_student import LocalStudent
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.proxies import RemoteStudent, fetch

STUDENT = """
def names(root):
    return type(root.grad_fn).__name__
"""
TEXT = ["p, q = x.chunk(2)", "y = Cube.apply(p) * 2.5 - torch.exp(q)", "z = torch.cat([y, c])"]


def written() -> Graph:
    draw = RandomInputs(1)
    return draw.graph(*TEXT, x=draw.tensor(4, requires_grad=True), c=draw.tensor(2))


def test_a_graph_is_the_pytorch_that_is_written() -> None:
    graph = written()
    assert graph.names == ["x", "c", "p", "q", "y", "z"]
    assert graph.lines == {"p, q": "x.chunk(2)", "y": TEXT[1][4:], "z": "torch.cat([y, c])"}
    tensors = graph.tensors()
    x, c = tensors["x"], tensors["c"]
    assert x is not graph.inputs["x"]
    assert (x.requires_grad, c.requires_grad) == (True, False)
    p, q = x.chunk(2)
    wanted = torch.cat([p**3 * 2.5 - torch.exp(q), c])
    assert torch.allclose(tensors["z"], wanted)
    assert torch.allclose(graph.root(graph.inputs.values()), wanted)
    tensors["z"].sum().backward()
    assert x.grad is not None
    assert graph.inputs["x"].grad is None


def test_its_tensors_are_beside_the_students_code(remote: Callable[..., RemoteStudent]) -> None:
    graph = written()
    for student in (remote(STUDENT), LocalStudent(Source(STUDENT, "lesson.py"), "")):
        tensors = graph.tensors(student)
        tensors["z"].sum().backward()
        name, grad, z = fetch(student.names(tensors["y"]), tensors["x"].grad, tensors["z"])
        assert (name, grad.shape) == ("SubBackward0", (4,))
        assert torch.allclose(z, graph.tensors()["z"])


def test_its_figure_marks_a_tensor_and_shows_which_retain() -> None:
    figure = written().figure("y", retained=["y"])
    by_name = {node.name: node for node in figure.expected.nodes if node.name}
    assert {"x", "z"} <= set(by_name)
    assert figure.first_difference == by_name["y"].id
    assert [name for name, node in by_name.items() if node.retains_grad] == ["y"]


def test_its_gradients_are_those_of_torch() -> None:
    p, q, v = torch.tensor(2.0), torch.tensor(5.0), torch.tensor(10.0)
    graph = RandomInputs(1).graph(
        "y = 3.0 * p", "z = y * q", p=p.requires_grad_(), q=q.requires_grad_()
    )
    assert graph.formulas == "y = 3.0 * p, z = y * q"
    assert graph.gradients("z", v) == {"p": 150.0, "q": 60.0}
    assert graph.gradients("z", v, of=["y"]) == {"y": 50.0}
    assert graph.gradients("y") == {"p": 3.0, "q": None}


def test_a_gradient_that_flows_through_a_tensor_is_replaced() -> None:
    """Only on the paths through it."""
    p = torch.tensor(2.0, requires_grad=True)
    graph = RandomInputs(1).graph("y = 3.0 * p", "z = y + p", p=p)
    assert graph.gradients("z", through={"y": lambda grad: 10 * grad}) == {"p": 31.0}
    assert graph.gradients("z") == {"p": 4.0}
