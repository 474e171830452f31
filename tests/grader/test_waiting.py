"""That grading is under way is said where somebody looks at it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from grader.commands.waiting import waiting
from grader.translation import Catalogue, engine_catalogue


@pytest.mark.parametrize("terminal", [True, False])
def test_grading_is_announced_on_a_terminal_alone(terminal: bool) -> None:
    stream = io.StringIO()
    with waiting(Console(file=stream, force_terminal=terminal, width=80), Catalogue()):
        pass
    assert ("Grading …" in stream.getvalue()) is terminal
    assert terminal or not stream.getvalue()


def test_a_korean_terminal_reads_korean() -> None:
    stream = io.StringIO()
    with waiting(Console(file=stream, force_terminal=True, width=80), engine_catalogue("ko")):
        pass
    assert "채점 중" in stream.getvalue()
