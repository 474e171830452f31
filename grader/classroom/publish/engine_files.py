"""What is handed out: the engine as files, and all files of an autograder for another system.

``pip install ./engine`` installs the engine, which comes without a course. An autograder is
``autograder.json``, ``engine/`` and ``course/``; the other system's module adds what it starts.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import __version__
from grader.classroom.exports.common import as_bytes
from grader.core.errors import UsageError
from grader.core.files import CHECKOUT, PACKAGE, templates, torch_version
from grader.core.report import Record
from grader.core.templates import render_text
from grader.course.course import Course, Lesson

CARRIED = (".py", ".toml", ".po", ".json", ".html", ".css", ".js")
LEFT_OUT = frozenset({"__pycache__", "_course", "engine", "gradescope", "handout", "lesson"})
"""Folders that are not handed out: caches, the course, and templates that only teachers need."""
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""The index with PyTorch's build without CUDA, which is a tenth of the size."""
RELEASED = re.compile(r"\d+(\.\d+)+")


def torch_requirement() -> str:
    """Return the torch that grades here, with its exact version: other versions may compute other
    values.
    """
    version = torch_version().partition("+")[0]
    return f"torch=={version}" if RELEASED.fullmatch(version) else "torch"


def install_torch(*options: str) -> str:
    """Return the line that installs that torch, in a build without CUDA."""
    return " ".join(["pip install", *options, torch_requirement(), "--index-url", CPU_INDEX])


def engine_files() -> Iterator[tuple[str, str]]:
    """Yield ``(path, text)`` of each file: the package, its templates, and what pip needs."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in CARRIED and not LEFT_OUT.intersection(path.relative_to(PACKAGE).parts):
            yield f"grader/{path.relative_to(PACKAGE).as_posix()}", path.read_text("utf-8")
    if not (PACKAGE / "_templates").is_dir():
        for path in sorted(path for path in templates().iterdir() if path.is_file()):
            yield f"grader/_templates/{path.name}", path.read_text("utf-8")
    needed = requirements()
    yield "requirements.txt", "".join(f"{line}\n" for line in needed)
    yield (
        "pyproject.toml",
        render_text("engine/pyproject.toml.j2", version=__version__, requirements=needed),
    )


def requirements() -> list[str]:
    """Return the engine's dependencies with versions, from the project or its metadata."""
    project = CHECKOUT / "pyproject.toml"
    if project.is_file():
        found: list[str] = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
        return found
    return [
        line for line in importlib.metadata.requires("gradlings") or () if "extra ==" not in line
    ]


SETTINGS = "autograder.json"
AUTOGRADER_SECONDS = 570
"""How long one submission may take. Gradescope ends a container after ten minutes by default;
stopping a little earlier leaves time for a message. Classroom 50 leaves as much time, besides
installing.
"""


@dataclass(frozen=True, slots=True)
class AutograderSettings(Record):
    """``autograder.json``: what to grade, and how.

    ``hidden_checks`` is for Gradescope. ``classroom50_start`` reads ``main``, ``seconds`` and
    ``pip``, the arguments of each ``pip install``.
    """

    lessons: tuple[str, ...]
    hidden_checks: str | None = None
    lang: str = "en"
    accept_near_names: bool = False
    main: str | None = None
    seconds: float | None = None
    pip: tuple[tuple[str, ...], ...] | None = None

    def as_json(self) -> dict[str, object]:
        return {key: value for key, value in Record.as_json(self).items() if value is not None}


def read_settings(source: Path) -> AutograderSettings:
    """Return the settings of an autograder in its folder on the other system's machine."""
    return AutograderSettings.from_json(json.loads((source / SETTINGS).read_text("utf-8")))


def autograder_files(
    course: Course, lessons: Sequence[Lesson], settings: AutograderSettings
) -> Iterator[tuple[str, bytes]]:
    """Yield ``(path, bytes)`` of each file."""
    yield SETTINGS, as_bytes(settings.as_json())
    yield from ((f"engine/{path}", text.encode()) for path, text in engine_files())
    for path in course_files(course, lessons):
        yield f"course/{path.relative_to(course.root).as_posix()}", path.read_bytes()


def course_files(course: Course, lessons: Iterable[Lesson]) -> Iterator[Path]:
    """Yield the files that judging needs: no READMEs, and no wrong or accepted answers."""
    yield course.root / "exercises" / "course.toml"
    yield from sorted((course.root / "exercises").glob("*.po"))
    for lesson in lessons:
        yield lesson.solution
        yield from lesson.folder.glob("hints.toml")
        yield from sorted(lesson.folder.glob("*.po"))
        for pattern in ("*.py", "contract.toml", "diagnosis.toml"):
            yield from sorted(lesson.checks.glob(pattern))


def refuse_bundle(
    course: Course, lessons: Iterable[Lesson], remedy: str = "Use the whole course"
) -> None:
    """Raise UsageError if the course is a students' bundle, which has no solutions."""
    if held := [lesson.id for lesson in lessons if lesson.held]:
        raise UsageError(
            f"{course.root} is a folder that grade release made: it has no solution of {held[0]}."
            f" {remedy}"
        )


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Make the folder around ``target``; raise UsageError if the block can't write something."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UsageError(
            f"{error.filename or target} can't be written: {error.strerror}. Choose another place"
        ) from None
