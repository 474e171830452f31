"""Write a ``results.json`` for each submission in Gradescope.

Format: https://gradescope-autograders.readthedocs.io/en/latest/specs/. Students see no total while
a test is hidden, so hidden checks are visible here without their inputs, unless ``hidden_checks``
says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from grader.classroom.exports.common import (
    ExportNote,
    ExportRequest,
    Format,
    Piece,
    as_bytes,
    explanation,
    for_students,
    remarks,
)
from grader.classroom.gradebook.entry import LessonColumn, PublicEntry, total_points
from grader.classroom.public_report import PublicReport
from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, Outcome
from grader.core.text import clean, counted
from grader.render.page import host_limitations


@for_students
def export(
    entries: Iterable[PublicEntry], columns: Sequence[LessonColumn], request: ExportRequest
) -> Iterator[Piece | ExportNote]:
    if request.hidden_checks != "visible":
        yield ExportNote(
            f"with --hidden-checks {request.hidden_checks}, students see no total while a check is"
            " hidden"
        )
    for entry in entries:
        if entry.missing:
            yield ExportNote("nothing was handed in, so there is no results.json", entry.label)
            continue
        data = results(entry, request.hidden_checks)
        yield Piece(as_bytes(data), f"{entry.name}/results.json")


FORMAT = Format("gradescope", export, "gradescope", files=True)


def results(entry: PublicEntry, hidden_checks: str = "visible") -> dict[str, Any]:
    """Return an entry as Gradescope reads it.

    If anything has no verdict, leave out the score: Gradescope then shows that the autograder
    failed. A sum of the rest would count the missing part as zero.
    """
    score = total_points(entry)
    data: dict[str, Any] = {
        "output": clean("\n".join(heading(entry))),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
    }
    if score is not None:
        data["score"] = score
    if entry.report is not None:
        data["execution_time"] = round(entry.report.seconds)
        data["extra_data"] = extra(entry.report)
        data["tests"] = [
            test
            for number, lesson in enumerate(entry.lessons, 1)
            for test in tests_of(lesson, number, hidden_checks, scored=score is not None)
        ]
    return data


def heading(entry: PublicEntry) -> Iterator[str]:
    yield from remarks(entry)
    if entry.report is not None:
        report = entry.report
        earned = f"{report.score:g} of {report.max_score:g} points"
        yield earned + (f", and {counted(report.bonus, 'bonus point')}" if report.bonus else "")
        sandbox = report.sandbox
        if sandbox.guarantees or sandbox.missing:  # else no code ran
            limits = ", ".join(sandbox.guarantees) or "nothing"
            yield f"Your code ran in a sandbox, which limits its use of: {limits}."
            yield from host_limitations(sandbox, Catalogue())


def extra(report: PublicReport) -> dict[str, object]:
    """Return what only instructors see: how to grade this again, the sandbox, the flags."""
    return {
        "seed": report.seed,
        "course": asdict(report.course),
        "grader_version": report.grader_version,
        "engine_hash": report.engine_hash,
        "torch_version": report.torch_version,
        "sandbox": {
            "mode": report.sandbox.mode,
            "guarantees": list(report.sandbox.guarantees),
            "missing": list(report.sandbox.missing),
        },
        "flags": list(report.flags),
    }


def tests_of(
    lesson: LessonResult, number: int, hidden_checks: str, *, scored: bool
) -> Iterator[dict[str, object]]:
    """Yield a test for each check; a lesson that was not handed in is one test."""
    if not lesson.checks:
        points = {"score": lesson.score, "max_score": lesson.max_score} if scored else {}
        yield {
            **points,
            "status": "failed",
            "name": lesson.id,
            "number": f"{number}",
            "output": clean(lesson.message or ""),
            "visibility": "visible",
        }
    for place, check in enumerate(lesson.checks, 1):
        verdict: dict[str, object] = {}
        if scored and not check.bonus:
            verdict = {"score": check.points, "max_score": check.max_points}
        if check.outcome is not Outcome.GRADER_ERROR:
            verdict["status"] = "passed" if check.outcome is Outcome.PASSED else "failed"
        yield {
            **verdict,
            "name": name_of(check, lesson, scored=scored),
            "number": f"{number}.{place}",
            "output": explanation(check, lesson),
            "tags": [tag for tag in (check.function, check.diagnosis) if tag],
            "visibility": hidden_checks if check.hidden else "visible",
        }


def name_of(check: CheckResult, lesson: LessonResult, *, scored: bool) -> str:
    """Return ``custom_sigmoid: forward is right``, with points that Gradescope does not show."""
    points = ""
    if check.bonus or not scored:
        kind = "bonus, " if check.bonus else ""
        points = f" ({kind}{check.points:g} of {check.max_points:g})"
    return clean(f"{lesson.id}: {check.title}{points}")
