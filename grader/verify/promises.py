"""Check a lesson's contract against its texts, its checks and its wrong answers.

Without grading: each sentence of stub and README belongs to a promise, each promise to a sentence,
and each check holds a promise. With gradings: each promise has a wrong answer that breaks it alone,
which means that, from every seed, it fails only checks of that promise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.course.course import Lesson
from grader.course.lesson_texts import (
    Promise,
    compared_form,
    read_contract,
    stub_sentences,
    task_sentences,
)
from grader.course.scaffold import MARK
from grader.verify.case_result import Case, CaseResult


@dataclass(frozen=True, slots=True)
class HeldPromise:
    """A promise as the published table has it.

    ``points`` are its share of its checks' points; several promises of one check share them
    equally. ``shown_by`` are the wrong answers that break it alone.
    """

    name: str
    sentence: str
    points: float
    checks: tuple[str, ...]
    shown_by: tuple[str, ...]


def contract_of(lesson: Lesson) -> tuple[Promise, ...]:
    """Return the promises of a lesson; none if it has no ``contract.toml``."""
    path = lesson.checks / "contract.toml"
    return read_contract(path) if path.exists() else ()


def contract_problems(lesson: Lesson) -> Iterator[str]:
    """Yield the problems that can be found without grading."""
    promises = contract_of(lesson)
    if not promises:
        return
    yield from _sentence_problems(lesson, promises)
    checks, names = set(lesson.check_names), {*lesson.names, *lesson.bonus}
    wrong = {cell.label for cell in lesson.mistakes}
    wrong |= {f"near miss {cell.label}" for cell in lesson.near_misses}
    accepted = {cell.name for cell in lesson.accepted}
    for promise in promises:
        terms = promise.terms
        if promise.about not in names:
            yield f"[{promise.name}] is about {promise.about}, which course.toml doesn't list"
        if not (terms.checks or terms.allows or terms.unchecked):
            yield f"[{promise.name}] has no checks, allows nothing and does not say why"
        if terms.checks and not terms.broken_by:
            yield f"[{promise.name}] names no wrong answer in broken_by"
        for kind, known, named in (
            ("check", checks, terms.checks),
            ("wrong answer", wrong, terms.broken_by),
            ("accepted answer", accepted, terms.allows),
        ):
            for name in sorted(set(named) - known):
                yield f"[{promise.name}] names the {kind} {name}, which does not exist"
    held = {name for promise in promises for name in promise.terms.checks}
    for name in sorted(checks - held):
        yield f"the check {name} holds no promise"


def _sentence_problems(lesson: Lesson, promises: Sequence[Promise]) -> Iterator[str]:
    names = (*lesson.names, *lesson.bonus)
    readme = (lesson.folder / "README.md").read_text("utf-8")
    stub_text = lesson.stub.read_text("utf-8")
    stub = [(name, compared_form(text)) for name, text in stub_sentences(stub_text, names)]
    tasks = [compared_form(text) for text in task_sentences(readme)]
    promised = {
        (promise.about, compared_form(text)) for promise in promises for text in promise.terms.says
    }
    anywhere = {text for _, text in promised}
    for name, text in dict.fromkeys(stub):
        if (name, text) not in promised:
            yield f"no promise about {name} quotes the stub's sentence: {text}"
    for text in dict.fromkeys(tasks):
        if text not in anywhere and MARK not in text:
            yield f"no promise quotes the README's sentence: {text}"
    for name, text in sorted(promised - set(stub)):
        if text not in tasks:
            yield f"neither the stub of {name} nor the README says: {text}"


def held_promises(
    lesson: Lesson, found: Mapping[Case, Sequence[tuple[int, CaseResult]]]
) -> list[HeldPromise]:
    """Return each promise that has checks, with its points and what breaks it alone."""
    promises = [promise for promise in contract_of(lesson) if promise.terms.checks]
    points = _points(found)
    shares = [name for promise in promises for name in promise.terms.checks]
    wrong = _failed_checks(found)
    held = []
    for promise in promises:
        checks = promise.terms.checks
        held.append(
            HeldPromise(
                promise.name,
                compared_form(promise.terms.says[0]) if promise.terms.says else "",
                round(sum(points.get(name, 0) / shares.count(name) for name in checks), 2),
                checks,
                tuple(
                    name
                    for name, runs in wrong.items()
                    if name in promise.terms.broken_by
                    and all(failed and failed <= set(checks) for failed in runs)
                ),
            )
        )
    return held


def unbroken_problems(
    lesson: Lesson,
    held: Sequence[HeldPromise],
    found: Mapping[Case, Sequence[tuple[int, CaseResult]]],
) -> Iterator[str]:
    """Yield a problem for each promise that no wrong answer breaks alone.

    It says for each answer in ``broken_by`` which other checks fail, or that none fails from some
    seed.
    """
    failed = _failed_checks(found)
    named = {promise.name: promise.terms.broken_by for promise in contract_of(lesson)}
    for promise in (one for one in held if not one.shown_by):
        tried = []
        for name in named[promise.name]:
            runs = failed.get(name, [])
            others = set().union(*runs) - set(promise.checks)
            passes = any(not run for run in runs)
            what = "passes from some seed" if passes else f"also fails {', '.join(sorted(others))}"
            tried.append(f"{name} {what}")
        yield f"[{promise.name}] has no wrong answer that breaks it alone: {'; '.join(tried)}"


def _failed_checks(
    found: Mapping[Case, Sequence[tuple[int, CaseResult]]],
) -> dict[str, list[set[str]]]:
    """Return the checks that each wrong answer fails, from each seed, by its name in a contract."""
    return {
        case.name if case.kind == "mistake" else f"{case.kind} {case.name}": [
            set(run.failed) for _, run in runs
        ]
        for case, runs in found.items()
        if case.kind in ("mistake", "near miss")
    }


def _points(found: Mapping[Case, Sequence[tuple[int, CaseResult]]]) -> dict[str, float]:
    for case, runs in found.items():
        if case.kind == "solution" and runs:
            return dict(runs[0][1].points)
    return {}
