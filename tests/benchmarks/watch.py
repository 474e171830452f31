"""Measure the time from a save to its verdict in ``grade watch``, with a warm host and the sandbox.

    python tests/benchmarks/watch.py LESSON,LESSON [--rounds N]

A save is what editors do: a new file replaces the old one. The time ends when the verdict would be
drawn. The script prints one JSON object: the median seconds of each lesson.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from pathlib import Path
from queue import SimpleQueue

from grader.cli.watch import Watcher, folder_saves
from grader.core.messages import Settings
from grader.core.report import LessonResult
from grader.course.course import Course, Lesson, find_course, load_course
from grader.course.stubs import without_markers
from grader.course.submission import read_submission
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

BETWEEN_SAVES = 0.6
"""Longer than the time in which the loop ignores an event as an echo of the same save."""


def times_of(course: Course, lesson: Lesson, host: ForkServerClient, rounds: int) -> list[float]:
    """Return the seconds from each save to its verdict; two additional saves warm up."""
    text = without_markers(lesson.solution.read_text("utf-8"))
    verdicts: SimpleQueue[tuple[LessonResult, float]] = SimpleQueue()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / lesson.filename
        file.write_text(text, "utf-8")
        watcher = Watcher(
            saves=folder_saves([folder], {lesson.filename: lesson.id}, poll=False),
            read=lambda wanted: read_submission(folder, [wanted]).get(wanted),
            grade=lambda wanted, found: grade_submission(
                host,
                course,
                [lesson],
                {wanted: found} if found else {},
                Settings(1, "require", course.limits, prestart=True, planned=True),
                name="me",
            ),
            end=lambda: None,
            shown=lambda report, _: verdicts.put((report.lessons[0], time.perf_counter())),
        )
        watcher.again(lesson.id)
        loop = threading.Thread(target=watcher.run, daemon=True)
        loop.start()
        verdicts.get()
        times = []
        for number in range(rounds + 2):
            time.sleep(BETWEEN_SAVES)
            fresh = folder / "fresh"
            fresh.write_text(f"{text}\n# {number}\n", "utf-8")
            began = time.perf_counter()
            fresh.replace(file)
            result, at = verdicts.get(timeout=30)
            assert result.status.value == "passed", result
            times.append(at - began)
        watcher.stop()
        loop.join()
    return times[2:]


def main() -> None:
    """Measure, and print the medians."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("lessons")
    options.add_argument("--rounds", type=int, default=11)
    arguments = options.parse_args()
    course = load_course(find_course())
    with ForkServerClient() as host:
        lessons = [course.lesson(name) for name in arguments.lessons.split(",")]
        print(
            json.dumps(
                {
                    lesson.id: statistics.median(times_of(course, lesson, host, arguments.rounds))
                    for lesson in lessons
                }
            )
        )


if __name__ == "__main__":
    main()
