"""Find a lesson's problems that no grading shows: files, hints, stub, translations, contract.

A contract is checked against the lesson's texts, checks and wrong answers. Without grading: each
sentence of stub and README belongs to a promise, each promise to a sentence, and each check holds a
promise. With gradings: each promise has a wrong answer that breaks it alone, which means that, from
every seed, it fails only checks of that promise. If such a check holds another promise, too, the
contract says in ``broken_by`` which wrong answer breaks which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.core.files import line_with
from grader.course.course import Lesson
from grader.course.lesson_texts import Promise, compared_form, stub_sentences, task_sentences
from grader.course.scaffold import MARK, UNWRITTEN, placeholders_in
from grader.course.source import Source
from grader.course.stubs import header
from grader.verify.case_result import Found
from grader.verify.slips import place_of_check, place_of_sentence, slips_in

CHECK_FILES = {
    "test_checks.py",
    "test_visible.py",
    "test_hidden.py",
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


def static_problems(lesson: Lesson) -> Iterator[str]:
    """Yield the problems that can be found without grading: files, hints, the stub."""
    marked = lesson.solution.read_text("utf-8")
    if not lesson.stub.exists() or lesson.stub.read_text("utf-8") != lesson.stub_text:
        yield (
            f"{lesson.stub.name} is not the stub that the solution generates; run: grade verify"
            " --write-stubs"
        )
    if not (lesson.folder / "README.md").exists():
        yield "there is no README.md"
    if lesson.everywhere and compared_form(header(lesson.id)) not in compared_form(marked):
        yield f"the solution's first docstring should end with: {header(lesson.id)}"
    hints = lesson.hints()
    definitions = Source(marked, lesson.filename).definitions
    for name in (*lesson.names, *lesson.bonus):
        if len(hints.get(name, ())) != 3:
            yield f"hints.toml should have three steps for {name}"
        if name not in definitions:
            yield f"the solution doesn't define {name}"
    yield from contract_problems(lesson)
    yield from slips_in(lesson)
    texts = (*lesson.readmes, *lesson.folder.glob("*.po"))
    lesson_files = {lesson.filename, "hints.toml", *(path.name for path in texts)}
    for folder, allowed in ((lesson.folder, lesson_files), (lesson.checks, CHECK_FILES)):
        for path in sorted(folder.iterdir()):
            if path.name not in allowed | {"__pycache__"}:
                yield f"stray file {path}"


def contract_problems(lesson: Lesson) -> Iterator[str]:
    """Yield the problems that can be found without grading, each with its file and line."""
    promises, toml = lesson.contract, lesson.checks / "contract.toml"
    if not promises:
        return
    yield from _sentence_problems(lesson, promises)
    checks, names = set(lesson.check_names), {*lesson.names, *lesson.bonus}
    wrong = {cell.label for cell in lesson.mistakes}
    wrong |= {f"near miss {cell.label}" for cell in lesson.near_misses}
    accepted = {cell.name for cell in lesson.accepted}
    holds = Counter(name for promise in promises for name in promise.terms.checks)
    for promise in promises:
        terms = promise.terms
        where = f"{line_with(toml, f'[{promise.name}]')}: [{promise.name}]"
        if promise.about not in names:
            yield f"{where} is about {promise.about}, which course.toml doesn't list"
        if not (terms.checks or terms.allows or terms.unchecked):
            yield f"{where} has no checks, allows nothing and does not say why"
        shared = [name for name in terms.checks if holds[name] > 1]
        if shared and not terms.broken_by:
            yield (
                f"{where} shares the check {shared[0]} with another promise; name in broken_by a"
                " wrong answer that breaks this one"
            )
        for kind, known, named in (
            ("check", checks, terms.checks),
            ("wrong answer", wrong, terms.broken_by),
            ("accepted answer", accepted, terms.allows),
        ):
            for name in sorted(set(named) - known):
                yield f"{where} names the {kind} {name}, which does not exist"
    for name in sorted(checks - set(holds)):
        yield f"{place_of_check(lesson, name)}: the check {name} holds no promise of contract.toml"


def _sentence_problems(lesson: Lesson, promises: Sequence[Promise]) -> Iterator[str]:
    names = (*lesson.names, *lesson.bonus)
    readme, toml = lesson.folder / "README.md", lesson.checks / "contract.toml"
    sentences = stub_sentences(lesson.stub_text, names)
    stub = [(name, compared_form(text)) for name, text in sentences]
    tasks = [compared_form(text) for text in task_sentences(readme.read_text("utf-8"))]
    everywhere = [compared_form(text) for text in lesson.everywhere]
    promised = {
        (promise.about, compared_form(text)) for promise in promises for text in promise.terms.says
    }
    anywhere = {text for _, text in promised}
    for name, text in dict.fromkeys(stub):
        if (name, text) not in promised:
            where = place_of_sentence(lesson.solution, text)
            yield f"{where}: no promise about {name} in contract.toml quotes this sentence: {text}"
    for text in dict.fromkeys(tasks):
        if text not in anywhere and MARK not in text:
            where = place_of_sentence(readme, text)
            yield f"{where}: no promise in contract.toml quotes this sentence: {text}"
    for name, text in sorted(promised - set(stub)):
        if text not in tasks and text not in everywhere:
            where = place_of_sentence(toml, text)
            yield f"{where}: neither the stub of {name} nor the README says: {text}"


def unwritten(lesson: Lesson) -> Iterator[str]:
    """Yield the places marked by ``grade new`` in which something is still to be written."""
    for text in (lesson.title, lesson.summary):
        if MARK in text:
            yield f"{lesson.id}: course.toml {UNWRITTEN} {text}"
    cells = (*lesson.accepted, *lesson.mistakes, *lesson.near_misses)
    files = {lesson.solution, *(cell.path for cell in cells)}
    for folder in (lesson.folder, lesson.checks):
        files |= {
            path
            for path in folder.iterdir()
            if path.suffix in (".md", ".toml", ".po", ".py") and path != lesson.stub
        }
    for path in sorted(files):
        yield from placeholders_in(path, lesson.root)


def held_promises(lesson: Lesson, found: Found) -> list[HeldPromise]:
    """Return each promise that has checks, with its points and what breaks it alone."""
    promises = [promise for promise in lesson.contract if promise.terms.checks]
    graded = next((runs for case, runs in found.items() if case.kind == "solution"), {})
    points = {name: worth for finding in graded.values() for name, worth in finding.points}
    shares = [name for promise in promises for name in promise.terms.checks]
    wrong = _failed_checks(found)
    held = []
    for promise in promises:
        checks, says = promise.terms.checks, promise.terms.says
        sentence = compared_form(says[0]) if says else ""
        worth = round(sum(points.get(name, 0) / shares.count(name) for name in checks), 2)
        tried = promise.terms.broken_by or wrong
        alone = (
            name
            for name, runs in wrong.items()
            if name in tried and all(run and run <= set(checks) for run in runs)
        )
        held.append(HeldPromise(promise.name, sentence, worth, checks, tuple(alone)))
    return held


def unbroken_problems(lesson: Lesson, held: Sequence[HeldPromise], found: Found) -> Iterator[str]:
    """Yield a problem for each promise that no wrong answer breaks alone.

    It says what stands against each answer in ``broken_by``, or against those three that fail a
    check of the promise and the fewest others.
    """
    failed = _failed_checks(found)
    named = {promise.name: promise.terms.broken_by for promise in lesson.contract}
    for promise in (one for one in held if not one.shown_by):
        checks = set(promise.checks)
        others = {name: sorted(set().union(*runs) - checks) for name, runs in failed.items()}
        near = [name for name, runs in failed.items() if checks & set().union(*runs)]
        nearest = sorted(near, key=lambda name: len(others[name]))[:3]
        tried = []
        for name in named[promise.name] or nearest:
            passes = not all(failed.get(name, [set()]))
            what = "passes from some seed" if passes else f"also fails {', '.join(others[name])}"
            tried.append(f"{name} {what}")
        reason = "; ".join(tried) or "none fails its checks"
        yield f"[{promise.name}] has no wrong answer that breaks it alone: {reason}"


def _failed_checks(found: Found) -> dict[str, list[set[str]]]:
    """Return the checks that each wrong answer fails, from each seed, by its name in a contract."""
    failed = {}
    for case, runs in found.items():
        if case.kind in ("mistake", "near miss"):
            name = case.name if case.kind == "mistake" else f"near miss {case.name}"
            failed[name] = [set(run.failed) for run in runs.values()]
    return failed
