"""Find a lesson's problems that no grading shows: files, hints, stub, translations."""

from __future__ import annotations

import string
from pathlib import Path

from grader.core.i18n import ENGLISH, load_catalogue
from grader.course.course import Lesson
from grader.course.scaffold import MARK, placeholders_in
from grader.course.source import Source
from grader.course.stubs import stub_of
from grader.verify.promises import contract_problems

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


def placeholders(text: str) -> set[str]:
    """Return the ``{names}`` in a text; none if it is not a template."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}
    except ValueError:
        return set()


def strays(folder: Path, allowed: set[str]) -> list[Path]:
    return [
        path
        for path in sorted(folder.iterdir())
        if path.name not in allowed and path.name != "__pycache__"
    ]
