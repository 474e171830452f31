"""Say which line of a course's own files raised, before any submission could be judged."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.messages import LessonSpec

BROKEN = "{where}: {raised}. This file is part of the course, so {lesson} can't be graded"


def course_error(error: BaseException, spec: LessonSpec) -> CourseError | None:
    """Return what a person has to mend; None if no file of the lesson is involved."""
    if isinstance(error, CourseError):
        return error
    place = place_in_course(error, spec)
    if place is None:
        return None
    text = str(error.msg if isinstance(error, SyntaxError) else error).strip()
    first = text.splitlines()[0] if text else ""
    name = type(error).__name__
    raised = f"{name}: {first}" if first else name
    where = f"{place[0]}:{place[1]}"
    return CourseError(BROKEN, where=where, raised=raised.rstrip("."), lesson=spec.lesson)


def place_in_course(error: BaseException, spec: LessonSpec) -> tuple[Path, int] | None:
    """Return the innermost file and line of the lesson in an exception's traceback."""
    checks = Path(spec.check_files[0]).parent
    texts = {  # these are executed from the spec's text, under these names
        spec.filename: checks.parents[2] / "solutions" / spec.filename,
        "<scenarios>": checks / "scenarios.py",
    }
    frames = [(one.filename, one.lineno) for one in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((error.filename or "", error.lineno))
    for name, line in reversed(frames):
        path = texts.get(name, Path(name))
        if line and (name in texts or checks in path.parents):
            return path, line
    return None


@contextlib.contextmanager
def course_errors(spec: LessonSpec) -> Iterator[None]:
    """Raise CourseError instead of what a file of the lesson raises during a block."""
    try:
        yield
    except Exception as error:
        found = course_error(error, spec)
        if found is None:
            raise
        raise found from None
