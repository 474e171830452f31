"""What a proof has from earlier runs, and keeps for later ones: each case under its key, in a file or nowhere.

Imports ``ledger``, ``ingredients`` and what lies below; no torch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from grader.course import Course, Lesson
from grader.findings import Case, Finding
from grader.grading import Settings
from grader.ingredients import Ingredients
from grader.ledger import Ledger


class Kept:
    """The findings of a run's cases that need not be made again, and where new ones go; without a ledger there are none.

    A finding with trouble is written too, so that it replaces what was there, and is never taken: a mended flaw, or a machine that was
    out of memory, doesn't stay on record.
    """

    def __init__(self, cases: Sequence[Case], ledger: Ledger | None = None, ingredients: Ingredients | None = None) -> None:
        self._ledger = ledger
        self._ingredients = ingredients
        self._keys = {case: ingredients.key(case) for case in cases} if ingredients else {}
        held = ledger.held() if ledger else {}
        self._held = {case: {seed: one for seed, one in held.get(key, {}).items() if not one.trouble} for case, key in self._keys.items()}

    @property
    def lasts(self) -> bool:
        """Whether there is a file."""
        return self._ledger is not None

    def of(self, case: Case, seeds: Sequence[int]) -> dict[int, Finding]:
        """The findings of a case that need not be made again."""
        held = self._held.get(case, {})
        return {seed: held[seed] for seed in seeds if seed in held}

    def add(self, case: Case, seed: int, finding: Finding) -> None:
        """Keep a finding; raises UsageError where it may be about files that were changed meanwhile."""
        if self._ledger and self._ingredients:
            self._ingredients.insist(case.lesson)
            self._ledger.keep(self._keys[case], seed, finding)
            if not finding.trouble:
                self._held[case][seed] = finding

    def count(self, seeds: Sequence[int]) -> int:
        """How many gradings from these seeds need not be made again."""
        return sum(seed in held for held in self._held.values() for seed in seeds)

    def complete(self, lesson: Lesson) -> int:
        """From how many seeds, 1 and those that follow, all cases of a lesson came out as they should."""
        mine = [held for case, held in self._held.items() if case.lesson.id == lesson.id]
        return next(seed for seed in count(1) if not mine or not all(seed in held for held in mine)) - 1


@contextlib.contextmanager
def keeping(path: Path | None, course: Course, settings: Settings, cases: Sequence[Case]) -> Iterator[Kept]:
    """What is kept of the cases in a file while it is open; raises UsageError for one that can't be used."""
    if path is None:
        yield Kept(cases)
        return
    ingredients = Ingredients(course, dict.fromkeys(case.lesson for case in cases), settings)
    keys: dict[str, set[str]] = {}
    for case in cases:
        keys.setdefault(case.lesson.id, set()).add(ingredients.key(case))
    with Ledger.open(path) as ledger:
        ledger.drop_others(f"{course.id} {settings.lang} {settings.sandbox}", keys)
        yield Kept(cases, ledger, ingredients)
