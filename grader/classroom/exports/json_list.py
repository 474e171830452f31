"""Write the format ``json``: a list of all submissions; the schema is ``export.schema.json``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from grader.classroom.exports.records import (
    ExportNote,
    ExportRequest,
    Piece,
    mark_of,
    remarks,
    state,
)
from grader.classroom.gradebook.records import GradebookEntry, LessonColumn


def export_json(
    entries: Iterable[GradebookEntry], columns: Sequence[LessonColumn], request: ExportRequest
) -> Iterator[Piece | ExportNote]:
    yield Piece(b"[")
    between = "\n"
    for entry in entries:
        text = json.dumps(as_data(entry, columns, request), ensure_ascii=False, allow_nan=False)
        yield Piece((between + text).encode("utf-8", "backslashreplace"))
        between = ",\n"
    yield Piece(b"\n]\n")


def as_data(
    entry: GradebookEntry, columns: Sequence[LessonColumn], request: ExportRequest
) -> dict[str, Any]:
    """Return plain data: ``score`` and ``lessons`` include adjustments, ``report`` does not."""
    mark = mark_of(entry, columns, request)
    return {
        "submission": entry.name,
        "students": [
            {"name": one.name, "ids": one.ids, "section": one.details.get("section")}
            for one in entry.students
        ],
        "state": state(entry),
        "late": entry.late,
        "attempt": entry.attempt,
        "handed_in": entry.handed_in,
        "earned": entry.earned if entry.report else None,
        "penalty": entry.penalty,
        "score": mark.total,
        "max_score": request.scale or sum(column.max_score for column in columns),
        "lessons": mark.lessons,
        "adjusted": entry.adjusted_by,
        "adjustments": [asdict(adjustment) for adjustment in entry.adjustments],
        "comments": [
            {
                "lesson": one.lesson,
                "line": one.line,
                "text": one.text,
                "author": one.author,
                "made_at": one.made_at,
            }
            for one in entry.comments
        ],
        "remarks": list(remarks(entry)),
        "report": entry.report.as_json() if entry.report else None,
    }
