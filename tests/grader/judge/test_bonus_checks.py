"""Bonus checks run last, and a bonus part that was deleted was not started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.core.errors import MissingName
from grader.course.source import Source
from grader.judge.checks import CheckSpec, order_checks
from grader.judge.plugin import LessonPlugin


def spec(*needs: str, bonus: bool = False) -> CheckSpec:
    return CheckSpec(1.0, "Extra", needs, "", "", bonus)


def test_bonus_checks_come_last_and_after_what_they_need() -> None:
    specs = {
        "extra": spec("last", bonus=True),
        "one": spec(),
        "more": spec(bonus=True),
        "last": spec("one"),
    }
    items: list[Any] = [
        SimpleNamespace(name=name, nodeid=name, function=SimpleNamespace(check=one))
        for name, one in specs.items()
    ]
    ordered = [item.name for item in order_checks(items, withheld=False)]
    assert ordered == ["one", "last", "extra", "more"]


@pytest.mark.parametrize(
    ("missing", "present", "bonus", "left_out"),
    [
        ("Extra", ("Other",), True, True),
        ("Extra.apply", ("Other",), True, True),
        ("Extra", ("Other",), False, False),
        ("Extra", ("Extrra",), True, False),
        ("Other", ("Extra",), True, False),
    ],
)
def test_a_bonus_part_is_left_out_if_it_is_gone_and_not_misspelt(
    missing: str, present: tuple[str, ...], bonus: bool, left_out: bool
) -> None:
    """Nor below the line where the file ends."""
    error = MissingName(missing, present)
    ends_early = Source("exit()\nExtra = 1\n", "tiny.py")
    assert LessonPlugin.left_out(spec(bonus=bonus), error, Source("", "tiny.py")) is left_out
    assert not LessonPlugin.left_out(spec(bonus=bonus), MissingName("Extra"), ends_early)
