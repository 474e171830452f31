"""Write JUnit XML: a suite for each submission (the schema of
Jenkins' xUnit plugin, junit-10.xsd).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence

from grader.classroom.exports.check_text import explanation
from grader.classroom.exports.records import ExportNote, ExportRequest, Piece, remarks
from grader.classroom.gradebook.records import GradebookEntry, LessonColumn
from grader.classroom.redact import withheld
from grader.core.report import CheckResult, LessonResult, Outcome
from grader.core.text import clean
from grader.render.page import WORDS

JUNIT_KINDS = {
    Outcome.FAILED: "failure",
    Outcome.ERROR: "error",
    Outcome.TIMEOUT: "error",
    Outcome.CRASHED: "error",
    Outcome.GRADER_ERROR: "error",
    Outcome.SKIPPED: "skipped",
    Outcome.NOT_STARTED: "skipped",
}


def export_junit(
    entries: Iterable[GradebookEntry], columns: Sequence[LessonColumn], request: ExportRequest
) -> Iterator[Piece | ExportNote]:
    yield Piece(b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gradlings">\n')
    for entry in entries:
        suite = suite_of(entry)
        ET.indent(suite)
        yield Piece(
            ET.tostring(suite, encoding="unicode").encode("utf-8", "backslashreplace") + b"\n"
        )
    yield Piece(b"</testsuites>\n")


def suite_of(entry: GradebookEntry) -> ET.Element:
    """Return an entry as a suite. Its properties are the scores and the remarks."""
    suite = ET.Element("testsuite", name=clean(entry.name))
    properties = ET.SubElement(suite, "properties")
    for name, value in properties_of(entry):
        ET.SubElement(properties, "property", name=name, value=clean(value))
    for lesson in withheld(entry.report).lessons if entry.report else ():
        if not lesson.checks:
            plain_case(suite, lesson.id, lesson.id, "skipped", lesson.message or "")
        for check in lesson.checks:
            case_of(suite, check, lesson)
    if entry.problem or entry.missing:
        plain_case(
            suite,
            "submission",
            "submission",
            "error" if entry.problem else "skipped",
            "; ".join(remarks(entry)),
        )
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{entry.report.seconds if entry.report else 0.0:.3f}")
    return suite


def properties_of(entry: GradebookEntry) -> Iterator[tuple[str, str]]:
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
        detail = ET.SubElement(case, kind, message=WORDS[check.outcome])
        detail.set("type", check.diagnosis or check.outcome.value)
        detail.text = explanation(check, lesson)
    if check.output:
        ET.SubElement(case, "system-out").text = clean(check.output)


def plain_case(suite: ET.Element, classname: str, name: str, kind: str, message: str) -> None:
    ET.SubElement(
        ET.SubElement(suite, "testcase", classname=classname, name=name, time="0"),
        kind,
        message=clean(message),
    )
