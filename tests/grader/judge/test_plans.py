"""What is asked ahead: it saves time and changes no verdict."""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

import pytest
import torch

from grader.core.errors import WorkerLost
from grader.core.messages import JudgeResult, Settings
from grader.course.course import find_course, load_course
from grader.course.submission import LessonFile
from grader.judge.remote.channel import Channel
from grader.judge.remote.plans import MOST_AHEAD, OffPlan, Plan, Question
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.session import StudentSession
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import task_for
from grader.verify.verify import cases_of
from grader.worker.process import forget_warnings, note_warnings

SOURCE = """
import time
import torch
def double(x): return 2 * x
def slow(x):
    time.sleep(x.item())
    return x
def ends(x):
    if x.item() > 2: torch.ops.aten.does_not_exist
    return x
class Value:
    def __init__(self, data): self.data = data
    def __mul__(self, other): return Value(self.data * other.data)
"""
Check = Callable[[RemoteStudent], Any]


def number(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


def gradients(student: RemoteStudent) -> list[float]:
    """Call a function and differentiate it, ten times."""
    points = [number(float(k)) for k in range(10)]
    return [torch.autograd.grad(student.double(x), x)[0].item() for x in points]


def objects(student: RemoteStudent) -> list[Any]:
    """Take steps on objects, and read them twice."""
    first = student.Value(3.0)
    read = [student._session.read([(first * first).data])]
    return [*read, student._session.read([(first * student.Value(2.0)).data])]


def plan_of(student: RemoteStudent, check: Check) -> Plan:
    """Return what a check asks a student."""
    session = student._session
    session.recorded = {}
    session.begin_check("check")
    check(student)
    return tuple(session.recorded["check"])


def following(student: RemoteStudent, plan: Plan) -> StudentSession:
    """Begin a check that has a plan."""
    session = student._session
    session.plans = {"check": plan}
    session.begin_check("check")
    return session


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what happens at the border from now on: questions sent, answers received."""
    found: list[str] = []
    transmit, receive = StudentSession._transmit, Channel.receive

    def transmitting(self: StudentSession, questions: Iterable[Question]) -> list[int]:
        sent = list(questions)
        found.extend(one.kind.__name__ for one in sent)
        return transmit(self, sent)

    def receiving(self: Channel, clock: Any) -> Any:
        found.append("answer")
        return receive(self, clock)

    monkeypatch.setattr(StudentSession, "_transmit", transmitting)
    monkeypatch.setattr(Channel, "receive", receiving)
    return found


@pytest.mark.parametrize("check", [gradients, objects])
def test_a_check_that_follows_its_plan_is_asked_ahead(
    check: Check, remote: Callable[..., RemoteStudent], events: list[str]
) -> None:
    plan, expected = plan_of(remote(SOURCE), check), check(remote(SOURCE))
    student = remote(SOURCE)
    session = following(student, plan)
    session.load()
    assert callable(student.double)
    assert callable(student.Value)
    events.clear()
    assert check(student) == expected
    assert events == [*(one.kind.__name__ for one in plan), *("answer" for _ in plan)]
    assert not session.ended_off_plan()


def test_no_more_is_sent_ahead_than_the_window_holds(
    remote: Callable[..., RemoteStudent], events: list[str]
) -> None:
    def many(student: RemoteStudent) -> None:
        for k in range(3 * MOST_AHEAD):
            student.double(number(k))

    plan = plan_of(remote(SOURCE), many)
    student = remote(SOURCE)
    following(student, plan).load()
    events.clear()
    many(student)
    waiting = most = 0
    for event in events:
        waiting += -1 if event == "answer" else 1
        most = max(most, waiting)
    assert most == MOST_AHEAD + 1  # and the one that is asked


@pytest.mark.parametrize("asked", [[], [5.0]], ids=["it ends early", "it asks something else"])
def test_a_check_that_leaves_its_plan_begins_again(
    asked: list[float], remote: Callable[..., RemoteStudent]
) -> None:
    plan = plan_of(remote(SOURCE), gradients)
    student = remote(SOURCE)
    session = following(student, plan)
    student.double(number(0.0))
    for value in asked:
        with pytest.raises(OffPlan):
            student.double(number(value))
    assert session.ended_off_plan()
    session.begin_again()
    assert gradients(student) == [2.0] * 10
    assert not session.ended_off_plan()


def test_an_answer_that_nobody_asked_for_is_not_waited_for(
    remote: Callable[..., RemoteStudent],
) -> None:
    def sleep(student: RemoteStudent) -> None:
        student.slow(number(0.0))
        student.slow(number(3.0))

    student = remote(SOURCE, call_seconds=9.0)
    session = following(student, plan_of(remote(SOURCE, call_seconds=9.0), sleep))
    student.slow(number(0.0))
    began = time.monotonic()
    session.begin_again()
    assert student.slow(number(0.0)).item() == 0.0
    assert time.monotonic() - began < 2.5


def test_a_worker_that_ends_while_ahead_ends_the_request_that_it_was_asked(
    remote: Callable[..., RemoteStudent],
) -> None:
    source = SOURCE.replace("torch.ops.aten.does_not_exist", "import os; os._exit(1)")

    def count(student: RemoteStudent) -> None:
        for k in range(5):
            student.ends(number(k))

    student = remote(source)
    following(student, plan_of(remote(SOURCE.replace("> 2", "> 9")), count))
    for k in range(3):
        assert student.ends(number(k)).item() == k
    with pytest.raises(WorkerLost):
        student.ends(number(3.0))
    assert student.double(number(1.0)).item() == 2.0


def test_warnings_are_shown_again_by_a_check_that_begins_again() -> None:
    """Python shows each once, and what a check printed before it began again is dropped."""

    def warn() -> None:
        warnings.warn("deep water", UserWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        noted = note_warnings()
        warn()
        warn()
        assert len(shown) == 1
        forget_warnings(noted)
        warn()
    assert len(shown) == 2


ADDRESS = re.compile("0x[0-9a-f]+")
SHOWN_ONCE = "Using backward() with create_graph=True"
"""torch shows this warning once a process."""


def outcome(answer: object) -> str:
    """Return everything in a judge's answer but times, addresses, what torch shows once, and
    ``unnamed``: on a busy machine a check may be too slow for known answers to be looked at.
    """
    assert isinstance(answer, JudgeResult)
    found = asdict(answer) | {"unnamed": None}
    for check in found["checks"]:
        check.pop("seconds", None)
        if SHOWN_ONCE in str(check["output"]):
            check["output"] = ""
    return ADDRESS.sub("", json.dumps({**found, "nonce": None}, indent=1, default=str))


COUNTING = """
calls = 0
def counted(function):
    def call(*args, **kwargs):
        global calls
        calls += 1
        return function(*args, **kwargs) * (1.0 if calls % 7 else 2.0)
    return call
"""


@pytest.mark.parametrize(
    ("lesson", "every"),
    [
        ("custom_sigmoid", 50),
        *(
            pytest.param(one.id, 1, marks=pytest.mark.proof, id=f"all of {one.id}")
            for one in load_course(find_course()).lessons
        ),
    ],
)
def test_all_answers_get_the_same_results_with_and_without_plans(
    lesson: str, every: int, host: ForkServerClient
) -> None:
    course = load_course(find_course())
    found = course.lesson(lesson)
    settings = Settings(3, limits=course.limits)
    for case in cases_of(found)[::every]:
        file = LessonFile(found.id, found.filename, case.source)
        plain, planned = (
            outcome(host.judge(found, task_for(file, replace(settings, planned=way))))
            for way in (False, True)
        )
        assert planned == plain, f"{case.kind} {case.name}"


def test_an_answer_that_counts_its_calls_gets_the_same_results(host: ForkServerClient) -> None:
    """It keeps state, so what is asked of it must not change: it is asked without plans."""
    course = load_course(find_course())
    lesson = course.lesson("custom_sigmoid")
    text = lesson.solution.read_text("utf-8") + COUNTING + "sigmoid = counted(sigmoid)\n"
    task = task_for(LessonFile(lesson.id, lesson.filename, text), Settings(3))
    plain = outcome(host.judge(lesson, task))
    again = outcome(host.judge(lesson, replace(task, settings=Settings(3, planned=True))))
    assert plain == again
