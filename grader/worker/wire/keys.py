"""Limit the number of keys in a decoded value, and with it the time to build its dicts and sets.

An attacker can choose integers and tuples that all have the same hash. A table of n such keys takes
n² steps to build: 10 ms for 2,000 keys, four minutes for 330,000.
"""

from __future__ import annotations

from typing import Any

from grader.worker.wire.frames import BrokenFrame

MAX_KEYS = 2000


class KeyBudget:
    """How many keys of dicts and elements of sets one value may still have."""

    def __init__(self) -> None:
        self._left = MAX_KEYS

    def spend(self, keys: list[Any]) -> None:
        """Count keys, including the parts of tuples; raise BrokenFrame over the cap."""
        todo = list(keys)
        while todo:
            value = todo.pop()
            self._left -= 1
            if self._left < 0:
                raise BrokenFrame(f"dicts and sets with more than {MAX_KEYS:,} keys")
            if isinstance(value, list):
                todo += value
            elif isinstance(value, dict):
                todo += value.values()
