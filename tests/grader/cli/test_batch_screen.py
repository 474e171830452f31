"""Show the progress of a long command on a terminal and in a log."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from grader.cli import batch_screen
from grader.cli.batch_screen import Meter


def test_without_a_terminal_there_is_a_plain_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names the part and how much of it is done."""
    monkeypatch.setattr(batch_screen, "LOG_SECONDS", 0.0)
    monkeypatch.setattr(batch_screen, "LOOK_SECONDS", 0.0)
    with Meter(Console(file=io.StringIO())) as meter:
        assert list(meter.over("tiny: comparing pairs", range(3))) == [0, 1, 2]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" done")[0] for line in lines] == [
        f"tiny: comparing pairs: {done} of 3" for done in range(3)
    ]


def test_quick_progress_prints_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    with Meter(Console(file=io.StringIO())) as meter:
        assert sum(meter.over("adding", range(1000))) == 499500
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_bar_and_nothing_of_it_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This holds after an interruption too; brackets in a part's name are not markup."""
    monkeypatch.setattr(batch_screen, "LOOK_SECONDS", 0.0)
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with pytest.raises(KeyboardInterrupt), Meter(console) as meter:
        for thing in meter.over("[tiny]: reading", range(9)):
            if thing == 4:
                raise KeyboardInterrupt
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[tiny]: reading" in written
    assert written.endswith("\x1b[2K")  # the line is wiped
    assert "\x1b[?25h" in written  # and the cursor is there again
