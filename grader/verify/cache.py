"""What a proof has from earlier runs, and keeps for later ones: each case under its key, in a file
or nowhere.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import MappingProxyType

from grader.course.course import Course, Lesson
from grader.runtime.grading import Settings
from grader.verify.case_result import Case, CaseResult
from grader.verify.ingredients import Ingredients, digest_of
from grader.verify.ledger import Ledger
from grader.verify.proved import Proved, read_proved, write_proved


class Kept:
    """The findings of a run's cases that need not be made again, and where new ones go; without a
    ledger there are none.

    A finding with trouble is written too, so that it replaces what was there, and is never taken: a
    mended flaw, or a machine that was out of memory, doesn't stay on record. What ``proved`` says
    of a lesson, the number of its seeds, is taken as well, but the solution is graded from the
    first of them all the same: that shows which checks there are and which mistakes they name.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        ledger: Ledger | None = None,
        ingredients: Ingredients | None = None,
        *,
        proved: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._ledger = ledger
        self._ingredients = ingredients
        self._keys = {case: ingredients.key(case) for case in cases} if ingredients else {}
        held = ledger.held() if ledger else {}
        self._held = {case: _as_known(case, proved.get(case.lesson.id, 0)) for case in self._keys}
        for case, key in self._keys.items():
            self._held[case] |= {
                seed: one for seed, one in held.get(key, {}).items() if not one.trouble
            }

    @property
    def lasts(self) -> bool:
        """Whether there is a file."""
        return self._ledger is not None

    def of(self, case: Case, seeds: Sequence[int]) -> dict[int, CaseResult]:
        """The findings of a case that need not be made again."""
        held = self._held.get(case, {})
        shows_nothing = (
            case.kind == "solution" and seeds and seeds[0] in held and not held[seeds[0]].checks
        )
        return {
            seed: held[seed] for seed in (seeds[1:] if shows_nothing else seeds) if seed in held
        }

    def add(self, case: Case, seed: int, finding: CaseResult) -> None:
        """Keep a finding; raises UsageError where it may be about files that were changed
        meanwhile.
        """
        if self._ledger and self._ingredients:
            self._ingredients.insist(case.lesson)
            self._ledger.keep(self._keys[case], seed, finding)
            self._held[case].pop(seed, None)
            if not finding.trouble:
                self._held[case][seed] = finding

    def count(self, seeds: Sequence[int]) -> int:
        """How many gradings from these seeds need not be made again."""
        return sum(len(self.of(case, seeds)) for case in self._held)

    def complete(self, lesson: Lesson) -> int:
        """From how many seeds, 1 and those that follow, all cases of a lesson came out as they
        should.
        """
        mine = [held for case, held in self._held.items() if case.lesson.id == lesson.id]
        return (
            next(seed for seed in count(1) if not mine or not all(seed in held for held in mine))
            - 1
        )


def _as_known(case: Case, seeds: int) -> dict[int, CaseResult]:
    """A case's findings from the seeds 1 to ``seeds`` where they are as they should be; they don't
    say how many checks there are.
    """
    return dict.fromkeys(
        range(1, seeds + 1), CaseResult(lost=case.kind in ("mistake", "lookalike"), named=True)
    )


@contextlib.contextmanager
def keeping(
    path: Path | None,
    course: Course,
    settings: Settings,
    cases: Sequence[Case],
    proof: Path | None = None,
) -> Iterator[Kept]:
    """What is kept of the cases in a file while it is open; raises UsageError for one that can't be
    used.

    ``proof`` is a file of what lessons are proved to be; in the end it says how far they are.
    """
    if path is None:
        yield Kept(cases)
        return
    ingredients = Ingredients(course, dict.fromkeys(case.lesson for case in cases), settings)
    keys: dict[str, set[str]] = {}
    for case in cases:
        keys.setdefault(case.lesson.id, set()).add(ingredients.key(case))
    now = {lesson: digest_of(sorted(of)) for lesson, of in keys.items()}
    said = read_proved(proof, settings.lang) if proof else {}
    with Ledger.open(path) as ledger:
        ledger.drop_others(f"{course.id} {settings.lang} {settings.sandbox}", keys)
        kept = Kept(
            cases,
            ledger,
            ingredients,
            proved={
                lesson: one.seeds for lesson, one in said.items() if one.key == now.get(lesson)
            },
        )
        yield kept
    if proof:
        shown = {
            lesson.id: Proved(kept.complete(lesson), now[lesson.id])
            for lesson in course.lessons
            if lesson.id in now
        }
        of_all = {
            lesson.id: shown.get(lesson.id) or said.get(lesson.id) for lesson in course.lessons
        }
        write_proved(
            proof,
            settings.lang,
            {lesson: one for lesson, one in of_all.items() if one and one.seeds},
        )
