"""The formats ``csv``, ``json`` and ``junit``, and the table of a term.

``csv`` has a row for each submission and a column for each lesson and each check. ``json`` is a
list of all submissions, for instructors; the schema is ``export.schema.json``. ``junit`` has a
suite for each submission (the schema of Jenkins' xUnit plugin, junit-10.xsd). The table of a term
has a row for each person and a column for each assignment.
"""

from __future__ import annotations

import codecs
import json
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.classroom.exports.common import (
    ExportNote,
    ExportRequest,
    Format,
    Piece,
    adjustment_as_json,
    adjustment_text,
    explanation,
    for_students,
    full_marks,
    mark_of,
    reasons,
    remarks,
    row,
    state,
)
from grader.classroom.gradebook.entry import GradebookEntry, LessonColumn, PublicEntry
from grader.core.report import CheckResult, LessonResult, Outcome
from grader.core.text import clean

FIXED = (
    "submission, students, ids, section, late, handed in, earned, penalty, adjusted, score, max,"
    " adjustments, bonus, state, remarks"
).split(", ")


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
                    entry.ids,
                    "; ".join(entry.sections),
                    "late" if entry.late else "",
                    entry.handed_in,
                    entry.earned if entry.report else None,
                    entry.penalty if entry.report else None,
                    entry.adjusted_by,
                    mark.total,
                    request.scale or full_marks(columns),
                    "; ".join(map(adjustment_text, entry.adjustments)),
                    entry.report.bonus if entry.report else None,
                    state(entry),
                    "; ".join(reasons(entry)),
                    *(mark.lessons[column.id] for column in columns),
                    *(points.get(check) for check in checks),
                ]
            )
        )


CSV = Format("csv", export_csv, "grades.csv")


def points_of_checks(entry: GradebookEntry) -> dict[str, float]:
    return {
        check.id: check.points
        for lesson in entry.lessons
        for check in lesson.checks
        if check.outcome is not Outcome.GRADER_ERROR
    }


FIRST_IDS = ("sid", "email", "username")
"""The ids that come first in the table of a term; others follow in alphabetical order."""


@dataclass(frozen=True, slots=True)
class TermAssignment:
    """An assignment of a term; ``weight`` is its share of the term's total, in per cent."""

    name: str
    full_marks: float
    weight: float


@dataclass(frozen=True, slots=True)
class TermPerson:
    """A person and their marks by assignment, on each assignment's own scale.

    What is ``not_graded`` was handed in, or may have been, and has no mark. Nothing was handed in
    for the others.
    Those of which the person is ``excused`` do not count.
    """

    name: str
    ids: Mapping[str, str]
    sections: tuple[str, ...]
    marks: Mapping[str, float]
    not_graded: Collection[str] = ()
    excused: Collection[str] = ()

    def cell(self, name: str) -> float | str | None:
        """What the table shows of an assignment."""
        if name in self.excused:
            return "excused"
        return None if name in self.not_graded else self.marks.get(name)


def term_table(
    people: Sequence[TermPerson], assignments: Sequence[TermAssignment]
) -> Iterator[bytes]:
    """Yield the lines of a CSV file with a row for each person.

    ``total`` is the sum of each assignment's weight times the share of its full marks, out of
    ``of``, the sum of the weights: before the last assignment, ``of`` is less than 100. An
    assignment that was not handed in is an empty cell, counts as 0 and is counted in ``missing``.
    With one that is not graded yet, ``total`` is empty. What a person is excused from counts
    neither in ``total`` nor in ``of``.
    """
    found = {kind for person in people for kind in person.ids}
    kinds = [*(kind for kind in FIRST_IDS if kind in found), *sorted(found - {*FIRST_IDS})]
    names = [assignment.name for assignment in assignments]
    counts = ["missing", "not graded", "total", "of"]
    yield codecs.BOM_UTF8 + row(["name", *kinds, "section", *names, *counts])
    for person in people:
        counting = [one for one in assignments if one.name not in person.excused]
        pending = [one.name for one in counting if one.name in person.not_graded]
        missing = [one.name for one in counting if one.name not in {*person.marks, *pending}]
        total = sum(
            one.weight * person.marks.get(one.name, 0.0) / one.full_marks
            for one in counting
            if one.full_marks
        )
        yield row(
            [
                person.name,
                *(person.ids.get(kind) for kind in kinds),
                "; ".join(person.sections),
                *map(person.cell, names),
                len(missing),
                len(pending),
                None if pending else round(total, 4),
                round(sum(one.weight for one in counting), 4),
            ]
        )


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


JSON = Format("json", export_json, "export.json")


def as_data(
    entry: GradebookEntry, columns: Sequence[LessonColumn], request: ExportRequest
) -> dict[str, object]:
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
        "max_score": request.scale or full_marks(columns),
        "lessons": mark.lessons,
        "adjusted": entry.adjusted_by,
        "adjustments": [adjustment_as_json(one) for one in entry.adjustments],
        "comments": [
            {key: getattr(one, key) for key in ("lesson", "line", "text", "author", "made_at")}
            for one in entry.comments
        ],
        "remarks": list(reasons(entry)),
        "report": entry.report.as_json() if entry.report else None,
    }


JUNIT_KINDS = {
    Outcome.FAILED: "failure",
    Outcome.ERROR: "error",
    Outcome.TIMEOUT: "error",
    Outcome.CRASHED: "error",
    Outcome.GRADER_ERROR: "error",
    Outcome.SKIPPED: "skipped",
    Outcome.NOT_STARTED: "skipped",
}


@for_students
def export_junit(
    entries: Iterable[PublicEntry], columns: Sequence[LessonColumn], request: ExportRequest
) -> Iterator[Piece | ExportNote]:
    yield Piece(b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gradlings">\n')
    for entry in entries:
        suite = suite_of(entry)
        ET.indent(suite)
        text = ET.tostring(suite, encoding="unicode") + "\n"
        yield Piece(text.encode("utf-8", "backslashreplace"))
    yield Piece(b"</testsuites>\n")


JUNIT = Format("junit", export_junit, "junit.xml")


def suite_of(entry: PublicEntry) -> ET.Element:
    """Return an entry as a suite. Its properties are the scores and the remarks."""
    suite = ET.Element("testsuite", name=clean(entry.name))
    properties = ET.SubElement(suite, "properties")
    for name, value in properties_of(entry):
        ET.SubElement(properties, "property", name=name, value=clean(value))
    for lesson in entry.lessons:
        if not lesson.checks:
            plain_case(suite, lesson.id, "skipped", lesson.message or "")
        for check in lesson.checks:
            case_of(suite, check, lesson)
    if entry.problem or entry.missing:
        kind = "error" if entry.problem else "skipped"
        plain_case(suite, "submission", kind, "; ".join(remarks(entry)))
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{entry.report.seconds if entry.report else 0.0:.3f}")
    return suite


def properties_of(entry: PublicEntry) -> Iterator[tuple[str, str]]:
    yield "students", entry.label
    if entry.report is not None and not entry.grader_faults:
        yield "score", f"{entry.score:g}"
        yield "max_score", f"{entry.report.max_score:g}"
    if entry.report is not None:
        yield "bonus", f"{entry.report.bonus:g}"
        yield "seed", str(entry.report.seed)
    yield from (("remark", remark) for remark in remarks(entry))


def case_of(suite: ET.Element, check: CheckResult, lesson: LessonResult) -> None:
    case = ET.SubElement(
        suite, "testcase", classname=lesson.id, name=clean(check.title), time=f"{check.seconds:.6f}"
    )
    if kind := JUNIT_KINDS.get(check.outcome):
        detail = ET.SubElement(case, kind, message=check.outcome.word)
        detail.set("type", check.diagnosis or check.outcome.value)
        detail.text = explanation(check, lesson)
    if check.output:
        ET.SubElement(case, "system-out").text = clean(check.output)


def plain_case(suite: ET.Element, name: str, kind: str, message: str) -> None:
    case = ET.SubElement(suite, "testcase", classname=name, name=name, time="0")
    ET.SubElement(case, kind, message=clean(message))
