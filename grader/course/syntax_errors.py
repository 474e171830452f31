"""Explain Python's syntax errors in plain words: what is wrong, and what to do about it.

The rules look at Python's message and at the line; some messages differ between versions of Python.
If no rule fits, only Python's own message is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

QUOTES = {"“", "”", "„", "‘", "’", "‚", "«", "»"}
MAX_LINE, MAX_MESSAGE = 400, 400
"""A longer line is not searched, and of a longer message only the beginning: the time that some
patterns take grows with the square of a text's length.
"""


@dataclass(frozen=True, slots=True)
class SyntaxExplanation:
    """A sentence to translate, and the values of its ``{names}``."""

    template: str
    facts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """``message`` and ``line`` are patterns that are searched; groups of names become facts."""

    template: str
    message: str = ""
    line: str = ""


RULES = (
    Rule("This line is Markdown, not Python: delete it.", line=r"^(```|~~~)"),
    Rule(
        "This line begins with a prompt: delete {prompt}.",
        line=r"^(?P<prompt>>>>|\.\.\.|In \[\d*\]:|Out\[\d*\]:)",
    ),
    Rule(
        "Git left a conflict here: keep one of the two versions and delete the marker lines.",
        line=r"^(<{7}|={7}|>{7})",
    ),
    Rule("In Python, else if is written elif.", line=r"^else\s+if\b"),
    Rule("Python has no ++: write += 1.", line=r"\w\s*\+\+$"),
    Rule("Python has no --: write -= 1.", line=r"\w\s*--$"),
    Rule("In Python, && is written `and`.", message="invalid syntax", line=r"&&"),
    Rule("In Python, || is written `or`.", message="invalid syntax", line=r"\|\|"),
    Rule("In Python, ! is written `not`.", message="invalid syntax", line=r"!(?!=)\s*\w"),
    Rule("A colon is missing at the end of this line.", message=r"expected ':'"),
    Rule(
        "The bracket {bracket} that this line opens is never closed.",
        message=r"'(?P<bracket>[\(\[\{])' was never closed",
    ),
    Rule(
        "{close} does not fit the bracket {open} that was opened on line {where}.",
        message=(
            r"closing parenthesis '(?P<close>.)' does not match opening parenthesis '(?P<open>.)'"
            r" on line (?P<where>\d+)"
        ),
    ),
    Rule(
        "{close} does not fit the bracket {open} that was opened before it.",
        message=(
            r"closing parenthesis '(?P<close>.)' does not match opening parenthesis '(?P<open>.)'"
        ),
    ),
    Rule("{close} closes a bracket that was never opened.", message=r"unmatched '(?P<close>.)'"),
    Rule(
        "Only a name, an attribute or an item can stand to the left of =.",
        message=r"cannot assign to",
    ),
    Rule("= assigns. To compare, write ==.", message=r"Maybe you meant '=='"),
    Rule(
        "A triple-quoted string begins here and never ends.", message="unterminated triple-quoted"
    ),
    Rule(
        "A string begins here, and its closing quotation mark is missing.",
        message=r"unterminated (f-)?string|EOL while scanning string",
    ),
    Rule(
        "{character} is a curly quotation mark. Write a straight one: ' or \".",
        message=rf"invalid character '(?P<character>[{''.join(sorted(QUOTES))}])'",
    ),
    Rule(
        "Python does not know the character {character}. Delete it, and type what is meant.",
        message=r"invalid character '(?P<character>.)'",
    ),
    Rule(
        "An invisible character stands here: delete it, and type a space if one is needed.",
        message=r"invalid non-printable character",
    ),
    Rule(
        "This line is indented with tabs, others with spaces. Indent all with four spaces.",
        message=r"inconsistent use of tabs",
    ),
    Rule(
        "This line is indented further than the one before, and nothing there opens a block.",
        message=r"unexpected indent",
    ),
    Rule(
        "The block that line {where} opens is empty: indent what belongs to it by four spaces.",
        message=r"expected an indented block after .* on line (?P<where>\d+)",
    ),
    Rule(
        "An indented block is missing here: indent what belongs to the line before.",
        message=r"expected an indented block",
    ),
    Rule(
        "This line is indented less than the one before, and no line above is indented like it.",
        message=r"unindent does not match",
    ),
    Rule("A comma is missing here.", message=r"forgot a comma"),
    Rule(
        "{word} is outside a function: indent it like the lines of the function.",
        message=r"'(?P<word>return|yield|await|async for|async with)' outside",
    ),
    Rule(
        "{word} is outside a loop.",
        message=r"'(?P<word>break|continue)' (outside|not properly in) loop",
    ),
    Rule(
        "Arguments with a name come after those without one.",
        message=r"positional argument follows keyword",
    ),
    Rule(
        "Parameters with a default value come after those without one.",
        message=r"(non-default|parameter without a default).*(default)",
    ),
    Rule("print is a function: write print(…).", message=r"Missing parentheses in call to 'print'"),
    Rule(
        "A name can't begin with a digit. Between a number and a name, write an operator.",
        message=r"invalid (decimal|hexadecimal|binary|octal) literal",
    ),
    Rule("try needs except or finally after its block.", message=r"expected 'except' or 'finally'"),
    Rule(
        "After a backslash the line must end: delete what follows, spaces too.",
        message=r"after line continuation character",
    ),
    Rule("Something is wrong between the braces of this f-string.", message=r"f-string"),
)


def explain(message: str, line: str) -> SyntaxExplanation | None:
    """Return what a syntax error means, from Python's message and the text of its line."""
    line = line.strip() if len(line) <= MAX_LINE else ""
    message = message[:MAX_MESSAGE]
    for rule in RULES:
        found = re.search(rule.message, message)
        seen = re.search(rule.line, line)
        if found and seen:
            facts = {**found.groupdict(), **seen.groupdict()}
            return SyntaxExplanation(
                rule.template, {key: text.strip() for key, text in facts.items()}
            )
    return None


def templates() -> Iterator[str]:
    """Yield every sentence, for the catalogue of translations."""
    return (rule.template for rule in RULES)
