"""Output that reaches every terminal: what an old console has no letter for is replaced, never a
crash.
"""

from __future__ import annotations

import codecs
import io
import sys

STAND_INS = {
    "✘": "x",
    "✔": "+",
    "✓": "+",
    "⧗": "~",
    "○": "o",
    "●": "*",
    "→": ">",
    "▶": ">",
    "◀": "<",
    "─": "-",
    "│": "|",
    "└": "`",
    "├": "|",
}
"""For what our own reports are drawn with, a letter that every encoding has."""
HANDLER = "grade.stand_in"


def stand_in(error: UnicodeError) -> tuple[str, int]:
    """An error handler for encoding: a stand-in for each letter, or a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(
        STAND_INS.get(letter, "?") for letter in error.object[error.start : error.end]
    ), error.end


def keep_streams_going() -> None:
    """Have standard output and standard error take any text. Their encoding stays: it is what the
    terminal understands.
    """
    codecs.register_error(HANDLER, stand_in)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)
