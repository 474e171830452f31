"""Penalties for lateness: started days, a grace period, a cap, a cut-off, extensions."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from factories.gradebook import ALICE
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.gradebook.entry import (
    DAY,
    EXAMPLE,
    Lateness,
    LateRule,
    read_extension,
    read_rule,
)
from grader.core.errors import UsageError

DUE = "2026-12-01T23:59:00+09:00"
RULE = LateRule(DUE, percent=10.0, grace=900.0, cap=50.0, until=7 * DAY)


def test_the_rule_in_the_help_is_read() -> None:
    assert read_rule("2026-12-01T23:59+09:00", EXAMPLE) == RULE
    assert read_rule("2026-12-01T14:59Z", None) == LateRule("2026-12-01T14:59:00+00:00")


@pytest.mark.parametrize("rule", ["ten", "10", "grace=2", "cap=5d", "10%,soon=3d", "10%/week"])
def test_a_rule_that_is_none_is_answered_with_one_that_is(rule: str) -> None:
    with pytest.raises(UsageError, match="grace=15m"):
        read_rule(DUE, rule)


@pytest.mark.parametrize("due", ["tomorrow", "2026-12-01", "2026-12-01T23:59", "1.12.2026"])
def test_a_time_without_its_offset_is_refused(due: str) -> None:
    with pytest.raises(UsageError, match=r"Write it like 2026-12-01|has no offset .*--zone"):
        read_rule(due, None)


def test_a_due_date_without_an_offset_is_in_the_class_s_zone() -> None:
    rule = read_rule("2026-12-01T23:59", None, ZoneInfo("Asia/Seoul"))
    assert rule.due == "2026-12-01T23:59:00+09:00"


@pytest.mark.parametrize(
    ("seconds", "percent"),
    [
        (1, 0),
        (900, 0),
        (901, 10),
        (DAY, 10),
        (DAY + 1, 20),
        (6 * DAY, 50),
        (7 * DAY, 50),
        (7 * DAY + 1, 100),
    ],
)
def test_each_day_that_was_begun_costs(seconds: float, percent: float) -> None:
    assert RULE.percent_off(seconds) == percent


@given(st.floats(1, 10 * DAY), st.floats(0, DAY))
def test_later_is_never_cheaper(late: float, more: float) -> None:
    assert 0 <= RULE.percent_off(late) <= RULE.percent_off(late + more) <= 100


def test_times_are_compared_in_whatever_zone_they_are() -> None:
    assert RULE.lateness("2026-12-01T14:59:00Z") is None
    assert RULE.lateness("2026-12-01T14:59:01Z") == Lateness(DUE, 1.0, 0.0)
    assert RULE.lateness("2026-12-01T10:30:00-05:00") == Lateness(DUE, 31 * 60.0, 10.0)
    assert RULE.lateness(None) is None


def test_an_extension_moves_the_due_date_and_the_latest_of_a_team_counts() -> None:
    handed_in = "2026-12-03T15:00:00Z"
    assert RULE.lateness(handed_in, ["+1d", "2026-12-04T00:00+09:00"]) is None
    late = RULE.lateness(handed_in, ["+1d"])
    assert late is not None
    assert (late.percent, late.duration) == (20.0, "1 d 1 min")
    assert RULE.lateness(handed_in, ["2026-01-01T00:00Z"]) == RULE.lateness(handed_in)
    assert read_extension(" +36h ") == "+36h"
    for wrong in ("two days", "2026-12-04", "+3"):
        with pytest.raises(ValueError):
            read_extension(wrong)


def test_a_penalty_is_of_what_was_earned_and_leaves_what_a_person_gave() -> None:
    """Alice earned 6 of 10 and 10 of 10, and was given 1.5 for the first."""
    late = replace(ALICE, lateness=Lateness(DUE, DAY, 25.0))
    assert (late.earned, late.penalty, late.adjusted_by, late.score) == (16.0, 4.0, 1.5, 13.5)
    assert (late.lesson_score("slopes"), late.lesson_score("chains")) == (6.0, 7.5)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5, "under a minute"), (61, "1 min"), (3_700, "1 h 1 min"), (2 * DAY + 7_300, "2 d 2 h")],
)
def test_how_late_is_told_in_two_units(seconds: float, text: str) -> None:
    assert Lateness(DUE, seconds, 0.0).duration == text
