"""The table of export formats, by name."""

from __future__ import annotations

from grader.classroom.exports import canvas, gradescope, moodle, tables

FORMATS = {
    one.name: one
    for one in (
        tables.CSV,
        canvas.FORMAT,
        moodle.FORMAT,
        gradescope.FORMAT,
        tables.JUNIT,
        tables.JSON,
    )
}
