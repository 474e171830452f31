"""Grading in progress is shown only where somebody sees it."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pytest
from rich.console import Console

from grader.cli.grade import Elapsed, waiting
from grader.core.i18n import Catalogue, engine_catalogue


class Terminal(io.StringIO):
    """A terminal's stream, recorded."""

    def isatty(self) -> bool:
        return True


@dataclass
class Busy:
    """A host with a given state."""

    judging: bool | None


def test_what_is_said_while_waiting_is_true() -> None:
    """Torch is said to be imported until the host judges; if the state is unknown, nothing is
    claimed.
    """
    host = Busy(False)
    shown = Elapsed(Catalogue(), host)
    shown.began -= 7
    assert "importing torch" in shown.__rich__().plain
    host.judging = None
    assert shown.__rich__().plain == "Grading … 7 s"
    host.judging = True
    assert shown.__rich__().plain == "Grading … running your code, 0 s"
    host.judging = False
    assert "running your code" in shown.__rich__().plain


def test_where_colours_are_wanted_and_no_terminal_is_nothing_moves() -> None:
    """In a notebook, each frame of an animation would be a line."""
    stream = io.StringIO()
    with waiting(Console(file=stream, force_terminal=True, width=80), Catalogue(), Busy(False)):
        pass
    assert stream.getvalue() == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_grading_is_announced_on_a_terminal_alone(terminal: bool) -> None:
    stream = Terminal()
    with waiting(Console(file=stream, force_terminal=terminal, width=80), Catalogue(), Busy(False)):
        pass
    assert ("Grading …" in stream.getvalue()) is terminal
    assert terminal or not stream.getvalue()


def test_a_korean_terminal_reads_korean() -> None:
    stream = Terminal()
    with waiting(
        Console(file=stream, force_terminal=True, width=80), engine_catalogue("ko"), Busy(False)
    ):
        pass
    assert "채점 중" in stream.getvalue()
