"""What assertions accept, and what they say about anything else."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.core.errors import CheckFailure, CourseError
from grader.judge.checks import assert_gradient, assert_that, assert_tuple


@pytest.mark.parametrize(
    ("actual", "lists", "said"),
    [
        ((1, 2), False, ""),
        ([1, 2], True, ""),
        ([1, 2], False, "{type} came back where a tuple of {count} is promised"),
        (3, True, "{type} came back where a tuple of {count} is promised"),
        ((1, 2, 3), False, "the tuple has {size} elements, expected {count}"),
        ((), False, "the tuple has {size} elements, expected {count}"),
        (None, False, "None came back where a tuple is promised: is there a return?"),
    ],
)
def test_a_tuple_has_its_length(actual: Any, lists: bool, said: str) -> None:
    details = {"inputs": {"x": 1}, "facts": {"name": "x"}}
    if not said:
        assert_tuple(actual, 2, lists=lists, **details)
        return
    with pytest.raises(CheckFailure) as raised:
        assert_tuple(actual, 2, lists=lists, **details)
    failure = raised.value
    assert (failure.message, failure.inputs) == (said, {"x": 1})
    assert said.format(**failure.facts)
    assert failure.facts["name"] == "x"


def test_a_misspelt_detail_is_the_authors_also_where_the_assertion_holds() -> None:
    """Else a student whose answer differs would be blamed for it."""
    one = torch.ones(2)
    with pytest.raises(CourseError, match=r"test_checks\.py:\d+: .*no rtoll=. Did you mean rtol"):
        assert_gradient(one, one, rtoll=1e-5)
    with pytest.raises(CourseError, match=r"no input=. Did you mean inputs"):
        assert_that(True, "wrong", input={})
    with pytest.raises(CheckFailure, match="wrong"):  # how exact it is does not matter here
        assert_that(False, "wrong", atol=1e-8)
