"""Results of a text as the lesson ``tiny`` of the small course."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from grader.core.messages import Settings
from grader.core.report import LessonResult
from grader.course.course import Course
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import LessonOutcome, grade_lesson

REST = "def triple(x): return 3 * x\nLIMIT = 20.0\n"
RIGHT = f"def double(x): return 2 * x\n{REST}"


def graded(host: ForkServerClient, course: Course, source: str, **settings: Any) -> LessonOutcome:
    """Grade a text from seed 7."""
    file = LessonFile("tiny", "tiny.py", source)
    how = Settings(**{"seed": 7, "limits": course.limits, **settings})
    return grade_lesson(host, course.lesson("tiny"), file, how)


def without_times(result: LessonResult) -> dict[str, Any]:
    """Return a result as data, without what differs from run to run."""
    data = asdict(result)
    for part in (data, *data["checks"]):
        part["seconds"] = 0
    return data
