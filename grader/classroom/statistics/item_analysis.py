"""Item analysis: how well a check tells strong from weak work, and whether it may be wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

FEWEST = 10
"""With fewer answers a correlation is meaningless, so none is returned."""
TOO_FEW_TO_BLAME = 3
"""A check may be wrong only if at least this many people failed it."""
NEARLY_ALL = 0.8
"""An answer looks right if it passes this share of the other checks that ran."""
MOST = 2 / 3
"""A check may be wrong if at least this share of the answers that look right fail it."""
FEWEST_OTHERS = 3
"""With fewer other checks of a function, those of its lesson show whether an answer looks right."""
AGAINST = -3.0
"""A check may be wrong if its correlation with the rest is below this many negative standard
errors. Three, because a course has hundreds of checks: with two, some would be suspected by chance.
Without correlation, the standard error for n answers is 1 / √(n − 1).
"""


def point_biserial(right: Moments, wrong: Moments) -> float | None:
    """Return how well a check tells strong from weak: its correlation with the rest, −1 to 1.

    ``right`` and ``wrong`` are the scores *without the check's own points*, which would correlate
    with themselves (Henrysson 1963, Correction of item-total correlations in item analysis,
    Psychometrika 28, 211-218). With means M₁, M₀, counts n₁, n₀ of n and the standard deviation s
    of all n scores it is (M₁ − M₀) / s · √(n₁ n₀ / n²) (Lord and Novick 1968, Statistical Theories
    of Mental Test Scores, chapter 15). None if all are right, wrong or alike, or fewer than
    ``FEWEST``.
    """
    count = right.count + wrong.count
    if count < FEWEST or not right.count or not wrong.count:
        return None
    mean = (right.total + wrong.total) / count
    variance = (right.squares + wrong.squares) / count - mean * mean
    if variance <= 1e-9 * max(1.0, mean * mean):
        return None
    apart = right.total / right.count - wrong.total / wrong.count
    found = apart / math.sqrt(variance) * math.sqrt(right.count * wrong.count) / count
    return max(-1.0, min(1.0, found))


@dataclass(slots=True)
class Moments:
    """The count of some numbers, their sum, and the sum of their squares."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, number: float) -> None:
        self.count += 1
        self.total += number
        self.squares += number * number


def share(part: int, whole: int) -> float | None:
    """Return a part of a whole, 0 to 1; None if the whole is zero."""
    return part / whole if whole else None


@dataclass(slots=True)
class RightLooking:
    """Answers that pass nearly all other checks: how many there are, how many ``failed`` this."""

    count: int = 0
    failed: int = 0

    @property
    def against(self) -> bool:
        """Whether so many of them failed that the check may be wrong."""
        return self.failed >= TOO_FEW_TO_BLAME and self.failed >= MOST * self.count


@dataclass(slots=True)
class AnswerPatterns:
    """Which checks of a lesson each answer passed and failed, to find answers that look right.

    A set of checks is an integer, with a bit for each check's number. Checks for a bonus are left
    out, because a right answer may fail them.
    """

    counts: Counter[tuple[int, int]] = field(default_factory=Counter)
    """How many answers have the same checks that ran, and the same that passed."""
    functions: dict[str, int] = field(default_factory=dict)
    """The checks of each function."""
    waiting: dict[int, set[int]] = field(default_factory=dict)
    """The numbers of the checks that wait for a check."""

    def add(self, results: Iterable[tuple[int, str, bool]]) -> None:
        """Count an answer: for each check that ran, its number, its function, whether it passed."""
        ran = passed = 0
        for number, function, right in results:
            ran |= 1 << number
            passed |= right << number
            self.functions[function] = self.functions.get(function, 0) | 1 << number
        self.counts[ran, passed] += 1

    def waits(self, number: int, needed: int) -> None:
        self.waiting.setdefault(needed, set()).add(number)

    def right_looking(self, number: int, function: str) -> RightLooking:
        """Return the answers for which the check ran and that look right without it.

        Checks that wait for it do not count: no answer that fails it can pass them.
        """
        left_out = sum(1 << one for one in {number, *self._all_waiting(number)})
        of_function = self.functions.get(function, 0) & ~left_out
        found = RightLooking()
        for (ran, passed), count in self.counts.items():
            if not ran >> number & 1:
                continue
            others = ran & of_function
            if others.bit_count() < FEWEST_OTHERS:
                others = ran & ~left_out
            most = others.bit_count()
            if most >= FEWEST_OTHERS and (passed & others).bit_count() >= NEARLY_ALL * most:
                found.count += count
                found.failed += 0 if passed >> number & 1 else count
        return found

    def _all_waiting(self, number: int) -> set[int]:
        """Return the checks that wait for this one, directly or through others."""
        found: set[int] = set()
        todo = [number]
        while todo:
            fresh = self.waiting.get(todo.pop(), set()) - found
            found |= fresh
            todo += fresh
        return found
