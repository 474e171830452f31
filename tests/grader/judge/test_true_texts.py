"""What a report says about an answer is true of that answer."""

from __future__ import annotations

import pytest
import torch

from grader.authoring import assert_gradient
from grader.core.errors import CheckFailure
from grader.core.i18n import Catalogue
from grader.core.text import text
from grader.judge.remote.proxies import LastCall
from grader.judge.results import describe_inputs


def test_a_constant_argument_is_told_where_another_requires_grad() -> None:
    """If backward fails only for a constant x, the numbers alone do not show it."""
    x, y, v = torch.ones(2), torch.ones(2, requires_grad=True), torch.ones(2)
    inputs = {"x": x, "y": y, "v": v}
    for arguments, shown in (
        ((x, y), "[1.0, 1.0] float32 requires_grad=False"),
        ((x, v), "[1.0, 1.0] float32"),
        ((y, y), "[1.0, 1.0] float32"),
    ):
        described = describe_inputs(inputs, LastCall("f", arguments, {}, True), Catalogue())
        assert text(described["x"]) == shown
        assert text(described["v"]) == "[1.0, 1.0] float32"


def test_a_check_says_when_a_gradient_is_missing() -> None:
    for message, said in (
        ("wrong if y is constant", "wrong if y is constant"),
        (None, "None came back where a gradient is promised"),
    ):
        with pytest.raises(CheckFailure) as caught:
            assert_gradient(None, torch.ones(2), *filter(None, [message]))
        assert caught.value.message == said
