"""The predicted requests of a gradcheck are those that torch makes. If a prediction is wrong, only
time is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch

from grader.core.errors import CheckFailure, StudentCodeError, WorkerLost
from grader.judge.checks import assert_gradcheck, assert_gradgradcheck
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.session import StudentSession, several_replies
from grader.worker.wire.batching import MAX_REQUESTS, gradcheck_requests
from grader.worker.wire.frames import BrokenFrame, Frame

SOURCE = """
import torch
seen = []
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x ** 2
class Wrong(Cube):
    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]
class Global(Cube):
    @staticmethod
    def forward(ctx, x):
        global last
        last = x
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        return g * 3 * last ** 2
def product(x, y):
    return x.sin() * y
def total(x):
    return (x ** 2).sum()
def raises_below(x):
    if x[0] < 0.5:
        raise ValueError("too small")
    return x * 2
def counts(x):
    seen.append(x.clone())
    return x * len(seen)
"""
UNFORESEEN = 3
"""What torch also asks, to test zero and undefined gradients: two products and a call."""


@pytest.fixture
def question_counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return how often each kind of request crossed the border."""
    found: Counter[str] = Counter()
    ask = StudentSession._send

    def counting(self: StudentSession, do: str, *args: Any, **more: Any) -> Frame:
        found[do] += 1
        return ask(self, do, *args, **more)

    monkeypatch.setattr(StudentSession, "_send", counting)
    return found


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize(
    "name",
    ["Cube.apply", "Wrong.apply", "Global.apply", "product", "total", "counts", "raises_below"],
)
def test_the_verdict_is_that_of_a_gradcheck_without_foresight(
    name: str, remote: Callable[..., RemoteStudent]
) -> None:
    """This holds if a function has state, returns another shape, or raises in the middle."""

    def verdict(*, foresight: bool) -> str:
        student = remote(SOURCE)
        head, _, member = name.partition(".")
        function = getattr(getattr(student, head), member) if member else getattr(student, head)
        inputs = [leaf(0.5, -1.2, 0.8)] + ([leaf(1.0, 2.0, 3.0)] if name == "product" else [])
        try:
            assert_gradcheck(function if foresight else (lambda *args: function(*args)), inputs)
        except (CheckFailure, StudentCodeError) as error:
            return f"{type(error).__name__}: {error}"
        return "passed"

    foreseen = verdict(foresight=True)
    assert foreseen == verdict(foresight=False)
    assert (foreseen == "passed") == (name in ("Cube.apply", "Global.apply", "product", "total"))


def test_gradcheck_crosses_in_one_frame(
    remote: Callable[..., RemoteStudent], question_counts: Counter[str]
) -> None:
    function = remote(SOURCE).Cube.apply
    question_counts.clear()
    assert_gradcheck(function, [leaf(0.5, -1.2, 0.8, 1.1)])
    assert question_counts["several"] == 1
    assert question_counts["call"] + question_counts["vjp"] <= UNFORESEEN


def test_gradgradcheck_crosses_in_one_frame(
    remote: Callable[..., RemoteStudent], question_counts: Counter[str]
) -> None:
    function = remote(SOURCE).Cube.apply
    question_counts.clear()
    assert_gradgradcheck(function, [leaf(0.5, -1.2)])
    assert question_counts["several"] == 1
    assert question_counts["call"] + question_counts["vjp"] <= 1 + 2 * UNFORESEEN


def test_what_was_prefetched_in_vain_is_freed(
    remote: Callable[..., RemoteStudent], question_counts: Counter[str]
) -> None:
    """The worker keeps no graph that cannot be requested any more."""
    student = remote(SOURCE)
    function, x = student.Cube.apply, leaf(0.5, -1.2)
    session: Any = function._session
    with session.prefetching(gradcheck_requests("Cube.apply", [x])):
        pass
    assert len(session.worker.freed) == 1 + 2 * 2
    assert session._prefetched == {}


def test_a_large_gradcheck_is_not_prefetched() -> None:
    assert (
        gradcheck_requests(
            "f", [torch.zeros(MAX_REQUESTS, dtype=torch.float64, requires_grad=True)]
        )
        == []
    )


def test_a_worker_that_hangs_in_the_middle_is_late(remote: Callable[..., RemoteStudent]) -> None:
    student = remote(
        "def f(x):\n    while x[0] < 0.5: pass\n    return x * 2\n",
        call_seconds=0.05,
        lesson_seconds=2,
    )
    with pytest.raises(WorkerLost, match=r"took more than|still running") as lost:
        assert_gradcheck(student.f, [leaf(0.5)])
    assert lost.value.outcome == "timeout"


@pytest.mark.parametrize(
    "body",
    [
        [[{"value": 1}, 3]],
        [[{"value": 1}, -1], [{}, 3]],
        [[{}, 0], [{}, 0], [{}, 2]],
        [["no reply", 2]],
        [[{}, 2.0]],
        [7],
    ],
)
def test_replies_that_are_none_are_refused(body: Any) -> None:
    with pytest.raises((BrokenFrame, TypeError)):
        several_replies(Frame({"several": body}, b"xy"), 2)
