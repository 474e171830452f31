"""``grade export`` on a gradebook that ``grade batch`` made."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from in_process import exit_code

from grader.classroom.gradebook.store import Gradebook
from grader.cli.exports import FORMATS
from grader.core.errors import ExitCode
from grader.core.sqlite import transaction
from grader.course.course import Course

RIGHT = "def double(x): return 2 * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"
SHEET = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Tiny (7),Essay (8)\n"
    "Points Possible,,,,,10,5\n"
    "alice,1,,,A,,4\nbob,2,,,A,EX,4\nzoe,3,,,A,1,4\n"
)


def export(graded: Path, to: str, output: Path, *words: str | Path) -> object:
    """Export a gradebook, and return the exit code."""
    return exit_code("export", graded, "--to", to, "--output", output, *words)


@pytest.fixture(scope="module")
def graded(small_course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a gradebook with alice, who is right, and bob, who has begun and got two points by
    hand.
    """
    place = tmp_path_factory.mktemp("class")
    for name, text in (("alice", RIGHT), ("bob", RIGHT.replace("2 * x", "x * x"))):
        (place / "in" / name).mkdir(parents=True)
        (place / "in" / name / "tiny.py").write_text(text, "utf-8")
    out, words = place / "out", "--workers 1 --sandbox auto --seed 1 --lang en".split()
    words += ["--course", str(small_course.root)]
    assert exit_code("batch", place / "in", "--out", out, *words) == ExitCode.OK
    by_hand = ("--points", "+2", "--reason", "on paper", "--author", "kim")
    assert exit_code("adjust", out, "bob", *by_hand) == ExitCode.OK
    return out


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("canvas", "moodle")])
def test_every_format_is_written_from_a_gradebook(
    name: str, graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "made"
    assert export(graded, name, target) == ExitCode.OK
    assert capsys.readouterr().out == f"Wrote {target} ({name}).\n"
    found = list(target.rglob("*.json")) if FORMATS[name].files else [target]
    assert len(found) == (2 if FORMATS[name].files else 1)
    assert all(path.stat().st_size for path in found)


def test_scores_and_adjustments_are_the_gradebooks(graded: Path, tmp_path: Path) -> None:
    assert export(graded, "json", tmp_path / "x.json") == ExitCode.OK
    found = {one["submission"]: one for one in json.loads((tmp_path / "x.json").read_text("utf-8"))}
    with Gradebook.open(graded) as book:
        assert {entry.name: entry.score for entry in book.entries()} == {
            name: one["score"] for name, one in found.items()
        }
    assert (found["bob"]["score"], found["bob"]["adjusted"]) == (7.0, 2.0)


def test_a_canvas_sheet_is_filled_and_notes_are_on_standard_error(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output is only the file; people who were not matched are listed on standard error."""
    sheet, filled = tmp_path / "sheet.csv", tmp_path / "filled.csv"
    sheet.write_text(SHEET)
    assert export(graded, "canvas", filled, "--template", sheet) == ExitCode.OK
    assert filled.read_text() == SHEET.replace("alice,1,,,A,,4", "alice,1,,,A,10,4")
    assert sheet.read_text() == SHEET
    told = capsys.readouterr()
    assert "note: zoe: in the sheet, but without a submission\n" in told.err
    assert "Grades, Import" in told.out


def test_a_template_is_never_written_over(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(SHEET)
    assert export(graded, "canvas", sheet, "--template", sheet) == ExitCode.USAGE
    assert "Name another file with --output" in capsys.readouterr().err
    assert sheet.read_text() == SHEET


def test_the_scale_reaches_the_total(graded: Path, tmp_path: Path) -> None:
    assert export(graded, "csv", tmp_path / "x.csv", "--scale", "100") == ExitCode.OK
    rows = csv.DictReader((tmp_path / "x.csv").read_text("utf-8-sig").splitlines())
    scores = {row["submission"]: row["score"] for row in rows}
    assert scores == {"alice": "100.0", "bob": "70.0"}


def test_the_gradebook_remembers_the_exports_of_the_whole_class(
    graded: Path, tmp_path: Path
) -> None:
    """``grade changes`` lists what changed since. An export that is refused gave nobody a mark, nor
    did JSON, nor a table for oneself once another system has them.
    """
    own = Path(shutil.copytree(graded, tmp_path / "own"))
    with Gradebook.open(own) as book, transaction(book.db):
        book.db.execute("DELETE FROM exports")

    def exports() -> list[str]:
        with Gradebook.open(own) as book:
            return [row["format"] for row in book.rows("SELECT format FROM exports ORDER BY id")]

    assert export(own, "csv", tmp_path / "x.csv") == ExitCode.OK
    assert export(own, "json", tmp_path / "x.json") == ExitCode.OK
    assert exports() == ["csv"]
    assert export(own, "csv", tmp_path / "x.csv", "--section", "A") == ExitCode.USAGE
    assert export(own, "canvas", tmp_path / "y.csv") == ExitCode.USAGE
    assert exports() == ["csv"]
    assert export(own, "gradescope", tmp_path / "scope") == ExitCode.OK
    assert export(own, "csv", tmp_path / "z.csv") == ExitCode.OK
    assert exports() == ["csv", "gradescope"]


def test_a_folder_without_a_gradebook_names_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(tmp_path, "csv", tmp_path / "x.csv") == ExitCode.USAGE
    assert "grade batch DIR --out" in capsys.readouterr().err
