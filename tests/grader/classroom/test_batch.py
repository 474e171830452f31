"""Grade a class: what is kept, what is not graded again, and that a bad submission affects no
other.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import io
import json
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from batch_process import stable_files
from factories.gradebook import make_report
from factories.long_texts import notebook

import grader
from grader.classroom.batch import with_check, write_page
from grader.classroom.gradebook.entry import LessonColumn
from grader.classroom.gradebook.migrations import STEPS, migrate
from grader.classroom.gradebook.store import DATABASE, Gradebook, batch_lock
from grader.cli import batch_screen
from grader.cli.batch import BatchOptions, grade_class
from grader.cli.gradebook import change_score, list_adjustments
from grader.core.errors import CourseError, EngineFault, ExitCode, SandboxRefused, UsageError
from grader.core.files import PACKAGE, engine_hash
from grader.core.messages import JudgeResult, Task
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.course.course import Course, Lesson, load_course
from grader.course.stubs import without_markers
from grader.judge.random_inputs import check_seed
from grader.judge.remote.workers import REFUSED
from grader.render.page import render_page
from grader.runtime import pool
from grader.runtime.client import ForkServerClient
from grader.runtime.pool import JOBS_PER_HOST, HostPool, map_unordered

pytestmark = pytest.mark.fork

REST = "def triple(x): return 3 * x\nLIMIT = 20.0\n"
RIGHT = "def double(x): return 2 * x\n" + REST
WRONG = "def double(x): return x * x\n" + REST
CLASS = {
    "alice": {"tiny.py": RIGHT},
    "bob": {"tiny.py": WRONG},
    "carol": {"tiny.py": "def double(x: return 2 * x\n"},
    "dora": {"notes.txt": "later"},
}


class RunStopped(BaseException):
    """The run ends here."""


@dataclass
class CountingHost:
    """The tests' host, which stays open. It counts gradings of submissions, and apart from them
    those of references. ``before`` can fail; after ``cut_after`` submissions the run is stopped.
    """

    host: ForkServerClient
    references: list[int] = field(default_factory=list)
    """The seeds from which references were graded."""
    graded: list[str] = field(default_factory=list)
    closed: int = 0
    before: Callable[[Task], None] = lambda task: None
    cut_after: int | None = None

    def judge(self, lesson: Lesson, task: Task) -> JudgeResult:
        if task.source == without_markers(lesson.solution.read_text("utf-8")):
            self.references.append(task.settings.seed)
            return self.host.judge(lesson, task)
        if len(self.graded) == self.cut_after:
            raise RunStopped
        self.before(task)
        self.graded.append(task.source)
        return self.host.judge(lesson, task)

    def close(self) -> None:
        self.closed += 1


class SmallBatch:
    """A class in ``place``, which a call grades into ``out`` with the options given."""

    def __init__(
        self, folder: Path, course: Course, host: CountingHost, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder, self.course, self.host, self.capsys = folder, course, host, capsys
        self.place, self.out = folder / "class", folder / "out"
        for name, files in CLASS.items():
            for file, text in files.items():
                self.hand_in(name, text, file)

    def __call__(self, course: Course | None = None, **options: Any) -> ExitCode:
        self.host.graded.clear()
        usual = {"sandbox": "auto", "lang": "en", "seed": 5, "out": self.out, "place": self.place}
        wanted = BatchOptions(**{**usual, **options})
        return grade_class(course or self.course, wanted, make_host=lambda: self.host)  # type: ignore[arg-type, return-value]

    def hand_in(self, name: str, text: str, file: str = "tiny.py") -> None:
        (self.place / name).mkdir(parents=True, exist_ok=True)
        (self.place / name / file).write_text(text)

    def printed(self) -> str:
        """Return what was printed since the last call."""
        return "".join(self.capsys.readouterr())

    def count(self, table: str) -> int:
        """Return how many rows of a table are on disk."""
        with contextlib.closing(sqlite3.connect(self.out / DATABASE)) as other:
            (count,) = other.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)

    def columns(self) -> Sequence[LessonColumn]:
        with Gradebook.open(self.out) as book:
            return book.columns()

    def rows(self, out: Path | None = None) -> dict[str, dict[str, str]]:
        """Return ``grades.csv`` by submission."""
        text = ((out or self.out) / "grades.csv").read_text("utf-8-sig")
        return {row["submission"]: row for row in csv.DictReader(io.StringIO(text))}

    def results(self, out: Path | None = None) -> dict[str, dict[str, Any]]:
        """Return ``results.json`` by submission."""
        entries = json.loads(((out or self.out) / "results.json").read_text("utf-8"))
        return {one["submission"]: one for one in entries}

    def seeds(self, out: Path | None = None) -> dict[str, int]:
        """Return the seed of each submission with a report."""
        return {name: one["seed"] for name, one in self.results(out).items() if "seed" in one}

    def page(self, name: str) -> Path:
        return self.out / "reports" / f"{name}.html"


def by_check(report: dict[str, Any], key: str) -> dict[str, Any]:
    return {check["id"]: check[key] for check in report["lessons"][0]["checks"]}


@pytest.fixture
def batch(
    tmp_path: Path, small_course: Course, host: ForkServerClient, capsys: pytest.CaptureFixture[str]
) -> SmallBatch:
    return SmallBatch(tmp_path, small_course, CountingHost(host), capsys)


@contextlib.contextmanager
def other_engine(folder: Path) -> Iterator[None]:
    """Install a copy of the engine with one more line."""
    skipped = shutil.ignore_patterns("__pycache__", "_course")
    copy = Path(shutil.copytree(PACKAGE, folder / "engine" / "grader", ignore=skipped))
    with (copy / "core" / "report.py").open("a", encoding="utf-8") as stream:
        stream.write("HALF = 0.5\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("grader.core.files.PACKAGE", copy)
        engine_hash.cache_clear()
        yield
    engine_hash.cache_clear()


def test_results_count_as_done_only_after_their_commit(
    batch: SmallBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results are committed together or after a while; no result is counted before its commit."""
    monkeypatch.setattr("grader.classroom.batch.GROUP", 2)
    monkeypatch.setattr("grader.classroom.batch.GROUP_SECONDS", 1000.0)
    counts: list[tuple[int, int]] = []

    def told(_: object, done: int) -> None:
        counts.append((done, batch.count("submissions")))

    monkeypatch.setattr("grader.cli.batch_screen.Meter.update", told)
    assert batch() is ExitCode.OK
    assert [done for done, _ in counts] == sorted({done for done, _ in counts})
    assert counts[-1][0] == len(CLASS)
    assert all(kept >= done for done, kept in counts)
    assert len(counts) == 3  # who handed no lesson in, two together, and one that was left


def test_a_result_does_not_wait_long_for_others(
    batch: SmallBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the second submission is graded, the first is already on disk."""
    monkeypatch.setattr("grader.classroom.batch.GROUP_SECONDS", 0.0)
    monkeypatch.setattr("grader.runtime.pool.POLL_SECONDS", 0.01)
    seen: list[int] = []

    def look(task: Task) -> None:
        deadline = time.monotonic() + 30
        wanted = len(batch.host.graded)
        while batch.count("gradings") < wanted and time.monotonic() < deadline:
            time.sleep(0.01)
        seen.append(batch.count("gradings") - wanted)

    batch.host.before = look
    assert batch() is ExitCode.OK
    assert seen == [0, 0, 0]


# ------------------------------------------------------------------------------------- what is left


def test_a_bad_submission_is_a_row_that_says_why_and_the_others_are_graded(
    batch: SmallBatch,
) -> None:
    (batch.place / "erin.zip").write_bytes(b"PK\3\4 cut off")
    assert batch() is ExitCode.OK
    rows = batch.rows()
    scores = {"alice": "10.0", "bob": "5.0", "carol": "0.0", "dora": "", "erin": ""}
    assert [(name, row["score"]) for name, row in rows.items()] == [*scores.items()]
    assert rows["carol"]["remarks"].startswith("tiny could not be loaded: SyntaxError")
    assert "tiny.py" in rows["dora"]["remarks"]
    assert "zip" in rows["erin"]["remarks"]
    pages = {path.stem for path in (batch.out / "reports").iterdir()}
    assert pages == {"alice", "bob", "carol"}


def test_a_run_ends_with_whom_to_look_at(
    batch: SmallBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the students: handed in nothing, not loaded, flagged, not graded. Each is a line,
    however narrow the terminal is.
    """
    monkeypatch.setenv("COLUMNS", "30")
    batch.hand_in("bob", "import os\ndef double(x): return os.fork() or x\n" + REST)
    (batch.folder / "roster.csv").write_text(
        "name,username\nCarol White,carol\nDora Day,dora\nZoe Absent,zoe\n"
    )
    batch(roster=batch.folder / "roster.csv")
    said = batch.printed().splitlines()
    why = "no lesson file found; expected tiny.py. Not graded: notes.txt"
    assert f"not graded: Dora Day (dora): {why}" in said
    assert "handed in nothing: Zoe Absent" in said
    assert "a file could not be loaded: Carol White" in said
    assert "flagged, for a person to check: bob" in said


def test_each_submission_is_counted_once_while_the_class_is_graded(
    batch: SmallBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that are not graded again: by the count, the run knows whether it is complete."""
    monkeypatch.setattr(batch_screen, "LOG_SECONDS", 0.0)
    for _ in ("graded", "unchanged"):
        batch()
        counts = [int(count) for count in re.findall(r"(\d+) of 4 done", batch.printed())]
        assert counts[-1] == len(batch.rows()) == 4
    assert counts == [1, 2, 3, 4]


def test_a_run_ends_with_what_to_reteach(batch: SmallBatch) -> None:
    """As the class page does: what two made, unless the check that shows it may be wrong itself."""
    one_less = RIGHT.replace("20.0", "19.0")
    for name in ("alice", "bob"):
        batch.hand_in(name, one_less)
    batch.hand_in("erin", RIGHT)
    batch()
    said = batch.printed().splitlines()
    assert said[said.index("what to reteach:") + 1].split() == ["2", "tiny:", "one", "too", "few"]
    for name in ("carol", "dora", "erin"):
        batch.hand_in(name, one_less)
    batch()
    assert "what to reteach:" not in batch.printed().splitlines()


def test_the_mean_leaves_out_a_file_that_was_not_graded_because_of_its_name(
    batch: SmallBatch,
) -> None:
    batch.hand_in("erin", "x = 1\n", "Tiny.py")
    batch()
    assert "mean 5 of 10" in batch.printed().splitlines()
    list_adjustments(batch.out, "erin")
    assert "erin: no score yet (earned 0, adjusted by +0)" in batch.printed()


def test_files_that_were_not_graded_are_named_wherever_one_looks(batch: SmallBatch) -> None:
    """On the terminal, on the class page, in the remarks that exports have, and flagged."""
    batch.hand_in("erin", RIGHT, "20261234_tiny.py")
    batch.hand_in("alice", "x = 1\n", "tiny_old.py")
    assert batch() is ExitCode.OK
    said = batch.printed().splitlines()
    not_called = "is not called tiny.py, so it was not graded. Hand it in under that name"
    not_graded = "was not graded, because tiny.py was, as tiny"
    files = {"erin/20261234_tiny.py": not_called, "alice/tiny_old.py": not_graded}
    page = (batch.out / "class.html").read_text("utf-8")
    for path, reason in files.items():
        assert f"ignored: {path} {reason}" in said
        assert f"<b>{path}</b> {reason}" in page
    assert "flagged, for a person to check: alice, erin" in said
    rows = batch.rows()
    assert [rows[name]["score"] for name in ("alice", "erin")] == ["10.0", ""]
    assert rows["alice"]["remarks"] == "tiny: tiny.py was graded, not tiny_old.py"
    assert rows["erin"]["remarks"] == f"tiny: 20261234_tiny.py {not_called}"
    assert batch(accept_near_names=True) is ExitCode.OK
    assert batch.rows()["erin"]["score"] == "10.0"


def test_two_canvas_files_of_one_attempt_that_differ_have_no_mark(batch: SmallBatch) -> None:
    place = batch.folder / "canvas"
    place.mkdir()
    texts = {"doe_1_5_tiny.py": RIGHT, "doe_1_9_tiny-1.py": WRONG}
    for name, text in {**texts, "roe_2_6_tiny.py": RIGHT, "roe_2_8_tiny-1.py": RIGHT}.items():
        (place / name).write_text(text)
    batch(place=place)
    said, rows = batch.printed(), batch.rows()
    assert "newer" not in said
    assert "flagged, for a person to check: doe" in said
    assert {name: row["score"] for name, row in rows.items()} == {"doe": "", "roe": "10.0"}
    assert "doe_1_5_tiny.py and doe_1_9_tiny-1.py may both be" in rows["doe"]["remarks"]


def test_results_are_reports_without_times_and_with_what_the_gradebook_knows(
    batch: SmallBatch,
) -> None:
    """With its times added again, each is valid against the report's schema."""
    batch()
    schema = json.loads(
        (Path(grader.__file__).parent / "core" / "report.schema.json").read_text("utf-8")
    )
    for name in ("alice", "bob", "carol"):
        data = batch.results()[name]
        known = data.pop("gradebook")
        assert '"seconds"' not in json.dumps(data)
        jsonschema.validate(json.loads(json.dumps(Report.from_json(data).as_json())), schema)
        assert known["score"] == data["score"]
        assert known["students"] == [{"name": name, "ids": {}, "details": {}}]
    assert set(batch.results()["dora"]) == {"submission", "gradebook"}


def test_the_gradebook_has_results_by_check_and_what_was_graded(batch: SmallBatch) -> None:
    batch()
    with Gradebook.open(batch.out) as book:
        query = (
            "SELECT s.name, r.outcome, r.diagnosis FROM submissions s JOIN attempts a ON a.id ="
            " s.attempt JOIN results r ON r.grading = a.grading WHERE r.check_id = 'tiny.double'"
        )
        found = {name: rest for name, *rest in book.db.execute(query)}
        assert {name: text for name, _, text in book.texts("tiny")}["bob"] == WRONG
    assert found["alice"] == ["passed", None]
    assert found["bob"] == ["failed", "squares"]


# -------------------------------------------------------------------------------------------- seeds


def test_a_seed_depends_on_the_secret_and_is_one_for_a_run(batch: SmallBatch) -> None:
    """Without a number the secret is random, so nobody knows a seed beforehand. The references are
    graded from it first, so a right answer passes from it.
    """
    seeds = []
    for out, seed in (("a", 5), ("b", 5), ("c", 6), ("d", None), ("e", None)):
        batch(out=batch.folder / out, seed=seed)
        (one,) = set(batch.seeds(batch.folder / out).values())
        seeds.append(one)
    assert seeds[0] == seeds[1]
    assert len(set(seeds[1:])) == 4
    assert batch.host.references == seeds


def test_copies_that_differ_in_a_comment_get_equal_inputs_and_marks(batch: SmallBatch) -> None:
    """The answer is wrong for about half of all seeds."""
    for number in range(6):
        lucky = f"# {number}\ndef double(x): return 2 * x if x.flatten()[0] > 0 else x\n"
        batch.hand_in(f"copy{number}", lucky + REST)
    batch(seed=None)
    found = [one for name, one in batch.results().items() if "copy" in name]
    assert len(found) == 6
    for key in ("seed", "outcome", "points", "inputs", "actual"):
        assert len({json.dumps(by_check(one, key)) for one in found}) == 1


def test_a_later_run_has_another_seed_and_keeps_those_of_earlier_ones(batch: SmallBatch) -> None:
    """A run that grades nothing has none, so it does not matter how often the command was typed."""
    for out, empty_runs in (("once", 0), ("often", 3)):
        batch(out=batch.folder / out)
        first = batch.seeds(batch.folder / out)
        for _ in range(empty_runs):
            batch(out=batch.folder / out)
        batch.hand_in("late", WRONG)
        batch(out=batch.folder / out)
        assert batch.host.graded == [WRONG]
        shutil.rmtree(batch.place / "late")
        second = batch.seeds(batch.folder / out)
        assert {**second, **first} == second
        assert second["late"] not in first.values()
    assert stable_files(batch.folder / "once") == stable_files(batch.folder / "often")
    batch(out=batch.folder / "once", regrade=True)
    (third,) = {seed for name, seed in batch.seeds(batch.folder / "once").items() if name != "late"}
    assert third not in second.values()


def test_a_run_that_was_cut_keeps_its_seed_until_all_is_graded(batch: SmallBatch) -> None:
    """The number of a run is on disk before the first submission is graded."""
    for so_many in (0, 1, 1):
        batch.host.cut_after = so_many
        with pytest.raises(RunStopped):
            batch(seed=None)
    batch.host.cut_after = None
    batch(seed=None)
    assert len(set(batch.seeds().values())) == 1


def test_an_old_gradebook_keeps_the_seeds_of_what_it_graded(batch: SmallBatch) -> None:
    """There each submission had its own. A new way to make seeds grades nothing again."""
    batch()
    with Gradebook.open(batch.out) as book:
        query = "UPDATE gradings SET seed = id, report = json_set(report, '$.seed', id)"
        book.db.execute(query)
    as_of_format(3, batch.out / DATABASE, engine_known=True)
    batch(seed=None)
    assert batch.host.graded == []
    assert sorted(batch.seeds().values()) == [1, 2, 3]
    batch(regrade=True, check="tiny.double")
    assert sorted(batch.seeds().values()) == [1, 2, 3]


def test_a_check_is_graded_from_the_seed_that_grade_would_make_of_the_submissions(
    batch: SmallBatch,
) -> None:
    batch()
    bob = batch.results()["bob"]
    for check, seed in by_check(bob, "seed").items():
        assert seed == check_seed(bob["seed"], check)


# ------------------------------------------------------------------------ graded once, graded again


@pytest.mark.parametrize("seed", [5, None])
def test_what_was_graded_is_not_graded_again(batch: SmallBatch, seed: int | None) -> None:
    """Nor is the reference. The secret stays the same without a number, and a page that was deleted
    comes back.
    """
    batch(seed=seed)
    before, page = stable_files(batch.out), batch.page("bob").read_text("utf-8")
    assert (len(batch.host.graded), len(batch.host.references)) == (3, 1)
    batch.page("bob").unlink()
    batch(seed=seed)
    assert (len(batch.host.graded), len(batch.host.references)) == (0, 1)
    assert (stable_files(batch.out), batch.page("bob").read_text("utf-8")) == (before, page)


def test_a_new_submission_is_graded_alone(batch: SmallBatch) -> None:
    """Its old score is shown beside the new one."""
    batch()
    batch.hand_in("bob", RIGHT)
    batch()
    assert batch.host.graded == [RIGHT]
    assert re.search(r"bob +5 +10 +attempt 2 counts; tiny\.double failed → passed", batch.printed())
    assert batch.results()["bob"]["gradebook"]["attempt"] == 2


@pytest.mark.parametrize(
    "option", [{"seed": 6}, {"lang": "ko"}, {"sandbox": "off"}, {"regrade": True}]
)
def test_another_way_of_grading_grades_again(batch: SmallBatch, option: dict[str, Any]) -> None:
    batch()
    batch(**option)
    assert len(batch.host.graded) == 3


def test_a_grade_that_was_there_before_comes_back_without_grading(batch: SmallBatch) -> None:
    """If a resubmission is withdrawn, columns and scores are as they were before it."""
    batch()
    batch.hand_in("bob", RIGHT)
    batch()
    batch.hand_in("bob", WRONG)
    batch()
    assert batch.host.graded == []
    assert batch.rows()["bob"]["score"] == "5.0"


def test_a_course_that_changed_grades_again_and_shows_old_beside_new(batch: SmallBatch) -> None:
    batch()
    batch(course=changed(batch.course, batch.folder / "course"))
    assert len(batch.host.graded) == 3
    assert "bob" in batch.printed().split("1 changed")[0]


def test_what_another_engine_graded_is_graded_again(
    batch: SmallBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its wrong points are replaced, in the columns too; its attempts stay."""
    with other_engine(batch.folder), monkeypatch.context() as wrong:
        wrong.setattr(batch.host, "judge", halved(batch.host.judge))
        batch()
        assert [column.max_score for column in batch.columns()] == [5.0]
    batch()
    assert len(batch.host.graded) == 3
    assert batch.rows()["alice"]["score"] == "10.0"
    assert [column.max_score for column in batch.columns()] == [10.0]
    assert batch.results()["alice"]["gradebook"]["attempt"] == 2


def test_what_another_torch_graded_is_graded_again(
    batch: SmallBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other:
        for module in ("classroom.batch", "runtime.grading"):
            other.setattr(f"grader.{module}.torch_version", lambda: "2.0")
        batch()
    batch()
    assert len(batch.host.graded) == 3


def test_a_gradebook_of_the_previous_format_is_graded_again_and_loses_nothing(
    batch: SmallBatch,
) -> None:
    batch()
    as_of_format(1, batch.out / DATABASE)
    change_score(batch.out, "bob", lesson="tiny", points=1.5, reason="why", author="kim")
    with Gradebook.open(batch.out) as book:
        before = book.db.execute("SELECT id, digest, score FROM gradings ORDER BY id").fetchall()
        assert len(before) == 3
        assert [entry.name for entry in book.entries()] == sorted(CLASS)
        report = book.entry("bob").report
        assert report and (report.score, report.engine_hash) == (5.0, "")
    batch()
    assert len(batch.host.graded) == 3
    with Gradebook.open(batch.out) as book:
        after = book.db.execute("SELECT id, digest, score FROM gradings ORDER BY id").fetchall()
        assert after[:3] == before and len(after) == 6
        entry = book.entry("bob")
        assert (entry.score, entry.attempt, len(entry.adjustments)) == (6.5, 2, 1)
    batch()
    assert batch.host.graded == []


def halved(judge: Callable[..., JudgeResult]) -> Callable[..., JudgeResult]:
    """Return a judge that gives half the points."""

    def judge_wrongly(*task: Any) -> JudgeResult:
        result = judge(*task)
        checks = (
            replace(check, points=check.points / 2, max_points=check.max_points / 2)
            for check in result.checks
        )
        return replace(result, checks=tuple(checks))

    return judge_wrongly


FORMAT_4 = {
    "class": "SELECT a.*, 1 AS one, t.secret, t.first_run FROM newer.term t, newer.assignments a",
    "submissions": "SELECT s.name, (SELECT json_group_array(json_array(value ->> 0, value -> 1,"
    " value -> 2)) FROM json_each(s.students)) AS students, coalesce(t.late, 0) AS late, s.missing,"
    " t.problem, coalesce(t.fault, 0) AS fault, t.grading AS current, t.handed_in,"
    " coalesce(t.came_as, '') AS came_as, s.forgotten FROM newer.submissions s LEFT JOIN"
    " newer.attempts t ON t.id = s.attempt",
    "attempts": "SELECT g.*, s.name AS submission, NULL AS replaced FROM newer.gradings g JOIN"
    " newer.attempts t ON t.id = g.attempt JOIN newer.submissions s ON s.id = t.submission",
    "results": "SELECT grading AS attempt, * FROM newer.results",
    "roster": "SELECT l.line, p.name, p.ids, l.details FROM newer.listed l JOIN newer.people p ON"
    " p.id = l.person",
    "adjustments": "SELECT a.id, s.name AS submission, lesson, points, reason, author, made_at FROM"
    " newer.adjustments a JOIN newer.submissions s ON s.id = a.submission",
    "comments": "SELECT c.*, s.name AS submission FROM newer.comments c JOIN newer.submissions s ON"
    " s.id = c.submission",
    "trail": "SELECT *, name AS submission FROM newer.trail",
}
"""The tables of format 4, from those of the present one."""


def as_of_format(version: int, path: Path, *, engine_known: bool = False) -> None:
    """Write a gradebook again as an older version would have, by that version's own steps; its
    reports do not name their engine unless it is ``engine_known``.
    """
    newer = path.with_suffix(".newer")
    path.rename(newer)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, str(path), STEPS[:version])
        db.execute("ATTACH ? AS newer", [str(newer)])
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            names = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})")]
            listed = ", ".join(f'"{name}"' for name in names)
            rows = FORMAT_4.get(table, f"SELECT * FROM newer.{table}")
            db.execute(f"INSERT INTO {table} ({listed}) SELECT {listed} FROM ({rows})")
        for key in () if engine_known else ("engine_hash", "torch_version"):
            db.execute(f"UPDATE attempts SET report = json_remove(report, '$.{key}')")
    newer.unlink()


def changed(course: Course, target: Path) -> Course:
    """Return the course with a check of ``double`` that passes everything."""
    shutil.copytree(course.root, target)
    file = target / "tests" / "checks" / "tiny" / "test_visible.py"
    text = file.read_text().replace(
        'assert_tensor(student.double(x), 2 * x, "{x} was not doubled", inputs={"x": x})',
        "student.double(x)",
    )
    file.write_text(text)
    return load_course(target)


def test_one_check_graded_again_replaces_its_result_and_no_other(batch: SmallBatch) -> None:
    """Checks that wait for it come with it, and no flag; the page says what changed."""
    batch()
    before = batch.results()["bob"]
    course = changed(batch.course, batch.folder / "course")
    batch(course=course, regrade=True, check="tiny.double", seed=6)
    after = batch.results()["bob"]
    again = {"tiny.double": "passed", "tiny.gradient_of_double": "failed"}
    wanted = by_check(before, "outcome") | again
    assert by_check(before, "outcome")["tiny.gradient_of_double"] == "skipped"
    assert by_check(after, "outcome") == wanted
    assert (before["score"], after["score"]) == (5.0, 8.0)
    # The seed of the report still asks the same again.
    assert by_check(before, "seed") == by_check(after, "seed")
    assert after["flags"] == before["flags"]
    assert {one: bool(note) for one, note in by_check(after, "note").items()} == {
        one: one in again for one in wanted
    }
    sentence = "The check “double returns twice x” was corrected, and your work was graded again"
    assert sentence in batch.page("bob").read_text("utf-8")
    assert re.search(r"bob +5 +8 +graded again; tiny\.double failed → passed", batch.printed())
    assert [check.id for column in batch.columns() for check in column.checks] == [*wanted]


def test_with_one_check_a_lesson_that_could_not_be_judged_is_graded_again_whole() -> None:
    checks = (
        CheckResult("tiny.double", "", "double", Outcome.PASSED, 5.0, 5.0),
        CheckResult("tiny.triple", "", "triple", Outcome.FAILED, 0.0, 5.0),
    )
    judged = LessonResult("tiny", "", LessonStatus.FAILED, 5.0, 10.0, checks=checks)
    lost = replace(judged, status=LessonStatus.INVALID, score=0.0, checks=())
    for old, new in ((lost, judged), (judged, lost)):
        merged = with_check(make_report("bob", [old]), make_report("bob", [new]), "tiny.double")
        assert merged.lessons == (new,)


def test_a_check_graded_again_by_another_course_leaves_no_trace_in_the_next_run(
    batch: SmallBatch,
) -> None:
    """Neither course graded that mixture, so each finds, or makes, a grading of its own."""
    batch()
    course = changed(batch.course, batch.folder / "course")
    batch(course=course, regrade=True, check="tiny.double")
    assert batch.results()["bob"]["score"] == 8.0
    batch()
    assert batch.results()["bob"]["score"] == 5.0
    batch(course=course)
    graded = re.search(r"(\d) graded", batch.printed())
    assert graded is not None and int(graded[1]) > 0


def with_two_lessons(course: Course, folder: Path) -> Course:
    """Return a copy of the course with its lesson twice, the second time as ``other``."""
    root = Path(shutil.copytree(course.root, folder))
    for place in ("exercises", "tests/checks"):
        shutil.copytree(root / place / "tiny", root / place / "other")
    shutil.move(root / "exercises/other/tiny.py", root / "exercises/other/other.py")
    shutil.copy(root / "solutions/tiny.py", root / "solutions/other.py")
    text = (root / "exercises/course.toml").read_text("utf-8")
    lesson = text[text.index("[[lesson]]") :].replace("tiny", "other")
    (root / "exercises/course.toml").write_text(f"{text}\n{lesson}", "utf-8")
    return load_course(root)


def test_of_a_lesson_that_is_not_assigned_only_a_changed_file_is_named(batch: SmallBatch) -> None:
    course = with_two_lessons(batch.course, batch.folder / "course")
    stub = course.lesson("other").stub_text
    for name, text in {"alice": stub, "bob": RIGHT}.items():
        batch.hand_in(name, RIGHT)
        batch.hand_in(name, text, "other.py")
    batch(course=course, lessons=("tiny",))
    page = (batch.out / "class.html").read_text("utf-8")
    assert "alice/other.py" not in page
    assert "<b>bob/other.py</b> does not have the name of an assigned lesson" in page


@pytest.mark.parametrize("first", [("other",), ("tiny", "other")])
def test_one_check_graded_again_keeps_the_points_of_lessons_not_named_again(
    batch: SmallBatch, first: tuple[str, ...]
) -> None:
    """--lessons may be left out or differ from the first time."""
    course = with_two_lessons(batch.course, batch.folder / "course")
    batch.hand_in("bob", RIGHT, "other.py")
    batch(course=course, lessons=first)
    before = batch.results()["bob"]
    batch(course=course, lessons=("tiny",), regrade=True, check="tiny.double")
    after = batch.results()["bob"]
    assert [lesson["id"] for lesson in after["lessons"]] == ["tiny", "other"]
    scores = [{one["id"]: one["score"] for one in run["lessons"]} for run in (before, after)]
    assert scores[1].items() >= scores[0].items()
    assert scores[0]["other"] == 10.0


def test_a_lesson_that_is_graded_no_longer_is_one_line_and_not_one_for_each_check(
    batch: SmallBatch,
) -> None:
    course = with_two_lessons(batch.course, batch.folder / "course")
    batch.hand_in("bob", RIGHT, "other.py")
    batch(course=course)
    batch(course=course, lessons=("tiny",))
    line = r"bob +15 +5 +graded again; other: \d+ checks passed →"
    assert re.search(line, batch.printed())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"check": "tiny.double"}, "--regrade"),
        ({"regrade": True, "check": "tiny.nothing"}, "tiny.nothing"),
        ({"regrade": True, "check": "tiny.doubel"}, r"Did you mean tiny\.double\?"),
        ({"regrade": True, "check": "double"}, r"LESSON\.NAME"),
        ({"regrade": True, "check": "tyni.double"}, "tiny"),
        ({"lessons": ("tyni",)}, "tiny"),
        ({"layout": "folders"}, "plain"),
    ],
)
def test_what_is_not_there_is_named(batch: SmallBatch, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        batch(**options)


# ------------------------------------------------------------------------------------ interruptions


@pytest.mark.parametrize("regrade", [False, True], ids=["graded", "graded again"])
def test_a_run_that_was_cut_goes_on_where_it_was(batch: SmallBatch, regrade: bool) -> None:
    """It leaves the same bytes as an uninterrupted run, including the comparison with earlier
    results.
    """
    for out in ("whole", "cut"):
        if regrade:
            batch(out=batch.folder / out)
    batch(out=batch.folder / "whole", regrade=regrade)
    batch.host.cut_after = 1
    with pytest.raises(RunStopped):
        batch(out=batch.folder / "cut", regrade=regrade)
    batch.host.cut_after = None
    batch(out=batch.folder / "cut", regrade=regrade)
    assert len(batch.host.graded) == 2
    assert stable_files(batch.folder / "cut") == stable_files(batch.folder / "whole")


def test_what_is_committed_has_its_page(batch: SmallBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends between page and commit leaves the page of a grade that the next run
    repeats.
    """

    def cut(*_: object) -> None:
        raise RunStopped

    monkeypatch.setattr(Gradebook, "keep", cut)
    with pytest.raises(RunStopped):
        batch()
    assert list((batch.out / "reports").glob("*.html"))


def test_a_class_is_not_written_into_itself(batch: SmallBatch) -> None:
    """The next run would read the pages as a student's files. A folder inside the class is known by
    its gradebook.
    """
    with pytest.raises(UsageError, match="is the folder with the submissions"):
        batch(out=batch.place / ".." / "class")
    assert sorted(path.name for path in (batch.place).iterdir()) == sorted(CLASS)
    assert batch(out=batch.place / "out") is ExitCode.OK
    assert batch(out=batch.place / "out") is ExitCode.OK
    assert set(batch.rows(batch.place / "out")) == set(CLASS)


def test_a_second_batch_in_the_same_folder_is_told(batch: SmallBatch) -> None:
    with batch_lock(batch.out), pytest.raises(UsageError, match="Another grade command is using"):
        batch()
    assert batch() is ExitCode.OK


# -------------------------------------------------------------------------------- faults of our own


def test_a_host_that_dies_is_replaced_and_the_submission_tried_once_more(batch: SmallBatch) -> None:
    def fail_once(task: Task) -> None:
        if not batch.host.closed:
            raise EngineFault("the fork server broke: it ended without a result")

    batch.host.before = fail_once
    assert batch() is ExitCode.OK
    assert batch.host.closed == 2  # the one that died, and at the end
    assert batch.rows()["alice"]["score"] == "10.0"


@pytest.mark.parametrize(
    ("error", "state"),
    [(EngineFault("out of order"), "grader's fault"), (ZeroDivisionError(), "problem")],
)
def test_a_fault_of_ours_is_no_zero_and_is_tried_again_by_the_next_run(
    batch: SmallBatch, error: Exception, state: str
) -> None:
    """It costs one row, whether the engine reports it or an exception of our own is raised."""

    def fail(task: Task) -> None:
        if task.source == WRONG:
            raise error

    batch.host.before = fail
    assert batch() is ExitCode.ENGINE_FAULT
    rows = batch.rows()
    bob = rows["bob"]
    assert (bob["score"], bob["tiny"], bob["state"]) == ("", "", state)
    assert "the grader's own fault" in bob["remarks"]
    assert rows["alice"]["score"] == "10.0"
    batch.host.before = lambda task: None
    assert batch() is ExitCode.OK
    assert batch.host.graded == [WRONG]
    assert batch.rows()["bob"]["score"] == "5.0"


@pytest.mark.parametrize("reused", [False, True], ids=["graded", "graded before"])
def test_a_page_that_can_not_be_made_is_one_row(
    batch: SmallBatch, reused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cause is a bug in the grader. The others are graded, and the next run makes the page."""

    def fail(report: Report, *given: object, **named: Any) -> str:
        if report.submission == "bob":
            raise ZeroDivisionError
        return render_page(report, *given, **named)  # type: ignore[arg-type]

    if reused:
        assert batch() is ExitCode.OK
        shutil.rmtree(batch.out / "reports")
    with monkeypatch.context() as patch:
        patch.setattr("grader.classroom.batch.render_page", fail)
        assert batch() is ExitCode.ENGINE_FAULT
    rows = batch.rows()
    assert "the grader's own fault" in rows["bob"]["remarks"]
    assert rows["bob"]["score"] == ""
    assert rows["alice"]["score"] == "10.0"
    assert not batch.page("bob").exists()
    assert batch() is ExitCode.OK
    assert batch.rows()["bob"]["score"] == "5.0"
    assert batch.page("bob").exists()


# ----------------------------------------------------------------------------------- broken courses

HIDDEN = "tests/checks/tiny/test_hidden.py"
BREAKS = {
    "a check that the solution fails": (
        "assert_equal(student.LIMIT, reference.LIMIT)",
        "assert_equal(student.LIMIT, 19.0)",
        r"test_hidden\.py:28: the course's own solution of tiny does not pass tiny\.limit: ",
    ),
    "a check that raises": (
        "assert_equal(student.LIMIT, reference.LIMIT)",
        "1 / 0",
        r"test_hidden\.py:30: .* does not pass tiny\.limit: ZeroDivisionError: division by zero\.",
    ),
    "a syntax error": ("def test_limit(", "def (", r"test_hidden\.py:28: SyntaxError: "),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_course_stops_the_run_before_the_first_submission(
    batch: SmallBatch, name: str
) -> None:
    """The message has file, line and exception. Once the course is mended, everyone is graded."""
    before, after, said = BREAKS[name]
    file = Path(shutil.copytree(batch.course.root, batch.folder / "course")) / HIDDEN
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), "utf-8")
    with pytest.raises(CourseError, match=said) as refused:
        batch(course=load_course(batch.folder / "course"))
    assert (batch.host.graded, refused.value.exit_code) == ([], ExitCode.USAGE)
    with Gradebook.open(batch.out) as book:
        assert not [entry for entry in book.entries() if entry.report or entry.fault]
    file.write_text(text, "utf-8")
    assert batch(course=load_course(batch.folder / "course")) is ExitCode.OK


def test_one_check_graded_again_needs_no_other_lessons_reference(batch: SmallBatch) -> None:
    course = with_two_lessons(batch.course, batch.folder / "course")
    batch(course=course)
    assert len(batch.host.references) == 2
    batch(course=course, regrade=True, check="tiny.double")
    assert len(batch.host.references) == 3


def test_a_fault_of_ours_at_a_reference_does_not_accuse_the_course(
    batch: SmallBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy host is tried once more; then the submissions themselves are tried."""
    judge, refused = batch.host.judge, []

    def judge_no_reference(lesson: Lesson, task: Task) -> JudgeResult:
        if task.source == without_markers(lesson.solution.read_text("utf-8")):
            refused.append(task)
            raise EngineFault("the fork server broke: it ended without a result")
        return judge(lesson, task)

    monkeypatch.setattr(batch.host, "judge", judge_no_reference)
    assert batch() is ExitCode.OK
    assert (len(refused), len(batch.host.graded)) == (2, 3)


def test_a_sandbox_that_refuses_ends_the_run(batch: SmallBatch) -> None:
    def refuse(task: Task) -> None:
        raise SandboxRefused(REFUSED, missing="network")

    batch.host.before = refuse
    with pytest.raises(SandboxRefused, match="guarantee: network"):
        batch(sandbox="require")


# --------------------------------------------------------------------------------- pages, executors


def test_pages_withhold_what_hidden_checks_asked_until_they_are_revealed(batch: SmallBatch) -> None:
    """This includes pages of submissions that are not graded again."""
    batch.hand_in("bob", RIGHT.replace("20.0", "19.0"))
    page = batch.page("bob")
    asked, closed = "20.0", "This check is hidden, so its inputs are not shown."
    told = []
    for reveal in (False, True, False):
        batch(reveal=reveal)
        text = page.read_text("utf-8")
        told.append((asked in text, closed in text, "one too few" in text))
    assert told == [(False, True, True), (True, False, True), (False, True, True)]
    assert batch.host.graded == []


def test_a_page_is_headed_by_whom_it_is_from(batch: SmallBatch) -> None:
    """The heading is the roster's name once there is one, with the submission's name below; this
    needs no grading.
    """
    batch()
    assert "<h1>bob</h1>" in batch.page("bob").read_text("utf-8")
    (batch.folder / "roster.csv").write_text("name,username\nRobert Brown,bob\n")
    batch(roster=batch.folder / "roster.csv")
    page = batch.page("bob").read_text("utf-8")
    assert "<title>Robert Brown: 5 of 10</title>" in page
    assert "<h1>Robert Brown</h1>" in page
    assert "submission bob · " in page
    assert "submission alice" not in batch.page("alice").read_text("utf-8")
    assert len(list((batch.out / "reports").iterdir())) == 3


class IdleHost:
    """A host that does nothing."""

    def close(self) -> None: ...

    def abandon(self) -> None: ...


def test_jobs_are_drawn_as_there_is_room() -> None:
    """No class, however large, is in memory as a whole."""
    drawn: list[int] = []

    def jobs() -> Iterator[int]:
        for number in range(50):
            drawn.append(number)
            yield number

    hosts = HostPool(2, IdleHost)
    results = map_unordered(hosts, jobs(), lambda host, job: job)
    ahead = [len(drawn) - done for done, _ in enumerate(results, 1)]
    hosts.close()
    assert len(drawn) == 50
    assert max(ahead) <= JOBS_PER_HOST * hosts.count


def test_what_is_done_is_given_before_what_was_raised_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Finished results are not lost to the job that ended the run."""

    def work(host: object, job: int) -> int:
        if job == 0:
            raise RunStopped
        return job

    monkeypatch.setattr(pool, "wait", lambda running, **_: wait(running))  # until all have ended
    hosts = HostPool(4, IdleHost)
    given = []
    with pytest.raises(RunStopped):
        for one in map_unordered(hosts, range(JOBS_PER_HOST * 4), work):
            given.append(one)
    hosts.close()
    assert sorted(given) == [1, 2, 3, 4, 5, 6, 7]


LONG = {
    "one line": "x" + " " * 5_000 + "y\n",
    "many statements": RIGHT + "def func():\n" + " pass\n" * 25_000,
    "many bytes": RIGHT + "#" * (256 << 10),
}


def test_the_supervisor_reads_no_text_and_a_long_one_has_a_verdict(
    batch: SmallBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What parses a student's text may be killed. 5,000 blanks in a line with a syntax error, or an
    unused function of many statements, took minutes.
    """
    mark = "# torch.func" + "!" * 20
    for name, text in {**LONG, "bob": WRONG}.items():
        batch.hand_in(name, text + mark)
    (batch.place / "alice" / "tiny.py").unlink()
    batch.hand_in("alice", notebook(RIGHT + mark, f"# scratch\n{mark}"), "tiny.ipynb")
    parse = ast.parse

    def refused(text: str, *args: Any, **kwargs: Any) -> Any:
        assert mark not in text
        return parse(text, *args, **kwargs)

    monkeypatch.setattr(ast, "parse", refused)
    assert batch() is ExitCode.OK
    table = batch.rows()
    assert float(table["alice"]["score"]) == float(table["alice"]["max"])
    assert table["bob"]["state"] == "graded"
    assert "SyntaxError" in table["one line"]["remarks"]
    assert "too long" in table["many statements"]["remarks"]
    assert "larger than 256 KB" in table["many bytes"]["remarks"]


def test_a_page_is_written_by_one_thread_at_a_time(tmp_path: Path) -> None:
    """Two submissions of one person are graded at the same time."""
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write_page, tmp_path, "Ada", b"page") for _ in range(400)]:
            done.result()
    assert [path.name for path in (tmp_path / "reports").iterdir()] == ["Ada.html"]
