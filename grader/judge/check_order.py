"""Order a lesson's checks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grader.core.errors import CourseError
from grader.judge.checks import CheckSpec


def spec_of(item: pytest.Item) -> CheckSpec:
    """Return the arguments of a check's decorator; raise CourseError if it has none."""
    spec = getattr(getattr(item, "function", None), "check", None)
    if not isinstance(spec, CheckSpec):
        raise CourseError(f"{item.nodeid} has no @check decorator: add one")
    return spec


def order_checks(items: Sequence[pytest.Item], *, withheld: bool) -> list[pytest.Item]:
    """Put each check after those that it needs, whichever file they are in, and bonus checks last.

    Raise CourseError if a check needs itself or a check that does not exist. With ``withheld``,
    some checks are held back, and needing one of those is fine.
    """
    by_name = {item.name: item for item in items}
    ordered: dict[str, pytest.Item] = {}

    def place(item: pytest.Item, path: tuple[str, ...] = ()) -> None:
        if item.name in path:
            raise CourseError(
                f"checks need each other in a circle: {' → '.join((*path, item.name))}"
            )
        for need in spec_of(item).needs:
            if need in by_name:
                place(by_name[need], (*path, item.name))
            elif not withheld:
                raise CourseError(
                    f"{item.nodeid} needs {need}, which is not a check of this lesson"
                )
        ordered.setdefault(item.name, item)

    for item in sorted(items, key=lambda item: spec_of(item).bonus):
        place(item)
    return list(ordered.values())
