"""The gradebook: one SQLite file, written by one process at a time; any process can read it.

Nothing is cached, and nothing that people did is deleted: a forgotten, renamed or regraded
submission keeps its history. ``batch_lock`` lets only one command write at a time.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import hmac
import itertools
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from grader.classroom.gradebook.entry import (
    Adjustment,
    CheckColumn,
    Comment,
    GradebookEntry,
    Lateness,
    LateRule,
    LessonColumn,
    PersonalPart,
    ScoreChange,
    students_as_json,
    students_from_json,
    students_label,
    time_on_roster,
)
from grader.classroom.gradebook.migrations import migrate
from grader.classroom.gradebook.roster import Absent, joined
from grader.classroom.imports.entries import StudentIdentity, Submission
from grader.classroom.imports.names import forms_of
from grader.core import sqlite
from grader.core.errors import UsageError
from grader.core.files import engine_hash
from grader.core.report import Report, add_up
from grader.core.sqlite import connect, transaction
from grader.core.text import now
from grader.course.submission import LessonFile, writable

DATABASE = "grades.sqlite"
NAMED_TABLES = ("attempts", "adjustments", "comments")
"""Tables whose rows belong to a submission by its name."""
STATE = ("students", "current", "problem", "fault", "missing", "late", "handed_in", "came_as")
"""Columns of ``submissions`` that say what was handed in, and by whom."""


ENTRY = """
SELECT s.name, s.students, s.late, s.missing, s.problem, s.fault, a.report,
    (SELECT count(*) FROM attempts e WHERE e.submission = s.name AND e.id <= s.current),
    s.handed_in, s.came_as
FROM submissions s LEFT JOIN attempts a ON a.id = s.current
WHERE s.forgotten = 0
"""


@dataclass(frozen=True, slots=True)
class AttemptKey:
    """What a verdict depends on: an attempt with the same key need not be graded again.

    The seed is not part of it, so a later run does not grade again what an earlier one graded.
    """

    digest: str
    course_hash: str
    grader_version: str
    engine_hash: str
    torch_version: str
    sandbox: str
    lang: str
    lessons: str


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """A line of the audit trail. ``action`` is ``forget`` or ``rename``."""

    number: int
    action: str
    submission: str
    detail: dict[str, Any]
    author: str
    made_at: str
    undone: bool


refusal = partial(sqlite.refusal, kind="gradebook", other="another folder with --out")
"""The message for a gradebook or a file beside it that can't be written or read."""


def line_of(
    owner: Submission, current: int | None, problem: str | None = None, *, fault: bool = False
) -> dict[str, object]:
    """Return the line of ``submissions`` for what was handed in, with the attempt that counts."""
    return {
        "name": owner.name,
        "students": students_as_json(owner.students),
        "late": int(owner.late),
        "handed_in": owner.handed_in,
        "came_as": owner.came_as,
        "missing": 0,
        "problem": problem,
        "fault": int(fault),
        "current": current,
    }


class Gradebook:
    """An open gradebook. As a context manager, it closes itself and reports SQLite's errors."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self.db = db

    @classmethod
    def open(cls, folder: Path, *, create: bool = False) -> Gradebook:
        """Open a batch folder's gradebook; raise UsageError if there is no usable one."""
        path = folder / DATABASE
        try:
            if create:
                folder.mkdir(parents=True, exist_ok=True)
            elif not path.exists():
                raise UsageError(
                    f"{folder} has no gradebook: {DATABASE} is missing."
                    f" Make one: grade batch DIR --out {folder}"
                )
            db = connect(path)
            try:
                migrate(db, str(path))
                db.execute("PRAGMA foreign_keys = ON")
            except BaseException:
                db.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise refusal(path, error) from None
        return cls(path, db)

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.db.close()
        if isinstance(error, sqlite3.Error):
            raise refusal(self.path, error) from None

    def _value(self, query: str, *values: object) -> Any:
        """Return the first value of the first row; None if there is no row."""
        row = self.db.execute(query, values).fetchone()
        return row[0] if row else None

    def _insert(self, table: str, row: Mapping[str, object], on_conflict: str = "") -> int:
        """Insert a row, its values by column; return its number."""
        values = f"({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
        done = self.db.execute(f"INSERT INTO {table} {values} {on_conflict}", [*row.values()])
        return done.lastrowid or 0

    def _row(self, name: str) -> dict[str, Any] | None:
        """Return a line of ``submissions`` by column."""
        cursor = self.db.cursor()
        cursor.row_factory = sqlite3.Row
        row = cursor.execute("SELECT * FROM submissions WHERE name = ?", [name]).fetchone()
        return dict(row) if row else None

    # ------------------------------------------------------------------ entries and columns

    def entries(self) -> Iterator[GradebookEntry]:
        for row in self.db.execute(f"{ENTRY} ORDER BY s.name"):
            yield self._entry(row)

    def entry(self, name: str) -> GradebookEntry:
        """Return one entry; raise UsageError that names the nearest if there is none."""
        row = self.db.execute(f"{ENTRY} AND s.name = ?", [name]).fetchone()
        if row is None and self.is_forgotten(name):
            raise UsageError(f"{name} is forgotten. To undo this: grade forget OUT {name!r} --undo")
        if row is None:
            near = difflib.get_close_matches(name, sorted(self.all_names()), n=1, cutoff=0.5)
            guess = f" Did you mean {near[0]}?" if near else " grades.csv lists all names"
            raise UsageError(f"The gradebook has no submission {name!r}.{guess}")
        return self._entry(row)

    def is_forgotten(self, name: str) -> bool:
        return bool(self._value("SELECT forgotten FROM submissions WHERE name = ?", name))

    def entry_of(self, called: str) -> GradebookEntry:
        """Return the entry of a submission or a student; raise UsageError unless one fits."""
        query = "SELECT name, students FROM submissions WHERE forgotten = 0 ORDER BY name"
        students: dict[str, str] = dict(self.db.execute(query))
        if called in students:
            return self.entry(called)
        wanted = forms_of(called)
        theirs = [
            name
            for name, those in students.items()
            if any(wanted & forms_of(one) for one, *_ in json.loads(those))
        ]
        if len(theirs) > 1:
            raise UsageError(
                f"{called!r} fits several submissions: {', '.join(theirs)}. Name one of them"
            )
        return self.entry(theirs[0] if theirs else called)

    def _entry(
        self, row: tuple[str, str, int, int, str | None, int, str | None, int, str | None, str]
    ) -> GradebookEntry:
        name, students, late, missing, problem, fault, report, attempt, handed_in, came_as = row
        people = students_from_json(students)
        lateness = self.lateness(people, handed_in)
        return GradebookEntry(
            name=name,
            students=people,
            report=replace(Report.from_json(json.loads(report)), submission=name)
            if report
            else None,
            problem=problem,
            fault=bool(fault),
            missing=missing == 1,
            late=bool(late) or lateness is not None,
            attempt=max(attempt, 1),
            adjustments=self.adjustments(name),
            comments=self.comments(name),
            handed_in=handed_in,
            lateness=lateness,
            came_as=came_as,
            history=self.history(name),
        )

    def history(self, name: str) -> tuple[float, ...]:
        """Return what each version of a submission earned, in order, as graded last."""
        rows = self.db.execute(
            "SELECT digest, score FROM attempts WHERE submission = ? AND faults = 0 ORDER BY id",
            [name],
        )
        versions = itertools.groupby(rows, key=lambda row: row[0])
        return tuple([score for _, score in version][-1] for _, version in versions)

    def lateness(
        self, students: tuple[StudentIdentity, ...], handed_in: str | None
    ) -> Lateness | None:
        """Return how late a submission is by the class's rule, and its students' extensions."""
        rule = self._value("SELECT late_rule FROM class")
        if not rule:
            return None
        extensions = [one.details["due"] for one in students if "due" in one.details]
        return LateRule.from_json(json.loads(rule)).lateness(handed_in, extensions)

    def comments(self, name: str) -> tuple[Comment, ...]:
        """Return a submission's comments: the general ones, then by lesson and line."""
        rows = self.db.execute(
            "SELECT id, text, author, made_at, lesson, line, code FROM comments WHERE submission ="
            " ? AND withdrawn = 0 ORDER BY lesson, line, id",
            [name],
        )
        return tuple(Comment(*row) for row in rows)

    def graded_text(self, name: str, lesson: str) -> str | None:
        """Return the text of a lesson's file as it was graded; None if there was none."""
        text: str | None = self._value(
            "SELECT f.text FROM submissions s JOIN attempts a ON a.id = s.current JOIN files f ON"
            " f.digest = a.digest WHERE s.name = ? AND f.lesson = ? AND f.problem IS NULL",
            name,
            lesson,
        )
        return text

    def personal_part(
        self, name: str, students: tuple[StudentIdentity, ...], handed_in: str | None
    ) -> PersonalPart:
        """Return what a submission's page shows beside its report."""
        return PersonalPart(
            students_label(students, name),
            self.adjustments(name),
            self.comments(name),
            self.lateness(students, handed_in),
        )

    def adjustments(self, name: str) -> tuple[Adjustment, ...]:
        rows = self.db.execute(
            "SELECT points, reason, author, made_at, lesson FROM adjustments WHERE submission = ?"
            " ORDER BY id",
            [name],
        )
        return tuple(Adjustment(*row) for row in rows)

    def lessons(self) -> tuple[tuple[str, str, float], ...]:
        lessons = json.loads(self.about("lessons"))
        return tuple((lesson, title, points) for lesson, title, points in lessons)

    def columns(self) -> tuple[LessonColumn, ...]:
        """Return the columns; a lesson that nobody handed in has no checks yet."""
        found: dict[str, list[CheckColumn]] = {}
        rows = self.db.execute(
            "SELECT k.lesson, k.id, k.title, k.max_points, k.bonus, k.hidden FROM checks k, class c"
            " WHERE k.course_hash = c.course_hash AND k.lang = c.lang ORDER BY k.lesson,"
            " k.position, k.id"
        )
        for lesson, check, title, most, bonus, hidden in rows:
            found.setdefault(lesson, []).append(
                CheckColumn(check, title, most, bool(bonus), bool(hidden))
            )
        columns = []
        for lesson, title, points in self.lessons():
            checks = tuple(found.get(lesson, ()))
            plain = add_up(check.max_points for check in checks if not check.bonus)
            bonus = add_up(check.max_points for check in checks if check.bonus)
            most = plain if checks else points
            columns.append(LessonColumn(lesson, title, most, bonus, checks))
        return tuple(columns)

    def changes(self, run: int) -> Iterator[ScoreChange]:
        rows = self.db.execute(
            "SELECT s.name, s.current, a.score FROM submissions s JOIN attempts a ON a.id ="
            " s.current WHERE a.run = ? AND s.forgotten = 0 ORDER BY s.name",
            [run],
        )
        for name, current, new in rows:
            before = self._before(current, run)
            if before is not None:
                old, checks = before[1], tuple(self._changed_checks(before[0], current))
                if checks or old != new:
                    yield ScoreChange(name, old, new, checks)

    def _before(self, attempt: int, run: int) -> tuple[int, float] | None:
        """Return the attempt that counted before a run, and its score."""
        query = (
            "SELECT b.id, b.run, b.score FROM attempts a JOIN attempts b ON b.id = a.replaced WHERE"
            " a.id = ?"
        )
        found = self.db.execute(query, [attempt]).fetchone()
        if found is None:
            return None
        return self._before(found[0], run) if found[1] == run else (found[0], found[2])

    def _changed_checks(self, old: int, new: int) -> Iterator[tuple[str, str | None, str | None]]:
        query = "SELECT check_id, outcome FROM results WHERE attempt = ? ORDER BY check_id"
        before: dict[str, str] = dict(self.db.execute(query, [old]))
        after: dict[str, str] = dict(self.db.execute(query, [new]))
        for check in before | after:
            if before.get(check) != after.get(check):
                yield check, before.get(check), after.get(check)

    def commonest_mistakes(self, most: int) -> list[tuple[str, str, int]]:
        """Return (lesson, title, number of submissions) of the most common mistakes."""
        return self.db.execute(
            "SELECT r.lesson, min(r.diagnosis_title), count(DISTINCT s.name) AS n FROM"
            " submissions s JOIN results r ON r.attempt = s.current WHERE r.diagnosis IS NOT NULL"
            " AND s.forgotten = 0 GROUP BY r.lesson, r.diagnosis ORDER BY n DESC, r.lesson,"
            " r.diagnosis LIMIT ?",
            [most],
        ).fetchall()

    def passed_over(self) -> list[tuple[str, str]]:
        """Return the items of the download that were not graded, each with the reason."""
        return self.db.execute("SELECT entry, reason FROM passed_over ORDER BY rowid").fetchall()

    def handed_in(self) -> set[str]:
        return {lesson for (lesson,) in self.db.execute("SELECT DISTINCT lesson FROM files")}

    def texts(self, lesson: str) -> Iterator[tuple[str, str, str]]:
        """Yield (submission, path, text) of each graded file of a lesson, by submission name."""
        yield from self.db.execute(
            "SELECT s.name, f.path, f.text FROM submissions s JOIN attempts a ON a.id = s.current"
            " JOIN files f ON f.digest = a.digest AND f.lesson = ? WHERE f.problem IS NULL"
            " AND s.forgotten = 0 ORDER BY s.name",
            [lesson],
        )

    # ------------------------------------------------------------------------------- the class

    def seed_of(self, run: int) -> int:
        """Return a run's seed: 32 bits of HMAC-SHA256(class secret, run's number)."""
        secret = self._value("SELECT secret FROM class")
        return int.from_bytes(hmac.digest(secret, f"run {run}".encode(), "sha256")[:4], "big")

    def set_secret(self, seed: int | None) -> None:
        """Derive the class's secret from a seed; without one, draw it if there is none yet.

        A new secret belongs to the runs from now on: earlier ones are neither continued nor reused.
        """
        with transaction(self.db):
            if seed is None:
                drawn = secrets.token_bytes(32)
                self._insert("class", {"one": 1, "secret": drawn}, "ON CONFLICT DO NOTHING")
                return
            secret = hashlib.sha256(f"gradlings batch {seed}".encode()).digest()
            new = (
                "ON CONFLICT DO UPDATE SET secret = excluded.secret, first_run ="
                " (SELECT coalesce(max(id), 0) + 1 FROM runs) WHERE secret != excluded.secret"
            )
            self._insert("class", {"one": 1, "secret": secret}, new)

    def set_class(self, values: Mapping[str, str]) -> None:
        """Store facts about the class: columns of the table ``class``, by name."""
        with transaction(self.db):
            for column, value in values.items():
                self.db.execute(f"UPDATE class SET {column} = ?", [value])

    def about(self, column: str) -> str:
        return str(self.db.execute(f"SELECT {column} FROM class").fetchone()[0])

    def set_passed_over(self, passed: Iterable[tuple[str, str]]) -> None:
        with transaction(self.db):
            self.db.execute("DELETE FROM passed_over")
            self.db.executemany(
                "INSERT INTO passed_over VALUES (?, ?)",
                [(writable(entry), writable(reason)) for entry, reason in passed],
            )

    def set_roster(self, students: Iterable[tuple[int, StudentIdentity]]) -> None:
        with transaction(self.db):
            self.db.execute("DELETE FROM roster")
            self.db.executemany(
                "INSERT INTO roster VALUES (?, ?, ?, ?)",
                [
                    (line, one.name, json.dumps(one.ids), json.dumps(one.details))
                    for line, one in students
                ],
            )

    def roster(self) -> list[tuple[int, StudentIdentity]]:
        return [
            (line, StudentIdentity(name, json.loads(ids), json.loads(details)))
            for line, name, ids, details in self.db.execute("SELECT * FROM roster ORDER BY line")
        ]

    def all_names(self) -> set[str]:
        """Return the names of all lines, those without a submission included."""
        rows = self.db.execute("SELECT name FROM submissions WHERE forgotten = 0")
        return {name for (name,) in rows}

    def names(self) -> set[str]:
        query = "SELECT name FROM submissions WHERE missing = 0 AND forgotten = 0"
        return {name for (name,) in self.db.execute(query)}

    def set_absent(self, absent: Iterable[Absent]) -> None:
        """Replace the rows of students without a submission (see ``Absent``)."""
        with transaction(self.db):
            self.db.execute("DELETE FROM submissions WHERE missing > 0 AND forgotten = 0")
            self.db.executemany(
                "INSERT OR IGNORE INTO submissions (name, students, missing, problem) VALUES (?, ?,"
                " ?, ?)",
                [
                    (name, students_as_json((student,)), 2 if problem else 1, problem)
                    for name, student, problem in absent
                ],
            )

    # ---------------------------------------------------------------------- runs and attempts

    def begin(self, plan: str) -> int:
        """Start a run and return its number, which is on disk before anything is graded, because
        the seed comes from it. Continue an interrupted run with the same plan and secret.
        """
        with transaction(self.db):
            (last,) = self.db.execute("SELECT max(id) FROM runs").fetchone()
            query = (
                "SELECT 1 FROM runs, class WHERE id = ? AND plan = ? AND ended IS NULL AND id >="
                " first_run"
            )
            if self.db.execute(query, [last, plan]).fetchone():
                return int(last)
            return self._insert("runs", {"plan": plan, "began": now()})

    def end(self, run: int) -> None:
        """End a run. If it graded nothing, its number is free for the next one."""
        with transaction(self.db):
            self.db.execute("UPDATE runs SET ended = ? WHERE id = ?", [now(), run])
            unused = "id = ? AND NOT EXISTS (SELECT 1 FROM attempts WHERE run = runs.id)"
            self.db.execute(f"DELETE FROM runs WHERE {unused}", [run])

    def find(self, name: str, key: AttemptKey, *, run: int | None = None) -> int | None:
        """Return the newest attempt with this key, the present secret and no grader fault.

        Only attempts of ``run`` count if it is given.
        """
        fields = " AND ".join(f"{field} = ?" for field in AttemptKey.__slots__)
        query = (
            f"SELECT max(id) FROM attempts WHERE submission = ? AND faults = 0 AND {fields} AND (?"
            " IS NULL OR run = ?) AND run >= (SELECT first_run FROM class)"
        )
        found: int | None = self._value(query, name, *astuple(key), run, run)
        return found

    def regraded(self, name: str, digest: str, run: int) -> int | None:
        query = (
            "SELECT max(id) FROM attempts WHERE submission = ? AND faults = 0 AND digest = ? AND"
            " run = ?"
        )
        found: int | None = self._value(query, name, digest, run)
        return found

    def digest_of(self, name: str) -> str | None:
        query = "SELECT a.digest FROM submissions s JOIN attempts a ON a.id = s.current"
        found: str | None = self._value(f"{query} WHERE s.name = ?", name)
        return found

    def uses(self, owner: Submission, attempt: int) -> bool:
        """Return whether an attempt counts now, with exactly this submission's data."""
        there = self._row(owner.name)
        return there is not None and line_of(owner, attempt).items() <= there.items()

    def use(self, owner: Submission, attempt: int) -> None:
        with transaction(self.db):
            self._line(line_of(owner, attempt))

    def keep(
        self,
        owner: Submission,
        run: int,
        key: AttemptKey,
        report: Report,
        files: Iterable[LessonFile],
    ) -> None:
        """Store a report with its results and files, as the attempt that counts from now on."""
        with transaction(self.db):
            before = (self._row(owner.name) or {}).get("current")
            self._line(line_of(owner, before))  # an attempt refers to its submission's line
            attempt = self._insert(
                "attempts",
                {
                    "submission": owner.name,
                    "run": run,
                    "replaced": before,
                    **asdict(key),
                    "seed": report.seed,
                    "faults": len(report.grader_faults),
                    "score": report.score,
                    "made_at": now(),
                    "seconds": report.seconds,
                    "report": json.dumps(report.as_json(), allow_nan=False),
                },
            )
            self._line(line_of(owner, attempt))
            self._keep_results(attempt, key, report)
            self.db.executemany(
                "INSERT OR IGNORE INTO files VALUES (?, ?, ?, ?, ?)",
                [
                    (key.digest, f.lesson, f.path, f.text, f.problem and writable(f.problem))
                    for f in files
                ],
            )

    def keep_problem(self, owner: Submission, problem: str, *, fault: bool) -> None:
        with transaction(self.db):
            self._line(line_of(owner, None, writable(problem), fault=fault))

    def _line(self, row: Mapping[str, object]) -> None:
        changed = ", ".join(f"{column} = excluded.{column}" for column in row)
        self._insert("submissions", row, f"ON CONFLICT (name) DO UPDATE SET {changed}")

    def _keep_results(self, attempt: int, key: AttemptKey, report: Report) -> None:
        checks = [
            (lesson.id, place, check)
            for lesson in report.lessons
            for place, check in enumerate(lesson.checks)
        ]
        rest = attrgetter("points", "max_points", "diagnosis", "diagnosis_title", "seed", "seconds")
        self.db.executemany(
            "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(attempt, c.id, lesson, c.outcome.value, *rest(c)) for lesson, _, c in checks],
        )
        current = (key.course_hash, key.engine_hash) == (self.about("course_hash"), engine_hash())
        self.db.executemany(  # this engine's result for a check replaces that of another engine
            f"INSERT OR {'REPLACE' if current else 'IGNORE'} INTO checks SELECT course_hash, lang,"
            " ?, ?, ?, ?, ?, ?, ? FROM class",
            [
                (c.id, lesson, at, c.title, c.max_points, c.bonus, c.hidden)
                for lesson, at, c in checks
                if c.id != f"{lesson}.grader"
            ],
        )

    # ------------------------------------------------------------------- changes made by hand

    def adjust(self, name: str, adjustment: Adjustment) -> None:
        with transaction(self.db):
            self._insert("adjustments", {"submission": name, **asdict(adjustment)})

    def comment(self, name: str, comment: Comment) -> bool:
        """Store a comment, under a new number, unless it is there; return whether it was stored."""
        fields = {
            "submission": name,
            "lesson": comment.lesson,
            "line": comment.line,
            "text": comment.text,
        }
        with transaction(self.db):
            there = " AND ".join(f"{field} IS ?" for field in fields)
            query = f"SELECT 1 FROM comments WHERE withdrawn = 0 AND {there}"
            if self._value(query, *fields.values()):
                return False
            fields |= {"code": comment.code, "author": comment.author, "made_at": comment.made_at}
            self._insert("comments", fields)
        return True

    def withdraw(self, name: str, number: int) -> None:
        """Withdraw a comment; it stays in the file. Raise UsageError for an unknown number."""
        with transaction(self.db):
            done = self.db.execute(
                "UPDATE comments SET withdrawn = 1 WHERE id = ? AND submission = ? AND"
                " withdrawn = 0",
                [number, name],
            )
            if not done.rowcount:
                raise UsageError(
                    f"{name} has no comment {number}. To list the comments: grade comment OUT NAME"
                )

    def forget(self, name: str, author: str) -> None:
        """Leave a submission out of all tables and exports; its history stays in the file."""
        with transaction(self.db):
            self.db.execute("UPDATE submissions SET forgotten = 1 WHERE name = ?", [name])
            self._note("forget", name, author, {})

    def rename(self, old: str, new: str, author: str) -> None:
        """Give a submission's history to another name, which may be in the gradebook already.

        If both have a counting attempt, the newer one counts from now on. A student of the roster
        who has handed in nothing gets the submission as it is.
        """
        with transaction(self.db):
            kept = self._row(new)
            gone = self._row(old)
            assert gone is not None
            moved = {}
            for table in NAMED_TABLES:
                query = f"SELECT id FROM {table} WHERE submission = ? ORDER BY id"
                moved[table] = [number for (number,) in self.db.execute(query, [old])]
            if kept is None:
                self._insert("submissions", {**gone, "name": new})
            elif kept["missing"]:
                people = joined(*(students_from_json(one["students"]) for one in (gone, kept)))
                handed_in = gone["handed_in"] or time_on_roster(people)
                changed = {"students": students_as_json(people), "handed_in": handed_in}
                self._set_state(new, {**gone, **changed})
            elif (gone["current"] or 0) > (kept["current"] or 0):
                self._set_state(new, {**gone, "students": kept["students"]})
            for table in NAMED_TABLES:
                query = f"UPDATE {table} SET submission = ? WHERE submission = ?"
                self.db.execute(query, [new, old])
            self.db.execute("DELETE FROM submissions WHERE name = ?", [old])
            detail = {"old": old, "moved": moved, "gone": gone, "kept": kept}
            self._note("rename", new, author, detail)

    def undo(self, name: str) -> TrailEntry:
        """Undo the newest forget or rename of a submission; raise UsageError if there is none."""
        entries = [one for one in self.trail() if one.submission == name and not one.undone]
        if not entries:
            raise UsageError(
                f"{name} was neither forgotten nor renamed, so there is nothing to undo"
            )
        entry = entries[-1]
        later = [one for one in self.renames() if one.detail["old"] == name]
        if entry.action == "rename" and later and later[-1].number > entry.number:
            raise UsageError(
                f"{name} was renamed again, to {later[-1].submission}. Undo that first"
            )
        with transaction(self.db):
            if entry.action == "forget":
                self.db.execute("UPDATE submissions SET forgotten = 0 WHERE name = ?", [name])
            else:
                self._undo_rename(entry)
            self.db.execute("UPDATE trail SET undone = 1 WHERE id = ?", [entry.number])
        return entry

    def _undo_rename(self, entry: TrailEntry) -> None:
        old, moved, gone, kept = (entry.detail[key] for key in ("old", "moved", "gone", "kept"))
        if self._row(old) is not None:
            raise UsageError(
                f"The gradebook has another submission {old}, so the name is taken. Forget or"
                " rename that one first"
            )
        self._insert("submissions", gone)
        for table in NAMED_TABLES:
            self.db.executemany(
                f"UPDATE {table} SET submission = ? WHERE id = ?",
                [(old, number) for number in moved[table]],
            )
        newest = self._value("SELECT max(id) FROM attempts WHERE submission = ?", entry.submission)
        if kept is None and newest is None:
            self.db.execute("DELETE FROM submissions WHERE name = ?", [entry.submission])
        elif (self._row(entry.submission) or {}).get("current") in [None, *moved["attempts"]]:
            was = kept or {"problem": None, "fault": 0, "missing": 0}
            self._set_state(entry.submission, {**was, "current": newest})

    def renames(self) -> list[TrailEntry]:
        """Return the renames that were not undone, oldest first."""
        return [one for one in self.trail() if one.action == "rename" and not one.undone]

    def new_names(self) -> dict[str, str]:
        """Return the present name of each submission that was renamed, by its old names."""
        names: dict[str, str] = {}
        for entry in self.renames():
            old, new = entry.detail["old"], entry.submission
            names = {first: new if last == old else last for first, last in names.items()}
            names[old] = new
        return names

    def trail(self) -> list[TrailEntry]:
        rows = self.db.execute(
            "SELECT id, deed, submission, detail, author, made_at, undone FROM trail ORDER BY id"
        )
        return [
            TrailEntry(number, action, name, json.loads(detail), author, made_at, bool(undone))
            for number, action, name, detail, author, made_at, undone in rows
        ]

    def _set_state(self, name: str, row: Mapping[str, object]) -> None:
        """Give a line what ``row`` has of the columns that say what was handed in."""
        state = {field: row[field] for field in STATE if field in row}
        changed = ", ".join(f"{field} = ?" for field in state)
        self.db.execute(f"UPDATE submissions SET {changed} WHERE name = ?", [*state.values(), name])

    def _note(self, action: str, name: str, author: str, detail: Mapping[str, object]) -> None:
        row = {"deed": action, "submission": name, "detail": json.dumps(detail)}
        self._insert("trail", {**row, "author": author, "made_at": now()})


LOCK = "grades.lock"


@contextlib.contextmanager
def batch_lock(out: Path) -> Iterator[None]:
    """Lock a folder, which is created if necessary; raise UsageError if it is locked."""
    path = out / LOCK
    try:
        out.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=0, isolation_level=None)
    except (sqlite3.Error, OSError) as error:
        raise refusal(path, error) from None
    with contextlib.closing(db):
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise UsageError(
                    f"Another grade command is using {out}. Wait until it is done, or name another"
                    " folder with --out"
                ) from None
            raise refusal(path, error) from None
        yield
