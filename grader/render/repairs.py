"""What is said where a repair shows which expression is wrong. The repair itself stays a hint."""

from __future__ import annotations

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, WrongExpression

ONLY_THIS = (
    "Only this is wrong: `{text}` in line {line}. Changing this expression alone makes every check"
    " of {function} pass."
)
ONLY_THIS_IN_CELL = (
    "Only this is wrong: `{text}` in cell {cell}, line {line}. Changing this expression alone makes"
    " every check of {function} pass."
)


def repair_message(check: CheckResult, tr: Catalogue) -> str:
    """Return the sentence about a check's wrong expression."""
    wrong = check.wrong_expression
    assert wrong is not None
    first, *rest = wrong.text.split("\n")
    template = ONLY_THIS if wrong.cell is None else ONLY_THIS_IN_CELL
    return tr(
        template,
        text=f"{first} …" if rest else first,
        cell=wrong.cell,
        line=wrong.line,
        function=check.function,
    )


def repaired_line(wrong: WrongExpression) -> tuple[str, str, str]:
    """Return the line in which the expression begins, in three parts: before, itself, after."""
    text = wrong.source_text
    begin = wrong.column - 1
    end = wrong.end_column - 1 if wrong.end_line == wrong.line else len(text)
    return text[:begin].lstrip(), text[begin:end], text[end:]
