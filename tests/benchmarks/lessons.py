"""Measure a right submission of each lesson across the process border, once everything is warm.

    python tests/benchmarks/lessons.py LESSON,LESSON [--rounds N]

A fork server grades submissions that differ, one after another. Prints one JSON object: the median
seconds of each lesson, of a file that defines nothing as ``nothing``, and of a right custom_sigmoid
with and without what names mistakes as ``named`` and ``nameless``. These two are measured in turn.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from grader.core.messages import Settings
from grader.course.course import Lesson, find_course, load_course
from grader.course.stubs import without_markers
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson, task_for

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


def named_and_nameless(
    client: ForkServerClient, lesson: Lesson, rounds: int
) -> tuple[float, float]:
    """Return the median seconds of a right submission, with and without rules and catalogues."""
    source = without_markers(lesson.solution.read_text("utf-8"))
    times: tuple[list[float], list[float]] = ([], [])
    with tempfile.TemporaryDirectory() as folder:
        bare = without_names(lesson, Path(folder))
        for number in range(rounds + 2):
            file = LessonFile(lesson.id, lesson.filename, f"{source}\n# submission {number}\n")
            for kept, one in zip(times, (lesson, bare), strict=True):
                began = time.perf_counter()
                client.judge(one, task_for(file, SETTINGS))
                kept.append(time.perf_counter() - began)
    named, nameless = (statistics.median(kept[2:]) for kept in times)
    return named, nameless


def without_names(lesson: Lesson, root: Path) -> Lesson:
    """Copy a lesson, without its rules and catalogues, into another course."""
    bare = replace(lesson, root=root)
    shutil.copytree(lesson.folder, bare.folder)
    shutil.copytree(lesson.checks, bare.checks, ignore=shutil.ignore_patterns("diagnosis.*"))
    bare.solution.parent.mkdir()
    shutil.copy(lesson.solution, bare.solution)
    shutil.copy(lesson.root / "exercises" / "course.toml", root / "exercises")
    return bare


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
        pair = named_and_nameless(client, sigmoid, 3 * arguments.rounds)
        found["named"], found["nameless"] = pair
    print(json.dumps(found))


if __name__ == "__main__":
    main()
