"""Read course.toml: the course's location, its lessons, and its problems."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.core.errors import CourseError
from grader.core.files import CHECKOUT, PACKAGED_COURSE, read_toml
from grader.core.limits import Limits
from grader.course.course import BUNDLED, RELEASE, Course, HeldBack, Lesson

NO_COURSE = (
    "{place} holds no course: there is no exercises/course.toml. Give a course's folder with"
    " --course"
)


def find_course(explicit: Path | None = None, *, here: Path | None = None) -> Path:
    """Return the course's root: ``explicit``, else the checkout's, else the wheel's.

    The engine of a students' bundle contains no course and uses the bundle's, around ``here``. This
    comes last, so that grading somebody else's folder does not run checks from there.
    """
    for root in (explicit,) if explicit else (CHECKOUT, PACKAGED_COURSE):
        if root and (root / "exercises" / "course.toml").is_file():
            return root.resolve()
    for folder in () if explicit or here is None else (here.resolve(), *here.resolve().parents):
        if (folder / BUNDLED / "exercises" / RELEASE).is_file():
            return folder / BUNDLED
    raise CourseError(NO_COURSE, place=str(explicit or CHECKOUT))


def load_course(root: Path) -> Course:
    """Read ``course.toml``; raise CourseError that names the file and the entry."""
    path = root / "exercises" / "course.toml"
    data = read_toml(path)
    _only(path, data, {"id", "title", "version", "limits", "lesson"}, "the course")
    entries, limits = data.get("lesson", []), data.get("limits", {})
    if not isinstance(entries, list) or not entries:
        raise CourseError(f"{path}: no [[lesson]] in it")
    if not isinstance(limits, dict):
        raise CourseError(f"{path}: limits is not a table; write [limits]")
    lessons = tuple(_lesson(root, path, entry) for entry in entries)
    ids = [lesson.id for lesson in lessons]
    for lesson in lessons:
        if ids.count(lesson.id) > 1:
            raise CourseError(f"{path}: two lessons are called {lesson.id!r}")
        for other in lesson.builds_on:
            if other not in ids:
                raise CourseError(
                    f"{path}: lesson {lesson.id!r} builds on {other!r}, which is not a lesson"
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


def _released(path: Path, lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """In a students' bundle, return the lessons it contains, without dependencies on others; else
    all.
    """
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
        raise CourseError(f"{path}: {entry!r} is not a lesson; write [[lesson]]")
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
        raise CourseError(f"{path}: {key!r} of lesson {data.get('id')!r} is not a list of texts")
    return tuple(value)


def _text(path: Path, data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise CourseError(f"{path}: {key!r} is missing or no text")
    return value
