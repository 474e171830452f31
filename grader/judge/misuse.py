"""The error for a check that uses the engine in a wrong way, with its place in the course."""

from __future__ import annotations

import sys
import types

from grader.core.errors import CourseError
from grader.core.files import PACKAGE


def misuse(sentence: str) -> CourseError:
    """Return the error for a wrong use of the engine, with the place in the course's file."""
    frame = frame_of_course()
    return CourseError(f"{frame.f_code.co_filename}:{frame.f_lineno}: {sentence}")


def frame_of_course() -> types.FrameType:
    """Return the innermost frame that is not the engine's: that of a course's file."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(str(PACKAGE)):
        frame = frame.f_back
    return frame
