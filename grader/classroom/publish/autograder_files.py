"""The files of an autograder for another system: settings, the engine, and the course."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from grader.classroom.publish.engine_files import engine_files
from grader.core.errors import UsageError
from grader.course.course import Course, Lesson

SETTINGS = "autograder.json"
AUTOGRADER_SECONDS = 570
"""How long one submission may take. Gradescope ends a container after ten minutes by default;
stopping a little earlier leaves time for a message. Classroom 50 leaves as much time, besides
installing.
"""


def autograder_files(
    course: Course, lessons: Sequence[Lesson], settings: Mapping[str, object]
) -> Iterator[tuple[str, bytes]]:
    """Yield ``(path, bytes)`` of each file; ``settings`` are those of the other system."""
    yield SETTINGS, as_json(settings)
    yield from ((f"engine/{path}", text.encode()) for path, text in engine_files())
    for path in course_files(course, lessons):
        yield f"course/{path.relative_to(course.root).as_posix()}", path.read_bytes()


def as_json(data: Mapping[str, object]) -> bytes:
    return (json.dumps(data, indent=1) + "\n").encode()


def course_files(course: Course, lessons: Iterable[Lesson]) -> Iterator[Path]:
    """Yield the files that judging needs: no READMEs, and no wrong or accepted answers."""
    yield course.root / "exercises" / "course.toml"
    for lesson in lessons:
        yield lesson.stub
        yield lesson.solution
        yield from (
            path
            for path in (lesson.folder / "hints.toml", *sorted(lesson.folder.glob("*.po")))
            if path.exists()
        )
        yield from sorted([*lesson.checks.glob("*.py"), *lesson.checks.glob("diagnosis.toml")])


def refuse_bundle(course: Course, lessons: Iterable[Lesson]) -> None:
    """Raise UsageError if the course is a students' bundle, which has no solutions."""
    if held := [lesson.id for lesson in lessons if lesson.held]:
        raise UsageError(
            f"{course.root} is a folder that grade release made: it has no solution of {held[0]}."
            " Use the whole course"
        )
