"""The table of export formats."""

from __future__ import annotations

from dataclasses import dataclass

from grader.classroom.exports import canvas, gradescope, moodle, tables
from grader.classroom.exports.common import Export


@dataclass(frozen=True, slots=True)
class Format:
    """An export format: its function, and the name of its output file.

    With ``files``, the output is a folder of that name with a file for each submission.
    """

    export: Export
    file: str
    files: bool = False


FORMATS = {
    "csv": Format(tables.export_csv, "grades.csv"),
    "canvas": Format(canvas.export, "canvas.csv"),
    "moodle": Format(moodle.export, "moodle.csv"),
    "gradescope": Format(gradescope.export, "gradescope", files=True),
    "junit": Format(tables.export_junit, "junit.xml"),
    "json": Format(tables.export_json, "export.json"),
}
