"""Measure a right submission of each lesson across the process border, once everything is warm.

    python tests/benchmarks/lessons.py LESSON,LESSON [--rounds N]

A fork server grades submissions that differ, one after another. Prints one JSON object: the median
seconds of each lesson, and of a file that defines nothing as ``nothing``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

from grader.course.course import Lesson
from grader.course.lesson_file import LessonFile
from grader.course.manifest import find_course, load_course
from grader.course.stubs import without_markers
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_lesson

COURSE = load_course(find_course())
SETTINGS = Settings(1, "require", COURSE.limits, prestart=True)


def median_seconds(client: ForkServerClient, lesson: Lesson, source: str, rounds: int) -> float:
    """Grade a source ``rounds`` times, after two that warm up; return the median."""
    times = []
    for number in range(rounds + 2):
        file = LessonFile(lesson.id, lesson.filename, f"{source}\n# submission {number}\n")
        began = time.perf_counter()
        grade_lesson(client, lesson, file, SETTINGS)
        times.append(time.perf_counter() - began)
    return statistics.median(times[2:])


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("lessons")
    options.add_argument("--rounds", type=int, default=10)
    arguments = options.parse_args()
    found = {}
    with ForkServerClient() as client:
        for name in arguments.lessons.split(","):
            lesson = COURSE.lesson(name)
            source = without_markers(lesson.solution.read_text("utf-8"))
            found[name] = median_seconds(client, lesson, source, arguments.rounds)
        sigmoid = COURSE.lesson("custom_sigmoid")
        found["nothing"] = median_seconds(client, sigmoid, "import torch\n", arguments.rounds)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
