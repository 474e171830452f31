"""Handle Ctrl-C in a batch or a long run: the first waits for running jobs, the next ends them."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

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
        f"waiting for {busy} {what}{'' if busy == 1 else 's'}; press Ctrl-C again to stop at once"
        if busy
        else "one moment"
    )
    return f"stopping: {waiting}\nwhat was graded is kept; run the same command to continue"
