"""The program in Gradescope's container: 768 MB, half a processor, ten minutes.

Workers get less memory than at home, lessons share the time, and the fork server, which keeps each
lesson's checks, is replaced every few lessons. A fault of ours gives a ``results.json`` without a
score.
"""

from __future__ import annotations

import json
import secrets
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.classroom.exports.gradescope import as_bytes, results
from grader.classroom.gradebook.records import GradebookEntry
from grader.classroom.publish.gradescope import SECONDS, SETTINGS
from grader.core.errors import ExitCode, SubmissionError
from grader.core.limits import MIB, Limits
from grader.core.report import LessonResult
from grader.course.course import Course
from grader.course.files import folder_leaves
from grader.course.manifest import load_course
from grader.course.submission import read_leaves
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_submission

MEMORY_BYTES = 256 * MIB
"""For a worker, beyond what it shares with the host: host and judges take up to 350 MB of the
container's 768.
"""
LESSONS_PER_HOST = 5
START_SECONDS = 60
"""Of the container's time, what is kept for starting hosts."""
OWN_FAULT = (
    "The grader itself failed. This is not your score: nothing was judged. Your instructor can run"
    " it again."
)


def main() -> None:
    """Grade ``ROOT/submission`` and write ``ROOT/results/results.json``."""
    root = Path(sys.argv[1])
    target = root / "results" / "results.json"
    try:
        data = grade(root)
    except Exception:
        traceback.print_exc()  # to the log that instructors see
        write(target, {"output": OWN_FAULT, "stdout_visibility": "hidden"})
        sys.exit(ExitCode.ENGINE_FAULT)
    write(target, data)


def grade(root: Path) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads((root / "source" / SETTINGS).read_text("utf-8"))
    with ForkServerClient() as host:
        course = load_course(root / "source" / "course")
        lessons = [course.lesson(name) for name in settings["lessons"]]
        try:
            files = read_leaves(
                folder_leaves(root / "submission"),
                settings["lessons"],
                accept_near_names=settings["accept_near_names"],
            )
        except SubmissionError as error:
            return results(GradebookEntry("submission", (), problem=str(error)))
        terms = Settings(
            secrets.randbits(32), "auto", limits_for(course, len(lessons)), lang=settings["lang"]
        )
        done: list[LessonResult] = []

        def replace_host(result: LessonResult) -> None:
            done.append(result)
            if len(done) % LESSONS_PER_HOST == 0:
                host.close()  # the next lesson starts another

        report = grade_submission(
            host, course, lessons, files, terms, name="submission", progress=replace_host
        )
    for check in report.grader_faults:
        print(f"{check.id}\n{check.note}")
    return results(GradebookEntry("submission", (), report), settings["hidden_checks"])


def limits_for(course: Course, lessons: int) -> Limits:
    """The course's limits, cut to what the container has."""
    share = (SECONDS - START_SECONDS) / max(lessons, 1)
    limits = course.limits
    return replace(
        limits,
        memory_bytes=min(limits.memory_bytes, MEMORY_BYTES),
        lesson_seconds=min(limits.lesson_seconds, share),
        call_seconds=min(limits.call_seconds, share),
    )


def write(target: Path, data: dict[str, Any]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(".results.part")
    part.write_bytes(as_bytes(data))
    part.replace(target)


if __name__ == "__main__":
    main()
