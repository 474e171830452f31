"""For any answer of a worker, the judge returns plain values or raises one of the errors that a
check expects. No answer of a lost worker is used, and no handle is lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, cast
from unittest.mock import Mock

import pytest
import torch
from forked import Students
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.authoring import fetch, is_same
from grader.core.errors import EngineFault, MissingName, StudentCodeError, WorkerLost
from grader.core.limits import Limits
from grader.course.source import Source
from grader.judge.remote.channel import Channel, Deadline, Output
from grader.judge.remote.proxies import GraphHandle, RemoteObject, RemoteStudent
from grader.judge.remote.session import NotStarted, StudentSession
from grader.judge.remote.workers import ExitStatus, WorkerProcess
from grader.worker.wire import values
from grader.worker.wire.batching import call_request
from grader.worker.wire.frames import HEADER, BrokenFrame, Frame, sizes, unpack

EXPECTED = (StudentCodeError, MissingName, WorkerLost, NotStarted)
"""The errors that a check may get: the student's own, a missing or unwritten name, and the one
error for a broken worker.
"""


class ScriptedWorker:
    """A worker, and its source, with prepared answers, which records what it may forget. It answers
    ``load`` honestly.
    """

    def __init__(self, answers: Iterable[tuple[Any, bytes]]) -> None:
        self.output = Output(100)
        self.answers = iter(answers)
        self.asked: Any = None
        self.forgotten: list[int] = []

    def start(self) -> WorkerProcess:
        return WorkerProcess(cast(Channel, self), 0)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        return None

    def send(self, data: bytes, deadline: Deadline) -> None:
        text, _ = sizes(data[: HEADER.size])
        self.asked = unpack(data[HEADER.size : HEADER.size + text], b"").body
        self.forgotten += self.asked["free"]

    def receive(self, deadline: Deadline) -> Frame:
        if self.asked["do"] == "load":
            return Frame({"id": self.asked["id"], "value": []})
        body, blob = next(self.answers, ("silence", b""))
        if body == "silence":
            raise WorkerLost("timeout", "no answer in time")
        if isinstance(body, dict):
            body = {"id": self.asked["id"], **body}
        return Frame(body, blob)

    def settle(self) -> None:
        pass

    close = settle


def session_with(worker: ScriptedWorker) -> StudentSession:
    source, scenarios = Source("", "lesson.py"), "def scenario(student, x):\n    return x\n"
    return StudentSession(worker, source=source, scenarios=scenarios, limits=Limits())


TAGS = "tuple dict set tensor opaque complex bytes dtype student program object".split()
WORDS = ("callable", "missing", "value", "float64")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 1 << 70)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(TAGS), inner, max_size=2)
    ),
    max_leaves=12,
)
COUNTS = st.integers(0, 4) | st.sampled_from([-1, 1 << 18, 10**18, 1 << 63])
HANDLES = st.none() | st.integers(1, 3)


@st.composite
def tensors(draw: st.DrawFn) -> tuple[Any, bytes]:
    """Draw a valid tensor of some dtype and shape, and its bytes."""
    sizes = [("float64", 8), ("float64", 8), ("float32", 4), ("int64", 8), ("complex64", 8)]
    dtype, size = draw(st.sampled_from(sizes))
    shape = draw(st.sampled_from([[2], [2], [2], [3], [], [0], [2, 1]]))
    count = math.prod(shape) * size
    return {"tensor": [dtype, shape, None, 0, count, draw(st.booleans())]}, bytes(count)


@st.composite
def replies(draw: st.DrawFn) -> tuple[Any, bytes]:
    """Draw a nearly valid answer with tensors, perhaps with one field changed."""
    parts = draw(st.lists(tensors() | st.just((None, b"")), min_size=1, max_size=3))
    metas, blob = [meta for meta, _ in parts], b"".join(data for _, data in parts)
    body: dict[str, Any] = {"handle": draw(HANDLES), "mutated": []}
    if draw(st.booleans()) and metas[0] is not None:
        body["mutated"], metas = [[draw(st.sampled_from([0, 0, 0, 5, -1])), metas[0]]], metas[1:]
    body[draw(st.sampled_from(["value", "grads"]))] = metas
    if "value" in body:
        body["value"] = draw(
            st.sampled_from([metas[0] if metas else None, {"tuple": metas}, metas])
        )
    if draw(st.integers(0, 5)) == 0:
        body[draw(st.sampled_from(sorted(body)))] = draw(JSON)
    if draw(st.integers(0, 9)) == 0:
        blob += b"more"
    return body, blob


RAISED = st.fixed_dictionaries(
    {"type": JSON, "message": JSON}, optional={"line": JSON, "ancestors": JSON, "raised_here": JSON}
)
FIELDS = {
    "id": st.integers(0, 3),
    "value": JSON,
    "kind": st.sampled_from(WORDS) | JSON,
    "names": JSON,
    "handle": JSON,
    "mutated": JSON | st.lists(st.tuples(COUNTS, JSON).map(list), max_size=2),
    "grads": JSON,
    "missing": JSON,
    "raised": JSON | RAISED,
}
ODD = st.tuples(JSON | st.fixed_dictionaries({}, optional=FIELDS), st.binary(max_size=48))
HONEST = (
    {"value": {"tensor": ["float64", [2], None, 0, 16, True]}, "handle": 1, "mutated": []},
    bytes(16),
)
ANSWERS = st.lists(replies() | replies() | ODD, max_size=4) | st.lists(
    replies(), min_size=1, max_size=2
).map(lambda rest: [HONEST, *rest])


def call(student: RemoteStudent) -> None:
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = student.f(x)
    if isinstance(y, torch.Tensor) and y.requires_grad:
        (gradient,) = torch.autograd.grad(
            y, x, torch.ones_like(y), create_graph=True, allow_unused=True
        )
        if gradient is not None and gradient.requires_grad:
            torch.autograd.grad(gradient.sum(), x, allow_unused=True)


def name(student: RemoteStudent) -> None:
    repr(student.CONSTANT)


def observe(student: RemoteStudent) -> None:
    student.observe("scenario", torch.ones(2))


def drive(student: RemoteStudent) -> None:
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y, other = fetch([student.put(x) ** 3, student.put(x).grad])
    if isinstance(y, torch.Tensor) and y.requires_grad:
        torch.autograd.grad(y.sum(), x, allow_unused=True)
    if isinstance(other, RemoteObject):
        fetch(other.data, is_same(other, other))


QUESTIONS: list[Callable[[RemoteStudent], None]] = [call, name, observe, drive]


@given(st.sampled_from(QUESTIONS), ANSWERS)
@settings(max_examples=300)
def test_no_answer_makes_the_judge_raise_anything_else(
    question: Callable[[RemoteStudent], None], answers: list[tuple[Any, bytes]]
) -> None:
    """Only the errors that a check expects are raised, and the next worker can be used."""
    session = session_with(ScriptedWorker([({"kind": "callable"}, b""), *answers]))
    try:
        question(RemoteStudent(session))
    except EXPECTED:
        pass
    finally:
        session.close()


def test_a_valid_answer_of_the_scripted_worker_arrives() -> None:
    """A valid answer arrives, with a gradient; otherwise the test above would prove nothing."""
    three = torch.full((2,), 3.0, dtype=torch.float64).numpy().tobytes()
    body, _ = HONEST
    answers = [(body, three), ({"grads": [body["value"]], "handle": None, "mutated": []}, three)]
    session = session_with(ScriptedWorker([({"kind": "callable"}, b""), *answers]))
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = RemoteStudent(session).f(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert y.tolist() == gradient.tolist() == [3.0, 3.0]


def test_a_question_that_can_not_be_sent_loses_no_handle() -> None:
    worker = ScriptedWorker([({"value": []}, b"")])
    session = session_with(worker)
    session.load()
    GraphHandle(session.worker, 7)
    with pytest.raises(BrokenFrame, match="over the cap"):
        session.ask("describe", path="f" * (9 << 20))
    session.ask("describe", path="f")
    assert worker.forgotten == [7]


def test_answers_of_a_lost_worker_are_not_used_for_the_next(remote: Students) -> None:
    """Prefetched requests are sent again, because their graphs are gone with the worker."""
    student = remote("import os\ndef f(x): return x * 2\ndef die(): os._exit(1)\n")
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with student._session.prefetching([call_request("f", [x])]):
        with pytest.raises(WorkerLost):
            student.die()
        (gradient,) = torch.autograd.grad(student.f(x).sum(), x)
    assert gradient.tolist() == [2.0, 2.0]


def test_memory_that_runs_out_while_an_answer_is_read_is_left_to_the_plugin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The plugin knows whether the judge's own limit was exceeded."""
    monkeypatch.setattr(values, "unpacked", Mock(side_effect=MemoryError))
    answer = {"value": {"tensor": ["float32", [2], None, 0, 8, False]}}
    with pytest.raises(MemoryError):
        session_with(ScriptedWorker([(answer, bytes(8))])).observe("scenario", (), {})


@pytest.mark.parametrize("error", [TypeError("ours"), KeyError("ours")])
def test_an_error_of_ours_is_not_the_students(error: Exception) -> None:
    with pytest.raises(EngineFault, match="ours"), session_with(ScriptedWorker([])).reading():
        raise error


def test_an_answer_that_is_none_loses_the_worker() -> None:
    session = session_with(ScriptedWorker([({"values": []}, b"")]))
    with pytest.raises(WorkerLost, match="an answer without 'value'"):
        session.observe("scenario", (), {})
    assert session._worker is None
