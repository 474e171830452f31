"""The gradebook's tables about the class: its secret, its roster, and who handed nothing in."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Mapping

from grader.classroom.gradebook.queries import GradebookReader
from grader.classroom.gradebook.records import students_as_json
from grader.classroom.imports.records import StudentIdentity
from grader.core.sqlite import transaction
from grader.course.submission import writable


class ClassTables(GradebookReader):
    """The tables about the class, for reading and writing."""

    def seed_of(self, run: int) -> int:
        """Return the seed of all submissions of a run: 32 bits of HMAC-SHA256(class secret, run's
        number).
        """
        (secret,) = self.db.execute("SELECT secret FROM class").fetchone()
        return int.from_bytes(hmac.digest(secret, f"run {run}".encode(), "sha256")[:4], "big")

    def set_secret(self, seed: int | None) -> None:
        """Derive the class's secret from a seed; without one, draw it if there is none yet.

        A new secret belongs to the runs from now on: earlier ones are neither continued nor reused.
        """
        with transaction(self.db) as db:
            if seed is not None:
                secret = hashlib.sha256(f"gradlings batch {seed}".encode()).digest()
                db.execute(
                    "INSERT INTO class (one, secret) VALUES (1, ?) ON CONFLICT DO UPDATE SET secret"
                    " = excluded.secret, first_run = (SELECT coalesce(max(id), 0) + 1 FROM runs)"
                    " WHERE secret != excluded.secret",
                    [secret],
                )
            else:
                db.execute(
                    "INSERT INTO class (one, secret) VALUES (1, ?) ON CONFLICT DO NOTHING",
                    [secrets.token_bytes(32)],
                )

    def set_class(self, values: Mapping[str, str]) -> None:
        """Store facts about the class: columns of the table ``class``, by name."""
        with transaction(self.db) as db:
            for column, value in values.items():
                db.execute(f"UPDATE class SET {column} = ?", [value])

    def about(self, column: str) -> str:
        return str(self.db.execute(f"SELECT {column} FROM class").fetchone()[0])

    def set_passed_over(self, passed: Iterable[tuple[str, str]]) -> None:
        with transaction(self.db) as db:
            db.execute("DELETE FROM passed_over")
            db.executemany(
                "INSERT INTO passed_over VALUES (?, ?)",
                [(writable(entry), writable(reason)) for entry, reason in passed],
            )

    def set_roster(self, students: Iterable[tuple[int, StudentIdentity]]) -> None:
        with transaction(self.db) as db:
            db.execute("DELETE FROM roster")
            db.executemany(
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
        return {
            name
            for (name,) in self.db.execute(
                "SELECT name FROM submissions WHERE missing = 0 AND forgotten = 0"
            )
        }

    def set_absent(self, absent: Iterable[tuple[str, StudentIdentity, str | None]]) -> None:
        """Replace the rows of students without a submission.

        Each is the row's name, the student, and a problem if it is not certain that they have none.
        """
        with transaction(self.db) as db:
            db.execute("DELETE FROM submissions WHERE missing > 0 AND forgotten = 0")
            db.executemany(
                "INSERT OR IGNORE INTO submissions (name, students, missing, problem) VALUES (?, ?,"
                " ?, ?)",
                [
                    (name, students_as_json((student,)), 2 if problem else 1, problem)
                    for name, student, problem in absent
                ],
            )
