"""Limit the size of results, so that no answer fills reports and gradebooks.

``describe`` bounds each value. A check's result takes at most ``CHECK_BYTES`` of JSON, and a
lesson's results together ``LESSON_BYTES``, not counting the fields that every result has. Real
wrong answers take about a quarter of that. Over the budget, parts are left out: figures first, the
message last.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import msgspec

from grader.core.report import CheckResult

CHECK_BYTES = 64 << 10
LESSON_BYTES = 256 << 10
SHORT = 1000
"""How many characters of a text remain in a result that is over its budget."""
LEFT_OUT = {"other": "…"}


def size_of(result: CheckResult) -> int:
    """Return how many bytes of JSON a result takes."""
    try:
        return len(msgspec.json.encode(result))
    except UnicodeEncodeError:  # a text may have a lone surrogate, which is not valid UTF-8
        return len(json.dumps(result.as_json()))


def fit(result: CheckResult, room: int) -> tuple[CheckResult, int]:
    """Return the result and its size, after leaving out as little as makes it fit into ``room``
    bytes.

    Outcome, points, titles and the beginning of each text always stay.
    """
    size = size_of(result)
    for shorten in SHORTER:
        if size <= room:
            break
        result = shorten(result)
        size = size_of(result)
    return result, size


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= SHORT else text[:SHORT] + "…"


SHORTER: tuple[Callable[[CheckResult], CheckResult], ...] = (
    lambda result: replace(result, figures=[]),
    lambda result: replace(result, output=_cut(result.output) or "", note=_cut(result.note)),
    lambda result: replace(result, inputs={}, call=None),
    lambda result: replace(
        result,
        expected=None if result.expected is None else LEFT_OUT,
        actual=None if result.actual is None else LEFT_OUT,
    ),
    lambda result: replace(result, message=_cut(result.message), evidence=_cut(result.evidence)),
)
"""The parts to leave out, in this order."""
