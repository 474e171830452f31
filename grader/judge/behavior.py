"""Describe an answer's behavior in a failed check as plain data, to compare it with other answers.

Two answers behave the same in a check if, for the same seed, outcome, message and values agree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import torch

from grader.core.errors import EngineFault
from grader.judge.describe import describe, describe_pair
from grader.judge.exception_verdicts import CheckVerdict, passed, verdict_of
from grader.judge.local_student import LocalStudent, MissingReference
from grader.judge.random_inputs import RandomInputs

if TYPE_CHECKING:
    from grader.judge.submission_run import CheckRun, JudgedSession

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
CLOSE, TINY = 1e-5, 1e-8
SHARE = 0.02
"""Two values that are both wrong agree if they differ by less than this share of the error."""


@dataclass(frozen=True, slots=True)
class Behavior:
    """A failure: message and facts without line numbers, values as in a report."""

    outcome: str
    message: str
    facts: Any
    expected: Any
    actual: Any

    @classmethod
    def of(cls, verdict: CheckVerdict) -> Behavior:
        facts = {name: value for name, value in verdict.facts.items() if name != "line"}
        pair = describe_pair(verdict.expected, verdict.actual)
        return cls(verdict.outcome, verdict.message or "", describe(facts), *pair)

    def agrees(self, other: Behavior) -> bool:
        """Return whether two failures of one check, from one seed, are the same."""
        return (
            (self.outcome, self.message) == (other.outcome, other.message)
            and alike(self.facts, other.facts)
            and alike(self.expected, other.expected)
            and alike(self.actual, other.actual)
            and self._errors_agree(other)
        )

    def _errors_agree(self, other: Behavior) -> bool:
        """Return whether the differences from the expected values agree, too.

        A wrong step size, for example, changes only the last digits.
        """
        mine, theirs, right = (
            list(finite_numbers(value)) for value in (self.actual, other.actual, self.expected)
        )
        if not mine or len({len(mine), len(theirs), len(right)}) > 1:
            return True
        error = max(abs(a - b) for a, b in zip(mine, right, strict=True))
        return all(abs(a - b) <= SHARE * error for a, b in zip(mine, theirs, strict=True))


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A failure of a submission, kept until all checks have run: texts in place of values, which
    may be large.
    """

    check: CheckRun
    behavior: Behavior
    shown: dict[str, str]


def alike(left: Any, right: Any) -> bool:
    """Return whether described values are equal, numbers within a tolerance, in texts too."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return type(left) is type(right) and math.isclose(left, right, rel_tol=CLOSE, abs_tol=TINY)
    if isinstance(left, str) and isinstance(right, str):
        return left == right or _alike_texts(left, right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
    return bool(left == right)


def _alike_texts(left: str, right: str) -> bool:
    if NUMBER.sub("0", left) != NUMBER.sub("0", right):
        return False
    pairs = zip(NUMBER.findall(left), NUMBER.findall(right), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-3) for a, b in pairs)


def finite_numbers(described: Any) -> Iterator[float]:
    """Yield the finite numbers of a described value, but not those of its shape."""
    if isinstance(described, int | float) and not isinstance(described, bool):
        yield float(described)
    elif isinstance(described, list):
        for item in described:
            yield from finite_numbers(item)
    elif isinstance(described, dict):
        for key, value in described.items():
            if key not in ("shape", "dtype", "cut", "before"):
                yield from finite_numbers(value)


def run_check(
    item: pytest.Item, session: JudgedSession, reference: LocalStudent | MissingReference, seed: int
) -> CheckVerdict | None:
    """Run a collected check once more, from a seed.

    Return None if it ended without a verdict. This is not a grading: points, results and what the
    student sees do not change.
    """
    traffic = session.begin_check()
    torch.default_generator.manual_seed(seed)
    given = {"student": session.student(), "reference": reference, "draw": RandomInputs(seed)}
    asked = {name: given[name] for name in getattr(item, "fixturenames", ()) if name in given}
    try:
        session.load()
        item.obj(**asked)  # type: ignore[attr-defined]
    except EngineFault:
        raise
    except Exception as error:
        return verdict_of(error, session.source, session.limits)
    finally:
        session.take_output()
    return passed(wrote=traffic.wrote)
