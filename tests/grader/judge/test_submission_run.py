"""The judge's record of a check: writes of the student's code, and its last call."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.session import StudentSession

pytestmark = pytest.mark.linux
WRITES = "def empty(x):\n    return x.zero_()\n\ndef double(x):\n    return 2 * x\n"


@pytest.fixture
def student(remote: Callable[..., RemoteStudent]) -> RemoteStudent:
    return remote(WRITES)


@pytest.fixture
def session(student: RemoteStudent) -> StudentSession:
    assert isinstance(student._session, StudentSession)
    return student._session


def test_what_is_written_is_noted_until_the_next_check_begins(
    student: RemoteStudent, session: StudentSession
) -> None:
    first = session.begin_check()
    student.double(torch.ones(2))
    assert not first.wrote
    student.empty(torch.ones(2))
    second = session.begin_check()
    student.double(torch.ones(2))
    assert (first.wrote, second.wrote) == (True, False)


def test_what_is_written_where_it_is_allowed_is_not_noted(
    student: RemoteStudent, session: StudentSession
) -> None:
    """This includes writes after an inner block; after the outer block, writes are noted again."""
    traffic = session.begin_check()
    with student.writing_allowed():
        with student.writing_allowed():
            student.empty(torch.ones(2))
        student.empty(torch.ones(2))
    assert not traffic.wrote
    student.empty(torch.ones(2))
    with student.writing_allowed():
        student.empty(torch.ones(2))
    assert traffic.wrote


def test_a_block_that_raises_allows_no_more_than_itself(
    student: RemoteStudent, session: StudentSession
) -> None:
    traffic = session.begin_check()
    with pytest.raises(ZeroDivisionError), student.writing_allowed():
        raise ZeroDivisionError
    student.empty(torch.ones(2))
    assert traffic.wrote


def test_the_last_call_is_that_of_the_check(
    student: RemoteStudent, session: StudentSession
) -> None:
    first = session.begin_check()
    student.double(torch.ones(2))
    second = session.begin_check()
    assert first.last_call is not None
    assert first.last_call.path == "double"
    assert second.last_call is None
