"""The gradebook's file: who may open it, what it refuses and why, and what it keeps for ever."""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType

import pytest
from factories.gradebook import make_check, make_lesson, make_report

from grader.classroom.gradebook.entry import Adjustment, CheckColumn, LessonColumn
from grader.classroom.gradebook.migrations import STEPS, migrate
from grader.classroom.gradebook.store import DATABASE, Gradebook, GradingKey
from grader.classroom.imports.entries import StudentIdentity, Submission
from grader.cli.gradebook import change_score
from grader.core.errors import UsageError
from grader.core.report import Outcome, Report
from grader.core.text import now

KEY = GradingKey("d1", "c1", "0", "e1", "2.0", "auto", "en", "tiny")


DOUBLE = CheckColumn("tiny.double", "doubles", 3.0, False, False)
TINY = LessonColumn("tiny", "Tiny", 3.0, 0.0, (DOUBLE,))


def report(name: str, outcome: Outcome = Outcome.PASSED) -> Report:
    """Return a report of one lesson with one check of three points."""
    mistake = ("squares", "x is squared") if outcome is Outcome.FAILED else (None, None)
    diagnosis, title = mistake
    check = make_check(DOUBLE, outcome, seed=9, diagnosis=diagnosis, diagnosis_title=title)
    return make_report(name, [make_lesson(TINY, [check])], seconds=0.5)


def new_gradebook(folder: Path) -> Gradebook:
    """Make a new gradebook of one lesson."""
    book = Gradebook.open(folder, create=True)
    book.set_secret(1)
    book.set_class({"course_hash": "c1", "lang": "en", "lessons": '[["tiny", "Tiny", 10.0]]'})
    return book


def handed(name: str, student: StudentIdentity, *, late: bool = False) -> Submission:
    return Submission(name, (student,), lambda lessons: {}, late)


def grade(
    book: Gradebook,
    name: str,
    outcome: Outcome = Outcome.PASSED,
    *,
    person: str = "",
    ids: Mapping[str, str] = MappingProxyType({"sid": "1"}),
) -> None:
    """Record one graded submission."""
    owner = handed(name, StudentIdentity(person or name.title(), dict(ids)))
    seen = book.seen(owner, KEY, {})
    book.keep(owner, book.begin("plan"), KEY, report(name, outcome), [], seen)


# ----------------------------------------------------------------------------------------- its file


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    with new_gradebook(tmp_path) as book:
        grade(book, "zoe")
        grade(book, "al")
        mia = handed("mia", StudentIdentity("Mia"), late=True)
        book.keep_problem(mia, book.begin("plan"), "broken zip", fault=False)
    with Gradebook.open(tmp_path) as book:
        assert next(book.entries()).name == "al"  # they are read one at a time
        entries = list(book.entries())
        assert [entry.name for entry in entries] == ["al", "mia", "zoe"]
        assert entries[0].report == report("al")
        assert entries[0].students == (StudentIdentity("Al", {"sid": "1"}),)
        problem = entries[1]
        assert (problem.report, problem.problem, problem.late) == (None, "broken zip", True)
        assert book.columns() == (TINY,)


def test_a_gradebook_of_a_newer_version_is_refused_with_a_remedy(tmp_path: Path) -> None:
    new_gradebook(tmp_path).db.close()
    with contextlib.closing(sqlite3.connect(tmp_path / DATABASE)) as db:
        db.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(UsageError, match=r"newer gradlings.*Upgrade"):
        Gradebook.open(tmp_path)


def test_a_gradebook_of_an_older_version_is_brought_up_to_date_and_loses_nothing(
    tmp_path: Path,
) -> None:
    step = "ALTER TABLE assignments ADD COLUMN motto TEXT NOT NULL DEFAULT 'sapere aude'"
    with new_gradebook(tmp_path) as book:
        grade(book, "al")
        migrate(book.db, "grades.sqlite", (*STEPS, step))
        assert book.about("motto") == "sapere aude"
        assert [entry.name for entry in book.entries()] == ["al"]


def test_a_step_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    step = "CREATE TABLE half (x); ALTER TABLE nothing ADD COLUMN y"
    with new_gradebook(tmp_path) as book:
        with pytest.raises(sqlite3.OperationalError):
            migrate(book.db, "grades.sqlite", (*STEPS, step))
        book.db.rollback()
        assert book.db.execute("PRAGMA user_version").fetchone() == (len(STEPS),)
        half = "SELECT count(*) FROM sqlite_master WHERE name = 'half'"
        assert book.db.execute(half).fetchone() == (0,)


def test_what_is_no_gradebook_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no gradebook"):
        Gradebook.open(tmp_path)
    path = tmp_path / DATABASE
    path.write_bytes(b"not a database, but long enough to be read as the head of one" * 9)
    with pytest.raises(UsageError, match="damaged"):
        Gradebook.open(tmp_path)
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE photos (x)")
    with pytest.raises(UsageError, match="not a gradebook"):
        Gradebook.open(tmp_path, create=True)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="file"):
        Gradebook.open(tmp_path / "file" / "out", create=True)
    with new_gradebook(tmp_path) as book:
        book.db.execute("PRAGMA query_only = 1")
        with pytest.raises(UsageError, match=r"can't be written.*--out"), book:
            grade(book, "al")


def test_a_full_disk_is_said_and_what_was_committed_stays(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"disk is full.*kept"), new_gradebook(tmp_path) as book:
        grade(book, "al")
        (pages,) = book.db.execute("PRAGMA page_count").fetchone()
        book.db.execute(f"PRAGMA max_page_count = {pages}")
        for number in range(100):
            grade(book, f"student{number}")
    with Gradebook.open(tmp_path) as book:
        assert "al" in {entry.name for entry in book.entries()}
        assert book.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_result_is_kept_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with new_gradebook(tmp_path) as book:
        monkeypatch.setattr(Gradebook, "_keep_results", staticmethod(cut))
        with pytest.raises(KeyboardInterrupt):
            grade(book, "al")
        assert list(book.entries()) == []


def test_commits_wait_for_the_disk(tmp_path: Path) -> None:
    """synchronous is 2 (FULL) in a process of its own, because ``conftest`` changes it in this one.
    The journal is SQLite's default, so the gradebook is one file that can be copied.
    """
    asked = (
        "from pathlib import Path; from grader.core.sqlite import connect;"
        f" db = connect(Path({str(tmp_path / DATABASE)!r}));"
        " print(*(db.execute(f'PRAGMA {one}').fetchone()[0] for one in"
        " ('synchronous', 'journal_mode')))"
    )
    words = [sys.executable, "-c", asked]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "2 delete\n"


# ------------------------------------------------------------------------------- attempts, mistakes


def test_an_attempt_is_found_by_everything_that_its_verdict_depends_on(tmp_path: Path) -> None:
    """An attempt that a grader fault spoilt is not found."""
    with new_gradebook(tmp_path) as book:
        grade(book, "al")
        assert book.find("al", KEY) is not None
        for field in fields(KEY):
            assert book.find("al", replace(KEY, **{field.name: "another"})) is None, field.name

        grade(book, "bo", Outcome.GRADER_ERROR)
        assert book.find("bo", KEY) is None


def test_a_new_secret_begins_a_run_and_leaves_earlier_attempts_alone(tmp_path: Path) -> None:
    """The same secret again changes nothing."""
    with new_gradebook(tmp_path) as book:
        grade(book, "al")
        first = book.begin("plan")
        seed = book.seed_of(first)
        book.set_secret(1)
        assert (book.begin("plan"), book.seed_of(first)) == (first, seed)
        assert book.find("al", KEY) is not None
        book.set_secret(2)
        assert book.find("al", KEY) is None
        second = book.begin("plan")
        assert second > first
        book.set_secret(2)
        assert book.begin("plan") == second


def test_a_run_that_graded_nothing_gives_its_number_back(tmp_path: Path) -> None:
    with new_gradebook(tmp_path) as book:
        empty = book.begin("plan")
        book.end(empty)
        assert book.begin("another") == empty
        grade(book, "al")
        book.end(book.begin("plan"))
        assert book.begin("plan") > empty


def test_a_run_that_did_not_end_is_gone_on_with_and_no_other(tmp_path: Path) -> None:
    with new_gradebook(tmp_path) as book:
        first = book.begin("plan")
        assert book.begin("plan") == first
        assert book.begin("another") != first
        book.end(book.begin("plan"))
        assert book.begin("plan") > first + 1


# -------------------------------------------------------------------------------------- adjustments


def test_an_adjustment_counts_everywhere_and_stays_when_graded_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with new_gradebook(tmp_path) as book:
        grade(book, "al", Outcome.FAILED)
    reason = "=explained it to me"
    change_score(tmp_path, "al", lesson="tiny", points=1.5, reason=reason, author="kim")
    with Gradebook.open(tmp_path) as book:
        grade(book, "al", Outcome.PASSED)
        entry = book.entry("al")
        assert (entry.score, entry.lesson_score("tiny"), entry.history) == (4.5, 4.5, (3.0,))
    said = capsys.readouterr().out
    assert "1.5 (earned 0, adjusted by +1.5)" in said
    page = (tmp_path / "reports" / "al.html").read_text("utf-8")
    assert "=explained it to me" in page
    assert "1.5 / 3" in page
    table = (tmp_path / "grades.csv").read_text("utf-8-sig")
    assert "explained it to me" in table
    assert not any(cell.startswith("=") for line in table.splitlines() for cell in line.split(","))
    assert "explained it to me" in (tmp_path / "results.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"points": 0.0}, "changes nothing"),
        ({"points": float("nan")}, "changes nothing"),
        ({"reason": "  "}, "reason"),
        ({"name": "all"}, "Did you mean al"),
        ({"lesson": "tyni"}, "Its lessons: tiny"),
    ],
)
def test_an_adjustment_that_makes_no_sense_is_refused(
    tmp_path: Path, options: dict[str, object], said: str
) -> None:
    with new_gradebook(tmp_path) as book:
        grade(book, "al")
    usual = {"name": "al", "points": 1.0, "reason": "why not", "lesson": None, "author": "kim"}
    with pytest.raises(UsageError, match=said):
        change_score(tmp_path, **(usual | options))  # type: ignore[arg-type]
    with Gradebook.open(tmp_path) as book:
        assert book.adjustments("al") == ()


def test_an_adjustment_takes_a_persons_name_unless_it_is_two_peoples(tmp_path: Path) -> None:
    """Instructors type names from the class page; a submission's own name takes precedence."""
    with new_gradebook(tmp_path) as book:
        people = {"kim-1": "Kim", "kim-2": "Kim", "lee": "Park", "park": "Lee"}
        for name, person in {"danobrien": "Dan O'Brien", **people}.items():
            grade(book, name, person=person)
        assert book.entry_of("Dan O'Brien").name == book.entry_of("danobrien").name == "danobrien"
        assert book.entry_of("lee").name == "lee"
        with pytest.raises(UsageError, match="fits several submissions: kim-1, kim-2"):
            book.entry_of("Kim")
        with pytest.raises(UsageError, match="Did you mean danobrien"):
            book.entry_of("dan obrian")


def test_a_name_of_a_submission_and_of_another_student_is_not_guessed(tmp_path: Path) -> None:
    with new_gradebook(tmp_path) as book:
        for name, number in (("Kim, Jiwoo", "10010"), ("kimjiwoo", "10009")):
            grade(book, name, person="Kim, Jiwoo", ids={"canvas_id": number})
        for called, other in (("Kim, Jiwoo", "kimjiwoo"), ("kimjiwoo", "Kim, Jiwoo")):
            with pytest.raises(UsageError, match=f"who handed in {other}"):
                book.entry_of(called)
        assert book.entry_of("10009").name == "kimjiwoo"
        assert book.entry_of("10010").name == "Kim, Jiwoo"


def test_a_score_above_full_marks_is_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with new_gradebook(tmp_path) as book:
        grade(book, "al", Outcome.PASSED)
    change_score(tmp_path, "al", lesson=None, points=0.5, reason="why not", author="kim")
    assert "more than full marks" in capsys.readouterr().out
    change_score(tmp_path, "al", lesson=None, points=-0.5, reason="opposite sign", author="kim")
    assert "more than full marks" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "statement", ["DELETE FROM adjustments", "UPDATE adjustments SET points = 100"]
)
def test_the_audit_trail_can_only_grow(tmp_path: Path, statement: str) -> None:
    with new_gradebook(tmp_path) as book:
        grade(book, "al")
        book.adjust("al", Adjustment(1.0, "why", "kim", now()))
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            book.db.execute(statement)
        assert len(book.adjustments("al")) == 1


def test_steps_that_were_released_are_never_edited() -> None:
    """A change of the tables is a new step at the end. Comments and line breaks do not count."""
    steps = [" ".join(re.sub(r"--.*", "", step).split()) for step in STEPS]
    digests = [hashlib.sha256(step.encode()).hexdigest()[:12] for step in steps]
    assert digests == [
        "575af46bf507",
        "4b546f3e50f3",
        "f228c3c0c6ee",
        "5d4f4884c696",
        "a32fd1cda1ad",
        "d50acccff14d",
        "bb58bd1fcd99",
        "45519f654df9",
        "084004d7dd67",
        "b25d392eb606",
        "9a91a031b930",
        "8c0c14215abf",
    ]
