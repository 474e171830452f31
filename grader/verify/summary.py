"""Sum up the verdicts of one lesson's cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.core.report import Outcome
from grader.course.course import Lesson
from grader.course.scaffold import MARK
from grader.verify.case_result import ENGINE, Case, CaseResult, mistake_id
from grader.verify.promises import HeldPromise, held_promises, unbroken_problems
from grader.verify.spoilers import KIND, spoiler_problems


@dataclass(frozen=True, slots=True)
class LessonSummary:
    """The results of one lesson, as in the published table."""

    lesson: str
    checks: int
    mistakes: int
    caught: int
    named: int
    near_misses: int
    told_apart: int
    accepted: int
    accepted_passed: int
    promises: tuple[HeldPromise, ...] = ()

    @property
    def promises_shown(self) -> int:
        """How many promises are broken alone by some wrong answer."""
        return sum(bool(promise.shown_by) for promise in self.promises)


def judge_lesson(
    lesson: Lesson, found: Mapping[Case, Sequence[tuple[int, CaseResult]]]
) -> tuple[LessonSummary, list[str]]:
    """Compare the verdicts of one lesson's cases with the expected ones, and with each other."""
    broken = broken_problems(lesson, (finding for runs in found.values() for _, finding in runs))
    if broken:
        return LessonSummary(lesson.id, 0, 0, 0, 0, 0, 0, 0, 0), broken
    problems: list[str] = []
    about: dict[str, tuple[str, ...]] = {}
    checks = 0
    bad: set[Case] = set()
    unnamed: set[Case] = set()
    for case, runs in found.items():
        for seed, finding in runs:
            about |= dict(finding.about)
            problems += [
                f"{lesson.id}: not translated: {text!r}"
                for text in finding.untranslated
                if MARK not in text
            ]
            checks = max(checks, finding.checks)
            bad |= {case} if finding.trouble else set()
            unnamed |= set() if finding.named else {case}
            if case.kind != KIND:
                problems += [f"{case}, seed {seed}: {text}" for text in finding.trouble]
        problems += [] if case.kind == KIND else seed_problems(case, runs)
    cases = list(found)
    mistakes = [case for case in cases if case.kind == "mistake"]
    near_misses = [case for case in cases if case.kind == "near miss"]
    accepted = [case for case in cases if case.kind == "accepted"]
    problems += name_problems(lesson, about, mistakes, near_misses)
    problems += spoiler_problems(found)
    held = held_promises(lesson, found)
    problems += [
        f"{lesson.id}: contract.toml: {text}" for text in unbroken_problems(lesson, held, found)
    ]
    proof = LessonSummary(
        lesson=lesson.id,
        checks=checks,
        mistakes=len(mistakes),
        caught=sum(all(finding.lost for _, finding in found[case]) for case in mistakes),
        named=sum(case not in unnamed for case in mistakes),
        near_misses=len(near_misses),
        told_apart=sum(case not in bad for case in near_misses),
        accepted=len(accepted),
        accepted_passed=sum(case not in bad for case in accepted),
        promises=tuple(held),
    )
    return proof, list(dict.fromkeys(problems))


def name_problems(
    lesson: Lesson, about: Iterable[str], mistakes: Iterable[Case], near_misses: Iterable[Case]
) -> Iterator[str]:
    """Yield mistakes without a wrong answer, and answers of which no mistake has the name."""
    known = list(about)
    shown = {mistake_id(case.name) for case in mistakes}
    shown |= {cell.name for cell in lesson.mistakes if not cell.applies()}
    for name in known:
        if name not in shown:
            yield f"{lesson.id}: mistake {name} has no cell in tests/mistakes/{lesson.filename}"
    for name in sorted(shown.difference(known)):
        if not name.startswith(ENGINE):
            yield f"{lesson.id}: mistake {name} is not in diagnosis.toml"
    for name in sorted({mistake_id(case.name) for case in near_misses}.difference(known)):
        if not name.startswith(ENGINE):
            yield f"{lesson.id}: near miss {name} resembles no mistake in diagnosis.toml"


def broken_problems(lesson: Lesson, findings: Iterable[CaseResult]) -> list[str]:
    """Return, once, which file of a lesson keeps it from being graded."""
    return [f"{lesson.id}: {text}" for text in {one.broken: None for one in findings} if text]


def seed_problems(case: Case, runs: Iterable[tuple[int, CaseResult]]) -> Iterator[str]:
    """Yield a line if the outcome of any check depends on the seed, with the seeds of each outcome.

    A skipped check has no verdict of its own: it depends on the seed only if a check that it needs
    does, and that one is listed.
    """
    seeds: dict[str, dict[Outcome, list[int]]] = {}
    for seed, finding in runs:
        for name, outcome in finding.outcomes:
            if outcome is not Outcome.SKIPPED:
                seeds.setdefault(name, {}).setdefault(outcome, []).append(seed)
    changing = []
    for name, of in seeds.items():
        parts = [f"{one} from {seeds_listed(of[one])}" for one in Outcome if one in of]
        changing += [f"{name} is {', '.join(parts)}"] if len(parts) > 1 else []
    if changing:
        yield f"{case} depends on the seed: {'; '.join(changing)}"


def seeds_listed(seeds: Sequence[int]) -> str:
    """Return ``seed 2``, or ``seeds 1, 3 to 5``."""
    runs: list[list[int]] = []
    for seed in sorted(seeds):
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    parts = (f"{one[0]} to {one[-1]}" if len(one) > 2 else ", ".join(map(str, one)) for one in runs)
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(parts)}"
