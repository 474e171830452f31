"""Exercism: a ``results.json`` of version 3 for each submission.

Format: https://exercism.org/docs/building/tooling/test-runners/interface. A task is a lesson, by
its number. It has no place for points.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from grader.classroom.exports.check_text import explanation
from grader.classroom.exports.records import ExportNote, ExportRequest, Piece, remarks
from grader.classroom.gradebook.records import GradebookEntry, LessonColumn
from grader.classroom.redact import withheld
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.core.sanitize import clean

VERSION = 3
MAX_OUTPUT = 500
MAX_MESSAGE = 65_535 // 4
"""The format caps a message at 65,535 bytes' worth of characters; none takes more than four."""
CUT = "… Output was cut."
BROKEN = (Outcome.ERROR, Outcome.TIMEOUT, Outcome.CRASHED, Outcome.GRADER_ERROR)


def export(
    entries: Iterable[GradebookEntry], columns: Sequence[LessonColumn], request: ExportRequest
) -> Iterator[Piece | ExportNote]:
    for entry in entries:
        if entry.missing:
            yield ExportNote(f"{entry.label}: nothing was handed in, so there is no results.json")
            continue
        text = json.dumps(results(entry), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        yield Piece(text.encode("utf-8", "backslashreplace"), f"{entry.name}/results.json")
        yield from (ExportNote(f"{entry.label}: {remark}") for remark in remarks(entry))


def results(entry: GradebookEntry) -> dict[str, Any]:
    """An entry as Exercism reads it: ``error`` where nothing could be judged, or something could
    not by our own fault.
    """
    lessons = withheld(entry.report).lessons if entry.report else ()
    judged = [
        lesson
        for lesson in lessons
        if lesson.status not in (LessonStatus.MISSING, LessonStatus.INVALID)
    ]
    if entry.grader_faults or not judged:
        reasons = [
            *remarks(entry),
            *(f"{lesson.id}: {lesson.message}" for lesson in lessons if lesson.message),
        ]
        return {
            "version": VERSION,
            "status": "error",
            "message": clean("\n".join(reasons) or "nothing to judge", MAX_MESSAGE),
        }
    tests = [test for number, lesson in enumerate(lessons, 1) for test in tests_of(lesson, number)]
    right = all(test["status"] == "pass" for test in tests)
    return {
        "version": VERSION,
        "status": "pass" if right else "fail",
        "message": None,
        "tests": tests,
    }


def tests_of(lesson: LessonResult, number: int) -> Iterator[dict[str, Any]]:
    """A lesson's checks; a lesson that was not handed in is one test."""
    if not lesson.checks:
        message = clean(lesson.message or "", MAX_MESSAGE)
        yield {
            "name": lesson.id,
            "status": "fail",
            "message": message,
            "output": None,
            "task_id": number,
        }
    for check in lesson.checks:
        yield {
            "name": clean(f"{lesson.id}: {check.title}"),
            "status": status(check),
            "message": explanation(check, lesson)[:MAX_MESSAGE] or None,
            "output": printed(check) or None,
            "task_id": number,
        }


def status(check: CheckResult) -> str:
    """``pass``, ``fail``, or ``error`` where the code raised or died."""
    return (
        "pass"
        if check.outcome is Outcome.PASSED
        else "error"
        if check.outcome in BROKEN
        else "fail"
    )


def printed(check: CheckResult) -> str:
    text = clean(check.output, MAX_OUTPUT * 2)
    return text if len(text) <= MAX_OUTPUT else text[: MAX_OUTPUT - len(CUT)] + CUT
