"""A check uses objects in the worker in few frames, with gradients, and safely against false
answers.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from forked import Students
from torch import Tensor

from grader.authoring import chain, fetch, formula, is_same, within
from grader.core.errors import MissingName, StudentCodeError, WorkerLost
from grader.course.source import Source
from grader.judge.local_student import LocalStudent
from grader.judge.remote.proxies import RemoteObject, RemoteStudent
from grader.worker.wire.messages import Request
from grader.worker.wire.program import program

SOURCE = """
class Value:
    made = 0
    def __init__(self, data, parents=()):
        Value.made += 1
        self.data, self.grad, self.parents = data, 0.0, parents
    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other))
    def __radd__(self, other): return self + other
    def __neg__(self): return Value(-self.data, (self,))
    def __getitem__(self, key): return self.parents[key]
    def backward(self): self.grad = 1.0
    def broken(self): raise KeyError("no such node")

def count(values): return len(values)
def total(values): return Value(sum(value.data for value in values))
def bump(x): x.grad = x.grad + 1; return x
def cubed(x): return x ** 3
def same(x): return x
def last_words(value):
    import os
    os._exit(3)
"""


@pytest.fixture
def student(remote: Students) -> RemoteStudent:
    return remote(SOURCE)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, student: RemoteStudent) -> list[str]:
    """Return the requests to the worker from now on, a word for each frame."""
    session, kept = object.__getattribute__(student, "_session"), list[str]()
    ask = session.ask

    def counted(request: Request, *kinds: Any, **parts: Any) -> Any:
        kept.append(type(request).__name__)
        return ask(request, *kinds, **parts)

    monkeypatch.setattr(session, "ask", counted)
    return kept


def driven(student: Any) -> Any:
    """Take the same steps for a remote and a local student."""
    a, b = student.Value(2.0), student.Value(-3.0)
    c = 1.0 + (a + b) + 4.0
    minus = -c
    minus.backward()
    a.grad = 7.5
    return fetch(
        [a.data, c.data, {"minus": (minus.data, minus.grad)}],
        student.total([a, b, c]).data,
        minus[0].data,
        a.grad,
        is_same(minus[0], c),
        is_same(minus, c),
    )


def test_steps_give_what_they_give_in_one_process(student: RemoteStudent) -> None:
    wanted = driven(LocalStudent(Source(SOURCE, "lesson.py"), ""))
    assert wanted == ([2.0, 4.0, {"minus": (-4.0, 1.0)}], 3.0, 4.0, 7.5, True, False)
    assert driven(student) == wanted


def test_a_long_chain_costs_few_frames(student: RemoteStudent, asked: list[str]) -> None:
    value = student.Value(0.0)
    for _ in range(10_000):
        value = value + 1.0
    assert fetch(value.data) == 10_000.0
    assert 2 <= asked.count("Run") <= 6
    assert len(asked) <= 8  # the file is loaded, and its class described


def chained(student: Any) -> Any:
    """Return what a chain gave: its length, two of its nodes, and how they are connected."""
    x, c = student.Value(0.0), student.Value(0.5)
    nodes = chain(["x + 1.0", "x + c"], 5_000, x=x, c=c)
    nodes[-1].backward()
    links = [is_same(nodes[0], x), is_same(nodes[10_000][0], nodes[9_999])]
    return fetch(student.count(nodes), nodes[3].data, nodes[-1].data, nodes[-1].grad, *links)


def test_a_chain_of_formulas_is_one_step(student: RemoteStudent, asked: list[str]) -> None:
    wanted = chained(LocalStudent(Source(SOURCE, "lesson.py"), ""))
    assert wanted == (10_001, 2.5, 7_500.0, 1.0, True, True)
    assert chained(student) == wanted
    assert asked.count("Run") == 2  # the second after `count` was described


def test_an_exception_in_a_chain_is_the_students(student: RemoteStudent) -> None:
    nodes = chain(["x.broken()"], 2, x=student.Value(1.0))
    with pytest.raises(StudentCodeError, match="no such node") as caught:
        fetch(nodes[-1].data)
    assert caught.value.line == 1 + SOURCE.splitlines().index(
        '    def broken(self): raise KeyError("no such node")'
    )


MANAGED = """
import contextlib

entered = []


@contextlib.contextmanager
def counted(number):
    entered.append(number)
    try:
        yield
    finally:
        entered.append(-number)


def seen():
    return list(entered)
"""


def test_a_function_runs_within_the_students_context_manager(remote: Students) -> None:
    """It is left again, even if the function raises."""
    for student in (remote(MANAGED), LocalStudent(Source(MANAGED, "lesson.py"), "")):
        x, w = student.put(torch.tensor(2.0)), student.put(torch.tensor(3.0))
        times_w, wrong = formula("x * w", w=w), formula("x @ w", w=w)
        assert fetch(within(student.counted(1), times_w, x)) == 6.0
        with pytest.raises((StudentCodeError, RuntimeError)):
            fetch(within((student.counted, 2), wrong, x))
        assert fetch(student.seen()) == [1, -1, 2, -2]


def test_a_parameter_of_a_program_may_be_an_object(remote: Students) -> None:
    """It is the object itself, so it gets the gradient."""
    text = "def run(f, x): return f(x)"
    for student in (remote(text), LocalStudent(Source(text, "lesson.py"), "")):
        x, w = (student.put(torch.tensor(n, requires_grad=True)) for n in (2.0, 3.0))
        student.run(formula("x * w", w=w), x).backward()
        assert fetch([x.grad, w.grad]) == [3.0, 2.0]


def test_nothing_is_asked_before_a_value_is_read(student: RemoteStudent, asked: list[str]) -> None:
    value = student.Value(2.0)
    asked.clear()
    total = (value + 1.0).data
    assert asked == []
    assert fetch(total) == 3.0
    assert asked == ["Run"]


def test_a_tensor_that_is_read_is_differentiable(student: RemoteStudent) -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    value = student.cubed(student.put(x))
    y = fetch(value)
    assert isinstance(y, Tensor)
    assert torch.equal(y, x.detach() ** 3)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert torch.equal(first, 3 * x**2)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.equal(second, 6 * x.detach())


def test_a_graph_is_built_beside_the_students_code(student: RemoteStudent) -> None:
    leaf = student.put(torch.tensor(2.0, requires_grad=True))
    loss = program(lambda x: (x**3).log())(leaf)
    assert isinstance(loss, RemoteObject)
    loss.backward()
    student.bump(leaf)
    assert fetch(leaf.grad) == torch.tensor(2.5)
    assert fetch(is_same(student.same(leaf), leaf)) is True


def test_an_exception_is_raised_where_a_value_is_read(student: RemoteStudent) -> None:
    value = student.Value(1.0)
    broken = value.broken()
    with pytest.raises(StudentCodeError, match="no such node") as caught:
        fetch(broken)
    assert caught.value.type_name == "KeyError"
    assert fetch(student.Value(5.0).data) == 5.0  # and the next value can be read


def test_gradients_lead_to_the_right_tensors_after_an_exception(student: RemoteStudent) -> None:
    """Steps after one that raises are not run, but their tensors have crossed."""
    x, z = (torch.tensor([value], requires_grad=True) for value in (1.0, 2.0))
    first = student.put(x) * 3.0
    broken = student.Value(1.0).broken()
    student.put(torch.ones(1))
    with pytest.raises(StudentCodeError, match="no such node"):
        fetch(broken)
    (gradient,) = torch.autograd.grad(fetch(student.put(z) ** 2), z)
    assert gradient.tolist() == [4.0]
    (gradient,) = torch.autograd.grad(fetch(first), x)
    assert gradient.tolist() == [3.0]


def test_gradients_lead_to_the_right_tensors_in_the_next_worker(student: RemoteStudent) -> None:
    x = torch.tensor([2.0], requires_grad=True)
    assert fetch(student.put(torch.ones(1))).tolist() == [1.0]
    with pytest.raises(WorkerLost):
        fetch(student.last_words(1))
    (gradient,) = torch.autograd.grad(fetch(student.put(x) ** 2), x)
    assert gradient.tolist() == [4.0]


def test_what_the_student_lacks_is_told_by_its_name(student: RemoteStudent) -> None:
    with pytest.raises(StudentCodeError, match="no attribute 'nothing'"):
        fetch(student.Value(1.0).nothing)
    with pytest.raises(MissingName):
        _ = student.Nothing


def test_an_object_of_a_lost_worker_is_no_object_of_the_next(student: RemoteStudent) -> None:
    value = student.Value(1.0)
    assert fetch(value.data) == 1.0
    with pytest.raises(WorkerLost):
        fetch(student.last_words(value))
    assert fetch(student.Value(3.0).data) == 3.0  # by another worker, under another number
    with pytest.raises(WorkerLost):
        fetch(value.data)


def test_an_object_is_described_once_it_was_read(student: RemoteStudent) -> None:
    value = student.Value(1.0)
    with pytest.raises(TypeError, match="before it is compared"):
        _ = value == value
    with pytest.raises(TypeError, match="used as a condition"):
        bool(value)
    known = fetch(value)
    assert known.type_name == "Value"
    assert known == known
    assert bool(known)


def test_a_list_in_the_worker_reaches_a_scenario_as_itself(remote: Students) -> None:
    """Also beside a tensor, which is put in its place in what crossed."""
    student = remote(
        SOURCE, "def same(student, value, list, x):\n    return list is value.parents\n"
    )
    value = student.Value(1.0, [2.0])
    assert student.observe("same", value, value.parents, torch.ones(1)) is True


def test_a_scenario_gets_a_local_students_objects_too() -> None:
    scenario = "def same(student, a, inside): return inside['a'] is a and type(a) is student.Value"
    local = LocalStudent(Source(SOURCE, "lesson.py"), scenario)
    value = local.Value(1.0)
    assert local.observe("same", value, {"a": value}) is True


def test_values_without_objects_are_returned_as_they_are() -> None:
    x = torch.ones(2)
    assert fetch(x) is x
    assert fetch(1, "two", None) == (1, "two", None)
    assert is_same(x, x)
    assert not is_same(x, torch.ones(2))
