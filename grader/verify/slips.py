"""Find slips in a lesson's own code and texts, each with file and line."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.files import line_with
from grader.core.i18n import engine_catalogue
from grader.course.course import Lesson, hints_that_answer
from grader.course.lesson_texts import (
    compared_form,
    read_mistakes,
    sentences_in,
    stub_sentences,
    texts_in,
    translatable,
)
from grader.course.source import Source
from grader.course.stubs import HEADER

AUTHORING, SCENARIOS = "grader.authoring", "grader.worker.scenarios"


def slips_in(lesson: Lesson) -> Iterator[str]:
    """Yield slips that no grading shows; raise CourseError for a file that is not Python."""
    for path in sorted(lesson.checks.glob("*.py")):
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except SyntaxError as error:
            raise CourseError(f"{path}:{error.lineno}: {error.msg}") from None
        yield from _import_slips(path, tree)
        yield from _place_slips(path, tree, lesson)
    yield from _unknown_checks(lesson)
    hints = lesson.folder / "hints.toml"
    for step in sorted(hints_that_answer(lesson)):
        begin = json.dumps(step, ensure_ascii=False)[1:30]
        where = line_with(hints, begin, inside=True)
        yield f"{where}: this hint contains all of the answer. Leave a step to take"


def _unknown_checks(lesson: Lesson) -> Iterator[str]:
    """Yield the mistakes that are said to occur in a check that there is not."""
    if lesson.diagnosis is None:
        return
    for one in read_mistakes(lesson.diagnosis):
        name = one.in_check.removeprefix("test_")
        if name and name not in lesson.check_names:
            where = line_with(lesson.diagnosis, f"[{one.id}]")
            yield f"{where}: [{one.id}]: in_check names {name}, which is no check of the lesson"


def _import_slips(path: Path, tree: ast.Module) -> Iterator[str]:
    allowed = {AUTHORING, SCENARIOS} if path.name == "scenarios.py" else {AUTHORING}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case _:
                continue
        for module in modules:
            if module.partition(".")[0] == "grader" and module not in allowed:
                yield (
                    f"{path}:{node.lineno}: imports {module}. Of the engine, this file may import"
                    f" only {' and '.join(sorted(allowed))}"
                )


def _place_slips(path: Path, tree: ast.Module, lesson: Lesson) -> Iterator[str]:
    """Yield what a check names and the solution or ``hints.toml`` does not have."""
    solution = Source(lesson.solution.read_text("utf-8"), lesson.filename)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if ast.unparse(call.func).rpartition(".")[2] != "check":
            continue
        for keyword in call.keywords:
            match keyword:
                case ast.keyword(arg="at", value=ast.Constant(value=str(name))):
                    if not solution.defines(name):
                        yield f"{path}:{keyword.value.lineno}: at={name!r} is not in the solution"
                case ast.keyword(arg="hint", value=ast.Constant(value=str(name))):
                    if name not in lesson.hints():
                        yield f"{path}:{keyword.value.lineno}: hint={name!r} is not in hints.toml"


def stale_translations(lesson: Lesson, lang: str) -> Iterator[str]:
    """Yield translated texts that neither the lesson nor the engine has any more."""
    path = lesson.folder / f"{lang}.po"
    if not path.exists():
        return
    import polib

    known = {*_texts_of(lesson), *engine_catalogue(lang).texts}
    known = {compared_form(text) for text in known}
    made = [pattern for file in lesson.checks.glob("*.py") for pattern in _patterns_in(file)]
    for entry in polib.pofile(str(path)):
        if compared_form(entry.msgid) not in known and not any(
            re.fullmatch(pattern, entry.msgid) for pattern in made
        ):
            text = entry.msgid if len(entry.msgid) < 60 else f"{entry.msgid[:57]}…"
            yield f"{path}:{entry.linenum}: no file of the lesson has this text any more: {text!r}"


def _patterns_in(path: Path) -> Iterator[str]:
    """Yield a pattern for each f-string with words in it: the name of an input may be made."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = [one.value if isinstance(one, ast.Constant) else None for one in node.values]
            if re.search(r"\w{3}", "".join(str(part) for part in parts if part)):
                yield "".join(".+" if part is None else re.escape(str(part)) for part in parts)


def _texts_of(lesson: Lesson) -> Iterator[str]:
    yield from (lesson.title, lesson.summary, *HEADER)
    for steps in lesson.hints().values():
        yield from steps
    for path in lesson.checks.glob("*.py"):
        yield from texts_in(path.read_text("utf-8"))
    yield from translatable(lesson.diagnosis) if lesson.diagnosis else ()
    for promise in lesson.contract:
        yield from promise.terms.says
    stub = lesson.stub_text
    names = list(Source(stub, lesson.filename).definitions)
    yield from (sentence for _, sentence in stub_sentences(stub, names))
    yield from sentences_in(ast.get_docstring(ast.parse(stub)) or "")
    comments = re.findall(r"(?:^#.*\n)+", stub, re.MULTILINE)
    yield from (
        sentence
        for text in comments
        for sentence in sentences_in(re.sub("^# ?", "", text, flags=re.MULTILINE))
    )


def place_of_check(lesson: Lesson, name: str) -> str:
    """Return ``path:line`` of a check, named without ``test_``."""
    for path in lesson.check_files:
        where = line_with(path, f"def test_{name}(", f"test_{name} = ")
        if where != str(path):
            return where
    return str(lesson.checks)


def place_of_sentence(path: Path, sentence: str) -> str:
    """Return ``path:line`` where a sentence begins, whatever its line ends and markup."""
    words = compared_form(sentence).split()[:5]
    pattern = r"[\s#*`\"]+".join(map(re.escape, words))
    text = path.read_text("utf-8")
    found = re.search(pattern, re.sub(r"[*`]", " ", text))
    return f"{path}:{text.count(chr(10), 0, found.start()) + 1}" if found else str(path)
