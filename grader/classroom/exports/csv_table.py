"""Write the format ``csv``: a row for each submission, a column for each lesson and each check."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence

from grader.classroom.exports.csv_escape import row
from grader.classroom.exports.records import (
    ExportNote,
    ExportRequest,
    Piece,
    adjustment_text,
    mark_of,
    remarks,
    state,
)
from grader.classroom.gradebook.records import GradebookEntry, LessonColumn
from grader.core.report import Outcome

FIXED = (
    "submission",
    "students",
    "ids",
    "section",
    "late",
    "handed in",
    "earned",
    "penalty",
    "adjusted",
    "score",
    "max",
    "adjustments",
    "bonus",
    "state",
    "remarks",
)


def export_csv(
    entries: Iterable[GradebookEntry], columns: Sequence[LessonColumn], request: ExportRequest
) -> Iterator[Piece | ExportNote]:
    """Yield the table. A score that is not known is an empty cell; ``state`` says why."""
    checks = [check.id for column in columns for check in column.checks]
    yield Piece(codecs.BOM_UTF8)  # without a byte order mark, Excel assumes another encoding
    yield Piece(row([*FIXED, *(column.id for column in columns), *checks]))
    for entry in entries:
        mark = mark_of(entry, columns, request)
        points = points_of_checks(entry)
        yield Piece(
            row(
                [
                    entry.name,
                    "; ".join(student.name for student in entry.students),
                    "; ".join(
                        f"{kind}={value}"
                        for student in entry.students
                        for kind, value in student.ids.items()
                    ),
                    "; ".join(entry.sections),
                    "late" if entry.late else "",
                    entry.handed_in,
                    entry.earned if entry.report else None,
                    entry.penalty if entry.report else None,
                    entry.adjusted_by,
                    mark.total,
                    request.scale or sum(column.max_score for column in columns),
                    "; ".join(map(adjustment_text, entry.adjustments)),
                    entry.report.bonus if entry.report else None,
                    state(entry),
                    "; ".join(remarks(entry)),
                    *(mark.lessons[column.id] for column in columns),
                    *(points.get(check) for check in checks),
                ]
            )
        )


def points_of_checks(entry: GradebookEntry) -> dict[str, float]:
    lessons = entry.report.lessons if entry.report else ()
    return {
        check.id: check.points
        for lesson in lessons
        for check in lesson.checks
        if check.outcome is not Outcome.GRADER_ERROR
    }
