"""Grading in progress is shown only where somebody sees it."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from grader.cli.grade import Elapsed, waiting
from grader.core.i18n import Catalogue, engine_catalogue


class Terminal(io.StringIO):
    """A terminal's stream, recorded."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def host() -> Any:
    """Return a host that has not begun to judge."""
    return SimpleNamespace(judging=False)


def test_what_is_said_while_waiting_is_true(host: Any) -> None:
    """Torch is said to be imported until the host judges; if the state is unknown, nothing is
    claimed.
    """
    shown = Elapsed(Catalogue(), host)
    shown.began -= 7
    assert "importing torch" in shown.__rich__().plain
    host.judging = None
    assert shown.__rich__().plain == "Grading … 7 s"
    host.judging = True
    assert shown.__rich__().plain == "Grading … running your code, 0 s"
    host.judging = False
    assert "running your code" in shown.__rich__().plain


@pytest.mark.parametrize(
    ("stream", "colors", "lang", "said"),
    [
        (Terminal, True, "en", "Grading …"),
        (Terminal, True, "ko", "채점 중"),
        (Terminal, False, "en", ""),
        (io.StringIO, True, "en", ""),
    ],
    ids=["a terminal", "in Korean", "without colors", "a notebook, where a frame is a line"],
)
def test_grading_is_announced_on_a_terminal_alone(
    stream: type[io.StringIO], colors: bool, lang: str, said: str, host: Any
) -> None:
    file = stream()
    console = Console(file=file, force_terminal=colors, width=80)
    with waiting(console, engine_catalogue(lang), host):
        pass
    assert said in file.getvalue()
    assert bool(said) is bool(file.getvalue())
