"""Keep output from failing on terminals that lack a letter: the letter is replaced."""

from __future__ import annotations

import codecs
import io
import sys

STAND_INS = dict(zip("✘✔✓◷○●→▶◀─│└├", "x++~o*>><-|`|", strict=True))
"""Replacements, which every encoding has, for the letters that our reports are drawn with."""
HANDLER = "grade.stand_in"


def stand_in(error: UnicodeError) -> tuple[str, int]:
    """Handle an encoding error: return a replacement for each letter, or a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(
        STAND_INS.get(letter, "?") for letter in error.object[error.start : error.end]
    ), error.end


def keep_streams_going() -> None:
    """Make standard output and error replace letters that their encoding lacks."""
    codecs.register_error(HANDLER, stand_in)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)
