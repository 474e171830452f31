"""The judge's record of a check: writes of the student's code, and its last call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from grader.core.i18n import Catalogue
from grader.course.source import Source
from grader.judge.remote.proxies import RemoteStudent, Traffic
from grader.judge.runner import flags_in

pytestmark = pytest.mark.linux
WRITES = """
from torch.autograd import Function

def empty(x):
    return x.detach().zero_()

def double(x):
    return 2 * x

class Emptied(Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.zero_()
"""


@pytest.fixture
def student(remote: Callable[..., RemoteStudent]) -> RemoteStudent:
    return remote(WRITES)


def begin(student: RemoteStudent) -> Traffic:
    session: Any = student._session
    traffic: Traffic = session.begin_check()
    return traffic


def test_what_is_written_is_noted_until_the_next_check_begins(student: RemoteStudent) -> None:
    first = begin(student)
    student.double(torch.ones(2))
    assert not first.wrote
    student.empty(torch.ones(2))
    second = begin(student)
    student.double(torch.ones(2))
    assert (first.wrote, second.wrote) == (True, False)


def test_what_is_written_where_it_is_allowed_is_not_noted(student: RemoteStudent) -> None:
    """This includes writes after an inner block; after the outer block, writes are noted again."""
    traffic = begin(student)
    with student.writing_allowed():
        with student.writing_allowed():
            student.empty(torch.ones(2))
        student.empty(torch.ones(2))
    assert not traffic.wrote
    student.empty(torch.ones(2))
    with student.writing_allowed():
        student.empty(torch.ones(2))
    assert traffic.wrote


def test_the_students_code_writes_into_copies_alone(student: RemoteStudent) -> None:
    """A function and a backward can't change a tensor of the judge, wherever writing is allowed. A
    check gets the copies from the block.
    """
    x, v, w = (torch.ones(2, requires_grad=True) for _ in range(3))
    y = student.Emptied.apply(x)
    student.empty(x)
    with student.writing_allowed() as copies:
        student.empty(x[:1])
        _, other = torch.autograd.grad(y + w, (x, w), v)
    assert [x.tolist(), v.tolist(), other.tolist()] == [[1.0, 1.0]] * 3
    assert [copies.of(one).tolist() for one in (x, x[:1], v)] == [[0.0, 0.0], [0.0], [0.0, 0.0]]
    assert torch.equal(copies.of(w), w)


def test_a_block_that_raises_allows_no_more_than_itself(student: RemoteStudent) -> None:
    traffic = begin(student)
    with pytest.raises(ZeroDivisionError), student.writing_allowed():
        raise ZeroDivisionError
    student.empty(torch.ones(2))
    assert traffic.wrote


def test_the_last_call_is_that_of_the_check(student: RemoteStudent) -> None:
    first = begin(student)
    student.double(torch.ones(2))
    second = begin(student)
    assert first.last_call is not None
    assert first.last_call.path == "double"
    assert second.last_call is None


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("import gc\ngc.get_objects()", "answer.py:2 searches the memory of the process"),
        ("from torch._C import _DisableTorchDispatch as off\noff()", "hides what torch computes"),
        ("import torch\ntorch.library.custom_op('a::b', f)", "hides what torch computes"),
        ("import torch as t\nt.relu = f", "replaces something outside the lesson (torch.relu)"),
        ("import sys\nsys.modules['torch'] = f", "outside the lesson (sys.modules)"),
        ("import torch\nsetattr(torch, 'relu', f)", "outside the lesson (torch)"),
        ("class C:\n    def __eq__(self, other): return True", "a special method (__eq__)"),
        ("import torch\ntorch.no_grad()", None),
        ("def f(ctx, x):\n    ctx.x, ctx.saved['y'] = x, 1", None),
    ],
)
def test_what_a_person_should_look_at_is_flagged(text: str, flag: str | None) -> None:
    found = flags_in(Source(text, "answer.py"), Catalogue())
    assert (flag or "") in "".join(found)
    assert bool(found) is (flag is not None)
