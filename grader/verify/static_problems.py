"""Find a lesson's problems that no grading shows: files, hints, stub, translations, contract.

A contract is checked against the lesson's texts, checks and wrong answers. Without grading: each
sentence of stub and README belongs to a promise, each promise to a sentence, and each check holds a
promise. With gradings: each promise has a wrong answer that breaks it alone, which means that, from
every seed, it fails only checks of that promise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core.i18n import ENGLISH, load_catalogue, placeholders
from grader.course.course import Lesson
from grader.course.lesson_texts import (
    Promise,
    compared_form,
    read_contract,
    stub_sentences,
    task_sentences,
)
from grader.course.scaffold import MARK, placeholders_in
from grader.course.source import Source
from grader.course.stubs import stub_of
from grader.verify.case_result import Case, CaseResult

CHECK_FILES = {
    "test_visible.py",
    "test_hidden.py",
    "helpers.py",
    "scenarios.py",
    "diagnosis.py",
    "diagnosis.toml",
    "contract.toml",
    "README.md",
}


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


def static_problems(lesson: Lesson) -> list[str]:
    """Return the problems that can be found without grading: files, hints, the stub."""
    problems: list[str] = []

    def require(condition: bool, text: str) -> None:
        if not condition:
            problems.append(f"{lesson.id}: {text}")

    marked = lesson.solution.read_text("utf-8")
    stub = lesson.stub.read_text("utf-8") if lesson.stub.exists() else ""
    generated = stub_of(marked, name=str(lesson.solution))
    require(
        stub == generated,
        f"{lesson.stub.name} is not the stub that the solution generates; run: grade verify"
        " --write-stubs",
    )
    require((lesson.folder / "README.md").exists(), "there is no README.md")
    hints = lesson.hints()
    for name in (*lesson.names, *lesson.bonus):
        require(len(hints.get(name, ())) == 3, f"hints.toml should have three steps for {name}")
        require(
            name in Source(marked, lesson.filename).definitions,
            f"the solution doesn't define {name}",
        )
    problems += [f"{lesson.id}: contract.toml: {text}" for text in contract_problems(lesson)]
    texts = (*lesson.readmes, *lesson.folder.glob("*.po"))
    allowed = {lesson.filename, "hints.toml", *(path.name for path in texts)}
    problems += [f"{lesson.id}: stray file {path}" for path in strays(lesson.folder, allowed)]
    problems += [f"{lesson.id}: stray file {path}" for path in strays(lesson.checks, CHECK_FILES)]
    return problems


def strays(folder: Path, allowed: set[str]) -> list[Path]:
    return [
        path
        for path in sorted(folder.iterdir())
        if path.name not in allowed and path.name != "__pycache__"
    ]


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


def contract_of(lesson: Lesson) -> tuple[Promise, ...]:
    """Return the promises of a lesson; none if it has no ``contract.toml``."""
    path = lesson.checks / "contract.toml"
    return read_contract(path) if path.exists() else ()


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


def unwritten(lesson: Lesson) -> list[str]:
    """Return the places marked by ``grade new`` in which something is still to be written."""
    problems = [
        f"course.toml still holds its placeholder: {text}"
        for text in (lesson.title, lesson.summary)
        if MARK in text
    ]
    cells = (*lesson.accepted, *lesson.mistakes, *lesson.near_misses)
    files = {lesson.solution, *(cell.path for cell in cells)}
    for folder in (lesson.folder, lesson.checks):
        files |= {
            path
            for path in folder.iterdir()
            if path.suffix in (".md", ".toml", ".po", ".py") and path != lesson.stub
        }
    problems += [text for path in sorted(files) for text in placeholders_in(path)]
    return [f"{lesson.id}: {text}" for text in problems]


def catalogue_problems(lesson: Lesson, lang: str) -> list[str]:
    """Return what a language lacks: titles, hints, README, placeholders."""
    if lang == ENGLISH:
        return []
    tr = load_catalogue(lang, lesson.texts(lang))
    for text in (
        lesson.title,
        lesson.summary,
        *(step for steps in lesson.hints().values() for step in steps),
    ):
        tr(text)
    problems = [f"not translated: {text!r}" for text in sorted(tr.missing) if MARK not in text]
    readme = lesson.folder / f"README.{lang}.md"
    problems += [] if readme.exists() else [f"there is no {readme.name}"]
    for text, translation in tr.texts.items():
        if placeholders(text) != placeholders(translation):
            problems.append(f"the translation has other placeholders: {text!r}")
    return [f"{lesson.id}: {problem}" for problem in problems]


def held_promises(
    lesson: Lesson, found: Mapping[Case, Sequence[tuple[int, CaseResult]]]
) -> list[HeldPromise]:
    """Return each promise that has checks, with its points and what breaks it alone."""
    promises = [promise for promise in contract_of(lesson) if promise.terms.checks]
    points = next(
        (dict(of[0][1].points) for case, of in found.items() if case.kind == "solution" and of), {}
    )
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
