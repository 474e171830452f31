"""Read single keys from the terminal in a thread, and restore the terminal afterwards."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator

END_OF_INPUT = "\x04"


@contextlib.contextmanager
def single_keys(press: Callable[[str], None]) -> Iterator[bool]:
    """Pass every key to ``press`` while the block runs; yield whether there is a terminal."""
    if not (sys.stdin and sys.stdin.isatty()):
        yield False
    elif sys.platform == "win32":
        with _windows(press):
            yield True
    else:
        with _posix(press):
            yield True


@contextlib.contextmanager
def _posix(press: Callable[[str], None]) -> Iterator[None]:
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    wake, waker = os.pipe()

    def read() -> None:
        while True:
            ready, _, _ = select.select([fd, wake], [], [])
            if wake in ready:
                return
            for key in os.read(fd, 64).decode("utf-8", "replace") or END_OF_INPUT:
                press(key)
                if key == END_OF_INPUT:
                    return

    thread = threading.Thread(target=read, daemon=True)
    try:
        tty.setcbreak(fd, termios.TCSADRAIN)  # Ctrl-C stays a signal
        thread.start()
        yield
    finally:
        os.close(waker)
        if thread.ident:
            thread.join(2)
        os.close(wake)
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _windows(press: Callable[[str], None]) -> Iterator[None]:
    import msvcrt

    done = threading.Event()

    def read() -> None:
        while not done.wait(0.03):
            while msvcrt.kbhit():  # type: ignore[attr-defined,unused-ignore]
                press(msvcrt.getwch())  # type: ignore[attr-defined,unused-ignore]

    threading.Thread(target=read, daemon=True).start()
    try:
        yield
    finally:
        done.set()
