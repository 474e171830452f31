"""Keep verdicts in the file of ``grade verify --keep``, so that an interrupted run can continue."""

from __future__ import annotations

import functools
import hashlib
import json
import sqlite3
from dataclasses import asdict, replace
from pathlib import Path

from grader.core import sqlite
from grader.core.errors import UsageError
from grader.core.files import engine_hash_now, torch_version
from grader.course.course import Course, Lesson
from grader.runtime.grading import Settings
from grader.verify.case_result import Case, CaseResult

APPLICATION = 0x67726C76
"""``PRAGMA application_id``, which identifies a file of verdicts: "grlv" in ASCII."""
TABLES = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE verdicts (
        key TEXT NOT NULL, seed INTEGER NOT NULL, grader TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (key, seed)
    ) WITHOUT ROWID;
    PRAGMA application_id = {APPLICATION};
    COMMIT;
"""
OTHER = "another file with --keep"


class VerdictCache:
    """An open file of verdicts; those of another lesson, engine or torch are dropped.

    It contains only verdicts without problems; the others are graded again.
    """

    def __init__(self, path: Path, course: Course, settings: Settings) -> None:
        """Open the file, or create it; raise UsageError if it can't be used."""
        self._path = path
        self._course = course
        self._graders = {lesson.id: self._grader_now(lesson) for lesson in course.lessons}
        self._settings = asdict(replace(settings, seed=0, prestart=False))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite.connect(path)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise self._refusal(error) from None

    def __enter__(self) -> VerdictCache:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._db.close()
        if isinstance(error, sqlite3.Error):
            raise self._refusal(error) from None

    def results(self, case: Case) -> dict[int, CaseResult]:
        query = "SELECT seed, result FROM verdicts WHERE key = ?"
        rows = self._db.execute(query, [self._key(case)]).fetchall()
        try:
            return {seed: _result_from(text) for seed, text in rows}
        except ValueError as error:
            raise sqlite3.DatabaseError(f"malformed verdict: {error!r}") from None

    def add(self, case: Case, seed: int, result: CaseResult) -> None:
        """Store a verdict; raise UsageError if the grader has changed since the file was opened."""
        grader = self._grader_now(case.lesson)
        if grader != self._graders[case.lesson.id]:
            raise UsageError(
                "A file of the course or of the engine was changed while this ran, so the rest"
                " would not be about the same files. Run the same command again: it grades"
                " everything by the files as they are now"
            )
        if result.good:
            row = [self._key(case), seed, grader, json.dumps(result.as_json())]
            with sqlite.transaction(self._db) as db:
                db.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", row)

    def _grader_now(self, lesson: Lesson) -> str:
        return f"{self._course.hash_now([lesson])} {engine_hash_now()} {torch_version()}"

    def _key(self, case: Case) -> str:
        about = [case.lesson.id, case.kind, case.name, case.source]
        text = json.dumps([self._graders[case.lesson.id], self._settings, about], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _prepare(self) -> None:
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        if not tables:
            self._db.executescript(TABLES)
        elif application != APPLICATION:
            raise UsageError(f"{self._path} is a database, but not one of verdicts. Name {OTHER}")
        (whole,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if whole != "ok":
            raise sqlite3.DatabaseError(f"malformed: {whole}")
        marks = ", ".join("?" * len(self._graders))
        self._db.execute(
            f"DELETE FROM verdicts WHERE grader NOT IN ({marks})", [*self._graders.values()]
        )

    def _refusal(self, error: sqlite3.Error | OSError) -> UsageError:
        return sqlite.refusal(self._path, error, kind="file of verdicts", other=OTHER)


@functools.cache
def _result_from(text: str) -> CaseResult:
    """Read a result; cached, so that equal results are one object and memory hardly grows."""
    return CaseResult.from_json(json.loads(text))
