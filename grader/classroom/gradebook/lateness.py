"""Penalties for late submissions: a due date, extensions, and a rule.

A penalty is a share of the points that the code earned. Points that a person gave or took are not
reduced.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from grader.core.errors import UsageError
from grader.core.report import Record
from grader.core.text import moment

DAY = 86_400.0
UNITS = {"m": 60.0, "h": 3_600.0, "d": DAY}
DURATION = re.compile(r"(\d+(?:\.\d+)?)(m|h|d)")
PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%(?:/day)?")
EXAMPLE = "10%/day,grace=15m,cap=50%,until=7d"


@dataclass(frozen=True, slots=True)
class LateRule(Record):
    """When work is due and what lateness costs.

    ``due`` is ISO 8601 with an offset. A delay of more than ``grace`` seconds costs
    ``percent`` for each started day since ``due``, at most ``cap`` per cent in all. A delay of more
    than ``until`` seconds costs everything (None: no such limit).
    """

    due: str
    percent: float = 0.0
    grace: float = 0.0
    cap: float = 100.0
    until: float | None = None

    def lateness(self, handed_in: str | None, extensions: Iterable[str] = ()) -> Lateness | None:
        """Return how late a time is; None if it is on time or unknown.

        ``extensions`` (see ``read_extension``) are those of the submission's students; the latest
        one holds for all of them.
        """
        if handed_in is None:
            return None
        due = max([moment(self.due), *(extended(one, self.due) for one in extensions)])
        late = (moment(handed_in) - due).total_seconds()
        if late <= 0:
            return None
        return Lateness(due.isoformat(), late, self.percent_off(late))

    def percent_off(self, late: float) -> float:
        """Return the percentage that is deducted for a delay in seconds."""
        if late <= self.grace:
            return 0.0
        if self.until is not None and late > self.until:
            return 100.0
        return min(self.cap, 100.0, self.percent * math.ceil(late / DAY))


@dataclass(frozen=True, slots=True)
class Lateness(Record):
    """A submission came ``seconds`` after ``due`` and loses ``percent`` of what it earned."""

    due: str
    seconds: float
    percent: float

    @property
    def duration(self) -> str:
        """How late, as people write it: ``2 d 3 h``."""
        return duration(self.seconds)

    def __str__(self) -> str:
        return f"{self.duration} late, {self.percent:g} % off"


def duration(seconds: float) -> str:
    """Return a time such as ``2 d 3 h``: its two largest nonzero units, down to minutes."""
    days, rest = divmod(int(seconds), int(DAY))
    hours, rest = divmod(rest, 3_600)
    parts = [(days, "d"), (hours, "h"), (rest // 60, "min")]
    shown = [f"{number} {unit}" for number, unit in parts if number][:2]
    return " ".join(shown) or "under a minute"


def read_moment(text: str, what: str) -> str:
    """Return a time as ISO 8601; raise UsageError, which begins with ``what``."""
    try:
        return moment(text).isoformat()
    except ValueError:
        raise UsageError(
            f"{what}: {text!r} is not a time with an offset from UTC. Write it like"
            " 2026-12-01T23:59+09:00, or with Z for UTC"
        ) from None


def read_extension(text: str) -> str:
    """Return a person's extension, a time or a delay such as ``+2d``, without blanks.

    Raise ValueError if it is neither.
    """
    text = text.strip()
    extended(text, "2000-01-01T00:00Z")
    return text


def extended(text: str, due: str) -> datetime:
    """Return an extension as a time; a delay such as ``+2d`` is added to the class's due date."""
    shift = DURATION.fullmatch(text.removeprefix("+"))
    return moment(due) + timedelta(seconds=seconds_of(shift)) if shift else moment(text)


def seconds_of(found: re.Match[str]) -> float:
    return float(found[1]) * UNITS[found[2]]


def read_rule(due: str, rule: str | None) -> LateRule:
    """Return a rule from ``--due`` and ``--late``; raise UsageError that shows how to write it."""
    made = LateRule(read_moment(due, "--due"))
    for part in (rule or "").split(","):
        key, _, value = part.strip().rpartition("=")
        percent, time = PERCENT.fullmatch(value), DURATION.fullmatch(value)
        if not part.strip():
            continue
        if key == "" and percent:
            made = replace(made, percent=float(percent[1]))
        elif key == "cap" and percent:
            made = replace(made, cap=float(percent[1]))
        elif key == "grace" and time:
            made = replace(made, grace=seconds_of(time))
        elif key == "until" and time:
            made = replace(made, until=seconds_of(time))
        else:
            raise UsageError(f"--late: {part.strip()!r} is not understood. Write it like {EXAMPLE}")
    return made
