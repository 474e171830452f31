"""Describe a repair: the sentence and the line that show the wrong expression. The repair itself
stays a hint.
"""

from __future__ import annotations

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, WrongExpression

ONLY_THIS = (
    "Only this is wrong: `{text}` in line {line}. Changing this alone makes every check"
    " of {function} pass."
)
ONLY_THIS_IN_CELL = (
    "Only this is wrong: `{text}` in cell {cell}, line {line}. Changing this alone makes"
    " every check of {function} pass."
)
WITH_OTHERS = (
    "This is wrong: `{text}` in line {line}, together with line {others}. Changing all of it makes"
    " every check of {function} pass."
)
WITH_OTHERS_IN_CELL = (
    "This is wrong: `{text}` in cell {cell}, line {line}, together with line {others}. Changing all"
    " of it makes every check of {function} pass."
)
MISSING = (
    "Something is missing beside `{text}` in line {line}. One addition there makes every check of"
    " {function} pass."
)
MISSING_IN_CELL = (
    "Something is missing beside `{text}` in cell {cell}, line {line}. One addition there makes"
    " every check of {function} pass."
)


def repair_message(check: CheckResult, tr: Catalogue) -> str:
    """Return the sentence about a check's wrong expression."""
    wrong = check.wrong_expression
    assert wrong is not None
    first, *rest = wrong.text.split("\n")
    if wrong.other_lines:
        templates = WITH_OTHERS, WITH_OTHERS_IN_CELL
    elif wrong.missing:
        templates = MISSING, MISSING_IN_CELL
    else:
        templates = ONLY_THIS, ONLY_THIS_IN_CELL
    template = templates[wrong.cell is not None]
    return tr(
        template,
        text=f"{first} …" if rest else first,
        cell=wrong.cell,
        line=wrong.line,
        function=check.function,
        others=", ".join(map(str, wrong.other_lines)),
    )


def repaired_line(wrong: WrongExpression) -> tuple[str, str, str]:
    """Return the line in which the expression begins, in three parts: before, itself, after."""
    text = wrong.source_text
    begin = wrong.column - 1
    end = wrong.end_column - 1 if wrong.end_line == wrong.line else len(text)
    return text[:begin].lstrip(), text[begin:end], text[end:]
