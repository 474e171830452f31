"""That grading is under way is said where somebody looks at it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from grader.cli.commands.spinner import waiting
from grader.core.i18n import Catalogue, engine_catalogue


class Terminal(io.StringIO):
    """A terminal's stream, kept."""

    def isatty(self) -> bool:
        return True


def test_where_colours_are_wanted_and_no_terminal_is_nothing_moves() -> None:
    """As in a notebook, where every picture of what moves would be a line."""
    stream = io.StringIO()
    with waiting(Console(file=stream, force_terminal=True, width=80), Catalogue()):
        pass
    assert stream.getvalue() == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_grading_is_announced_on_a_terminal_alone(terminal: bool) -> None:
    stream = Terminal()
    with waiting(Console(file=stream, force_terminal=terminal, width=80), Catalogue()):
        pass
    assert ("Grading …" in stream.getvalue()) is terminal
    assert terminal or not stream.getvalue()


def test_a_korean_terminal_reads_korean() -> None:
    stream = Terminal()
    with waiting(Console(file=stream, force_terminal=True, width=80), engine_catalogue("ko")):
        pass
    assert "채점 중" in stream.getvalue()
