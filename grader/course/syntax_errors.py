"""Explain Python's syntax errors in plain words: what is wrong, and what to do about it.

The rules of ``syntax_errors.toml`` look at Python's message and at the line; some messages differ
between versions of Python. If no rule fits, only Python's own message is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader.core.files import read_toml
from grader.core.i18n import Phrase, phrase
from grader.core.report import read

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


def explain(message: str, line: str) -> Phrase | None:
    """Return what a syntax error means, from Python's message and the text of its line."""
    line = line.strip() if len(line) <= MAX_LINE else ""
    message = message[:MAX_MESSAGE]
    for rule in RULES:
        found = re.search(rule.message, message)
        seen = re.search(rule.line, line)
        if found and seen:
            facts = {**found.groupdict(), **seen.groupdict()}
            return phrase(rule.template, **{key: text.strip() for key, text in facts.items()})
    return None
