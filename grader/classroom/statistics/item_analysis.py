"""Item analysis: how well a check tells strong from weak work, and whether it may be wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass

FEWEST = 10
"""With fewer answers a correlation is meaningless, so none is returned."""
TOO_FEW_TO_BLAME = 3
"""A check that nobody passed may be wrong only if at least this many people tried it."""
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
