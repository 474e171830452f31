"""The gradebook: one SQLite file, written by one process at a time; any process can read it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path

from grader.classroom.gradebook.manual_changes import ManualChanges
from grader.classroom.gradebook.migrations import migrate
from grader.classroom.gradebook.records import students_as_json, students_label
from grader.classroom.imports.records import StudentIdentity
from grader.core import sqlite
from grader.core.errors import UsageError
from grader.core.files import engine_hash
from grader.core.report import Report
from grader.core.sqlite import connect, transaction
from grader.core.text import now
from grader.course.submission import LessonFile, writable

DATABASE = "grades.sqlite"


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
class SubmissionRow:
    """A submission's data beside its grade: its students, when it came and under which name."""

    name: str
    students: tuple[StudentIdentity, ...]
    late: bool = False
    handed_in: str | None = None
    came_as: str = ""

    @property
    def label(self) -> str:
        return students_label(self.students, self.name)


refusal = partial(sqlite.refusal, kind="gradebook", other="another folder with --out")
"""The message for a gradebook or a file beside it that can't be written or read."""


class Gradebook(ManualChanges):
    """An open gradebook. As a context manager, it closes itself and reports SQLite's errors."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        super().__init__(db)
        self.path = path

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

    def begin(self, plan: str) -> int:
        """Start a run and return its number; continue the last run if it was interrupted, with
        the same plan and the same secret.

        The number is on disk before anything is graded, because the run's seed comes from it.
        """
        with transaction(self.db) as db:
            (last,) = db.execute("SELECT max(id) FROM runs").fetchone()
            query = (
                "SELECT 1 FROM runs, class WHERE id = ? AND plan = ? AND ended IS NULL AND id >="
                " first_run"
            )
            if db.execute(query, [last, plan]).fetchone():
                return int(last)
            return int(
                db.execute("INSERT INTO runs (plan, began) VALUES (?, ?)", [plan, now()]).lastrowid
                or 0
            )

    def end(self, run: int) -> None:
        """End a run. If it graded nothing, its number is free for the next one."""
        with transaction(self.db) as db:
            db.execute("UPDATE runs SET ended = ? WHERE id = ?", [now(), run])
            unused = "id = ? AND NOT EXISTS (SELECT 1 FROM attempts WHERE run = runs.id)"
            db.execute(f"DELETE FROM runs WHERE {unused}", [run])

    def find(self, name: str, key: AttemptKey, *, run: int | None = None) -> int | None:
        """Return the number of the newest attempt with this key, without a grader fault and with
        the class's present secret.

        Only attempts of ``run`` count if it is given. Return None if there is none.
        """
        fields = " AND ".join(f"{field} = ?" for field in AttemptKey.__slots__)
        query = (
            f"SELECT max(id) FROM attempts WHERE submission = ? AND faults = 0 AND {fields} AND (?"
            " IS NULL OR run = ?) AND run >= (SELECT first_run FROM class)"
        )
        row = self.db.execute(query, [name, *astuple(key), run, run]).fetchone()
        return row[0] if row else None

    def regraded(self, name: str, digest: str, run: int) -> int | None:
        query = (
            "SELECT max(id) FROM attempts WHERE submission = ? AND faults = 0 AND digest = ? AND"
            " run = ?"
        )
        row = self.db.execute(query, [name, digest, run]).fetchone()
        return row[0] if row else None

    def digest_of(self, name: str) -> str | None:
        row = self.db.execute(
            "SELECT a.digest FROM submissions s JOIN attempts a ON a.id = s.current WHERE"
            " s.name = ?",
            [name],
        ).fetchone()
        return row[0] if row else None

    def uses(self, owner: SubmissionRow, attempt: int) -> bool:
        """Return whether an attempt counts now, with exactly this submission's data."""
        came = (int(owner.late), owner.handed_in, owner.came_as)
        line = (students_as_json(owner.students), *came, 0, None, 0, attempt)
        query = (
            "SELECT students, late, handed_in, came_as, missing, problem, fault, current FROM"
            " submissions WHERE name = ?"
        )
        return bool(self.db.execute(query, [owner.name]).fetchone() == line)

    def use(self, owner: SubmissionRow, attempt: int) -> None:
        with transaction(self.db) as db:
            self._line(db, owner, attempt)

    def keep(
        self,
        owner: SubmissionRow,
        run: int,
        key: AttemptKey,
        report: Report,
        files: Iterable[LessonFile],
    ) -> None:
        """Store a report with its results and files, as the attempt that counts from now on."""
        made = [
            owner.name,
            run,
            *astuple(key),
            report.seed,
            len(report.grader_faults),
            report.score,
            now(),
            report.seconds,
        ]
        with transaction(self.db) as db:
            row = db.execute(
                "SELECT current FROM submissions WHERE name = ?", [owner.name]
            ).fetchone()
            self._line(db, owner, row[0] if row else None)
            fields = (
                "submission, run, digest, course_hash, grader_version, engine_hash, torch_version,"
                " sandbox, lang, lessons, seed, faults, score, made_at, seconds"
            )
            query = (
                f"INSERT INTO attempts ({fields}, replaced, report) VALUES"
                f" ({', '.join('?' * (len(made) + 2))})"
            )
            text = json.dumps(report.as_json(), allow_nan=False)
            attempt = int(db.execute(query, [*made, row[0] if row else None, text]).lastrowid or 0)
            db.execute("UPDATE submissions SET current = ? WHERE name = ?", [attempt, owner.name])
            self._keep_results(db, attempt, key, report)
            db.executemany(
                "INSERT OR IGNORE INTO files VALUES (?, ?, ?, ?, ?)",
                [
                    (
                        key.digest,
                        file.lesson,
                        file.path,
                        file.text,
                        file.problem and writable(file.problem),
                    )
                    for file in files
                ],
            )

    def keep_problem(self, owner: SubmissionRow, problem: str, *, fault: bool) -> None:
        with transaction(self.db) as db:
            self._line(db, owner, None, writable(problem), fault=fault)

    @staticmethod
    def _line(
        db: sqlite3.Connection,
        owner: SubmissionRow,
        current: int | None,
        problem: str | None = None,
        *,
        fault: bool = False,
    ) -> None:
        db.execute(
            "INSERT INTO submissions (name, students, late, handed_in, came_as, problem, fault,"
            " current) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET students ="
            " excluded.students, late = excluded.late, handed_in = excluded.handed_in, came_as ="
            " excluded.came_as, missing = 0, problem = excluded.problem, fault = excluded.fault,"
            " current = excluded.current",
            [
                owner.name,
                students_as_json(owner.students),
                int(owner.late),
                owner.handed_in,
                owner.came_as,
                problem,
                int(fault),
                current,
            ],
        )

    @staticmethod
    def _keep_results(
        db: sqlite3.Connection, attempt: int, key: AttemptKey, report: Report
    ) -> None:
        checks = [
            (lesson.id, place, check)
            for lesson in report.lessons
            for place, check in enumerate(lesson.checks)
        ]
        db.executemany(
            "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    attempt,
                    c.id,
                    lesson,
                    c.outcome.value,
                    c.points,
                    c.max_points,
                    c.diagnosis,
                    c.diagnosis_title,
                    c.seed,
                    c.seconds,
                )
                for lesson, _, c in checks
            ],
        )
        (course_hash,) = db.execute("SELECT course_hash FROM class").fetchone()
        current = (key.course_hash, key.engine_hash) == (course_hash, engine_hash())
        db.executemany(  # this engine's result for a check replaces that of another engine
            f"INSERT OR {'REPLACE' if current else 'IGNORE'} INTO checks SELECT course_hash, lang,"
            " ?, ?, ?, ?, ?, ?, ? FROM class",
            [
                (c.id, lesson, at, c.title, c.max_points, c.bonus, c.hidden)
                for lesson, at, c in checks
                if c.id != f"{lesson}.grader"
            ],
        )
