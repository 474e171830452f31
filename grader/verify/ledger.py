"""The file of ``grade verify --keep``: findings, each on the disk as soon as it is known, so that a
proof that was cut goes on.

A catalogue stands in every finding of its lesson, so equal findings are written once, and a grading
is a line of three numbers.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import TracebackType

from grader.core import sqlite
from grader.core.errors import UsageError
from grader.core.sqlite import connect, transaction
from grader.verify.case_result import CaseResult

APPLICATION = 0x67726C64
"""``PRAGMA application_id``, by which a file is known as one of these: "grld" in ASCII."""
FORMAT = 1
refusal = partial(sqlite.refusal, kind="file of findings", other="another file with --keep")
"""What to say where a file of findings can't be written or read."""
TABLES = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE cases (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, scope TEXT NOT NULL, lesson TEXT NOT NULL);
    CREATE TABLE findings (id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE);  -- JSON
    CREATE TABLE gradings (
        "case" INTEGER NOT NULL REFERENCES cases (id), seed INTEGER NOT NULL, finding INTEGER NOT NULL REFERENCES findings (id),
        PRIMARY KEY ("case", seed)
    ) WITHOUT ROWID;
    PRAGMA application_id = {APPLICATION};
    PRAGMA user_version = {FORMAT};
    COMMIT;
"""


class Ledger:
    """An open file of findings; as a context manager it closes itself and says what SQLite objects
    to.
    """

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db

    @classmethod
    def open(cls, path: Path) -> Ledger:
        """The findings in a file, which is made where there is none; raises UsageError for one that
        can't be used.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            db = connect(path)
            try:
                _prepare(db, path)
            except BaseException:
                db.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise refusal(path, error) from None
        return cls(path, db)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()
        if isinstance(error, sqlite3.Error):
            raise refusal(self.path, error) from None

    def drop_others(self, scope: str, keys: Mapping[str, Collection[str]]) -> None:
        """Of some lessons keep what is about ``keys[lesson]``; what is about anything else, in the
        same scope, is stale.
        """
        with transaction(self._db) as db:
            for lesson, current in keys.items():
                rows = db.execute(
                    "SELECT id, key FROM cases WHERE scope = ? AND lesson = ?", [scope, lesson]
                ).fetchall()
                stale = [(number,) for number, key in rows if key not in current]
                db.executemany('DELETE FROM gradings WHERE "case" = ?', stale)
                db.executemany("DELETE FROM cases WHERE id = ?", stale)
                new = [(key, scope, lesson) for key in current]
                db.executemany(
                    "INSERT INTO cases (key, scope, lesson) VALUES (?, ?, ?) ON CONFLICT (key) DO"
                    " NOTHING",
                    new,
                )
            db.execute("DELETE FROM findings WHERE id NOT IN (SELECT finding FROM gradings)")

    def held(self) -> dict[str, dict[int, CaseResult]]:
        """All findings by key and seed; equal ones are one object."""
        try:
            findings = {
                number: finding_from(body)
                for number, body in self._db.execute("SELECT id, body FROM findings")
            }
            found: dict[str, dict[int, CaseResult]] = {}
            for key, seed, number in self._db.execute(
                'SELECT key, seed, finding FROM gradings JOIN cases ON id = "case"'
            ):
                found.setdefault(key, {})[seed] = findings[number]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise refusal(
                self.path,
                sqlite3.DatabaseError(f"malformed finding ({type(error).__name__}: {error})"),
            ) from None
        return found

    def keep(self, key: str, seed: int, finding: CaseResult) -> None:
        """Write a finding, in place of what there was."""
        body = json.dumps(asdict(finding), ensure_ascii=True)
        with transaction(self._db) as db:
            db.execute(
                "INSERT INTO findings (body) VALUES (?) ON CONFLICT (body) DO NOTHING", [body]
            )
            query = (
                "INSERT OR REPLACE INTO gradings SELECT c.id, ?, f.id FROM cases c, findings f"
                " WHERE c.key = ? AND f.body = ?"
            )
            written = db.execute(query, [seed, key, body]).rowcount
        if written != 1:
            raise UsageError(
                f"{self.path} is used by a run of other files meanwhile. Give each its own with"
                " --keep"
            )


def finding_from(body: str) -> CaseResult:
    """A finding that was written; raises ValueError, TypeError, KeyError or AttributeError for what
    is none.
    """
    data = json.loads(body)
    about = tuple((name, tuple(names)) for name, names in data.pop("about"))
    return CaseResult(
        trouble=tuple(data.pop("trouble")),
        untranslated=tuple(data.pop("untranslated")),
        about=about,
        **data,
    )


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file; raises UsageError for a file that isn't one of these,
    DatabaseError for one that is not whole.
    """
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (number,) = db.execute("PRAGMA user_version").fetchone()
    if not tables:
        db.executescript(TABLES)
    elif application != APPLICATION:
        raise UsageError(
            f"{path} is a database, but none of findings. Name another file with --keep"
        )
    elif number != FORMAT:
        raise UsageError(
            f"{path} has format {number}, and this gradlings writes {FORMAT}. Move it away, or name"
            " another file with --keep"
        )
    (whole,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if whole != "ok":
        raise sqlite3.DatabaseError(f"malformed: {whole}")
