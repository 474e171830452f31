"""For any answer of a worker, the judge returns plain values or raises one of the errors that a
check expects. No answer of a lost worker is used, and no handle is lost.
"""

from __future__ import annotations

import io
import math
from collections import deque
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
from grader.judge.remote.channel import Channel, Clock, Output
from grader.judge.remote.proxies import GraphHandle, RemoteObject, RemoteStudent
from grader.judge.remote.session import NotStarted, StudentSession
from grader.judge.remote.workers import ExitStatus, WorkerProcess
from grader.worker.wire import messages, values
from grader.worker.wire.frames import BrokenFrame, Frame, encode, read_frame

EXPECTED = (StudentCodeError, MissingName, WorkerLost, NotStarted)
"""The errors that a check may get: the student's own, a missing or unwritten name, and the one
error for a broken worker.
"""


class ScriptedWorker:
    """A worker, and its source, with prepared answers, which records what it may forget. It answers
    ``Load`` honestly.
    """

    def __init__(self, answers: Iterable[tuple[Any, bytes]]) -> None:
        self.output = Output(100)
        self.answers = iter(answers)
        self.awaited: deque[int] = deque()
        self.asked: Any = None
        self.forgotten: list[int] = []

    def start(self) -> WorkerProcess:
        return WorkerProcess(cast(Channel, self), 0)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        return None

    def send(self, numbers: Iterable[int], data: bytes, clock: Clock) -> None:
        frame = read_frame(io.BytesIO(data))
        assert frame is not None
        self.asked = frame.read(messages.ASKED)
        self.awaited.extend(numbers)
        self.forgotten += self.asked.freed

    def receive(self, clock: Clock) -> Frame:
        number = self.awaited.popleft()
        if isinstance(self.asked.request, messages.Load):
            return Frame(encode(messages.Loaded([])), b"", number)
        body, blob = next(self.answers, (None, b""))
        if body is None:
            raise WorkerLost("timeout", "no answer in time")
        return Frame(encode(body), blob, number)

    def settle(self) -> None:
        pass

    close = settle


def session_with(worker: ScriptedWorker) -> StudentSession:
    source, scenarios = Source("", "lesson.py"), "def scenario(student, x):\n    return x\n"
    return StudentSession(worker, source=source, scenarios=scenarios, limits=Limits())


WORDS = ["function", "missing", "returned", "gradients", "raised", "loaded", "float64", "f", ""]
DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, (1 << 64) - 1)
    | st.floats()
    | st.binary(max_size=4)
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(st.just(0), st.sampled_from(["list", "set"]), st.lists(inner)).map(list)
        | st.tuples(st.integers(0, 15), inner).map(list)
        | st.tuples(st.integers(0, 15), inner, inner, inner).map(list)
    ),
    max_leaves=12,
)
COUNTS = st.integers(0, 4) | st.sampled_from([-1, 1 << 18, 10**18, 1 << 63])
LINES = st.none() | COUNTS


@st.composite
def tensors(draw: st.DrawFn) -> tuple[Any, bytes]:
    """Draw a valid tensor of some dtype and shape, and its bytes."""
    sizes = [("float64", 8), ("float64", 8), ("float32", 4), ("int64", 8), ("complex64", 8)]
    dtype, size = draw(st.sampled_from(sizes))
    shape = draw(st.sampled_from([[2], [2], [2], [3], [], [0], [2, 1]]))
    return [dtype, shape, draw(st.booleans())], bytes(math.prod(shape) * size)


@st.composite
def replies(draw: st.DrawFn) -> tuple[Any, bytes]:
    """Draw a nearly valid answer with tensors, perhaps with one field changed."""
    parts = draw(st.lists(tensors(), min_size=1, max_size=3))
    headers, blob = [header for header, _ in parts], b"".join(data for _, data in parts)
    written: list[Any] = []
    if draw(st.booleans()):
        written = [[draw(st.sampled_from([0, 0, 0, 5, -1])), headers.pop()]]
    kept, line = draw(st.booleans()), draw(st.none() | st.integers(1, 9))
    at = [[2, draw(st.sampled_from([*range(len(headers)), 0, 7]))] for _ in headers]
    several = [[0, "tuple", at], [0, "list", at]]
    value = draw(st.sampled_from([at[0] if at else None, *several, [8, "T", "", 3]]))
    gradients = [*headers, None] if draw(st.booleans()) else headers
    body = draw(
        st.sampled_from(
            [
                ["returned", value, headers, kept, written, line],
                ["gradients", gradients, kept, written, line],
            ]
        )
    )
    if draw(st.integers(0, 5)) == 0:
        body[draw(st.integers(0, len(body) - 1))] = draw(DATA)
    if draw(st.integers(0, 9)) == 0:
        blob += b"more"
    return body, blob


KINDS = (
    st.tuples(st.just("returned"), DATA, st.just([]), st.booleans(), st.just([]), LINES)
    | st.tuples(st.just("raised"), DATA, DATA, DATA, LINES, st.booleans(), LINES)
    | st.tuples(st.just("raised"), st.text(), st.text(), st.lists(st.text()), LINES, DATA, LINES)
    | st.tuples(st.just("missing"), st.text(), st.lists(st.text()), LINES)
    | st.tuples(st.just("function"), st.booleans(), LINES)
    | st.tuples(st.just("loaded"), st.lists(st.text()), LINES)
)
ODD = st.tuples(DATA | KINDS.map(list), st.binary(max_size=48))
HONEST = (["returned", [2, 0], [["float64", [2], True]], True, [], None], bytes(16))
FUNCTION = (["function", False, None], b"")
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
@settings(max_examples=100)
def test_no_answer_makes_the_judge_raise_anything_else(
    question: Callable[[RemoteStudent], None], answers: list[tuple[Any, bytes]]
) -> None:
    """Only the errors that a check expects are raised, and the next worker can be used."""
    session = session_with(ScriptedWorker([FUNCTION, *answers]))
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
    answers = [(body, three), (["gradients", body[2], False, [], None], three)]
    session = session_with(ScriptedWorker([FUNCTION, *answers]))
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = RemoteStudent(session).f(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert y.tolist() == gradient.tolist() == [3.0, 3.0]


def test_a_question_that_can_not_be_sent_loses_no_handle() -> None:
    worker = ScriptedWorker([FUNCTION])
    session = session_with(worker)
    session.load()
    GraphHandle(session.worker, 7)
    with pytest.raises(BrokenFrame, match="over the cap"):
        session.ask(messages.Describe("f" * (9 << 20)), messages.Function)
    session.ask(messages.Describe("f"), messages.Function)
    assert worker.forgotten == [7]


def test_answers_of_a_lost_worker_are_not_used_for_the_next(remote: Students) -> None:
    """What was sent ahead is sent again, because the graphs are gone with the worker."""
    student = remote("import os\ndef f(x): return x * 2\ndef die(): os._exit(1)\n")
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with student.f.ask_ahead([(x,)]):
        with pytest.raises(WorkerLost):
            student.die()
        (gradient,) = torch.autograd.grad(student.f(x).sum(), x)
    assert gradient.tolist() == [2.0, 2.0]


def test_memory_that_runs_out_while_an_answer_is_read_is_left_to_the_plugin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The plugin knows whether the judge's own limit was exceeded."""
    monkeypatch.setattr(values, "_elements", Mock(side_effect=MemoryError))
    with pytest.raises(MemoryError):
        session_with(ScriptedWorker([HONEST])).observe("scenario", (), {})


@pytest.mark.parametrize("error", [TypeError("ours"), KeyError("ours")])
def test_an_error_of_ours_is_not_the_students(error: Exception) -> None:
    with pytest.raises(EngineFault, match="ours"), session_with(ScriptedWorker([])).reading():
        raise error


@pytest.mark.parametrize("answer", [FUNCTION[0], ["gradients", [], False, [], None], [], "yes"])
def test_an_answer_of_another_kind_loses_the_worker(answer: Any) -> None:
    session = session_with(ScriptedWorker([(answer, b"")]))
    with pytest.raises(WorkerLost, match=r"answer of another kind|malformed message"):
        session.observe("scenario", (), {})
    assert session._worker is None


WRITTEN = ["float64", [2], False]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ([[1, WRITTEN]], "not a tensor of this call"),
        ([[0, ["float64", [1, 2], False]]], "in another shape"),
        ([[0, ["int64", [2], False]]], "in another shape"),
    ],
)
def test_a_write_that_can_not_be_loses_the_worker(written: Any, reason: str) -> None:
    body = ["returned", None, [], False, written, None]
    session = session_with(ScriptedWorker([FUNCTION, (body, bytes(16))]))
    with pytest.raises(WorkerLost, match=reason):
        call(RemoteStudent(session))


@pytest.mark.parametrize(
    ("gradients", "reason"),
    [
        ([], "number of gradients"),
        ([WRITTEN, WRITTEN], "number of gradients"),
        ([["float64", [2, 1], False]], "whose shape"),
        ([["float32", [4], False]], "whose shape"),
    ],
)
def test_a_gradient_that_can_not_be_loses_the_worker(gradients: Any, reason: str) -> None:
    body = ["gradients", gradients, False, [], None]
    session = session_with(ScriptedWorker([FUNCTION, HONEST, (body, bytes(16 * len(gradients)))]))
    with pytest.raises(WorkerLost, match=reason):
        call(RemoteStudent(session))
