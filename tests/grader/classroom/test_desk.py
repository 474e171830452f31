"""Take a class of 40, in ``make prove`` also of 200, through batch, adjust, comment, late rule,
export and feedback, in every layout, and read the results as the other systems do.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from factories.downloads import (
    FIRST_CANVAS_USER,
    FIRST_GRADESCOPE_SUBMISSION,
    FIRST_MOODLE_PARTICIPANT,
    LAYOUTS,
    Students,
    write_class,
)
from factories.gradebook import ALICE, FAULTY, make_check, make_lesson, make_report

from grader.classroom.exports.feedback import feedback_lines
from grader.classroom.gradebook.entry import CheckColumn, GradebookEntry, LessonColumn
from grader.classroom.gradebook.store import Gradebook
from grader.cli import cli
from grader.cli.batch import BatchOptions, grade_class
from grader.core.errors import UsageError
from grader.core.report import Outcome, Report
from grader.course.course import Course

Desk = Callable[..., Path]
LARGE, CLASS_SIZE, SMALL = 200, 40, 12
NAMES = [f"Student {number:03}" for number in range(LARGE)]
CLASS = NAMES[:CLASS_SIZE]
ADA, BEN, CAL, DEE = NAMES[:4]
COLUMN = LessonColumn(
    "tiny",
    "Tiny",
    10.0,
    0.0,
    (
        CheckColumn("tiny.double", "double doubles", 5.0, False, False),
        CheckColumn("tiny.triple", "triple triples", 5.0, False, False),
    ),
)


def earned(number: int) -> float:
    """Return the points: every third student has only one of two checks right."""
    return 5.0 if number % 3 == 1 else 10.0


def recorded(*task: Any, name: str) -> Report:
    """Replace grading: each file but the reference contains its points."""
    _, _, _, files, _ = task
    first, second = COLUMN.checks
    if "POINTS = 5" in files["tiny"].text:
        result = make_check(second, Outcome.FAILED, source_line=2)
    else:
        result = make_check(second, Outcome.PASSED)
    checks = [make_check(first, Outcome.PASSED), result]
    return make_report(name, [make_lesson(COLUMN, checks, file="tiny.py")])


class NoHost:
    def close(self) -> None:
        pass


@pytest.fixture
def desk(tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Return ``desk(layout)``, which grades a class in a layout, with a roster and a late rule."""
    monkeypatch.setattr("grader.runtime.grading.grade_and_repair", recorded)

    def run(layout: str, size: int = SMALL, **options: Any) -> Path:
        files: Students = {
            name: {"tiny.py": f"# {name}\nPOINTS = {earned(number):g}\n"}
            for number, name in enumerate(NAMES[:size])
        }
        place = options.get("place") or write_class(layout, tmp_path / "class", files)
        roster = tmp_path / "roster.csv"
        roster.write_text(roster_text(layout, size), "utf-8")
        out = tmp_path / "out"
        values: dict[str, Any] = {
            "place": place,
            "out": out,
            "roster": roster,
            "sandbox": "off",
            "lang": "en",
            "due": "2026-03-01T09:00Z",
            "late": "20%/day",
            **options,
        }
        grade_class(small_course, BatchOptions(**values), make_host=NoHost)  # type: ignore[arg-type]
        return out

    return run


def roster_text(layout: str, size: int) -> str:
    """Return a roster: Ada came two hours late, Ben a day; Cal was late but had an extension; Dee
    was on time.
    """
    numbers = {
        "canvas": ("canvas_id", FIRST_CANVAS_USER),
        "moodle": ("moodle_participant", FIRST_MOODLE_PARTICIPANT),
        "gradescope": ("sid", FIRST_GRADESCOPE_SUBMISSION),
    }
    key, first = numbers.get(layout, ("username", 0))
    times = {
        ADA: ("2026-03-01T11:00Z", ""),
        BEN: ("2026-03-02T10:00Z", ""),
        CAL: ("2026-03-02T10:00Z", "+3d"),
        DEE: ("2026-03-01T08:00Z", ""),
    }
    lines = [f"name,{key},section,submitted_at,due"]
    for place, name in enumerate(NAMES[:size]):
        number = f"0{first + place}" if layout == "gradescope" else str(first + place)
        own = number if first else name
        when, due = times.get(name, ("2026-03-01T08:00Z", ""))
        lines.append(f"{name},{own},{'A' if place % 2 else 'B'},{when},{due}")
    return "\n".join(lines) + "\n"


def run_grade(*words: object) -> str:
    """Return what the command prints; raise what it refuses with."""
    done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def table_in(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def marks(out: Path) -> dict[str, dict[str, str]]:
    return {row["students"]: row for row in table_in(out / "grades.csv")}


def name_of(out: Path, label: str) -> str:
    with Gradebook.open(out) as book:
        return next(entry.name for entry in book.entries() if entry.label == label)


def entry_of(out: Path, called: str) -> GradebookEntry:
    with Gradebook.open(out) as book:
        return book.entry_of(called)


def page_of(out: Path, label: str) -> Path:
    return out / "reports" / f"{name_of(out, label)}.html"


PENALTIES = {ADA: 20.0, BEN: 40.0}
# Gradescope's export has the time itself, which counts: 10:00 for everybody.
PENALTIES_IN_GRADESCOPE = {name: 20.0 for name in NAMES if name != CAL}


@pytest.mark.parametrize("size", [CLASS_SIZE, pytest.param(LARGE, marks=pytest.mark.proof)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_mark_and_every_page_arrives_where_it_belongs(
    layout: str, size: int, desk: Desk
) -> None:
    out = desk(layout, size)
    names = NAMES[:size]
    run_grade("adjust", out, DEE, "--points", "+1.5", "--reason", "on paper")
    run_grade("comment", out, f"{name_of(out, BEN)}:tiny:2", "Why this number?", "--author", "kim")
    run_grade("comment", out, CAL, "Well done, <b>Cal</b>.", "--author", "kim")
    table = marks(out)
    assert len(table) == size
    penalties = PENALTIES_IN_GRADESCOPE if layout == "gradescope" else PENALTIES
    for number, name in enumerate(names):
        row = table[name]
        penalty = earned(number) * penalties.get(name, 0.0) / 100
        want = earned(number) - penalty + (1.5 if name == DEE else 0.0)
        assert float(row["earned"]) == earned(number)
        assert (float(row["penalty"]), float(row["score"])) == (penalty, want), name
        assert row["section"] == ("A" if number % 2 else "B")
    ben = page_of(out, BEN).read_text("utf-8")
    assert "Why this number?" in ben and "POINTS = 5" in ben and "line 2" in ben
    assert "of the earned points are taken off" in ben
    assert "&lt;b&gt;Cal&lt;/b&gt;" in page_of(out, CAL).read_text("utf-8")
    run_grade("export", out, "--to", "json")
    exported = {one["submission"]: one for one in json.loads((out / "export.json").read_text())}
    said = exported[name_of(out, BEN)]["comments"]
    assert [(one["line"], one["text"]) for one in said] == [(2, "Why this number?")]
    run_grade("feedback", out, "--to", "folder")
    pages = sorted(path.stem for path in (out / "feedback").iterdir())
    assert pages == sorted(name_of(out, name) for name in names)[: len(pages)]
    assert len(pages) == size


# ------------------------------------------------------------------------------ what goes back


def moodle_takes(path: str, participants: set[int]) -> tuple[int, str] | None:
    """Return whose feedback a file of a zip is and its name, as Moodle decides.

    After ``is_valid_filename_for_import`` in mod/assign/feedback/file/importziplib.php of Moodle:
    the first part of the path with four fields between underscores, the second of them a number.
    Before 4.1, the whole path had five fields.
    """
    if len(path.split("_", 4)) < 5:
        return None
    parts = path.split("/")
    while parts:
        fields = parts.pop(0).split("_", 4)
        if len(fields) < 4 or not fields[1].isdecimal() or int(fields[1]) not in participants:
            continue
        if (fields[2], fields[3]) != ("assignsubmission", "file"):
            continue
        return int(fields[1]), "/".join([*(fields[4:] or [""]), *parts])
    return None


def canvas_takes(path: str) -> tuple[int, int] | None:
    """Return whose file it is and which attachment's name it gets, as Canvas decides.

    After ``infer_comment_context_from_filename`` in app/models/assignment.rb of canvas-lms: the
    first two fields between underscores that are numbers.
    """
    fields = path.rsplit("/", 1)[-1].split("_")
    numbers = [int(field) for field in fields if field.isdecimal()][:2]
    ignored = len(numbers) < 2 or re.match("link", fields[-1]) or path.startswith("._")
    return None if ignored else (numbers[0], numbers[1])


def moodle_reads(text: str) -> dict[int, tuple[str, str]]:
    """Return grade and comment by participant, as Moodle reads a worksheet.

    After ``assignfeedback_offline_grade_importer`` in mod/assign/feedback/offline of Moodle: three
    columns by their headers, and the number after the word for a participant.
    """
    header, *rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    number, grade, _ = (
        header.index(title) for title in ("Identifier", "Grade", "Last modified (grade)")
    )
    said = header.index("Feedback comments")
    return {int(row[number][len("Participant ") :]): (row[grade], row[said]) for row in rows}


def canvas_reads(text: str) -> dict[int, dict[int, str]]:
    """Return grades by student and assignment, as Canvas reads a gradebook.

    After lib/gradebook_importer.rb of canvas-lms: students by the column ID, assignments by the
    number at the end of a header; the row of points possible is not a student's.
    """
    header, *rows = csv.reader(io.StringIO(text))
    assignments = {
        place: int(found[1])
        for place, title in enumerate(header)
        if (found := re.search(r"\((\d+)\)$", title))
    }
    return {
        int(row[header.index("ID")]): {one: row[place] for place, one in assignments.items()}
        for row in rows
        if not row[0].lstrip().startswith("Points Possible")
    }


def test_moodle_reads_every_mark(desk: Desk, tmp_path: Path) -> None:
    out = desk("moodle", CLASS_SIZE)
    run_grade("comment", out, CAL, "Well done.", "--author", "kim")
    sheet = tmp_path / "worksheet.csv"
    lines = [
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments"
    ]
    for number, name in reversed([*enumerate(CLASS, FIRST_MOODLE_PARTICIPANT)]):
        lines.append(f"Participant {number},{name},s{number}@x.edu,Submitted,,10.00,Yes,-,-,")
    sheet.write_text("\n".join(lines) + "\n", "utf-8")
    run_grade("export", out, "--to", "moodle", "--template", sheet)
    found = moodle_reads((out / "moodle.csv").read_text("utf-8"))
    table = marks(out)
    for number, name in enumerate(CLASS, FIRST_MOODLE_PARTICIPANT):
        assert float(found[number][0]) == float(table[name]["score"])
    assert "Well done. [kim]" in found[FIRST_MOODLE_PARTICIPANT + 2][1]
    assert "1 d 1 h late, 40 % off (-2)" in found[FIRST_MOODLE_PARTICIPANT + 1][1]


def test_canvas_reads_every_mark(desk: Desk, tmp_path: Path) -> None:
    out = desk("canvas", CLASS_SIZE)
    run_grade("adjust", out, DEE, "--points", "-2.5", "--reason", "spoken about")
    sheet = tmp_path / "gradebook.csv"
    lines = ["Student,ID,SIS User ID,SIS Login ID,Section,Tiny (71)", "Points Possible,,,,,10"]
    for number, name in reversed([*enumerate(CLASS, FIRST_CANVAS_USER)]):
        lines.append(f'"{name.split()[1]}, Student",{number},,s{number},A,')
    sheet.write_text("\n".join(lines) + "\n", "utf-8")
    said = run_grade("export", out, "--to", "canvas", "--template", sheet)
    found = canvas_reads((out / "canvas.csv").read_text("utf-8"))
    table = marks(out)
    for number, name in enumerate(CLASS, FIRST_CANVAS_USER):
        assert float(found[number][71]) == float(table[name]["score"]), said
    assert found[FIRST_CANVAS_USER + 3][71] == "7.5"


def test_moodle_takes_each_page_back_for_whom_it_is(desk: Desk) -> None:
    """The roster has Moodle's numbers, so they are those of persons: nothing warns of groups."""
    out = desk("moodle", CLASS_SIZE)
    said = run_grade("feedback", out, "--to", "moodle")
    assert "groups" not in said
    participants = {FIRST_MOODLE_PARTICIPANT + number for number in range(CLASS_SIZE)}
    with zipfile.ZipFile(out / "feedback-moodle.zip") as archive:
        taken = {
            moodle_takes(path, participants): archive.read(path) for path in archive.namelist()
        }
    assert {key and key[1] for key in taken} == {"/report.html"}
    assert len(taken) == CLASS_SIZE
    for number, name in enumerate(CLASS):
        page = taken[FIRST_MOODLE_PARTICIPANT + number, "/report.html"]
        assert page == page_of(out, name).read_bytes()


def test_canvas_takes_each_file_back_for_whom_it_is(desk: Desk) -> None:
    """Canvas shows it under the name of the student's file, so it is the code, with remarks."""
    out = desk("canvas", CLASS_SIZE)
    run_grade("comment", out, f"{name_of(out, BEN)}:tiny:2", "Why this number?", "--author", "kim")
    run_grade("feedback", out, "--to", "canvas")
    with zipfile.ZipFile(out / "feedback-canvas.zip") as archive:
        taken = {canvas_takes(path): archive.read(path).decode() for path in archive.namelist()}
    assert set(taken) == {
        (FIRST_CANVAS_USER + number, 70001 + number) for number in range(CLASS_SIZE)
    }
    ben = taken[FIRST_CANVAS_USER + 1, 70002]
    compile(ben, "ben", "exec")
    lines = ben.splitlines()
    place = lines.index("POINTS = 5")
    assert lines[place - 1] == "# kim: Why this number?"
    assert any("triple triples" in line for line in lines[:place])
    assert lines[0] == "# 3 of 10 points."
    assert "triple triples" not in taken[FIRST_CANVAS_USER, 70001]


def test_feedback_says_who_gets_none(desk: Desk) -> None:
    out = desk("plain")
    for system in ("moodle", "canvas"):
        said = run_grade("feedback", out, "--to", system)
        assert f"{ADA}, " in said and "and 4 more: " in said
        assert f"no graded submission has the ids of a download from {system.title()}" in said
    rows = table_in(out / "feedback.csv")
    assert len(rows) == SMALL
    assert rows[1]["feedback"].startswith("3 of 10 points. 1 d 1 h late, 40 % off (-2).")
    assert "tiny 5/10: triple triples." in rows[1]["feedback"]


def test_who_has_no_verdict_is_told_no_score() -> None:
    """After a grader fault, or for a misnamed file, the page gives the reason and no number."""
    said = " ".join(feedback_lines(FAULTY.public()))
    assert "no score yet" in said
    assert "of 20 points" not in said
    assert "points" in " ".join(feedback_lines(ALICE.public()))


def test_a_section_is_exported_alone(desk: Desk, tmp_path: Path) -> None:
    out = desk("plain")
    run_grade("export", out, "--to", "csv", "--section", "A", "--output", tmp_path / "a.csv")
    assert [row["students"] for row in table_in(tmp_path / "a.csv")] == NAMES[1:SMALL:2]
    with Gradebook.open(out) as book:  # a later list of changes is about the others, too
        assert list(book.rows("SELECT * FROM exports")) == []
    with pytest.raises(UsageError, match=r"Nobody is in the section 'C'.*: A, B"):
        run_grade("export", out, "--to", "csv", "--section", "C")


def test_an_option_that_a_format_does_not_have_is_refused(desk: Desk) -> None:
    out = desk("plain")
    for option in ("--template", "--column"):
        said = f"{option} works only with --to canvas and --to moodle"
        with pytest.raises(UsageError, match=said):
            run_grade("export", out, "--to", "csv", option, "x")


# ------------------------------------------------------------------------ comments, forget, rename


def test_a_file_of_comments_is_taken_whole_or_not_at_all(desk: Desk, tmp_path: Path) -> None:
    out = desk("plain")
    file = tmp_path / "comments.csv"
    file.write_text(f"name,lesson,line,comment\n{ADA},tiny,2,good\n{BEN},tiny,9,bad\n")
    with pytest.raises(UsageError, match=r"comments.csv:3: Student 001 has no line 9 in tiny"):
        run_grade("comment", out, "--file", file)
    assert entry_of(out, ADA).comments == ()
    file.write_text(f'name,lesson,line,comment\n{ADA},tiny,2,good\n{BEN},,,"a, b"\n')
    assert "2 comments on 2 submissions" in run_grade("comment", out, "--file", file)
    assert "2 already existed" in run_grade("comment", out, "--file", file)
    assert [one.text for one in entry_of(out, BEN).comments] == ["a, b"]
    (one,) = entry_of(out, ADA).comments
    assert (one.lesson, one.line, one.code) == ("tiny", 2, "POINTS = 10")
    run_grade("comment", out, ADA, "--withdraw", one.number)
    with Gradebook.open(out) as book:
        assert book.entry_of(ADA).comments == ()
        assert book.db.execute("SELECT count(*) FROM comments").fetchone() == (2,)


def test_a_comment_on_nothing_is_refused(desk: Desk, tmp_path: Path) -> None:
    """A name in a file comes with its line."""
    out, file = desk("plain"), tmp_path / "comments.csv"
    for target, text, said in (
        (f"{ADA}:huge", "x", "has no lesson 'huge'"),
        (f"{ADA}:tiny:x", "x", "is not NAME, NAME:LESSON or NAME:LESSON:LINE"),
        (f"{ADA}:tiny:0", "x", "has no line 0"),
        (ADA, "  ", "comment is empty"),
        ("Nobody", "x", "no submission 'Nobody'"),
    ):
        with pytest.raises(UsageError, match=said):
            run_grade("comment", out, target, text)
    file.write_text("name,comment\nNobody,good\n")
    with pytest.raises(UsageError, match=r"comments.csv:2: .* no submission 'Nobody'"):
        run_grade("comment", out, "--file", file)


def test_a_forgotten_student_is_in_no_output_until_undo(desk: Desk) -> None:
    out = desk("plain")
    before = marks(out)
    page = out / "reports" / f"{ADA}.html"
    run_grade("forget", out, ADA)
    assert ADA not in marks(out)
    assert not page.exists()
    assert ADA not in (out / "class.html").read_text("utf-8")
    desk("plain")  # the folder is still there, and stays forgotten
    assert ADA not in marks(out)
    assert "forgotten" in run_grade("forget", out)
    with pytest.raises(UsageError, match=f"{ADA} is forgotten. To undo this: grade forget"):
        run_grade("comment", out, ADA, "good")
    run_grade("forget", out, ADA, "--undo")
    assert marks(out) == before
    assert page.exists()


def test_a_renamed_submission_keeps_its_history_and_the_old_name_is_gone(
    desk: Desk, tmp_path: Path
) -> None:
    """The folder was renamed, and graded under its new name before anybody noticed."""
    out = desk("plain")
    run_grade("adjust", out, ADA, "--points", "-1", "--reason", "late")
    run_grade("comment", out, f"{ADA}:tiny:2", "good")
    (tmp_path / "class" / ADA).rename(tmp_path / "class" / "Ada")
    (tmp_path / "class" / "Ada" / "tiny.py").write_text("POINTS = 5\n# again\n")
    desk("plain", place=tmp_path / "class", roster=None)
    assert {ADA, "Ada"} <= set(marks(out))
    run_grade("rename", out, ADA, "Ada", "--merge")
    entry = entry_of(out, "Ada")
    assert (entry.attempt, entry.earned, entry.adjusted_by) == (2, 5.0, -1.0)
    assert [one.text for one in entry.comments] == ["good"]
    with Gradebook.open(out) as book, pytest.raises(UsageError, match="no submission"):
        book.entry(ADA)
    assert not (out / "reports" / f"{ADA}.html").exists()
    run_grade("rename", out, "Ada", "--undo")
    old, new = entry_of(out, ADA), entry_of(out, "Ada")
    assert (old.attempt, old.earned, old.adjusted_by) == (1, 10.0, -1.0)
    assert (new.attempt, new.earned, new.adjusted_by) == (1, 5.0, 0.0)
    with pytest.raises(UsageError, match="no grade rename of Ada to undo"):
        run_grade("rename", out, "Ada", "--undo")


def test_a_submission_does_not_become_another_students_by_a_typing_error(desk: Desk) -> None:
    """Both are named, nothing changes, and --merge does what the message says."""
    out = desk("plain")
    before = marks(out)
    said = rf"both {ADA} and {BEN}, so nothing was renamed.*rename {out} '{ADA}' '{BEN}' --merge"
    with pytest.raises(UsageError, match=said):
        run_grade("rename", out, ADA, BEN)
    assert marks(out) == before
    assert f"{ADA} is now part of {BEN}" in run_grade("rename", out, ADA, BEN, "--merge")
    assert marks(out)[ADA]["state"] == "missing"  # she is on the roster
    run_grade("rename", out, BEN, "--undo")
    assert marks(out) == before


def test_a_student_who_is_missing_gets_the_submission_that_is_given_their_name(
    desk: Desk, tmp_path: Path
) -> None:
    """They keep the roster's id and time, by which they had handed in. The next run leaves it so,
    and --undo ends it.
    """
    roster = tmp_path / "names.csv"
    files: Students = {"zz1": {"tiny.py": "POINTS = 5\n"}, "zz2": {"other.txt": "POINTS = 10\n"}}
    place = write_class("plain", tmp_path / "class", files)
    roster.write_text("name,sid,submitted_at\nCy Young,7,2026-03-01T11:00Z\nDi Xu,8,\n")

    def rows() -> dict[str, tuple[str, ...]]:
        shown = itemgetter("state", "ids", "earned", "score")
        return {name: shown(row) for name, row in marks(out).items()}

    out = desk("plain", place=place, roster=roster)
    before = rows()
    assert before["Cy Young"] == ("problem", "sid=7", "", "")
    run_grade("rename", out, "zz1", "Cy Young")
    run_grade("rename", out, "zz2", "Di Xu")
    wanted = {"Cy Young": ("graded", "sid=7", "5.0", "4.0"), "Di Xu": ("problem", "sid=8", "", "")}
    assert rows() == wanted
    desk("plain", place=place, roster=roster)
    assert rows() == wanted
    for name in ("Cy Young", "Di Xu"):
        run_grade("rename", out, name, "--undo")
    assert rows() == before
    desk("plain", place=place, roster=roster)
    assert rows() == before


def test_of_two_renames_the_later_is_undone_first(desk: Desk) -> None:
    """Otherwise the submission would be in the gradebook twice."""
    out = desk("plain")
    before = marks(out)
    run_grade("rename", out, ADA, "Ada")
    run_grade("rename", out, "Ada", "Ada L")
    with pytest.raises(UsageError, match=r"changed again: Ada → Ada L\. Undo that first"):
        run_grade("rename", out, "Ada", "--undo")
    run_grade("rename", out, "Ada L", "--undo")
    run_grade("rename", out, "Ada", "--undo")
    assert marks(out) == before


def test_a_renamed_folder_does_not_come_back_under_its_old_name(desk: Desk, tmp_path: Path) -> None:
    """A submission that comes under the new name as well is another one."""
    out = desk("plain")
    run_grade("rename", out, ADA, "Ada")
    run_grade("rename", out, "Ada", "Ada L")
    desk("plain", place=tmp_path / "class")
    with Gradebook.open(out) as book:
        assert book.names() == {*NAMES[1:SMALL], "Ada L"}
        assert book.entry("Ada L").attempt == 1
    (tmp_path / "class" / "Ada L").mkdir()
    (tmp_path / "class" / "Ada L" / "tiny.py").write_text("POINTS = 5\n")
    desk("plain", place=tmp_path / "class")
    with Gradebook.open(out) as book:
        assert book.names() == {*NAMES[1:SMALL], "Ada L", "Ada L-2"}
        assert [book.entry(name).earned for name in ("Ada L", "Ada L-2")] == [10.0, 5.0]
