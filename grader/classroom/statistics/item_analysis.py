"""Item analysis: numbers about checks and scores, as pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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


@dataclass(frozen=True, slots=True)
class Bin:
    """A column of a histogram, from ``low`` to below ``high`` (the last includes it), with its
    count.
    """

    low: float
    high: float
    count: int


def share(part: int, whole: int) -> float | None:
    """Return a part of a whole, 0 to 1; None if the whole is zero."""
    return part / whole if whole else None


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
    return max(
        -1.0, min(1.0, apart / math.sqrt(variance) * math.sqrt(right.count * wrong.count) / count)
    )


def doubt(answers: int, passed: int, discrimination: float | None) -> str | None:
    """Return the reason why a check itself may be wrong, if there is one."""
    if answers >= TOO_FEW_TO_BLAME and not passed:
        return f"none of {answers} students passed"
    if discrimination is not None and discrimination * math.sqrt(answers - 1) < AGAINST:
        return f"students with better scores get it wrong (discrimination {discrimination:.2f})"
    return None


def histogram(scores: Iterable[float], most: float, bins: int = 10) -> tuple[Bin, ...]:
    """Count scores in ``bins`` equal columns from 0 to ``most``; outliers in the end columns."""
    counts = [0] * bins
    for score in scores:
        place = int(bins * score / most) if most > 0 else 0
        counts[max(0, min(bins - 1, place))] += 1
    return tuple(
        Bin(most * n / bins, most * (n + 1) / bins, count) for n, count in enumerate(counts)
    )


def ranked_pairs(
    pairs: Iterable[tuple[tuple[int, int], int]], counts: Sequence[int], fewest: int
) -> list[tuple[int, int, int, float]]:
    """Return pairs that occur at least ``fewest`` times: ``(one, other, both, share)``.

    ``share`` is the Jaccard index (Jaccard 1912); the greatest comes first. ``counts`` has how
    often each single one occurs.
    """
    found = [
        (one, other, both, both / (counts[one] + counts[other] - both))
        for (one, other), both in pairs
        if both >= fewest
    ]
    return sorted(found, key=lambda pair: (-pair[3], -pair[2], pair[0], pair[1]))
