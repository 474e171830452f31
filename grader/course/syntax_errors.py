"""Explain Python's syntax errors in plain words: what is wrong, and what to do about it.

The rules of ``syntax_errors.toml`` look at Python's message and at the line; some messages differ
between versions of Python. If no rule fits, only Python's own message is shown.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from grader.core.files import read_toml
from grader.core.i18n import Catalogue, Phrase, phrase
from grader.core.report import read
from grader.course.source import Source

MAX_LINE, MAX_MESSAGE = 400, 400
"""A longer line is not searched, and of a longer message only the beginning: the time that some
patterns take grows with the square of a text's length.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """``message`` and ``line`` are patterns that are searched; named groups become facts."""

    template: str
    message: str = ""
    line: str = ""


RULES = tuple(
    read(Rule, {"template": template, **patterns})
    for template, patterns in read_toml(Path(__file__).with_suffix(".toml")).items()
)


def sentence(kind: str, message: str, line: str, tr: Catalogue) -> str:
    """Return what a syntax error means, if that is known, with Python's own words."""
    known = explain(message, line)
    said = f"{kind}: {message}"
    return f"{tr(known.template, **known.facts)} ({said})" if known else said


def line_of_error(source: Source, kind: str, line: int | None) -> int | None:
    """Return the line that a syntax error means. A TabError names the line that does not fit the
    one before it, and the tab may be in either.
    """
    return source.with_tab(line) if kind == "TabError" and line else line


def explain(message: str, line: str) -> Phrase | None:
    """Return what a syntax error means, from Python's message and the text of its line."""
    line = line.strip() if len(line) <= MAX_LINE else ""
    message = message[:MAX_MESSAGE]
    found = by_word(message, line) or by_rule(message, line) or by_key(message)
    if found is None and "invalid syntax" in message and names_in_a_row(line) > 1:
        return phrase(TEXT)
    return found


def by_rule(message: str, line: str) -> Phrase | None:
    for rule in RULES:
        found = re.search(rule.message, message)
        seen = re.search(rule.line, line)
        if found and seen:
            facts = {**found.groupdict(), **seen.groupdict()}
            return phrase(rule.template, **{key: text.strip() for key, text in facts.items()})
    return None


KEYS = {
    **dict.fromkeys("−–—‐", "-"),
    **dict.fromkeys("×·", "*"),
    "÷": "/",
    "²": "**2",
    "³": "**3",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "→": "->",
    "…": "...",
    "´": "'",
}
"""What to type for characters that look like Python's, or stand for the same in formulas."""


def by_key(message: str) -> Phrase | None:
    """Say which key is meant by a character that Python does not know."""
    found = re.search("invalid character '(?P<character>.)'", message)
    if found is None:
        return None
    character = found["character"]
    key = KEYS.get(character) or unicodedata.normalize("NFKC", character)
    if key.isascii():
        template = "Python does not know the character {character}. Type {key} instead."
        return phrase(template, character=character, key=key)
    template = "Python does not know the character {character}. Delete it, and type what is meant."
    return phrase(template, character=character)


BEGINNINGS = """
assert break class continue def del elif else except finally for from global if import lambda pass
raise return try while with yield
""".split()


TEXT = "This line is text, not Python: delete it, or begin it with # to keep it as a comment."


def names_in_a_row(line: str) -> int:
    """Count how often two names stand side by side after a line's first word, as in text and never
    in Python; 0 if that word is a keyword.
    """
    first, _, rest = line.partition(" ")
    if keyword.iskeyword(first):
        return 0
    rest = re.sub(r"(['\"]).*?\1|#.*", "", rest)
    pairs = re.findall(r"\b(?=([^\W\d]\w*) +([^\W\d]\w*))", rest)
    return sum(not any(map(keyword.iskeyword, pair)) for pair in pairs)


def by_word(message: str, line: str) -> Phrase | None:
    """Recognize a misspelt or capitalized keyword at the beginning of a line."""
    found = re.match(r"\w+", line)
    if (
        found is None
        or names_in_a_row(line)
        or "invalid syntax" not in message
        or keyword.iskeyword(found[0])
    ):
        return None
    near = get_close_matches(found[0].lower(), BEGINNINGS, n=3, cutoff=0.66)
    # Two swapped letters are the likelier slip.
    near.sort(key=lambda word: sorted(word) != sorted(found[0].lower()))
    if not near:
        return None
    template = "{word} is not a word of Python. Did you mean {near}?"
    return phrase(template, word=found[0], near=near[0])
