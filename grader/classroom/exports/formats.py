"""The formats there are: one small table."""

from __future__ import annotations

from dataclasses import dataclass

from grader.classroom.exports import canvas, csv_table, gradescope, json_list, junit, moodle
from grader.classroom.exports.records import Export


@dataclass(frozen=True, slots=True)
class Format:
    """A format: what makes it, how its file is called, or (``files``) that it is a file for each
    submission.
    """

    export: Export
    file: str
    files: bool = False


FORMATS = {
    "csv": Format(csv_table.export, "grades.csv"),
    "canvas": Format(canvas.export, "canvas.csv"),
    "moodle": Format(moodle.export, "moodle.csv"),
    "gradescope": Format(gradescope.export, "gradescope", files=True),
    "junit": Format(junit.export, "junit.xml"),
    "json": Format(json_list.export, "export.json"),
}
