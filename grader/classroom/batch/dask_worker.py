"""Grade one submission on a worker of a cluster and render its page. Task and answer are JSON text.

The worker loads the course that is installed there, and refuses if course, engine or torch differ
from the client's. It keeps a warm fork server for each of its threads.
"""

from __future__ import annotations

import base64
import functools
import json
import socket
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.classroom.batch.outputs import render
from grader.classroom.batch.records import Graded, PageOptions
from grader.core.errors import UsageError
from grader.core.files import engine_hash, torch_version
from grader.core.report import Record, Report
from grader.course.course import Course, find_course, load_course
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings
from grader.runtime.repairs import grade_and_repair

REMEDY = "Install on all workers what the client has, and start them again"
_warm = threading.local()


@dataclass(frozen=True, slots=True)
class CourseReference(Record):
    """A course, by its hash; with a path unless it is the one installed with the engine."""

    path: str | None
    hash: str


@dataclass(frozen=True, slots=True)
class ClusterTask(Record):
    """Everything that a worker needs for one submission.

    ``run`` identifies a batch; for a new one the worker reads the course again. Without ``page``,
    it renders no page.
    """

    run: str
    engine_hash: str
    torch_version: str
    course: CourseReference
    lessons: tuple[str, ...]
    files: tuple[LessonFile, ...]
    settings: Settings
    name: str
    page: PageOptions | None = None


def task_for(
    run: str,
    course: Course,
    lessons: Sequence[str],
    files: dict[str, LessonFile],
    settings: Settings,
    *,
    name: str,
    page: PageOptions | None,
) -> ClusterTask:
    """Return a task that only a worker with this engine and torch accepts."""
    path = course.root.resolve()
    return ClusterTask(
        run=run,
        engine_hash=engine_hash(),
        torch_version=torch_version(),
        course=CourseReference(None if find_course() == path else str(path), course.hash),
        lessons=tuple(lessons),
        files=tuple(files.values()),
        settings=settings,
        name=name,
        page=page,
    )


def answer(text: str) -> str:
    """Grade a ``ClusterTask`` in JSON and return JSON.

    The keys are ``report`` and ``page``, or ``refused``, or ``fault``.
    """
    question = json.loads(text)
    answered: dict[str, Any]
    try:
        answered = _grade(question)
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
    task = ClusterTask.from_json(question)
    course = same_course(task.course.path, task.course.hash, task.run)
    files = {file.lesson: file for file in task.files}
    lessons = [course.lesson(name) for name in task.lessons]
    host = warm_host()
    report = grade_and_repair(host, course, lessons, files, task.settings, name=task.name)
    if report.grader_faults:
        host.close()  # the next task, and another try of this one, gets a new fork server
    page = None if task.page is None else packed(render(report, task.page))
    return {"report": report.as_json(), "page": page}


def packed(page: bytes) -> str:
    return base64.b64encode(zlib.compress(page, 1)).decode("ascii")


def graded_in(answered: dict[str, Any]) -> Graded:
    """Return the report and the page in a worker's answer."""
    page = answered["page"]
    return Graded(
        Report.from_json(answered["report"]),
        None if page is None else zlib.decompress(base64.b64decode(page)),
    )


@functools.lru_cache(maxsize=4)
def same_course(path: str | None, wanted: str, run: str) -> Course:
    """Return the course installed here, read once a run.

    Raise UsageError if its hash is not ``wanted``.
    """
    course = load_course(find_course(Path(path) if path else None))
    if course.hash != wanted:
        raise UsageError(
            f"the course in {course.root} has the hash {course.hash}, the client's has {wanted}."
            f" {REMEDY}"
        )
    return course


def warm_host() -> ForkServerClient:
    """Return this thread's fork server, starting it if needed; it ends with this process."""
    if not hasattr(_warm, "host"):
        _warm.host = ForkServerClient()
    host: ForkServerClient = _warm.host
    return host
