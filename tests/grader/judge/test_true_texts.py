"""What a report says about an answer is true of that answer."""

from __future__ import annotations

import types

import pytest

from grader.authoring import import_helpers
from grader.core.errors import CheckFailure
from grader.core.paths import CHECKOUT


def test_white_space_that_was_printed_is_shown() -> None:
    """format_graph must print nothing, and an empty line is something."""
    lesson = CHECKOUT / "tests" / "checks" / "graph_inspection"
    helpers = import_helpers(str(lesson / "test_hidden.py"))
    graph = types.SimpleNamespace(details=lambda **facts: {"facts": facts})
    for printed, shown in (("\n", "'\\n'"), ("\n a\n", "'a'")):
        with pytest.raises(CheckFailure) as caught:
            helpers.assert_silent(printed, graph)
        assert caught.value.facts["line"] == shown
