"""Make text from a student's code harmless: control characters, surrogates, length."""

from __future__ import annotations

import unicodedata

MAX_CHARACTERS = 4000
KEPT = frozenset("\n\t")


def clean(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return the text without control characters; if it is cut at ``limit``, that is visible."""
    cut = f"… [{len(text) - limit:,} more characters]" if len(text) > limit else ""
    return "".join(_shown(c) for c in text[:limit]) + cut


def _shown(character: str) -> str:
    if character in KEPT or character.isprintable():
        return character
    if unicodedata.category(character) == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    code = ord(character)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
