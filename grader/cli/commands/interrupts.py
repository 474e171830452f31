"""Handle Ctrl-C and signals. In a batch or a long run, the first Ctrl-C waits for running jobs and
the next ends them; a loop such as ``grade watch`` ends cleanly.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from rich.console import Console
from rich.text import Text

from grader.core.text import counted
from grader.runtime.pool import HostPool


@contextlib.contextmanager
def graceful_interrupt(
    console: Console, hosts: HostPool[Any], *, what: str = "submission"
) -> Iterator[None]:
    """Make the first Ctrl-C stop new work, with a message; the next raises KeyboardInterrupt.

    Another handler, or an ignored signal (``nohup``), stays as it is.
    """
    before = signal.getsignal(signal.SIGINT)
    if (
        threading.current_thread() is not threading.main_thread()
        or before is not signal.default_int_handler
    ):
        yield
        return

    def first(*_: object) -> None:
        signal.signal(signal.SIGINT, again)
        hosts.finishing.set()
        # The signal may arrive while a line is being written, and no other text can be written
        # then.
        with contextlib.suppress(RuntimeError):
            console.print(Text(stopping(hosts.busy, what)), soft_wrap=True)

    def again(*_: object) -> None:
        hosts.abandon()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def stopping(busy: int, what: str = "submission") -> str:
    """Return what to print at the first Ctrl-C; ``what`` is what is graded."""
    waiting = (
        f"waiting for {counted(busy, what)}; press Ctrl-C again to stop at once"
        if busy
        else "one moment"
    )
    return f"stopping: {waiting}\nwhat was graded is kept; run the same command to continue"


@contextlib.contextmanager
def ended_by_signals(stop: Callable[[int], None]) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP end the loop cleanly; a second signal acts as usual.

    ``stop`` is called with the exit status, 128 plus the signal's number.
    """
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(number, before[signal.Signals(number).name])
        stop(128 + number)

    before = {name: signal.signal(getattr(signal, name), end) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
