"""A gradebook's entry as canonical JSON, without times: the same class gives the same bytes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from grader.classroom.gradebook.records import GradebookEntry


def entry_as_json(entry: GradebookEntry) -> dict[str, Any]:
    """Return the report without times, and under ``gradebook`` everything else that is known."""
    report = entry.report.as_json() if entry.report else {"submission": entry.name}
    return {
        **_timeless(report),
        "gradebook": {
            "students": [asdict(student) for student in entry.students],
            "late": entry.late,
            "handed_in": entry.handed_in,
            "missing": entry.missing,
            "problem": entry.problem,
            "attempt": entry.attempt,
            "score": entry.score if entry.report or entry.adjustments else None,
            "earned": entry.earned if entry.report else None,
            "penalty": entry.penalty,
            "lateness": entry.lateness and entry.lateness.as_json(),
            "adjusted": entry.adjusted_by,
            "adjustments": [asdict(one) for one in entry.adjustments],
            "comments": [asdict(one) for one in entry.comments],
        },
    }


def _timeless(data: Any) -> Any:
    if isinstance(data, dict):
        return {
            key: _timeless(value) if key in ("lessons", "checks") else value
            for key, value in data.items()
            if key != "seconds"
        }
    return [_timeless(item) for item in data] if isinstance(data, list | tuple) else data
