"""Name the misconception behind a failed check, with the numbers that show it.

A lesson's ``diagnosis.py`` holds its mistakes, each a rule with a name::

    @mistake(
        "ignores_grad_output", about="Sigmoid", title="grad_output is not used",
        explanation="For v = {v} your backward returned {actual}; that is s(1 - s) for every v.",
    )
    def ignores_grad_output(failure, student):
        local = local_derivative(failure.inputs.get("x"))
        return {} if same(failure.actual, local) else None

A rule gets the failure and the student, whom it may ask more. It returns the facts that its
explanation shows, or None if it does not recognize its mistake. Rules are tried in the order of the
file and the first match wins, so narrow rules come first. A rule that raises because of the
student's answers recognizes nothing.
"""

from __future__ import annotations

import string
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from grader.core.errors import MissingName, StudentCodeError, WorkerLost
from grader.core.i18n import Catalogue, Phrase, phrase
from grader.core.value_text import text
from grader.course.analysis.source import Source
from grader.judge.describe import describe
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.session import NotStarted, Student

Rule = Callable[["Failure", Student], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed check as a rule sees it. ``error`` is what the student's code raised, if any."""

    check: str
    about: str
    message: str
    reference: Student
    draw: RandomInputs
    expected: Any = None
    actual: Any = None
    inputs: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    error: StudentCodeError | None = None

    def raised(self, *fragments: str) -> bool:
        """Whether the student's code raised, with every one of these in ``Type: message``."""
        return self.error is not None and all(fragment in str(self.error) for fragment in fragments)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A misconception. ``about``: the only functions in which it may cost marks."""

    id: str
    about: tuple[str, ...]
    title: str
    explanation: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A mistake that was recognised, its explanation filled with the evidence."""

    id: str
    title: str
    evidence: str


def mistake(
    id: str, *, about: str | Sequence[str], title: str, explanation: str
) -> Callable[[Rule], Mistake]:
    """Make a mistake of a rule; explanation and rule as the module's docstring has them."""
    names = (about,) if isinstance(about, str) else tuple(about)
    return lambda rule: Mistake(id, names, title, explanation, rule)


def mistakes_in(namespace: dict[str, Any]) -> list[Mistake]:
    return [value for value in namespace.values() if isinstance(value, Mistake)]


def diagnose(
    mistakes: Sequence[Mistake], failure: Failure, student: Student, tr: Catalogue
) -> tuple[Diagnosis | None, str | None]:
    """Return the first matching mistake in ``tr``'s language; and the traceback of a bad rule."""
    trouble = None
    for candidate in mistakes:
        if failure.about not in candidate.about:
            continue
        try:
            facts = candidate.rule(failure, student)
        except (StudentCodeError, WorkerLost, MissingName, NotStarted):
            continue
        except Exception:
            trouble = f"the rule of {candidate.id!r} broke:\n{traceback.format_exc()}"
            continue
        if facts is not None:
            told = in_cells({**failure.facts, **facts}, student.source)
            shown = {
                "expected": failure.expected,
                "actual": failure.actual,
                **failure.inputs,
                **told,
            }
            return (
                Diagnosis(
                    candidate.id,
                    fill_text(candidate.title, shown, tr),
                    fill_text(candidate.explanation, shown, tr),
                ),
                trouble,
            )
    return None, trouble


def in_cells(facts: dict[str, Any], source: Source) -> dict[str, Any]:
    """Return the facts with ``line`` as "2 of cell 4" in a notebook."""
    line = facts.get("line")
    cell, shown = source.in_cell(line) if isinstance(line, int) else (None, line)
    if cell is None:
        return facts
    return {**facts, "line": phrase("{line} of cell {cell}", line=shown, cell=cell)}


class _Facts(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def fill_text(template: str, facts: dict[str, Any], tr: Catalogue) -> str:
    """A template in the language of ``tr``, its ``{names}`` replaced: strings as they are or,
    where they are texts of ours, in that language too; phrases filled in turn; other values as the
    report shows them.
    """

    shown = _Facts({name: show_fact(value, tr) for name, value in facts.items()})
    return string.Formatter().vformat(tr(template), (), shown)


def show_fact(value: Any, tr: Catalogue) -> str:
    if isinstance(value, Phrase):
        return fill_text(value.template, value.facts, tr)
    return tr.known(value) if isinstance(value, str) else text(describe(value))


def same(left: Any, right: Any, *, rtol: float = 1e-5, atol: float = 1e-7) -> bool:
    """Return whether two tensors (or numbers) agree in shape and values; dtypes may differ."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        return abs(left - right) <= atol + rtol * abs(right)
    if not isinstance(left, Tensor) or not isinstance(right, Tensor) or left.shape != right.shape:
        return False
    return torch.allclose(
        left.detach().to(torch.float64),
        right.detach().to(torch.float64),
        rtol=rtol,
        atol=atol,
        equal_nan=True,
    )


def differs(left: Any, right: Any) -> bool:
    """Return whether two tensors of one shape clearly differ, so that a match is evidence."""
    return (
        isinstance(left, Tensor)
        and isinstance(right, Tensor)
        and left.shape == right.shape
        and not same(left, right)
    )
