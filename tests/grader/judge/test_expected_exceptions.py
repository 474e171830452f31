"""An exception that a check expects is one of the student's code, or of the solution's."""

from __future__ import annotations

from typing import NoReturn

import pytest

from grader.core.errors import CheckFailure, EngineFault, MissingName, StudentCodeError, WorkerLost
from grader.judge.checks import assert_raises
from grader.judge.remote.session import NotStarted


def raising(error: Exception) -> NoReturn:
    raise error


@pytest.mark.parametrize(
    "error",
    [StudentCodeError("ValueError", "no", ancestors=("ValueError", "Exception")), ValueError("no")],
)
def test_its_text_comes_back(error: Exception) -> None:
    assert assert_raises("Exception", raising, error) == "no"
    with pytest.raises(type(error)):
        assert_raises("KeyError", raising, error)


@pytest.mark.parametrize(
    "error",
    [EngineFault("fault"), MissingName("f"), NotStarted("f"), WorkerLost("timeout", "slow")],
)
def test_what_says_nothing_about_the_code_is_not_expected(error: Exception) -> None:
    with pytest.raises(type(error)):
        assert_raises("Exception", raising, error)


def test_a_call_that_returns_fails_the_check() -> None:
    with pytest.raises(CheckFailure, match="should have been raised"):
        assert_raises("ValueError", int, "3")
