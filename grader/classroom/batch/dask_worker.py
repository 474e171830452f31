"""One submission graded by a worker of a cluster: what is asked comes as text, what is answered
goes back as text, JSON both.

This is all of ours that a Dask worker runs. It loads the course that is installed there, and
refuses where that, the engine or torch differs from the client's; it keeps a warm host for each of
its threads.
"""

from __future__ import annotations

import functools
import json
import socket
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.core.engine import engine_hash, torch_version
from grader.core.errors import UsageError
from grader.core.limits import Limits
from grader.course.course import Course
from grader.course.lesson_file import LessonFile
from grader.course.manifest import find_course, load_course
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_submission

REMEDY = "Install on all workers what the client has, and start them again"
_warm = threading.local()


def asked(
    run: str,
    course: Course,
    lessons: Sequence[str],
    files: dict[str, LessonFile],
    settings: Settings,
    *,
    name: str,
) -> dict[str, Any]:
    """What a worker needs to know. ``run`` is one batch's: for a new one the course is looked at
    anew.

    The course goes as its hash; as a path too where it is not the one that is installed beside the
    engine.
    """
    installed = find_course() == course.root.resolve()
    return {
        "run": run,
        "engine_hash": engine_hash(),
        "torch_version": torch_version(),
        "course": {"path": None if installed else str(course.root.resolve()), "hash": course.hash},
        "lessons": list(lessons),
        "files": [asdict(file) for file in files.values()],
        "settings": asdict(settings),
        "name": name,
    }


def answer(text: str) -> str:
    """The answer to ``asked``, both as JSON: ``report``; or ``refused``, which is true of every
    submission; or ``fault``, our own.
    """
    question = json.loads(text)
    answered: dict[str, Any]
    try:
        answered = {"report": _grade(question)}
    except UsageError as error:
        answered = {"refused": f"{socket.gethostname()}: {error}"}
    except Exception as error:  # as data: an exception would be pickled on its way back
        answered = {"fault": f"{socket.gethostname()}: {error!r}"}
    return json.dumps(answered)


def _grade(question: dict[str, Any]) -> dict[str, Any]:
    for key, here in (("engine_hash", engine_hash()), ("torch_version", torch_version())):
        if here != (there := question.get(key, "an older one")):
            what = key.replace("_", " ")
            raise UsageError(f"its {what} is {here}, the client has {there}. {REMEDY}")
    course = same_course(question["course"]["path"], question["course"]["hash"], question["run"])
    settings = question["settings"]
    settings |= {
        "limits": Limits.from_dict(settings["limits"]),
        "without": tuple(settings["without"]),
    }
    files = {file["lesson"]: LessonFile.from_data(file) for file in question["files"]}
    lessons = [course.lesson(name) for name in question["lessons"]]
    host = warm_host()
    report = grade_submission(
        host, course, lessons, files, Settings(**settings), name=question["name"]
    )
    if report.grader_faults:
        host.close()  # whoever comes next, and the same submission is tried again, gets a new one
    return report.as_json()


@functools.lru_cache(maxsize=4)
def same_course(path: str | None, wanted: str, run: str) -> Course:
    """The course that is here; raises UsageError where it is another. It is read once for each
    run.
    """
    course = load_course(find_course(Path(path) if path else None))
    if course.hash != wanted:
        raise UsageError(
            f"the course in {course.root} has the hash {course.hash}, the client's has {wanted}."
            f" {REMEDY}"
        )
    return course


def warm_host() -> ForkServerClient:
    """This thread's host. It ends with the process, whose end it sees."""
    if not hasattr(_warm, "host"):
        _warm.host = ForkServerClient()
    host: ForkServerClient = _warm.host
    return host
