"""Exports into files of our own: tables, JSON, Gradescope, JUnit; read back by other parsers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import junitparser
import pytest
from factories.gradebook import ALICE, COLUMNS, ENTRIES, FAULTY, MISSING, TEAM, UNREADABLE

import grader
from grader.classroom.exports.common import ExportRequest, Piece, decimal, guarded, row
from grader.classroom.exports.tables import TermAssignment, TermPerson, term_table
from grader.classroom.gradebook.entry import Adjustment, GradebookEntry
from grader.cli.exports import FORMATS, write_export
from grader.core.errors import UsageError

PACKAGE = Path(grader.__file__).parent


def export_files(
    name: str, entries: Iterable[GradebookEntry] = ENTRIES, **asked: Any
) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of an export by path, and its notes."""
    files: dict[str, bytes] = {}
    notes = []
    for part in FORMATS[name].export(iter(entries), COLUMNS, ExportRequest(**asked)):
        if isinstance(part, Piece):
            files[part.path] = files.get(part.path, b"") + part.data
        else:
            notes.append(str(part))
    return files, notes


def csv_rows(
    entries: Iterable[GradebookEntry] = ENTRIES, **asked: Any
) -> dict[str, dict[str, str]]:
    """Return the rows of the CSV export by submission."""
    (data,) = export_files("csv", entries, **asked)[0].values()
    lines = csv.DictReader(io.StringIO(data.decode("utf-8-sig")))
    return {line["submission"]: line for line in lines}


def write(
    name: str, folder: Path, output: Path | None = None, entries: Iterable[GradebookEntry] = ENTRIES
) -> Path:
    asked = ExportRequest()
    return write_export(entries, COLUMNS, name, request=asked, folder=folder, output=output)


# -------------------------------------------------------------------------------------------- cells


def test_what_a_spreadsheet_would_run_is_made_text_and_the_rest_stays() -> None:
    for text in ("=1+1", "+1", "-1", "@sum", "\tx", "\rx", "\nx", " =1", "＝1"):
        assert guarded(text) == "'" + text
    for text in ("Kim", "1-1", "a=b", "", "'=1"):
        assert guarded(text) == text
    assert row(["-x", -1.5, None, 0.0]) == b"'-x,-1.5,,0.0\r\n"


def test_a_number_has_no_exponent_and_no_trailing_zeros() -> None:
    assert [*map(decimal, (8.0, 7.25, 1e6, 0.1 + 0.2))] == ["8", "7.25", "1000000", "0.3"]
    assert decimal(7.5, comma=True) == "7,5"


# ---------------------------------------------------------------------------------------------- csv


def test_the_table_has_a_column_for_each_lesson_and_each_check() -> None:
    wanted = {
        "slopes": "7.5",
        "chains": "10.0",
        "score": "17.5",
        "max": "20.0",
        "slopes.seen": "6.0",
        "slopes.unseen": "0.0",
        "slopes.more": "1.0",
        "chains.all": "10.0",
        "adjusted": "1.5",
        "late": "late",
        "adjustments": "adjusted by +1.5 (slopes): on paper [kim, 2026-03-01]",
    }
    alice = csv_rows()["Alice Doe"]
    assert {title: alice[title] for title in wanted} == wanted


def test_excel_reads_the_table_as_the_unicode_that_it_is() -> None:
    assert export_files("csv")[0][""].startswith("\ufeffsubmission,".encode())


@pytest.mark.parametrize(
    ("entry", "state"), [(FAULTY, "grader's fault"), (UNREADABLE, "problem"), (MISSING, "missing")]
)
def test_what_has_no_verdict_is_an_empty_cell_and_says_why(
    entry: GradebookEntry, state: str
) -> None:
    line = csv_rows()[entry.name]
    assert (line["score"], line["chains"], line["chains.all"], line["state"]) == ("", "", "", state)
    assert line["remarks"]


def test_missing_is_a_zero_only_when_asked() -> None:
    rows = csv_rows(missing_as_zero=True)
    assert (rows["fay"]["score"], rows["eve"]["score"]) == ("0.0", "")


@pytest.mark.parametrize("entry", [UNREADABLE, MISSING], ids=["unreadable", "missing"])
def test_points_that_a_person_gave_count_where_nothing_was_graded(entry: GradebookEntry) -> None:
    """This holds even if missing submissions count as zero."""
    given = Adjustment(8.0, "seen on paper", "kim", "2026-03-01", "slopes")
    for asked in (False, True):
        rows = csv_rows([replace(entry, adjustments=(given,))], missing_as_zero=asked)
        assert (rows[entry.name]["score"], rows[entry.name]["slopes"]) == ("8.0", "8.0")


def test_a_name_that_is_a_formula_is_text() -> None:
    assert csv_rows()["bob"]["students"] == "Bob =1+1"
    assert [*csv_rows([GradebookEntry("=1+1", ())])] == ["'=1+1"]


def test_the_scale_changes_the_total() -> None:
    alice = csv_rows(scale=100)["Alice Doe"]
    assert (alice["score"], alice["max"]) == ("87.5", "100")


# ------------------------------------------------------------------------------ the table of a term

WEEK_1, WEEK_2 = TermAssignment("Week 1", 20.0, 20.0), TermAssignment("=Week 2", 10.0, 40.0)


def term_rows(*people: TermPerson) -> list[dict[str, str]]:
    text = b"".join(term_table(people, (WEEK_1, WEEK_2))).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_a_term_has_each_kind_of_id_in_a_column_of_its_own() -> None:
    ada = TermPerson("Ada", {"email": "ada@x.edu", "canvas_id": "7"}, ("A",), {})
    ben = TermPerson("=Ben", {"username": "ben", "sid": "0012"}, (), {})
    one, other = term_rows(ada, ben)
    assert list(one) == [
        *("name", "sid", "email", "username", "canvas_id", "section", "Week 1", "'=Week 2"),
        *("missing", "not graded", "total", "of"),
    ]
    assert list(one.values())[:6] == ["Ada", "", "ada@x.edu", "", "7", "A"]
    assert list(other.values())[:6] == ["'=Ben", "0012", "", "ben", "", ""]


@pytest.mark.parametrize(
    ("marks", "not_graded", "cells"),
    [
        ({"Week 1": 15.0, "=Week 2": 10.0}, (), ["15.0", "10.0", "0", "0", "55.0", "60.0"]),
        ({"Week 1": 15.0}, (), ["15.0", "", "1", "0", "15.0", "60.0"]),
        ({"Week 1": 0.0, "=Week 2": 11.0}, (), ["0.0", "11.0", "0", "0", "44.0", "60.0"]),
        ({}, (), ["", "", "2", "0", "0.0", "60.0"]),
        ({"Week 1": 15.0}, ("=Week 2",), ["15.0", "", "0", "1", "", "60.0"]),
        ({"Week 1": 15.0, "=Week 2": 1.0}, {"Week 1"}, ["", "1.0", "0", "1", "", "60.0"]),
        ({"Week 1": 15.0, "Week 9": 1.0}, ("Week 8",), ["15.0", "", "1", "0", "15.0", "60.0"]),
    ],
    ids=["all", "missing", "zero", "nothing", "not graded", "graded before", "elsewhere"],
)
def test_a_terms_total_counts_what_is_missing_as_zero_but_never_what_is_not_graded(
    marks: dict[str, float], not_graded: Collection[str], cells: list[str]
) -> None:
    (line,) = term_rows(TermPerson("Ada", {}, ("A",), marks, not_graded))
    assert list(line.values())[2:] == cells


def test_equal_weights_add_up_to_100() -> None:
    weeks = [TermAssignment(f"Week {number}", 10.0, 100.0 / 7) for number in range(7)]
    text = b"".join(term_table([TermPerson("Ada", {}, (), {})], weeks)).decode("utf-8-sig")
    assert text.splitlines()[1].endswith(",7,0,0.0,100.0")


# --------------------------------------------------------------------------------------------- json


def test_the_json_is_as_its_schema_has_it() -> None:
    (data,) = export_files("json")[0].values()
    found = json.loads(data)
    schemas = ("classroom/exports/export.schema.json", "core/report.schema.json")
    whole, reports = (json.loads((PACKAGE / path).read_text("utf-8")) for path in schemas)
    jsonschema.validate(found, whole)
    for one in found:
        if one["report"]:
            jsonschema.validate(one["report"], reports)
    assert [one["score"] for one in found] == [17.5, 10.0, None, None, None, 10.0]


def test_the_json_of_nobody_is_an_empty_list() -> None:
    assert json.loads(export_files("json", ())[0][""]) == []


# --------------------------------------------------------------------------------------- gradescope

TEXTS = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
SEEN = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
GRADESCOPE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "extra_data": {"type": "object"},
        "output_format": TEXTS,
        "test_output_format": TEXTS,
        "test_name_format": TEXTS,
        "visibility": SEEN,
        "stdout_visibility": SEEN,
        "leaderboard": {"type": "array"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "name_format": {"type": "string"},
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "output_format": {"type": "string"},
                    "extra_data": {"type": "object"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "visibility": SEEN,
                },
            },
        },
    },
}
"""The keys of the published format."""


def gradescope(entry: GradebookEntry, **asked: Any) -> dict[str, Any]:
    """Return one results.json after checking its format."""
    (data,) = export_files("gradescope", [entry], **asked)[0].values()
    found: dict[str, Any] = json.loads(data)
    jsonschema.validate(found, GRADESCOPE)
    return found


def test_gradescope_gets_a_file_for_each_submission_that_there_is() -> None:
    files, notes = export_files("gradescope")
    assert list(files) == [
        f"{name}/results.json" for name in ("Alice Doe", "bob", "eve", "dan", "team")
    ]
    assert notes == ["Fay: nothing was handed in, so there is no results.json"]


def test_gradescope_gets_the_score_with_adjustments_and_each_check() -> None:
    found = gradescope(ALICE)
    assert found["score"] == 17.5
    assert "adjusted by +1.5 (slopes): on paper" in found["output"]
    assert [
        (test["name"], test.get("score"), test.get("max_score"), test["status"])
        for test in found["tests"]
    ] == [
        ("slopes: the slope is right", 6.0, 6.0, "passed"),
        ("slopes: it holds at zero", 0.0, 4.0, "failed"),
        ("slopes: and beyond (bonus, 1 of 1)", None, None, "passed"),
        ("chains: all links", 10.0, 10.0, "passed"),
    ]


def test_gradescope_students_see_their_total() -> None:
    """A test that is not visible would hide it, so hidden checks are visible, without inputs."""
    found = gradescope(ALICE)
    assert {test["visibility"] for test in found["tests"]} == {"visible"}
    (unseen,) = [test for test in found["tests"] if test["name"].endswith("zero")]
    assert unseen["output"].splitlines() == [
        "Looks like: mixed up",
        "This check is hidden, so its inputs are not shown.",
        "A nudge: think",
    ]
    assert "secret" not in json.dumps(unseen)


def test_gradescope_hides_checks_when_asked_and_says_what_that_costs() -> None:
    found = gradescope(ALICE, hidden_checks="after_published")
    hidden = {test["name"] for test in found["tests"] if test["visibility"] != "visible"}
    assert hidden == {"slopes: it holds at zero"}
    assert found["tests"][1]["visibility"] == "after_published"
    assert any("no total" in note for note in export_files("gradescope", hidden_checks="hidden")[1])


def test_gradescope_is_told_which_guarantees_held() -> None:
    found = gradescope(ALICE)
    assert "Your code ran in a sandbox, which limits its use of: time, memory." in found["output"]
    assert "This system does not limit your code's use of: network." in found["output"]
    assert found["extra_data"]["sandbox"] == {
        "mode": "auto",
        "guarantees": ["time", "memory"],
        "missing": ["network"],
    }


@pytest.mark.parametrize("entry", [FAULTY, UNREADABLE], ids=["fault", "unreadable"])
def test_gradescope_gets_no_score_at_all_where_something_has_no_verdict(
    entry: GradebookEntry,
) -> None:
    """The sum of the rest would count the missing part as zero."""
    found = gradescope(entry)
    assert "score" not in found
    assert not any("score" in test for test in found.get("tests", ()))
    assert "grader's own fault" in found["output"] or "dan.zip is damaged" in found["output"]
    if entry is FAULTY:
        assert found["tests"][0]["name"] == "slopes: the slope is right (6 of 6)"


# -------------------------------------------------------------------------------------------- junit


Suites = dict[str, junitparser.TestSuite]


@pytest.fixture(scope="module")
def suites() -> Suites:
    """Return the suites by name, as junitparser reads them."""
    (data,) = export_files("junit")[0].values()
    return {suite.name: suite for suite in junitparser.JUnitXml.fromstring(data)}


def test_junit_has_a_suite_for_each_submission(suites: Suites) -> None:
    counts = {
        name: (suite.tests, suite.failures, suite.errors, suite.skipped)
        for name, suite in suites.items()
    }
    assert counts == {
        "Alice Doe": (4, 1, 0, 0),
        "bob": (4, 1, 0, 1),
        "eve": (4, 1, 1, 0),
        "dan": (1, 0, 1, 0),
        "fay": (1, 0, 0, 1),
        "team": (4, 1, 0, 0),
    }


def test_junit_has_score_and_adjustments_as_properties(suites: Suites) -> None:
    found = [(one.name, one.value) for one in suites["Alice Doe"].properties()]
    assert ("score", "17.5") in found
    assert ("remark", "adjusted by +1.5 (slopes): on paper [kim, 2026-03-01]") in found
    assert "score" not in {one.name for one in suites["eve"].properties()}


def test_junit_names_the_mistake_and_keeps_hidden_inputs_to_itself(suites: Suites) -> None:
    (case,) = [case for case in suites["Alice Doe"] if case.name == "it holds at zero"]
    (failure,) = case.result
    assert (case.classname, failure.type) == ("slopes", "mixed_up")
    assert "secret" not in failure.text
    assert case.system_out is None


def test_junit_is_xml_whatever_was_printed(suites: Suites) -> None:
    assert "\\x1b[31m" in next(iter(suites["Alice Doe"])).system_out


# ------------------------------------------------------------------------------------------ writing


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"canvas", "moodle"}))
def test_every_format_is_written_where_it_was_asked_for(name: str, tmp_path: Path) -> None:
    files, _ = export_files(name)
    target = write(name, tmp_path, tmp_path / "deep" / "out")
    assert target == tmp_path / "deep" / "out"
    for path, data in files.items():
        assert (target / path if path else target).read_bytes() == data
    assert not list(tmp_path.rglob("*.part"))


def test_an_export_that_fails_midway_leaves_what_was_there(tmp_path: Path) -> None:
    def breaks() -> Iterable[GradebookEntry]:
        yield ALICE
        raise UsageError("no more")

    (tmp_path / "grades.csv").write_text("before")
    with pytest.raises(UsageError, match="no more"):
        write("csv", tmp_path, entries=breaks())
    assert [path.name for path in tmp_path.iterdir()] == ["grades.csv"]
    assert (tmp_path / "grades.csv").read_text() == "before"


def test_a_table_that_is_open_elsewhere_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the file that can't be replaced (as Excel holds it on Windows), and no file
    is left beside it.
    """

    def held(self: Path, target: Path) -> Path:
        raise PermissionError(13, "in use", str(self), 32, str(target))

    monkeypatch.setattr(Path, "replace", held)
    said = r"grades\.csv can't be written: in use\. If another program"
    with pytest.raises(UsageError, match=said):
        write("csv", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_can_not_be_written_names_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--output"):
        write("csv", tmp_path, tmp_path / "file" / "x.csv")


def test_notes_go_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("gradescope", tmp_path, entries=[MISSING, TEAM])
    out, err = capsys.readouterr()
    assert (out, err) == ("", "note: Fay: nothing was handed in, so there is no results.json\n")


def test_an_export_reads_entries_one_by_one() -> None:
    """A line of the table is ready before the next entry is requested."""
    taken = []

    def stream() -> Iterable[GradebookEntry]:
        for entry in ENTRIES:
            taken.append(entry.name)
            yield entry

    parts = FORMATS["csv"].export(stream(), COLUMNS, ExportRequest())
    while not taken:
        next(parts)
    assert taken == ["Alice Doe"]
