"""What a grading depends on, as one hash: the same key means the same finding, whenever and by
whomever it was made.

Of the engine that is what judging takes and what holds a verdict against its case, found by
following imports: a change of pages, commands or exports costs no hour of proof, a change of the
judge costs all of them. Only code counts there, not comments and docstrings.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.paths import PACKAGE
from grader.course.course import Course, Lesson
from grader.runtime.grading import Settings
from grader.verify.case_result import Case

ROOTS = (
    "runtime.fork_server",
    "runtime.lesson_server",
    "judge.runner",
    "judge.pytest_plugin",
    "worker.process",
    "worker.spawned",
    "verify.case_result",
)
"""Where processes begin that judge, and what holds their verdicts against what is known."""
DISTRIBUTIONS = ("torch", "numpy", "pytest", "pytest-json-report")

Stamp = tuple[int, int] | None


class Ingredients:
    """The files and versions that gradings of a course depend on, as they were when this was made;
    ``key`` is a case's, seeds apart.
    """

    def __init__(
        self,
        course: Course,
        lessons: Iterable[Lesson],
        settings: Settings,
        *,
        package: Path = PACKAGE,
    ) -> None:
        engine = engine_files(ROOTS, package)
        self._stamps = {path: stamp(path) for path in engine.values()}
        self._lessons: dict[str, tuple[str, dict[Path, Stamp]]] = {}
        how = {name: value for name, value in asdict(settings).items() if name != "seed"}
        shared = [course.id, how, versions(), codes(engine)]
        for lesson in lessons:
            files = lesson_files(lesson, settings.lang)
            asked = {
                name
                for path in files.values()
                if path.suffix == ".py"
                for name in imported(path, package)
            }
            files |= engine_files(asked - set(engine), package)
            stamps = {path: stamp(path) for path in files.values()}
            entry = [
                lesson.id,
                lesson.title,
                lesson.summary,
                lesson.names,
                lesson.bonus,
                lesson.builds_on,
            ]
            self._lessons[lesson.id] = digest_of([*shared, entry, contents(files)]), stamps

    def key(self, case: Case) -> str:
        """What a case's gradings depend on, but for the seed: 32 hex digits."""
        return digest_of([self._lessons[case.lesson.id][0], case.kind, case.name, case.source])

    def insist(self, lesson: Lesson) -> None:
        """Raise UsageError where a file was changed since: what is graded now may be about another
        one.
        """
        for path, before in (self._stamps | self._lessons[lesson.id][1]).items():
            if stamp(path) != before:
                raise UsageError(
                    f"{path} was changed while this ran, so the rest would not be about the same"
                    " files. What was graded before is kept; run the same command again: it grades"
                    " anew what the change is about"
                )


def digest_of(data: object) -> str:
    """The SHA-256 of plain data, 32 hex digits of it."""
    return hashlib.sha256(
        json.dumps(data, sort_keys=True).encode("utf-8", "surrogatepass")
    ).hexdigest()[:32]


def stamp(path: Path) -> Stamp:
    """When a file was last changed, and its size; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def contents(files: Mapping[str, Path]) -> dict[str, str | None]:
    """The SHA-256 of files by name; None for one that is not there."""
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
        for name, path in files.items()
    }


def codes(modules: Mapping[str, Path]) -> dict[str, str]:
    """The SHA-256 of the code of modules by name: not of comments, layout and docstrings."""
    return {
        name: hashlib.sha256(code_of(path.read_bytes())).hexdigest()
        for name, path in modules.items()
    }


@functools.cache
def code_of(source: bytes) -> bytes:
    """A text of Python without what changes nothing that it does; as it is where it is no
    Python.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [one for one in node.body if not _is_bare_string(one)]
    return ast.dump(tree).encode()


def _is_bare_string(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, or a text under a name that tells of it."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def versions() -> dict[str, str]:
    """What is not ours and judges with us."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return {
        "python": python,
        "system": f"{sys.platform} {platform.machine()}",
        **{name: version(name) for name in DISTRIBUTIONS},
    }


def lesson_files(lesson: Lesson, lang: str) -> dict[str, Path]:
    """What judging reads of a lesson: stub, solution, hints, texts, and with the checks their
    scenarios, rules and helpers.
    """
    files = {
        "stub": lesson.stub,
        "solution": lesson.solution,
        "hints": lesson.folder / "hints.toml",
    }
    files |= {f"texts {number}": path for number, path in enumerate(lesson.texts(lang))}
    return files | {f"checks/{path.name}": path for path in sorted(lesson.checks.glob("*.py"))}


def engine_files(roots: Iterable[str] = ROOTS, package: Path = PACKAGE) -> dict[str, Path]:
    """The source of modules of ours, by name below the package, and of all that they import, at the
    top or inside functions.
    """
    found: dict[str, Path] = {}
    todo = list(roots)
    while todo:
        name = todo.pop()
        path = module_file(name, package)
        if path is None or name in found:
            continue
        found[name] = path
        # what the package itself imports, inside functions, is for callers from outside: draw, and
        # a notebook's magics
        if name:
            todo += imported(path, package)
    return found


def module_file(name: str, package: Path) -> Path | None:
    """Where a module of ours has its source; None for a name that is no module."""
    place = package.joinpath(*name.split(".")) if name else package
    return next(
        (path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None
    )


def imported(path: Path, package: Path) -> set[str]:
    """The modules of ours that a file imports, by name, with the packages around them; none where
    the file is no Python.
    """
    try:
        names = mentioned(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    ours = [name.split(".")[1:] for name in names if name.split(".")[0] == package.name]
    found = {".".join(parts[:end]) for parts in ours for end in range(len(parts) + 1)}
    return {name for name in found if module_file(name, package)}


@functools.cache
def mentioned(source: bytes) -> tuple[str, ...]:
    """What a text of Python may import, by full name; raises SyntaxError or ValueError for one that
    is none.
    """
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(names)
