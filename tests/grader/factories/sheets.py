"""Fill a gradebook into sheets of other systems: Canvas's gradebook, Moodle's worksheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from factories.gradebook import COLUMNS, ENTRIES
from grader.classroom.exports.common import ExportRequest, Piece
from grader.classroom.gradebook.entry import GradebookEntry, LessonColumn
from grader.classroom.imports.entries import StudentIdentity
from grader.cli.exports import FORMATS

MOODLE = (
    "\ufeffIdentifier,Full name,Email address,Status,"
    "Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    '"Participant 11","Alice Doe",alice@school.example,"Submitted for grading - ",'
    ',20.00,Yes,"Monday, 2 March 2026, 10:05 AM",-,\n'
    '"Participant 12","Bob =1+1",b@school.example,"Submitted for grading - ",'
    '3.00,20.00,Yes,"Monday, 2 March 2026, 10:06 AM",-,"<p>Fine.</p>"\n'
    '"Participant 13",Eve,eve@school.example,"No submission - ",'
    ",20.00,Yes,-,-,\n"
)
CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,"
    'Slopes (71),"Chains (72)",Total (73),"Essay, long (74)",Final Score\r\n'
    "    Points Possible,,,,,10,10.00,20,5,(read only)\r\n"
    '"Doe, Alice",101,,,"Sec ""A""",,,,3.0,61.20\r\n'
    "Someone,102,s-2,bob,A,EX,1.0,2.0,,\r\n"
    "Eve,103,,,A,5.0,5.0,5.0,,\r\n"
    "Dan,104,,,A,,,,,\r\n"
    '"Fay",105,,,A,,,,,\r\n'
    '"Núñez, José",106,,,A,,,,,\r\n'
    "한 지민,107,,,A,,,,,\r\n"
    '"Student, Test",109,,5f1e0c,A,,,,,\r\n'
)


Fill = Callable[..., tuple[str, list[str]]]


def filled(
    kind: str,
    folder: Path,
    text: str,
    entries: tuple[GradebookEntry, ...] = ENTRIES,
    lessons: tuple[LessonColumn, ...] = COLUMNS,
    **asked: Any,
) -> tuple[str, list[str]]:
    """Return a template after filling it in, and the notes."""
    template = folder / "template.csv"
    template.write_bytes(text.encode())
    request = ExportRequest(template=template, **asked)
    parts = list(FORMATS[kind].export(iter(entries), lessons, request))
    (data,) = [part.data for part in parts if isinstance(part, Piece)]
    return data.decode(), [str(part) for part in parts if not isinstance(part, Piece)]


def cells(text: str, delimiter: str = ",") -> list[list[str]]:
    """Return the cells as the standard library reads them."""
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="")
    return list(csv.reader(lines, delimiter=delimiter))


def marks(text: str) -> dict[str, str]:
    """Return the marks of each student in ``CANVAS``: slopes, chains, total, essay."""
    return {line[0]: ",".join(line[5:9]) for line in cells(text)[2:]}


def named(entry: GradebookEntry, name: str, **ids: str) -> GradebookEntry:
    """Return the entry as that of another student."""
    return replace(entry, students=(StudentIdentity(name, ids),))


@pytest.fixture
def canvas(tmp_path: Path) -> Fill:
    return partial(filled, "canvas", tmp_path)


@pytest.fixture
def moodle(tmp_path: Path) -> Fill:
    return partial(filled, "moodle", tmp_path)
