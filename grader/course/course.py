"""A course on disk: ``exercises/course.toml`` and the files that it stands for, as typed records.

::

    <root>/exercises/course.toml              the lessons, in the order in which learners meet them
    <root>/exercises/<lesson>/                the stub <lesson>.py, README.md, hints.toml
    <root>/solutions/<lesson>.py              the one source of truth for code
    <root>/tests/checks/<lesson>/             test_visible.py, test_hidden.py, helpers.py,
                                              scenarios.py, diagnosis.py
    <root>/tests/mistakes/<lesson>.py         wrong answers, a cell each, named after their mistake
    <root>/tests/near_misses/<lesson>.py      wrong answers that resemble a mistake
    <root>/tests/accepted/<lesson>.py         other right answers
"""

from __future__ import annotations

import difflib
import functools
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.core.engine import hash_files
from grader.core.errors import CourseError, UsageError
from grader.core.limits import Limits
from grader.core.paths import CHECKOUT, LOCALE, PACKAGED_COURSE
from grader.course.catalogue import CatalogueCell, read_catalogue

"""Where a wheel carries the course."""
BUNDLED = "course"
"""Where a students' bundle has its part of the course."""
RELEASE = "release.toml"
"""What makes a course a students' bundle: the lessons that are in it, each with what it holds back.
"""


@dataclass(frozen=True, slots=True)
class HeldBack:
    """What a students' bundle does not hold of a lesson: how many checks, worth how many points
    (bonus apart).
    """

    checks: int = 0
    points: float = 0.0


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson. ``names`` are the functions, classes and constants that the student writes,
    ``bonus`` those beyond full marks.

    ``held`` is None where there is all of it; else this is a students' bundle, which has no
    solution.
    """

    root: Path
    id: str
    title: str
    summary: str
    names: tuple[str, ...]
    bonus: tuple[str, ...] = ()
    builds_on: tuple[str, ...] = ()
    held: HeldBack | None = None

    @property
    def filename(self) -> str:
        return f"{self.id}.py"

    @property
    def folder(self) -> Path:
        return self.root / "exercises" / self.id

    @property
    def stub(self) -> Path:
        return self.folder / self.filename

    @property
    def solution(self) -> Path:
        return self.root / "solutions" / self.filename

    @property
    def checks(self) -> Path:
        return self.root / "tests" / "checks" / self.id

    @property
    def visible_checks(self) -> tuple[Path, ...]:
        return _existing(self.checks / "test_visible.py")

    @property
    def hidden_checks(self) -> tuple[Path, ...]:
        return _existing(self.checks / "test_hidden.py")

    @property
    def scenarios(self) -> Path:
        """The scenarios, the one file of ours that goes into the sandbox."""
        return self.checks / "scenarios.py"

    @property
    def diagnosis(self) -> Path | None:
        """The lesson's mistakes and their rules, where it has them."""
        path = self.checks / "diagnosis.py"
        return path if path.exists() else None

    @property
    def mistakes(self) -> tuple[CatalogueCell, ...]:
        """Wrong answers, each named after its mistake."""
        return read_catalogue(self.root / "tests" / "mistakes" / self.filename)

    @property
    def near_misses(self) -> tuple[CatalogueCell, ...]:
        """Wrong answers, each named after a mistake that it resembles and does not make."""
        return read_catalogue(self.root / "tests" / "near_misses" / self.filename)

    @property
    def accepted(self) -> tuple[CatalogueCell, ...]:
        """Other right answers."""
        return read_catalogue(self.root / "tests" / "accepted" / self.filename, unique=True)

    def texts(self, lang: str) -> tuple[Path, ...]:
        """The catalogues of a language: the engine's and the lesson's."""
        return (LOCALE / f"{lang}.po", self.folder / f"{lang}.po")

    def hints(self) -> dict[str, list[str]]:
        """The hints by key, each from a nudge to nearly the answer; raises CourseError where
        ``hints.toml`` is none.
        """
        path = self.folder / "hints.toml"
        if not path.exists():
            return {}
        data = read_toml(path)
        for key, steps in data.items():
            if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
                raise CourseError(f"{path}: {key} must be a list of texts")
        return data


NO_COURSE = (
    "{place} holds no course: there is no exercises/course.toml. Give a course's folder with"
    " --course"
)
MEANT = "There is no lesson {name}. Did you mean {near}? All lessons: {command}"


@dataclass(frozen=True)
class Course:
    """A course: its identity, its lessons in order, its limits."""

    root: Path
    id: str
    title: str
    version: str
    lessons: tuple[Lesson, ...]
    limits: Limits = field(default_factory=Limits)

    def lesson(self, lesson_id: str) -> Lesson:
        """The lesson of that id; raises UsageError that names the nearest, or all there are where
        none is near.
        """
        wanted = lesson_id.removesuffix(".py").removesuffix(".ipynb").rstrip("/").rsplit("/", 1)[-1]
        for lesson in self.lessons:
            if lesson.id == wanted:
                return lesson
        ids = [lesson.id for lesson in self.lessons]
        near = difflib.get_close_matches(wanted.lower(), ids, n=1, cutoff=0.5)
        if near:
            raise UsageError(MEANT, name=repr(lesson_id), near=near[0], command="grade list")
        raise UsageError(
            "There is no lesson {name}. Lessons: {names}",
            name=repr(lesson_id),
            names=", ".join(ids),
        )

    @functools.cached_property
    def hash(self) -> str:
        """The hash of all files that decide a verdict or what is said of it, when first asked for.

        Wrong and accepted answers are not among them: they are graded, and grade nothing.
        """
        return self.hash_now()

    def hash_now(self) -> str:
        """Return the same hash of the files as they are at this moment."""
        files = [self.root / "exercises" / "course.toml"]
        for lesson in self.lessons:
            files += [lesson.stub, lesson.solution, lesson.folder / "hints.toml"]
            files += [*lesson.folder.glob("*.po"), *lesson.checks.glob("*.py")]
        return hash_files(self.root, (path for path in files if path.exists()))


def find_course(explicit: Path | None = None, *, here: Path | None = None) -> Path:
    """The course's root: ``explicit``, else that of the checkout this package lies in, else the one
    that the wheel carries.

    Where there is none of these (the engine of a students' bundle has no course), the bundle's
    around ``here``. It comes last, so that nobody who grades others' folders runs the checks that
    lie in them.
    """
    for root in (explicit,) if explicit else (CHECKOUT, PACKAGED_COURSE):
        if root and (root / "exercises" / "course.toml").is_file():
            return root.resolve()
    for folder in () if explicit or here is None else (here.resolve(), *here.resolve().parents):
        if (folder / BUNDLED / "exercises" / RELEASE).is_file():
            return folder / BUNDLED
    raise CourseError(NO_COURSE, place=str(explicit or CHECKOUT))


def load_course(root: Path) -> Course:
    """Read ``course.toml``; raises CourseError that names the file and the entry."""
    path = root / "exercises" / "course.toml"
    data = read_toml(path)
    _only(path, data, {"id", "title", "version", "limits", "lesson"}, "the course")
    entries, limits = data.get("lesson", []), data.get("limits", {})
    if not isinstance(entries, list) or not entries:
        raise CourseError(f"{path}: no [[lesson]] in it")
    if not isinstance(limits, dict):
        raise CourseError(f"{path}: limits is no table; write [limits]")
    lessons = tuple(_lesson(root, path, entry) for entry in entries)
    ids = [lesson.id for lesson in lessons]
    for lesson in lessons:
        if ids.count(lesson.id) > 1:
            raise CourseError(f"{path}: two lessons are called {lesson.id!r}")
        for other in lesson.builds_on:
            if other not in ids:
                raise CourseError(
                    f"{path}: lesson {lesson.id!r} builds on {other!r}, which is no lesson"
                )
    try:
        bounds = Limits.from_dict(limits)
    except ValueError as error:
        raise CourseError(f"{path}: [limits]: {error}") from None
    lessons = _released(path.with_name(RELEASE), lessons)
    return Course(
        root,
        _text(path, data, "id"),
        _text(path, data, "title"),
        _text(path, data, "version"),
        lessons,
        bounds,
    )


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's data; raises CourseError with the file and the line."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(f"{path}: {error}") from None


def _released(path: Path, lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """In a students' bundle those lessons that are in it, which build on no other; else all."""
    if not path.exists():
        return lessons
    data = read_toml(path)
    for lesson, held in data.items():
        if (
            not isinstance(held, dict)
            or type(held.get("checks")) is not int
            or not isinstance(held.get("points"), int | float)
        ):
            raise CourseError(
                f"{path}: {lesson}: checks and points must be numbers; get the bundle again"
            )
    held_back = {
        lesson: HeldBack(held["checks"], float(held["points"])) for lesson, held in data.items()
    }
    return tuple(
        replace(
            lesson,
            held=held_back[lesson.id],
            builds_on=tuple(other for other in lesson.builds_on if other in held_back),
        )
        for lesson in lessons
        if lesson.id in held_back
    )


def _lesson(root: Path, path: Path, entry: Any) -> Lesson:
    if not isinstance(entry, dict):
        raise CourseError(f"{path}: {entry!r} is no lesson; write [[lesson]]")
    _only(
        path,
        entry,
        {"id", "title", "summary", "names", "bonus", "builds_on"},
        f"lesson {entry.get('id')!r}",
    )
    names, bonus, builds_on = (_names(path, entry, key) for key in ("names", "bonus", "builds_on"))
    return Lesson(
        root,
        _text(path, entry, "id"),
        _text(path, entry, "title"),
        _text(path, entry, "summary"),
        names,
        bonus,
        builds_on,
    )


def _only(path: Path, data: dict[str, Any], known: set[str], what: str) -> None:
    if unknown := sorted(set(data) - known):
        raise CourseError(
            f"{path}: {what}: unknown key {unknown[0]!r}; there are: {', '.join(sorted(known))}"
        )


def _names(path: Path, data: dict[str, Any], key: str) -> tuple[str, ...]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise CourseError(f"{path}: {key!r} of lesson {data.get('id')!r} is no list of texts")
    return tuple(value)


def _text(path: Path, data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise CourseError(f"{path}: {key!r} is missing or no text")
    return value


def _existing(path: Path) -> tuple[Path, ...]:
    return (path,) if path.exists() else ()
