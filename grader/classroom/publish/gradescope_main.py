"""Grade one submission in Gradescope's container, as a program of its own.

The container has 768 MB, half a processor and ten minutes, so workers get less memory than
elsewhere. After a grader fault ``results.json`` has no score. ``grade_folder`` also grades in
Classroom 50's runner: there, too, a folder has settings, engine and course, and nobody watches.
"""

from __future__ import annotations

import secrets
import sys
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.classroom.exports.common import as_bytes
from grader.classroom.exports.gradescope import results
from grader.classroom.gradebook.entry import GradebookEntry
from grader.classroom.publish.engine_files import AUTOGRADER_SECONDS, read_settings
from grader.core.errors import ExitCode, SubmissionError
from grader.core.files import replacing
from grader.core.i18n import engine_catalogue
from grader.core.limits import MIB, Limits
from grader.core.messages import Settings
from grader.core.report import LessonResult
from grader.course.beginnings import untouched_in
from grader.course.course import Course, load_course
from grader.course.files import folder_files
from grader.course.handed_in import read_files
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission
from grader.runtime.text_reader import text_reader

LESSONS_PER_HOST = 5
"""A fork server keeps each lesson's checks, so it is replaced every few lessons."""
START_SECONDS = 60
"""The part of the time that is reserved for starting fork servers."""


def grade_folder(
    source: Path, submission: Path, *, memory_bytes: int | None = None
) -> GradebookEntry:
    """Grade the files in ``submission`` with the engine and course of ``source``.

    ``memory_bytes`` is the most that a worker gets. A submission that can't be read becomes an
    entry with a problem. Grader faults are printed, and an entry with any has no score.
    """
    settings = read_settings(source)
    with ForkServerClient() as host:
        course = load_course(source / "course")
        lessons = [course.lesson(name) for name in settings.lessons]
        try:
            files = read_files(
                folder_files(submission),
                settings.lessons,
                course=[lesson.id for lesson in course.lessons],
                untouched=untouched_in(course.lessons),
                accept_near_names=settings.accept_near_names,
                decode=text_reader().decode,
            )
        except SubmissionError as error:
            reason = engine_catalogue(settings.lang)(error.template, **error.facts)
            return GradebookEntry("submission", (), problem=reason)
        limits = limits_for(course, len(lessons), memory_bytes)
        # At random, since students see each result at once and submit again.
        terms = Settings(secrets.randbits(32), "auto", limits, lang=settings.lang)
        done: list[LessonResult] = []

        def replace_host(result: LessonResult) -> None:
            done.append(result)
            if len(done) % LESSONS_PER_HOST == 0:
                host.close()  # the next lesson starts a new one

        report = grade_submission(
            host, course, lessons, files, terms, name="submission", progress=replace_host
        )
    for check in report.grader_faults:
        print(f"{check.id}\n{check.note or check.message}")
    return GradebookEntry("submission", (), report)


def limits_for(course: Course, lessons: int, memory_bytes: int | None = None) -> Limits:
    """Return the course's limits, reduced to what the machine has."""
    share = (AUTOGRADER_SECONDS - START_SECONDS) / max(lessons, 1)
    limits = course.limits
    return replace(
        limits,
        memory_bytes=min(limits.memory_bytes, memory_bytes or limits.memory_bytes),
        lesson_seconds=min(limits.lesson_seconds, share),
        call_seconds=min(limits.call_seconds, share),
    )


MEMORY_BYTES = 256 * MIB
"""A worker's memory, beyond what it shares with the fork server: fork server and judges take up to
350 MB of the container's 768.
"""
OWN_FAULT = (
    "The grader itself failed, so nothing was graded. This is not your score. Your instructor can"
    " run the autograder again."
)


def main() -> None:
    """Grade ``ROOT/submission`` and write ``ROOT/results/results.json``."""
    root = Path(sys.argv[1])
    target = root / "results" / "results.json"
    try:
        data = grade(root)
    except Exception:
        traceback.print_exc()  # into the log that instructors see
        write(target, {"output": OWN_FAULT, "stdout_visibility": "hidden"})
        sys.exit(ExitCode.ENGINE_FAULT)
    write(target, data)


def grade(root: Path) -> dict[str, Any]:
    source = root / "source"
    entry = grade_folder(source, root / "submission", memory_bytes=MEMORY_BYTES)
    return results(entry.public(), read_settings(source).hidden_checks or "visible")


def write(target: Path, data: Mapping[str, object]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as file:
        file.write(as_bytes(data))


if __name__ == "__main__":
    main()
